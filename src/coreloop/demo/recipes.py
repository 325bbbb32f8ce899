"""The agent's ways of working: ``recipes.toml``, and a plan's calls for one subject."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, Final, Literal

import msgspec

from coreloop.demo.plan import Closing, PlannedStep, Ranked, Subject
from coreloop.demo.roster import Company

Suits = Literal["anyone", "established", "young but growing", "covered", "strained", "overpaying"]


@dataclass(frozen=True, slots=True)
class Recipe:
    """A way of working, as a line of the file says it."""

    weight: int
    topic: str
    plan: str
    suits: Suits = "established"
    closing: Closing = "full"
    draws: tuple[int, int] | None = None
    outage: str | None = None


@dataclass(frozen=True, slots=True)
class _Book:
    recipes: tuple[Recipe, ...]
    any: dict[str, tuple[str, ...]]
    plans: dict[str, tuple[PlannedStep, ...]]


_BOOK: Final = msgspec.toml.decode(Path(__file__).with_name("recipes.toml").read_bytes(), type=_Book)
RECIPES: Final = _BOOK.recipes
NOT_ON_FILE: Final = _BOOK.any["not_on_file"]

_SUITS: Final[Mapping[Suits, Callable[[Company], bool]]] = {
    "anyone": lambda company: True,
    "established": lambda company: not company.is_young,
    "young but growing": lambda company: company.is_young and company.years >= 3,
    "covered": lambda company: not company.is_young and not company.overpays,
    "strained": lambda company: company.pays_from_reserves and not company.overpays,
    "overpaying": lambda company: company.overpays,
}
_RANKED: Final = {"first": Ranked(0), "second": Ranked(1), "third": Ranked(2)}


def suits(recipe: Recipe, company: Company) -> bool:
    """Whether a recipe's question makes sense about a company."""
    return _SUITS[recipe.suits](company)


def plan_calls(recipe: Recipe, subject: Subject, rng: Random) -> tuple[PlannedStep, ...]:
    """The calls of a recipe's plan, their arguments filled in for the subject."""
    values = {**subject.nouns(), **_RANKED, "count": subject.count}
    steps = tuple(_filled(step, values, rng) for step in _BOOK.plans[recipe.plan])
    if recipe.draws is None:
        return steps
    return tuple(rng.sample(steps, k=rng.randint(*recipe.draws)))


def _filled(step: PlannedStep, values: Mapping[str, object], rng: Random) -> PlannedStep:
    args = {name: _argument(value, values, rng) for name, value in step.args.items()}
    recovery = _filled(step.recovery, values, rng) if step.recovery else None
    return replace(step, args=args, recovery=recovery)


def _argument(value: Any, values: Mapping[str, object], rng: Random) -> object:
    if isinstance(value, list):
        return [_argument(item, values, rng) for item in value]
    if not isinstance(value, str) or not value.startswith("{"):
        return value
    name = value.strip("{}")
    return rng.choice(_BOOK.any[name]) if name in _BOOK.any else values[name]
