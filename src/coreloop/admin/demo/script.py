"""The script of the agent: recipes distributed over thirty days by a seed.

The script fixes the plan of each request; the tools decide whether its calls succeed.
"""

import dataclasses
from collections.abc import Iterator, Sequence
from random import Random

from coreloop.admin.demo.plan import PlannedStep, Request
from coreloop.admin.demo.recipes import Recipe
from coreloop.admin.demo.scenario import Scenario

_WINDOW_MIN = 30 * 24 * 60
_SESSION_MIN = 60


def scripted_requests(scenario: Scenario, seed: int, count: int = 300) -> Iterator[Request]:
    """Yield questions over thirty days, each with the agent's planned calls.

    Parameters
    ----------
    scenario : Scenario
        Provides the recipes and phrases.
    seed : int
        The same seed gives the same requests.
    count : int
        Number of requests; the recipes keep their proportions.

    Yields
    ------
    Request
        In the order of ``offset_min``.
    """
    rng = Random(seed)
    dealt = _deal(scenario.recipes.recipes, count)
    rng.shuffle(dealt)
    for recipe, (offset_min, session) in zip(dealt, _schedule(count, rng), strict=True):
        yield _request(scenario, recipe, rng, offset_min=offset_min, session=session)


def _deal(recipes: Sequence[Recipe], count: int) -> list[Recipe]:
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


def _request(scenario: Scenario, recipe: Recipe, rng: Random, *, offset_min: int, session: str) -> Request:
    subject = scenario.choose_subject(recipe, rng)
    steps, nouns = scenario.recipes.plan_calls(recipe, subject, rng)
    plan = tuple(_timed(step, rng) for step in steps)
    question, language = scenario.phrases.word_question(recipe.topic, rng, nouns=nouns)
    return Request(
        question=question,
        language=language,
        session=session,
        offset_min=offset_min,
        stock_code=subject.stock_code,
        plan=plan,
        closing=recipe.closing,
        outage=recipe.outage,
    )


def _timed(step: PlannedStep, rng: Random) -> PlannedStep:
    recovery = _timed(step.recovery, rng) if step.recovery else None
    return dataclasses.replace(step, duration_ms=rng.randint(40, 2400), recovery=recovery)
