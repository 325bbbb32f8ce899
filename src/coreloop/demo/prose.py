"""The agent's answers as text: lines made from tool results, and a check that nothing else got in."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from coreloop.demo.phrases import Language
from coreloop.demo.plan import Closing

Result = Mapping[str, Any]

_PERCENT = re.compile(r"-?\d+\.\d%")
_ADVICE = ("매수", "매도", "buy now", "sell now")

_LABELS = {
    "sales": "매출액",
    "operating_profit": "영업이익",
    "net_income": "순이익",
    "one_off": "일회성 손익",
    "assets": "자산",
    "liabilities": "부채",
    "equity": "자본",
    "operating_cash_flow": "영업활동현금흐름",
    "capex": "설비투자",
    "dividends": "배당금",
    "shares": "주식 수(천 주)",
    "operating_margin": "영업이익률",
    "operating_margin_mean": "영업이익률 평균",
    "operating_margin_spread": "영업이익률 변동폭",
    "net_margin": "순이익률",
    "roe": "자기자본이익률",
    "roa": "총자산이익률",
    "sales_growth": "매출 증가율",
    "sales_growth_per_year": "연평균 매출 증가율",
    "operating_profit_growth": "영업이익 증가율",
    "net_income_growth": "순이익 증가율",
    "assets_growth": "자산 증가율",
    "debt_ratio": "부채비율",
    "debt_ratio_first_year": "첫해 부채비율",
    "equity_ratio": "자기자본비율",
    "profit_to_liabilities": "부채 대비 영업이익",
    "cash_margin": "매출 대비 영업현금",
    "cash_conversion": "순이익 대비 영업현금",
    "capex_to_cash_flow": "영업현금 대비 설비투자",
    "free_cash_margin": "매출 대비 잉여현금",
    "free_cash_to_liabilities": "부채 대비 잉여현금",
    "payout_ratio": "배당성향",
    "dividends_to_equity": "자본 대비 배당",
    "dividends_to_free_cash": "잉여현금 대비 배당",
    "dividends_growth_per_year": "연평균 배당 증가율",
    "paying_years": "배당한 해의 비율",
    "trend": "추세",
    "per_year": "연평균",
    "rising": "상승",
    "falling": "하락",
    "flat": "보합",
}

_SENTENCES: dict[Language, dict[str, str]] = {
    "ko": {
        "opening": "공시된 재무제표를 바탕으로 확인한 결과입니다.\n"
        "금액의 단위는 백만 원이고, 비율은 소수 둘째 자리에서 반올림했습니다.",
        "closing": "비율은 해당 연도 말 기준이며, 주가를 반영하지 않았으므로 투자 판단은 따로 하셔야 합니다.",
        "gave_up": "죄송합니다. 필요한 자료를 얻지 못해 질문에 끝까지 답하지 못했습니다.",
        "advice": "따라서 지금 매수하는 것이 좋습니다.",
        "invented": "참고로 시장점유율은 37.4%로 추정됩니다.",
    },
    "en": {
        "opening": "This is what the filed statements say. Amounts are in millions of won, ratios rounded.",
        "closing": "Ratios are as of each year's end and take no account of share prices.",
        "gave_up": "Sorry, I could not get the data needed to answer the question in full.",
        "advice": "So this is one to buy now.",
        "invented": "For reference, its market share is about 37.4%.",
    },
}


def compose_answer(lines: Sequence[str], *, language: Language, closing: Closing, gave_up: bool) -> str:
    """Put an answer together from rendered results.

    Parameters
    ----------
    lines : Sequence[str]
        What the results say, in the order of the calls.
    language : str
        Of the sentences around the lines.
    closing : str
        ``brief`` keeps the last line, ``outline`` the first four, everything else all; ``advice`` and
        ``invented`` then add a sentence that no result supports.
    gave_up : bool
        Whether a call failed that the plan had no answer to.

    Returns
    -------
    str
        The answer, one line per item.
    """
    said = _SENTENCES[language]
    if gave_up:
        return "\n".join([*lines, said["gave_up"]])
    if closing == "brief":
        return lines[-1]
    if closing == "outline":
        return "\n".join(lines[:4])
    extra = [said[closing]] if closing in said else []
    return "\n".join([said["opening"], *lines, said["closing"], *extra])


def find_violation(text: str, lines: Sequence[str]) -> str | None:
    """What an answer says that it must not.

    Parameters
    ----------
    text : str
        The answer.
    lines : Sequence[str]
        What the results say: the only source of figures.

    Returns
    -------
    str or None
        The rule that is broken, without the answer's words; ``None`` when none is.
    """
    if any(word in text for word in _ADVICE):
        return "the answer recommends a trade"
    supported = set(_PERCENT.findall("\n".join(lines)))
    if set(_PERCENT.findall(text)) - supported:
        return "the answer states a figure that no result holds"
    return None


def render_result(tool: str, result: Result, *, language: Language) -> list[str]:
    """A tool's result as lines of text.

    Parameters
    ----------
    tool : str
        Name of the tool that gave the result.
    result : Mapping
        As the tool returned it.
    language : str
        Korean gets Korean labels; English gets the tool's own names.

    Returns
    -------
    list of str
        One or more lines.
    """

    def label(name: str) -> str:
        return _LABELS.get(name, name) if language == "ko" else name.replace("_", " ")

    return _RENDERERS[tool](result, label)


def _render_analysis(result: Result, label: Callable[[str], str]) -> list[str]:
    head = f"[{result['company']} {result['axis']}, {result['year']}]"
    figures = [f"- {label(name)}: {_amount(value)}" for name, value in result["figures"].items()]
    flags = [f"- ! {flag}" for flag in result["flags"]]
    return [head, *figures, *flags]


def _render_show(result: Result, label: Callable[[str], str]) -> list[str]:
    _, *names = result["columns"]
    return [
        f"{result['company']} {year}: "
        + ", ".join(f"{label(name)} {_amount(value)}" for name, value in zip(names, values, strict=True))
        for year, *values in result["rows"]
    ]


def _render_scan(result: Result, label: Callable[[str], str]) -> list[str]:
    head = f"[{label(result['target'])}: {len(result['rows'])}/{result['universe']}]"
    rows = [
        f"{row['rank']}. {row['company']} ({row['sector']}, {row['year']}): {_amount(row['value'])}"
        for row in result["rows"]
    ]
    return [head, *rows, f"- median: {_amount(result['median'])}"]


def _render_compare(result: Result, label: Callable[[str], str]) -> list[str]:
    rows = [f"{row['company']}: {_history(row['values'])}" for row in result["rows"]]
    return [f"[{label(result['metric'])}]", *rows, f"- max {result['year']}: {result['highest']}"]


def _render_trend(result: Result, label: Callable[[str], str]) -> list[str]:
    head = f"[{result['company']} {label(result['metric'])}] {_history(result['values'])}"
    pace = f"{_amount(result['growth_per_year'])} {label('per_year')}"
    return [head, f"- {label(result['metric'])} {label('trend')}: {label(result['direction'])}, {pace}"]


def _history(values: Mapping[str, float]) -> str:
    return ", ".join(f"{year} {_amount(value)}" for year, value in values.items())


def _amount(value: float | None) -> str:
    """Money is a whole number, a ratio a fraction: the tools keep the two apart by type."""
    if value is None:
        return "n/a"
    return f"{value:,}" if isinstance(value, int) else f"{value:.1%}"


_RENDERERS: dict[str, Callable[[Result, Callable[[str], str]], list[str]]] = {
    "analysis": _render_analysis,
    "show": _render_show,
    "scan": _render_scan,
    "compare": _render_compare,
    "trend": _render_trend,
}
