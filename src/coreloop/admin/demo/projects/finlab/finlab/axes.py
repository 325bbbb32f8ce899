"""``analysis``: one company seen along one axis. An axis is a function from filings to figures."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, pstdev

from .filings import Filing, filings_of, growth, ratio

Metrics = dict[str, float | None]

_EXTREMES = {"payout_ratio": 1.0, "debt_ratio": 5.0}


def analysis(company: str, axis: str, overrides: Mapping[str, object] | None = None) -> dict[str, object]:
    """Analyse one company along one axis.

    Computes the ratios of the chosen axis from the company's annual filings, for its newest year and,
    where the axis looks back, over every year on file. Figures that lie outside what a going concern
    can sustain are named in ``flags``: read them before quoting the figure.

    Parameters
    ----------
    company : str
        Full Korean name, or six-digit code.
    axis : str
        What to look at, in Korean.
    overrides : Mapping[str, object], optional
        ``exclude_one_off`` (bool) takes one-off gains and losses out of net income; ``base_year`` (int)
        analyses as of that year and forgets later ones.

    Returns
    -------
    dict
        ``company``, ``axis`` and ``year`` as analysed; ``figures``, a dict of ratios as fractions
        (0.12 is 12 %), ``None`` where undefined; ``flags``, a list such as ``["payout_ratio>1"]``,
        empty when nothing is extreme; ``overrides``, the names of those applied.

    Raises
    ------
    LookupError
        If the company is not on file.
    ValueError
        If the axis or an override is unknown, if ``base_year`` is not on file, or if the axis needs
        two years (``성장성``) and there is one.

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
    Return ratios divide by the year's closing equity and assets, not by averages. Growth is compound
    and per year. Payout is ``None`` in a year without profit. Flags are raised for a payout ratio above
    1 and a debt ratio above 5.

    Guide
    -----
    - Pass the company exactly as the question names it, without a particle: 들찬푸드, not 들찬푸드의.
    - One call answers one axis; the axes share no figure, so a broad question needs several calls.
    - Say which year the figures are of: the newest filing may be older than the question.

    See Also
    --------
    show : The statement lines behind the ratios.
    trend : One metric over the years.
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
