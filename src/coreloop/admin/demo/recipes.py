"""The agent's behaviour for a question: ``recipes.toml``, and the calls of a plan for a subject."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Self

import msgspec

from coreloop.admin.demo.planned_request import Closing, FromResult, PlannedStep, Subject


@dataclass(frozen=True, slots=True)
class Recipe:
    """A line of ``recipes.toml``, which documents the keys."""

    weight: int
    topic: str
    plan: str
    suits: str | None = None
    closing: Closing = "full"
    draws: tuple[int, int] | None = None
    outage: str | None = None
    asks_about: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Recipes:
    """The content of ``recipes.toml``.

    Attributes
    ----------
    any : dict of str to tuple
        Values to draw from, by the name in braces.
    results : dict of str to FromResult
        Places of values in earlier results, by the name in braces.
    """

    recipes: tuple[Recipe, ...]
    any: dict[str, tuple[str | int, ...]]
    plans: dict[str, tuple[PlannedStep, ...]]
    results: dict[str, FromResult]

    @classmethod
    @cache
    def read(cls, path: Path) -> Self:
        """Read a file, once per process."""
        return msgspec.toml.decode(path.read_bytes(), type=cls)

    def plan_calls(
        self, recipe: Recipe, subject: Subject, rng: Random
    ) -> tuple[tuple[PlannedStep, ...], dict[str, object]]:
        """Return the calls of a recipe's plan for a subject, and the nouns for the question.

        Parameters
        ----------
        recipe : Recipe
            A recipe of this file.
        subject : Subject
            Its nouns replace the names in braces.
        rng : Random
            Draws the values under ``any``, each name once per request.
        """
        filling = _Filling(self, {**subject.nouns, **self.results}, rng)
        steps = tuple(filling.step(step) for step in self.plans[recipe.plan])
        if recipe.draws is not None:
            steps = tuple(rng.sample(steps, k=rng.randint(*recipe.draws)))
        topics = {noun: filling.drawn[name] for noun, name in recipe.asks_about.items()}
        return steps, {**subject.nouns, **filling.drawn, **topics}


@dataclass(slots=True)
class _Filling:
    """Fills in the arguments of a request's calls and keeps the drawn values."""

    file: Recipes
    values: Mapping[str, object]
    rng: Random
    drawn: dict[str, object] = field(default_factory=dict)

    def step(self, step: PlannedStep) -> PlannedStep:
        args = {name: self._argument(value) for name, value in step.args.items()}
        recovery = self.step(step.recovery) if step.recovery else None
        return replace(step, args=args, recovery=recovery)

    def _argument(self, value: object) -> object:
        if isinstance(value, list):
            return [self._argument(item) for item in value]
        if not isinstance(value, str) or not value.startswith("{"):
            return value
        name = value.strip("{}")
        return self.values[name] if name in self.values else self._draw(name)

    def _draw(self, name: str) -> object:
        if name not in self.drawn:
            self.drawn[name] = self.rng.choice(self.file.any[name])
        return self.drawn[name]
