"""``show``: the lines of a company's statements, as filed."""

from .filings import filings_of

_TOPICS: dict[str, tuple[str, ...]] = {
    "손익": ("sales", "operating_profit", "net_income", "one_off"),
    "재무상태": ("assets", "liabilities", "equity"),
    "현금": ("operating_cash_flow", "capex"),
    "주주환원": ("net_income", "dividends", "shares"),
}


def show(company: str, topic: str) -> dict[str, object]:
    """재무제표 하나의 공시된 항목을 연도별로 보여 준다.

    계산하지 않는다: 회사가 공시한 금액이며, 공시된 모든 연도가 오래된 것부터 나온다. 금액을 인용하거나
    비율이 움직인 까닭을 설명할 때 쓴다.

    Parameters
    ----------
    company : str
        한글 전체 이름이나 여섯 자리 종목 코드.
    topic : str
        ``손익``, ``재무상태``, ``현금``, ``주주환원`` 중 하나.

    Returns
    -------
    dict
        ``company``, ``topic``, ``unit`` (``"KRW million"``, 주식 수는 천 주), ``columns`` (``year``와 항목),
        ``rows`` (연도마다 ``columns`` 차례의 목록 하나).

    Raises
    ------
    LookupError
        공시가 없는 회사일 때.
    ValueError
        모르는 항목일 때.

    Examples
    --------
    >>> statement = show("모람실리콘", "현금")
    >>> statement["columns"]
    ['year', 'operating_cash_flow', 'capex']
    >>> statement["rows"][-1]
    [2024, 201402, 61139]
    >>> show("모람실리콘", "주가")
    Traceback (most recent call last):
    ValueError: unknown topic '주가'; known topics: 손익, 재무상태, 현금, 주주환원

    Notes
    -----
    ``one_off``는 순이익 가운데 회사가 일회성이라고 밝힌 세후 금액이며, 손실이면 음수이다. 주가는
    공시되지 않으므로 저평가 여부에는 답할 수 없다.

    Guide
    -----
    - 인용하기 전에 단위를 바꾼다: 1,000백만 원은 10억 원이다.
    - 기본 항목은 없다: 매출이나 이익에 관한 질문은 손익, 빚에 관한 질문은 재무상태이다.

    See Also
    --------
    analysis : 이 항목으로 계산한 비율.
    compare : The same line for several companies.
    """
    if topic not in _TOPICS:
        raise ValueError(f"unknown topic {topic!r}; known topics: {', '.join(_TOPICS)}")
    columns = ["year", *_TOPICS[topic]]
    filings = filings_of(company)
    return {
        "company": filings[-1].name,
        "topic": topic,
        "unit": "KRW million",
        "columns": columns,
        "rows": [[getattr(filing, column) for column in columns] for filing in filings],
    }
