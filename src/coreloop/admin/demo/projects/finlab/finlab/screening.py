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
    """회사들을 기준 하나로 줄 세운다. 좋은 것이 먼저 나온다.

    업종 하나나 전체에서 회사마다 가장 최근 공시를 골라 줄 세운다. ``부채비율``은 낮은 것이, 다른 기준은
    높은 것이 먼저 나온다.

    Parameters
    ----------
    target : str
        ``영업이익률``, ``부채비율``, ``현금창출`` (매출 대비 영업현금흐름), ``배당`` (자본 대비 배당)
        중 하나.
    limit : int
        몇 곳을 돌려줄지, 1 이상. 작은 업종에는 그보다 적을 수 있다.
    sector : str, optional
        ``반도체``, ``식품``, ``기계``, ``바이오``, ``유통``, ``에너지`` 중 하나. 빼면 전체.

    Returns
    -------
    dict
        ``target``; 줄 세운 회사 수 ``universe``; 그 가운데값 ``median``; 좋은 것부터 ``rank``,
        ``company``, ``sector``, ``year``, ``value`` (비율)를 담은 ``rows``.

    Raises
    ------
    LookupError
        모르는 업종일 때.
    ValueError
        모르는 기준일 때, ``limit``이 1보다 작을 때.

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
    값이 같으면 표의 차례를 따른다. 가운데값은 돌려준 행이 아니라 전체의 것이다.

    Guide
    -----
    - 몇 곳 가운데서인지 답에 적는다: 다섯 곳 중 1위는 서른 곳 중 1위와 다르다.
    - 업종은 위의 여섯 낱말뿐이므로 질문의 말을 먼저 여기에 맞춘다.

    See Also
    --------
    compare : 직접 고른 회사들의 지표 이력.
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
    """회사 둘 이상의 지표 하나를 견준다.

    연도별로 나란히 놓으므로 한 해만 좋았는지 앞서 왔는지 알 수 있고, 모두 공시한 가장 최근 연도에 누가
    앞서는지 말한다.

    Parameters
    ----------
    companies : Sequence[str]
        둘 이상의 한글 전체 이름이나 여섯 자리 종목 코드, 겹치지 않게.
    metric : str
        ``sales``, ``operating_profit``, ``net_income``, ``operating_cash_flow``, ``dividends``
        (백만 원), ``operating_margin``, ``roe``, ``debt_ratio`` (비율) 중 하나.

    Returns
    -------
    dict
        ``metric``; 모두 있는 가장 최근 ``year``; 그해 값이 가장 높은 회사 ``highest``; 준 차례대로 회사마다
        ``company``와, 연도(글자)에서 값으로 가는 ``values``를 담은 ``rows``.

    Raises
    ------
    LookupError
        공시가 없는 회사가 있을 때.
    TypeError
        ``companies``가 목록이 아니라 문자열 하나일 때.
    ValueError
        서로 다른 회사가 둘보다 적을 때, 모르는 지표일 때, 모두 공시한 연도가 없을 때.

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
    가장 높은 값이 늘 가장 좋은 것은 아니다: ``debt_ratio``는 빚이 가장 많은 회사가 앞선다.

    Guide
    -----
    - 호출 한 번에 지표 하나만 쓴다. 규모가 다른 회사의 금액은 견주기 어려우므로 비율이 낫다.
    - 이력이 짧은 회사는 있는 연도만 견준다.

    See Also
    --------
    scan : 같은 종류의 수치를 업종에서 줄 세운 것.
    trend : 회사 하나의 지표와 기울기.
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
