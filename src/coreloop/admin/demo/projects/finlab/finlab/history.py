"""``trend``: one metric of one company over the years."""

from statistics import fmean, linear_regression

from .filings import filings_of, growth, metric_of

# Below this share of the mean per year, a slope is called flat.
_FLAT = 0.01


def trend(company: str, metric: str, years: int = 3) -> dict[str, object]:
    """Follow one metric of one company over its newest years.

    Fits a straight line through the metric's last ``years`` values and says whether it rises, falls or
    stays flat, with the compound growth from the first to the last of them.

    Parameters
    ----------
    company : str
        Full Korean name, or six-digit code.
    metric : str
        One of ``sales``, ``operating_profit``, ``net_income``, ``operating_cash_flow``, ``dividends``
        (millions of won), ``operating_margin``, ``roe``, ``debt_ratio`` (fractions).
    years : int
        How many of the newest years to use, 2 or more.

    Returns
    -------
    dict
        ``company``, ``metric``; ``values``, a dict from year (as text) to value, oldest first;
        ``slope`` per year in the metric's unit; ``growth_per_year``, a fraction, ``None`` where the
        sign changes; ``direction``, ``"rising"``, ``"falling"`` or ``"flat"``.

    Raises
    ------
    LookupError
        If the company is not on file.
    ValueError
        If the metric is unknown, ``years`` is below 2, or fewer years are on file than asked for.

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
    The slope is that of an ordinary least-squares line. A slope under 1 % of the mean value per year is
    called flat.

    Guide
    -----
    - Quote the direction with its years: three years of a cyclical business are not a trend.
    - Growth and slope can differ in sign when the middle years swing; then describe the values instead.

    See Also
    --------
    show : All lines of a statement over all years.
    analysis : Growth ratios, on the axis 성장성.
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
