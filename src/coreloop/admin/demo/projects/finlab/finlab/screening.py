"""``scan`` and ``compare``: several companies side by side, by one figure."""

from collections.abc import Callable, Sequence
from statistics import median

from .filings import Filing, filings_of, latest_filings, metric_of, ratio

# The second value says whether a high figure ranks first.
_TARGETS: dict[str, tuple[Callable[[Filing], float], bool]] = {
    "영업이익률": (lambda filing: ratio(filing.operating_profit, filing.sales), True),
    "부채비율": (lambda filing: ratio(filing.liabilities, filing.equity), False),
    "현금창출": (lambda filing: ratio(filing.operating_cash_flow, filing.sales), True),
    "배당": (lambda filing: ratio(filing.dividends, filing.equity), True),
}


def scan(target: str, limit: int = 5, sector: str | None = None) -> dict[str, object]:
    """Rank companies by one target, best first.

    Takes the newest filing of every company, of one sector or of all, and ranks by the target. For
    ``부채비율`` the lowest ranks first, for every other target the highest.

    Parameters
    ----------
    target : str
        One of ``영업이익률`` (operating margin), ``부채비율`` (debt ratio), ``현금창출`` (operating cash
        flow to sales), ``배당`` (dividends to equity).
    limit : int
        How many companies to return, 1 or more; a small sector may have fewer.
    sector : str, optional
        ``반도체``, ``식품``, ``기계``, ``바이오``, ``유통`` or ``에너지``; all of them when left out.

    Returns
    -------
    dict
        ``target``; ``universe``, the number of companies ranked; ``median`` of the target among them;
        ``rows``, best first, each with ``rank``, ``company``, ``sector``, ``year`` and ``value`` (a
        fraction).

    Raises
    ------
    LookupError
        If the sector is unknown.
    ValueError
        If the target is unknown, or ``limit`` is below 1.

    Examples
    --------
    >>> found = scan("부채비율", limit=2, sector="에너지")
    >>> [row["company"] for row in found["rows"]], found["universe"]
    (['도담그리드', '마루바람파워'], 5)
    >>> scan("배당", limit=0)
    Traceback (most recent call last):
    ValueError: limit must be 1 or more, not 0

    Notes
    -----
    Companies with equal values keep the order of the table. The median is of the whole universe, not
    of the rows returned.

    Guide
    -----
    - Name the universe in the answer: a first place among 5 companies says less than one among 30.
    - A sector is one of the six words above; map the question's wording onto it first.

    See Also
    --------
    compare : A metric's history for companies that you name yourself.
    """
    if target not in _TARGETS:
        raise ValueError(f"unknown target {target!r}; known targets: {', '.join(_TARGETS)}")
    if limit < 1:
        raise ValueError(f"limit must be 1 or more, not {limit}")
    value_of, high_first = _TARGETS[target]
    universe = latest_filings(sector)
    ranked = sorted(universe, key=value_of, reverse=high_first)
    return {
        "target": target,
        "universe": len(universe),
        "median": round(median(map(value_of, universe)), 4),
        "rows": [
            {
                "rank": rank,
                "company": filing.name,
                "sector": filing.sector,
                "year": filing.year,
                "value": value_of(filing),
            }
            for rank, filing in enumerate(ranked[:limit], start=1)
        ],
    }


def compare(companies: Sequence[str], metric: str) -> dict[str, object]:
    """Compare one metric of two or more companies.

    Lines the companies up by year, so that a lead can be told from a single good year, and names who
    leads in the newest year that all of them have filed.

    Parameters
    ----------
    companies : Sequence[str]
        Two or more full Korean names or six-digit codes, each once.
    metric : str
        One of ``sales``, ``operating_profit``, ``net_income``, ``operating_cash_flow``, ``dividends``
        (millions of won), ``operating_margin``, ``roe``, ``debt_ratio`` (fractions).

    Returns
    -------
    dict
        ``metric``; ``year``, the newest common one; ``highest``, the company with the highest value in
        it; ``rows``, one per company in the order given, each with ``company`` and ``values``, a dict
        from year (as text) to value.

    Raises
    ------
    LookupError
        If a company is not on file.
    TypeError
        If ``companies`` is one string instead of a list.
    ValueError
        If fewer than two different companies are given, the metric is unknown, or no year is common to
        all.

    Examples
    --------
    >>> result = compare(["나린반도체", "모람실리콘"], "operating_margin")
    >>> result["highest"], result["year"]
    ('나린반도체', 2024)
    >>> compare(["나린반도체"], "roe")
    Traceback (most recent call last):
    ValueError: compare needs two or more different companies, not 1

    Notes
    -----
    The highest value is not always the best: for ``debt_ratio`` the leader is the most indebted.

    Guide
    -----
    - Use one metric per call; amounts of companies of different size say little, so prefer a fraction.
    - A company with a short history is compared over the years that it has.

    See Also
    --------
    scan : The same kind of figure, ranked over a sector.
    trend : One company's metric with its slope.
    """
    if isinstance(companies, str):
        raise TypeError("companies must be a list of names, not one string")
    value_of = metric_of(metric)
    histories = {found[-1].name: found for found in map(filings_of, companies)}
    if len(histories) < 2:
        raise ValueError(f"compare needs two or more different companies, not {len(histories)}")
    rows = {name: {filing.year: value_of(filing) for filing in found} for name, found in histories.items()}
    year = _newest_common_year([set(values) for values in rows.values()])
    return {
        "metric": metric,
        "year": year,
        "highest": max(rows, key=lambda name: rows[name][year]),
        "rows": [
            {"company": name, "values": {str(when): value for when, value in values.items()}}
            for name, values in rows.items()
        ],
    }


def _newest_common_year(years: Sequence[set[int]]) -> int:
    common = set.intersection(*years)
    if not common:
        raise ValueError("no year is common to all of the companies")
    return max(common)
