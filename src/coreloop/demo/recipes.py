"""The agent's ways of working, good and bad, and how often each occurs: the table at the end."""

import dataclasses
from random import Random

from coreloop.demo.plan import Ranked, Recipe, Step, Subject, is_established
from coreloop.demo.roster import Company

# Names that no filing has: what users ask when they mistake the table's coverage.
NOT_ON_FILE = ("구름새항공", "초롱별모터스", "물빛해운")


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
    return (_analysis(rng.choice(NOT_ON_FILE), "수익성"),)


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
    return is_established(company) and not company.overpays


def _strained(company: Company) -> bool:
    return company.pays_from_reserves and not company.overpays


def _overpaying(company: Company) -> bool:
    return company.overpays


def _young_but_growing(company: Company) -> bool:
    return company.is_young and company.years >= 3


RECIPES = (
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
