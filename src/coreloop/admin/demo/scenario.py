"""The demos: each is a folder of ``projects``, whose ``script`` says what is asked and answered."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Final, Self

import msgspec

from coreloop.admin.demo.planned_request import Language, Subject
from coreloop.admin.demo.prose import Prose
from coreloop.admin.demo.recipes import Recipe, Recipes
from coreloop.admin.demo.subjects import Subjects
from coreloop.base.particles import with_particle


@dataclass(frozen=True, slots=True)
class _Wording:
    """The phrases of a language, and its share of the questions."""

    openings: tuple[str, ...]
    endings: tuple[str, ...]
    clauses: dict[str, tuple[str, ...]]
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class Noun:
    """A name that takes its Korean particle in a format string: ``{company:은는}``."""

    text: str

    def __format__(self, particles: str) -> str:
        """Append the first particle after a final consonant, else the second."""
        return with_particle(self.text, particles) if particles else self.text


@dataclass(frozen=True, slots=True)
class Phrases:
    """The content of ``phrases.toml``."""

    wordings: Mapping[Language, _Wording]

    @classmethod
    @cache
    def read(cls, path: Path) -> Self:
        """Read a file, once per process."""
        return cls(msgspec.toml.decode(path.read_bytes(), type=dict[Language, _Wording]))

    def word_question(self, topic: str, rng: Random, *, nouns: Mapping[str, object]) -> tuple[str, Language]:
        """Word a question on a topic.

        Parameters
        ----------
        topic : str
            A key of the file's clauses.
        rng : Random
            Draws language, opening, clause and ending.
        nouns : Mapping[str, object]
            Values for the clauses, by the name in braces.

        Returns
        -------
        tuple
            The question and its language.
        """
        languages = sorted(self.wordings)
        (language,) = rng.choices(languages, [self.wordings[language].share for language in languages])
        wording = self.wordings[language]
        clause = rng.choice(wording.clauses[topic])
        worded = clause.format_map({name: Noun(str(noun)) for name, noun in nouns.items()})
        parts = (rng.choice(wording.openings), worded, rng.choice(wording.endings))
        return " ".join(filter(None, parts)), language


_PROJECTS = Path(__file__).parent / "projects"


@dataclass(frozen=True, slots=True)
class Scenario:
    """A demo.

    Attributes
    ----------
    name : str
        Name of the tool package, and of its folder in ``projects``.
    summary : str
        The tool package in a few words.
    """

    name: str
    summary: str

    @property
    def project(self) -> Path:
        """The folder that is copied without its script: the tool package and its coreloop.yaml."""
        return _PROJECTS / self.name

    @property
    def recipes(self) -> Recipes:
        """The agent's plans and their frequencies."""
        return Recipes.read(self.project / "script" / "recipes.toml")

    @property
    def phrases(self) -> Phrases:
        """The wording of questions."""
        return Phrases.read(self.project / "script" / "phrases.toml")

    @property
    def prose(self) -> Prose:
        """The sentences of the answers."""
        return Prose.read(self.project / "script" / "prose.toml")

    @property
    def subjects(self) -> Subjects:
        """The subjects of questions."""
        return Subjects.read(self.project / "script" / "subjects.toml")

    def draw_subject(self, recipe: Recipe, rng: Random) -> Subject:
        """Draw the subject of a question."""
        return self.subjects.draw(recipe, rng, project=self.project)


HELPDESK: Final = Scenario(name="helpdesk", summary="a small help desk")
FINLAB: Final = Scenario(name="finlab", summary="a small finance package")
