"""The differences between the demos: project, script, subjects and the wording of results."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Self

import msgspec

from coreloop.admin.demo.plan import Language, Subject
from coreloop.admin.demo.prose import Prose, Renderer
from coreloop.admin.demo.recipes import Recipe, Recipes
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


_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Scenario:
    """A demo.

    Attributes
    ----------
    name : str
        Name of the tool package, of its folder in ``projects`` and of the folder in ``scripts``.
    summary : str
        The tool package in a few words.
    choose_subject : callable
        Draws the subject of a question.
    render : callable
        Formats a tool's result as lines of text.
    """

    name: str
    summary: str
    choose_subject: Callable[[Recipe, Random], Subject]
    render: Renderer

    @property
    def project(self) -> Path:
        """The folder that is copied: the tool package and its coreloop.yaml."""
        return _HERE / "projects" / self.name

    @property
    def recipes(self) -> Recipes:
        """The agent's plans and their frequencies."""
        return Recipes.read(self._script / "recipes.toml")

    @property
    def phrases(self) -> Phrases:
        """The wording of questions."""
        return Phrases.read(self._script / "phrases.toml")

    @property
    def prose(self) -> Prose:
        """The sentences of the answers."""
        return Prose.read(self._script / "prose.toml")

    @property
    def _script(self) -> Path:
        return _HERE / "scripts" / self.name
