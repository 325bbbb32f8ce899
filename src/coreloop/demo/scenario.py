"""What differs between the demos: the project, the script, the subjects, and how results are worded."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from coreloop.demo.phrases import Phrases
from coreloop.demo.plan import Subject
from coreloop.demo.prose import Prose, Renderer
from coreloop.demo.recipes import Recipe, Recipes

_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Scenario:
    """One demo.

    Attributes
    ----------
    name : str
        Of the tool package, of its folder in ``projects``, and of the folder of TOML files in ``scripts``.
    summary : str
        The tool package in a few words.
    choose_subject : callable
        Draws what a question is about.
    render : callable
        A tool's result as lines of text.
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
        """What the agent does for a question, and how often."""
        return Recipes.read(self._script / "recipes.toml")

    @property
    def phrases(self) -> Phrases:
        """How questions are worded."""
        return Phrases.read(self._script / "phrases.toml")

    @property
    def prose(self) -> Prose:
        """The sentences of the answers."""
        return Prose.read(self._script / "prose.toml")

    @property
    def _script(self) -> Path:
        return _HERE / "scripts" / self.name
