"""What the scripted agent will do: recipes of tool calls, dealt out over thirty days from one seed.

A request's plan is fixed here; whether its calls succeed is decided by the tools when they are called.
"""

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from coreloop.demo.phrases import Language, word_question
from coreloop.demo.roster import Company, roster

Closing = Literal["full", "outline", "brief", "advice", "invented"]

_WINDOW_MIN = 30 * 24 * 60
_SESSION_MIN = 60
# Names that no filing has: what users ask when they mistake the table's coverage.
_NOT_ON_FILE = ("구름새항공", "초롱별모터스", "물빛해운")


@dataclass(frozen=True, slots=True)
class Ranked:
    """An argument that is known only at run time: the company at this place of the last scan."""

    place: int


@dataclass(frozen=True, slots=True)
class Step:
    """One planned tool call.

    Attributes
    ----------
    recovery : Step or None
        What is called instead when this call raises; without one the agent gives up.
    override : Mapping or None
        ``overrides`` for a second call when the result raises an extreme flag.
    """

    tool: str
    args: Mapping[str, object]
    duration_ms: int = 0
    recovery: "Step | None" = None
    override: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """One question and what the agent will do about it.

    Attributes
    ----------
    offset_min : int
        Minutes since the start of the thirty days; requests come in this order.
    stock_code : str or None
        The company's code, when the question is about one that is on file.
    closing : str
        How much of the results the answer gives, and whether it adds what it must not.
    outage : str or None
        The model's own failure after the last call; then there is no answer.
    """

    question: str
    language: Language
    session: str
    offset_min: int
    stock_code: str | None
    plan: tuple[Step, ...]
    closing: Closing = "full"
    outage: str | None = None


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom a question is about: a company, another of its sector, and how many a screening asks for."""

    company: Company
    peer: Company
    count: int

    @property
    def name(self) -> str:
        """The company's name, as tools take it."""
        return self.company.name

    def nouns(self) -> dict[str, str]:
        """What a question about this subject may mention."""
        return {
            "company": self.company.name,
            "peer": self.peer.name,
            "sector": self.company.sector,
            "count": str(self.count),
        }


def _established(company: Company) -> bool:
    return not company.is_young


@dataclass(frozen=True, slots=True)
class Recipe:
    """A way of working: how often it occurs among 300 requests, on what topic, with which calls."""

    weight: int
    topic: str
    plan: Callable[[Subject, Random], tuple[Step, ...]]
    suits: Callable[[Company], bool] = _established
    closing: Closing = "full"
    outage: str | None = None


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
    dealt = _deal(_RECIPES, count)
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
    plan = tuple(_timed(step, rng) for step in recipe.plan(subject, rng))
    missing = next((step.args["company"] for step in plan if step.args.get("company") in _NOT_ON_FILE), None)
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
    company = rng.choice([one for one in roster() if recipe.suits(one)])
    peers = [one for one in roster() if one.sector == company.sector and not one.is_young and one != company]
    return Subject(company=company, peer=rng.choice(peers), count=rng.randint(3, 4))


def _timed(step: Step, rng: Random) -> Step:
    recovery = _timed(step.recovery, rng) if step.recovery else None
    return dataclasses.replace(step, duration_ms=rng.randint(40, 2400), recovery=recovery)


def _analysis(company: object, axis: str) -> Step:
    return Step("analysis", {"company": company, "axis": axis})


def _show(company: object, topic: str) -> Step:
    return Step("show", {"company": company, "topic": topic})


def _trend(company: object, metric: str, years: int) -> Step:
    return Step("trend", {"company": company, "metric": metric, "years": years})


def _compare(companies: list[object], metric: str) -> Step:
    return Step("compare", {"companies": companies, "metric": metric})


def _scan(subject: Subject, target: str) -> Step:
    return Step("scan", {"target": target, "limit": subject.count, "sector": subject.company.sector})


def _normalised_when_flagged(step: Step) -> Step:
    return dataclasses.replace(step, override={"exclude_one_off": True})


def _without(step: Step, argument: str) -> Step:
    """The same call with an argument forgotten, made good when the tool complains."""
    kept = {name: value for name, value in step.args.items() if name != argument}
    return Step(step.tool, kept, recovery=step)


_TOP_THREE: list[object] = [Ranked(0), Ranked(1), Ranked(2)]


def _profitability(subject: Subject, _: Random) -> tuple[Step, ...]:
    return _analysis(subject.name, "수익성"), _show(subject.name, "손익")


def _profitability_forgetting_topic(subject: Subject, rng: Random) -> tuple[Step, ...]:
    first, then = _profitability(subject, rng)
    return first, _without(then, "topic")


def _profit_peers(subject: Subject, _: Random) -> tuple[Step, ...]:
    return _compare([subject.name, subject.peer.name], "roe"), _analysis(subject.name, "수익성")


def _profit_screen(subject: Subject, _: Random) -> tuple[Step, ...]:
    return _scan(subject, "영업이익률"), _compare(_TOP_THREE, "operating_margin")


def _growth(subject: Subject, _: Random) -> tuple[Step, ...]:
    return (
        _analysis(subject.name, "성장성"),
        _trend(subject.name, "sales", 3),
        _trend(subject.name, "operating_profit", 5),
    )


