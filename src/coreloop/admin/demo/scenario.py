"""The differences between the demos: project, script, subjects and the wording of results."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from coreloop.admin.demo.phrases import Phrases
from coreloop.admin.demo.plan import Subject
from coreloop.admin.demo.prose import Prose, Renderer
from coreloop.admin.demo.recipes import Recipe, Recipes

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
