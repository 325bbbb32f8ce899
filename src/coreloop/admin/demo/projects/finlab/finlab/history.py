"""``trend``: one metric of one company over the years."""

from statistics import fmean, linear_regression

from .filings import filings_of, growth, metric_of

# Below this share of the mean per year, a slope is called flat.
_FLAT = 0.01


def trend(company: str, metric: str, years: int = 3) -> dict[str, object]:
    """회사 하나의 지표 하나를 최근 몇 해에 걸쳐 본다.

    마지막 ``years``개 값에 직선을 맞추어 오르는지, 내리는지, 제자리인지 말하고, 처음부터 끝까지의 연
    복리 성장률을 함께 준다.

    Parameters
    ----------
    company : str
        한글 전체 이름이나 여섯 자리 종목 코드.
    metric : str
        ``sales``, ``operating_profit``, ``net_income``, ``operating_cash_flow``, ``dividends``
        (백만 원), ``operating_margin``, ``roe``, ``debt_ratio`` (비율) 중 하나.
    years : int
        최근 몇 해를 볼지, 2 이상.

    Returns
    -------
    dict
        ``company``, ``metric``; 연도(글자)에서 값으로 가는 ``values``, 오래된 것부터; 지표의 단위로 한 해의
        기울기 ``slope``; 비율 ``growth_per_year`` (부호가 바뀌면 ``None``); ``"rising"``, ``"falling"``,
        ``"flat"`` 중 하나인 ``direction``.

    Raises
    ------
    LookupError
        공시가 없는 회사일 때.
    ValueError
        모르는 지표일 때, ``years``가 2보다 작을 때, 공시된 해가 ``years``보다 적을 때.

    Examples
    --------
    >>> result = trend("나린반도체", "sales", years=3)
    >>> result["direction"], result["growth_per_year"]
    ('rising', 0.127)
    >>> trend("여울수소", "sales", years=3)
    Traceback (most recent call last):
    ValueError: too few years: asked for 3, 2 on file

    Notes
    -----
    기울기는 최소제곱 직선의 것이다. 한 해 기울기가 평균의 1 %보다 작으면 제자리로 본다.

    Guide
    -----
    - 방향은 연도와 함께 말한다: 경기를 타는 업종의 세 해는 추세가 아니다.
    - 중간 연도가 출렁이면 성장률과 기울기의 부호가 다를 수 있다. 그때는 값을 말한다.

    See Also
    --------
    show : 재무제표 하나의 모든 항목과 연도.
    analysis : 성장성 축의 성장률.
    """
    value_of = metric_of(metric)
    if years < 2:
        raise ValueError(f"years must be 2 or more, not {years}")
    filings = filings_of(company)
    if len(filings) < years:
        raise ValueError(f"too few years: asked for {years}, {len(filings)} on file")
    used = filings[-years:]
    values = [value_of(filing) for filing in used]
    slope = linear_regression([filing.year for filing in used], values).slope
    return {
        "company": used[-1].name,
        "metric": metric,
        "values": {str(filing.year): value for filing, value in zip(used, values, strict=True)},
        "slope": round(slope, 4),
        "growth_per_year": growth(values[0], values[-1], years=years - 1),
        "direction": _direction(slope, fmean(values)),
    }


def _direction(slope: float, mean: float) -> str:
    if abs(slope) <= _FLAT * abs(mean):
        return "flat"
    return "rising" if slope > 0 else "falling"