def _stability_screen(subject: Subject, _: Random) -> tuple[Step, ...]:
    return (
        _scan(subject, "부채비율"),
        _compare(_TOP_THREE, "debt_ratio"),
        _analysis(Ranked(0), "안정성"),
    )


def _stability_screen_forgetting_metric(subject: Subject, rng: Random) -> tuple[Step, ...]:
    scanned, compared, analysed = _stability_screen(subject, rng)
    return scanned, _without(compared, "metric"), analysed


def _credit(subject: Subject, _: Random) -> tuple[Step, ...]:
    return (
        _analysis(subject.name, "안정성"),
        _analysis(subject.name, "현금흐름"),
        _show(subject.name, "재무상태"),
    )


def _cash_flow(subject: Subject, _: Random) -> tuple[Step, ...]:
    return (
        _analysis(subject.name, "현금흐름"),
        _trend(subject.name, "operating_cash_flow", 3),
        _show(subject.name, "현금"),
    )


def _dividend(subject: Subject, _: Random) -> tuple[Step, ...]:
    return _normalised_when_flagged(_analysis(subject.name, "배당")), _show(subject.name, "주주환원")


def _dividend_peers(subject: Subject, _: Random) -> tuple[Step, ...]:
    return _analysis(subject.name, "배당"), _compare([subject.name, subject.peer.name], "dividends")


def _dividend_peers_checked(subject: Subject, rng: Random) -> tuple[Step, ...]:
    first, then = _dividend_peers(subject, rng)
    return _normalised_when_flagged(first), then


def _dividend_screen(subject: Subject, _: Random) -> tuple[Step, ...]:
    return _scan(subject, "배당"), _compare(_TOP_THREE, "dividends")


def _valuation(subject: Subject, rng: Random) -> tuple[Step, ...]:
    """An axis that the model made up: no tool here knows share prices."""
    return (_analysis(subject.name, rng.choice(("가치평가", "밸류에이션", "적정주가"))),)


def _valuation_by_profit(subject: Subject, rng: Random) -> tuple[Step, ...]:
    (invented,) = _valuation(subject, rng)
    return (dataclasses.replace(invented, recovery=_analysis(subject.name, "수익성")),)


def _fact(subject: Subject, _: Random) -> tuple[Step, ...]:
    return (_show(subject.name, "손익"),)


def _not_on_file(_: Subject, rng: Random) -> tuple[Step, ...]:
    return (_analysis(rng.choice(_NOT_ON_FILE), "수익성"),)


def _overview(subject: Subject, rng: Random) -> tuple[Step, ...]:
    """The long tail: calls that make sense one by one, in no order that repeats."""
    steps = (
        *(_analysis(subject.name, axis) for axis in ("수익성", "성장성", "안정성", "현금흐름")),
        _show(subject.name, "손익"),
        _trend(subject.name, "sales", 3),
        _compare([subject.name, subject.peer.name], "roe"),
        _scan(subject, "영업이익률"),
    )
    return tuple(rng.sample(steps, k=rng.randint(3, 5)))


def _anyone(_: Company) -> bool:
    return True


def _covered(company: Company) -> bool:
    return _established(company) and not company.overpays


def _strained(company: Company) -> bool:
    return company.pays_from_reserves and not company.overpays


def _overpaying(company: Company) -> bool:
    return company.overpays


def _young_but_growing(company: Company) -> bool:
    return company.is_young and company.years >= 3


_RECIPES = (
    Recipe(30, "profitability", _profitability),
    Recipe(14, "profitability", _profitability_forgetting_topic),
    Recipe(8, "profit_peers", _profit_peers),
    Recipe(4, "profit_peers", _profit_peers, closing="brief"),
    Recipe(20, "profit_screen", _profit_screen),
    Recipe(18, "growth", _growth, suits=_young_but_growing),
    Recipe(6, "growth", _growth),
    Recipe(26, "stability_screen", _stability_screen),
    Recipe(8, "stability_screen", _stability_screen_forgetting_metric),
    Recipe(16, "credit", _credit),
    Recipe(26, "cash_flow", _cash_flow),
    Recipe(16, "dividend", _dividend, suits=_covered),
    Recipe(10, "dividend", _dividend, suits=_strained),
    Recipe(8, "dividend_peers", _dividend_peers, suits=_strained),
    Recipe(4, "dividend_peers", _dividend_peers_checked, suits=_overpaying),
    Recipe(14, "dividend_screen", _dividend_screen),
    Recipe(10, "valuation", _valuation),
    Recipe(4, "valuation", _valuation_by_profit, closing="outline"),
    Recipe(3, "valuation", _valuation_by_profit, closing="advice"),
    Recipe(3, "valuation", _valuation_by_profit, closing="invented"),
    Recipe(18, "fact", _fact, suits=_anyone, closing="brief"),
    Recipe(6, "fact", _fact, closing="outline"),
    Recipe(8, "profitability", _not_on_file),
    Recipe(12, "overview", _overview),
    Recipe(4, "cash_flow", _cash_flow, outage="rate limit exceeded (429): retry after 20 s"),
    Recipe(2, "profitability", _profitability, outage="connection reset by peer"),
)
