"""What the scripted agent is asked, does and answers: the files in ``script``, and requests made of them."""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final, Literal, TypeVar

import msgspec

T = TypeVar("T")
PROJECT: Final = Path(__file__).parent / "project"
"""The folder that is copied: the tool package and its coreloop.yaml."""
PACKAGE: Final = "helpdesk"
_SCRIPT: Final = Path(__file__).parent / "script"
_WINDOW_MIN: Final = 30 * 24 * 60  # minutes of the window that `pattern` and `refine` read by default
_SESSION_MIN: Final = 60  # after a session's first question


@dataclass(frozen=True, slots=True)
class FromResult:
    """An argument that is known only at run time: what ``path`` leads to in the last result of a tool."""

    tool: str
    path: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A planned tool call; ``recovery`` is made if it raises, without one the agent gives up."""

    tool: str
    args: Mapping[str, object]
    duration_ms: int = 0
    recovery: "PlannedStep | None" = None


@dataclass(frozen=True, slots=True)
class DemoRequest:
    """A question and the agent's plan for it.

    Attributes
    ----------
    offset_min : int
        Minutes since the start of the thirty days; requests come in this order.
    closing : str
        The part of the results that the answer gives, and whether it adds an unsupported sentence.
    outage : str or None
        An error of the model after the last call; then there is no answer.
    """

    question: str
    session: str
    offset_min: int
    plan: tuple[PlannedStep, ...]
    closing: Literal["full", "brief", "promise", "invented"] = "full"
    outage: str | None = None


@dataclass(frozen=True, slots=True)
class _Recipe:
    """A line of ``recipes.toml``, which documents the keys."""

    weight: int
    topic: str
    plan: str
    closing: Literal["full", "brief", "promise", "invented"] = "full"
    draws: tuple[int, int] | None = None
    outage: str | None = None
    asks_about: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Recipes:
    """The content of ``recipes.toml``."""

    recipes: tuple[_Recipe, ...]
    any: dict[str, tuple[str | int, ...]]
    plans: dict[str, tuple[PlannedStep, ...]]
    results: dict[str, FromResult]


@dataclass(frozen=True, slots=True)
class Phrases:
    """The content of ``phrases.toml``."""

    openings: tuple[str, ...]
    endings: tuple[str, ...]
    clauses: dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Prose:
    """The content of ``prose.toml``, which documents the keys."""

    figure: str
    forbidden: tuple[str, ...]
    forbidden_is: str
    sentences: dict[str, str]
    lines: dict[str, str]

    def result_lines(self, tool: str, result: Any) -> list[str]:
        """Write a tool's result as lines of an answer."""
        rows = result if isinstance(result, list) else [result]
        return [self.lines[tool].format_map(row) for row in rows]

    def compose_answer(self, lines: Sequence[str], *, closing: str, gave_up: bool) -> str:
        """Compose an answer from rendered results, one line per item; ``brief`` keeps the last of them."""
        if gave_up:
            return "\n".join([*lines, self.sentences["gave_up"]])
        if closing == "brief":
            return "\n".join(lines[-1:])
        extra = [self.sentences[closing]] if closing in self.sentences else []
        return "\n".join([self.sentences["opening"], *lines, self.sentences["closing"], *extra])

    def find_violation(self, text: str, lines: Sequence[str]) -> str | None:
        """Return the rule that an answer breaks, or None; the lines are the only source of figures."""
        if any(word in text for word in self.forbidden):
            return self.forbidden_is
        supported = set(re.findall(self.figure, "\n".join(lines)))
        if set(re.findall(self.figure, text)) - supported:
            return "the answer states a figure that is in no result"
        return None


@cache
def read_script(kind: type[T]) -> T:
    """Read the file of ``script`` that has the name of a class, once per process."""
    return msgspec.toml.decode((_SCRIPT / f"{kind.__name__.lower()}.toml").read_bytes(), type=kind)


