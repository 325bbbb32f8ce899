"""``show``: the lines of a company's statements, as filed."""

from .filings import filings_of

_TOPICS: dict[str, tuple[str, ...]] = {
    "손익": ("sales", "operating_profit", "net_income", "one_off"),
    "재무상태": ("assets", "liabilities", "equity"),
    "현금": ("operating_cash_flow", "capex"),
    "주주환원": ("net_income", "dividends", "shares"),
}


def show(company: str, topic: str) -> dict[str, object]:
    """Show the filed lines of one statement, year by year.

    Nothing is computed: these are the amounts that the company filed, for every year on file, oldest
    first. Use them to quote an amount, or to explain what moved a ratio.

    Parameters
    ----------
    company : str
        Full Korean name, or six-digit code.
    topic : str
        One of ``손익`` (income), ``재무상태`` (financial position), ``현금`` (cash), ``주주환원``
        (shareholder returns).

    Returns
    -------
    dict
        ``company``, ``topic``, ``unit`` (``"KRW million"``; shares are in thousands), ``columns``
        (``year`` and the topic's lines) and ``rows``, one list per year in the order of ``columns``.

    Raises
    ------
    LookupError
        If the company is not on file.
    ValueError
        If the topic is unknown.

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
    ``one_off`` is the part of net income that the company itself reports as not recurring, after tax;
    a loss is negative. Share prices are not filed, so nothing here answers a question about valuation.

    Guide
    -----
    - Convert before quoting: 1,000 million won is 10억 원.
    - There is no default topic: a question on sales or profit is 손익, one on debt is 재무상태.

    See Also
    --------
    analysis : Ratios computed from these lines.
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
