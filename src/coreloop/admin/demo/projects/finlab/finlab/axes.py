"""``analysis``: one company seen along one axis. An axis is a function from filings to figures."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, pstdev

from .filings import Filing, filings_of, growth, ratio

Metrics = dict[str, float | None]

_EXTREMES = {"payout_ratio": 1.0, "debt_ratio": 5.0}


def analysis(company: str, axis: str, overrides: Mapping[str, object] | None = None) -> dict[str, object]:
    """회사 하나를 한 축으로 분석한다.

    사업보고서에서 고른 축의 비율을 가장 최근 연도로 계산하고, 과거를 보는 축이면 공시된 모든 연도로
    계산한다. 지속될 수 없는 수치는 ``flags``에 적으므로 인용하기 전에 읽어야 한다.

    Parameters
    ----------
    company : str
        한글 전체 이름이나 여섯 자리 종목 코드.
    axis : str
        무엇을 볼지, 한글로.
    overrides : Mapping[str, object], optional
        ``exclude_one_off`` (bool)는 순이익에서 일회성 손익을 빼고, ``base_year`` (int)는 그 연도까지의
        공시만으로 분석한다.

    Returns
    -------
    dict
        분석한 ``company``, ``axis``, ``year``; 비율을 담은 ``figures`` (0.12는 12 %, 구할 수 없으면
        ``None``); ``["payout_ratio>1"]`` 같은 목록 ``flags`` (지나친 것이 없으면 빈 목록); 적용한
        ``overrides``의 이름.

    Raises
    ------
    LookupError
        공시가 없는 회사일 때.
    ValueError
        모르는 축이나 override일 때, ``base_year``의 공시가 없을 때, 두 해가 필요한 축(``성장성``)인데
        한 해뿐일 때.

    Examples
    --------
    >>> result = analysis("나린반도체", "수익성")
    >>> result["year"], result["figures"]["operating_margin"], result["flags"]
    (2024, 0.2081, [])
    >>> analysis("들찬푸드", "배당")["flags"]
    ['payout_ratio>1']
    >>> analysis("나린반도체", "매력")
    Traceback (most recent call last):
    ValueError: unknown axis '매력'; known axes: 수익성, 성장성, 안정성, 현금흐름, 배당

    Notes
    -----
    수익률은 평균이 아니라 그해 말의 자본과 자산으로 나눈다. 성장률은 연 복리이다. 배당성향은 이익이
    없는 해에는 ``None``이다. 배당성향이 1을, 부채비율이 5를 넘으면 ``flags``에 적는다.

    Guide
    -----
    - 회사는 질문에 나온 이름 그대로, 조사 없이 준다: 들찬푸드의가 아니라 들찬푸드.
    - 호출 한 번은 한 축에만 답한다. 축끼리 겹치는 수치가 없으므로 넓은 질문은 여러 번 불러야 한다.
    - 수치가 어느 연도의 것인지 말한다: 최근 공시가 질문보다 오래되었을 수 있다.

    See Also
    --------
    show : 비율의 바탕이 되는 재무제표 항목.
    trend : 여러 해에 걸친 지표 하나.
    """
    if axis not in _AXES:
        raise ValueError(f"unknown axis {axis!r}; known axes: {', '.join(_AXES)}")
    chosen = dict(overrides or {})
    filings = _overridden(filings_of(company), chosen)
    metrics = _AXES[axis](filings)
    return {
        "company": filings[-1].name,
        "axis": axis,
        "year": filings[-1].year,
        "figures": metrics,
        "flags": _extremes(metrics),
        "overrides": sorted(chosen),
    }


def _overridden(filings: tuple[Filing, ...], overrides: Mapping[str, object]) -> tuple[Filing, ...]:
    unknown = sorted(overrides.keys() - {"exclude_one_off", "base_year"})
    if unknown:
        raise ValueError(f"unknown override {unknown[0]!r}; known overrides: exclude_one_off, base_year")
    if "base_year" in overrides:
        filings = _as_of(filings, overrides["base_year"])
    return tuple(map(_normalised, filings)) if overrides.get("exclude_one_off") else filings


def _as_of(filings: tuple[Filing, ...], year: object) -> tuple[Filing, ...]:
    years = [filing.year for filing in filings]
    if year not in years:
        raise ValueError(f"base_year {year!r} is not on file; years on file: {years[0]} to {years[-1]}")
    return filings[: years.index(year) + 1]


def _normalised(filing: Filing) -> Filing:
    return dataclasses.replace(filing, net_income=filing.net_income - filing.one_off, one_off=0)


def _profitability(filings: Sequence[Filing]) -> Metrics:
    newest = filings[-1]
    margins = [ratio(filing.operating_profit, filing.sales) for filing in filings]
    return {
        "operating_margin": margins[-1],
        "operating_margin_mean": round(fmean(margins), 4),
        "net_margin": ratio(newest.net_income, newest.sales),
        "roe": ratio(newest.net_income, newest.equity),
        "roa": ratio(newest.net_income, newest.assets),
    }


def _growth(filings: Sequence[Filing]) -> Metrics:
    if len(filings) < 2:
        raise ValueError(f"too few years: growth needs 2, {filings[-1].name} has {len(filings)}")
    first, before, newest = filings[0], filings[-2], filings[-1]
    return {
        "sales_growth": growth(before.sales, newest.sales),
        "sales_growth_per_year": growth(first.sales, newest.sales, years=len(filings) - 1),
        "operating_profit_growth": growth(before.operating_profit, newest.operating_profit),
        "net_income_growth": growth(before.net_income, newest.net_income),
        "assets_growth": growth(before.assets, newest.assets),
    }


def _stability(filings: Sequence[Filing]) -> Metrics:
    newest = filings[-1]
    margins = [ratio(filing.operating_profit, filing.sales) for filing in filings]
    return {
        "debt_ratio": ratio(newest.liabilities, newest.equity),
        "debt_ratio_first_year": ratio(filings[0].liabilities, filings[0].equity),
        "equity_ratio": ratio(newest.equity, newest.assets),
        "profit_to_liabilities": ratio(newest.operating_profit, newest.liabilities),
        "operating_margin_spread": round(pstdev(margins), 4),
    }


def _cash_flow(filings: Sequence[Filing]) -> Metrics:
    newest = filings[-1]
    free = newest.operating_cash_flow - newest.capex
    return {
        "cash_margin": ratio(newest.operating_cash_flow, newest.sales),
        "cash_conversion": ratio(newest.operating_cash_flow, newest.net_income),
        "capex_to_cash_flow": ratio(newest.capex, newest.operating_cash_flow),
        "free_cash_margin": ratio(free, newest.sales),
        "free_cash_to_liabilities": ratio(free, newest.liabilities),
    }


def _dividends(filings: Sequence[Filing]) -> Metrics:
    newest = filings[-1]
    paying = sum(filing.dividends > 0 for filing in filings)
    return {
        "payout_ratio": ratio(newest.dividends, newest.net_income) if newest.net_income > 0 else None,
        "dividends_to_equity": ratio(newest.dividends, newest.equity),
        "dividends_to_free_cash": _cover(newest),
        "dividends_growth_per_year": growth(
            filings[0].dividends, newest.dividends, years=max(1, len(filings) - 1)
        ),
        "paying_years": ratio(paying, len(filings)),
    }


def _cover(filing: Filing) -> float | None:
    free = filing.operating_cash_flow - filing.capex
    return ratio(filing.dividends, free) if free > 0 else None


def _extremes(metrics: Metrics) -> list[str]:
    return [
        f"{name}>{limit:g}"
        for name, limit in _EXTREMES.items()
        if (value := metrics.get(name)) is not None and value > limit
    ]


_AXES: dict[str, Callable[[Sequence[Filing]], Metrics]] = {
    "수익성": _profitability,
    "성장성": _growth,
    "안정성": _stability,
    "현금흐름": _cash_flow,
    "배당": _dividends,
}