@cache
def customers() -> tuple[str, ...]:
    """Return the names of the customers, about whom questions are."""
    with (PROJECT / PACKAGE / "customers.csv").open(encoding="utf-8", newline="") as lines:
        return tuple(row["name"] for row in csv.DictReader(lines))


def scripted_requests(seed: int, count: int = 300) -> Iterator[DemoRequest]:
    """Yield questions over thirty days, each with the agent's planned calls.

    Parameters
    ----------
    seed : int
        The same seed gives the same requests.
    count : int
        Number of requests; the recipes keep their proportions.

    Yields
    ------
    DemoRequest
        In the order of ``offset_min``.
    """
    rng = Random(seed)
    dealt = _deal(read_script(Recipes).recipes, count)
    rng.shuffle(dealt)
    for recipe, (offset_min, session) in zip(dealt, _schedule(count, rng), strict=True):
        steps, nouns = _plan_calls(recipe, rng)
        plan = tuple(_timed(step, rng) for step in steps)
        question = _word_question(recipe.topic, nouns, rng)
        yield DemoRequest(question, session, offset_min, plan, recipe.closing, recipe.outage)


def _deal(recipes: Sequence[_Recipe], count: int) -> list[_Recipe]:
    """Distribute the recipes by weight (largest remainder), so that every seed shows every behaviour."""
    total = sum(recipe.weight for recipe in recipes)
    exact = [count * recipe.weight / total for recipe in recipes]
    shares = [int(share) for share in exact]
    by_remainder = sorted(range(len(recipes)), key=lambda at: shares[at] - exact[at])
    for at in by_remainder[: count - sum(shares)]:
        shares[at] += 1
    return [recipe for recipe, share in zip(recipes, shares, strict=True) for _ in range(share)]


def _schedule(count: int, rng: Random) -> list[tuple[int, str]]:
    moments: list[tuple[int, str]] = []
    while len(moments) < count:
        session = f"demo-{rng.getrandbits(32):08x}"
        at = rng.randrange(_WINDOW_MIN - _SESSION_MIN)
        for _ in range(rng.choice((1, 1, 2, 3, 4))):
            moments.append((at, session))
            at += rng.randint(2, 11)
    return sorted(moments[:count])


def _plan_calls(recipe: _Recipe, rng: Random) -> tuple[tuple[PlannedStep, ...], dict[str, object]]:
    """Return the calls of a recipe's plan about a customer, and the nouns for the question."""
    filling = _Filling({"customer": rng.choice(customers()), **read_script(Recipes).results}, rng)
    steps = tuple(filling.step(step) for step in read_script(Recipes).plans[recipe.plan])
    if recipe.draws is not None:
        steps = tuple(rng.sample(steps, k=rng.randint(*recipe.draws)))
    topics = {noun: filling.values[name] for noun, name in recipe.asks_about.items()}
    return steps, filling.values | topics


@dataclass(frozen=True, slots=True)
class _Filling:
    """Fills in the arguments of a request's calls; each name under ``any`` is drawn once per request."""

    values: dict[str, object]
    rng: Random

    def step(self, step: PlannedStep) -> PlannedStep:
        args = {name: self._argument(value) for name, value in step.args.items()}
        return replace(step, args=args, recovery=self.step(step.recovery) if step.recovery else None)

    def _argument(self, value: object) -> object:
        if not isinstance(value, str) or not value.startswith("{"):
            return value
        name = value.strip("{}")
        if name not in self.values:
            self.values[name] = self.rng.choice(read_script(Recipes).any[name])
        return self.values[name]


def _word_question(topic: str, nouns: Mapping[str, object], rng: Random) -> str:
    phrases = read_script(Phrases)
    clause = rng.choice(phrases.clauses[topic])
    parts = (rng.choice(phrases.openings), clause.format_map(nouns), rng.choice(phrases.endings))
    return " ".join(filter(None, parts))


def _timed(step: PlannedStep, rng: Random) -> PlannedStep:
    recovery = _timed(step.recovery, rng) if step.recovery else None
    return replace(step, duration_ms=rng.randint(40, 2400), recovery=recovery)
