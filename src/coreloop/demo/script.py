"""What the scripted agent will do: the recipes, dealt out over thirty days from one seed.

A request's plan is fixed here; whether its calls succeed is decided by the tools when they are called.
"""

import dataclasses
from collections.abc import Iterator, Sequence
from random import Random

from coreloop.demo.phrases import word_question
from coreloop.demo.plan import PlannedStep, Request, Subject
from coreloop.demo.recipes import NOT_ON_FILE, RECIPES, Recipe, plan_calls, suits
from coreloop.demo.roster import roster

_WINDOW_MIN = 30 * 24 * 60
_SESSION_MIN = 60


def scripted_requests(seed: int, count: int = 300) -> Iterator[Request]:
    """Questions over thirty days, with the calls that the agent will make for each.

    Parameters
    ----------
    seed : int
        The same seed gives the same requests.
    count : int
        How many; the recipes keep their proportions.

    Yields
    ------
    Request
        In the order of ``offset_min``.
    """
    rng = Random(seed)
    dealt = _deal(RECIPES, count)
    rng.shuffle(dealt)
    for recipe, (offset_min, session) in zip(dealt, _schedule(count, rng), strict=True):
        yield _request(recipe, rng, offset_min=offset_min, session=session)


def _deal(recipes: Sequence[Recipe], count: int) -> list[Recipe]:
    """Shares by weight (largest remainder), so that every seed shows every behaviour."""
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


def _request(recipe: Recipe, rng: Random, *, offset_min: int, session: str) -> Request:
    subject = _subject(recipe, rng)
    plan = tuple(_timed(step, rng) for step in plan_calls(recipe, subject, rng))
    missing = next((step.args["company"] for step in plan if step.args.get("company") in NOT_ON_FILE), None)
    nouns = subject.nouns() if missing is None else subject.nouns() | {"company": str(missing)}
    question, language = word_question(recipe.topic, rng, nouns=nouns)
    return Request(
        question=question,
        language=language,
        session=session,
        offset_min=offset_min,
        stock_code=None if missing or recipe.topic.endswith("_screen") else subject.company.code,
        plan=plan,
        closing=recipe.closing,
        outage=recipe.outage,
    )


def _subject(recipe: Recipe, rng: Random) -> Subject:
    company = rng.choice([company for company in roster() if suits(recipe, company)])
    peers = [one for one in roster() if one.sector == company.sector and not one.is_young and one != company]
    return Subject(company=company, peer=rng.choice(peers), count=rng.randint(3, 4))


def _timed(step: PlannedStep, rng: Random) -> PlannedStep:
    recovery = _timed(step.recovery, rng) if step.recovery else None
    return dataclasses.replace(step, duration_ms=rng.randint(40, 2400), recovery=recovery)
