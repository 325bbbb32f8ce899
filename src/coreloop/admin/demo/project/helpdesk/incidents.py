"""``list_incidents``: current and recent incidents."""

from .tables import read_table

_SERVICES = ("booking", "payments", "register", "sync")


def list_incidents(service: str | None = None) -> list[dict[str, object]]:
    """List the incidents of the last weeks, newest first.

    The list is that of the public status page, with advice for the customer in each summary.

    Parameters
    ----------
    service : str, optional
        ``booking``, ``payments``, ``register`` or ``sync``; all of them by default.

    Returns
    -------
    list of dict
        Each with ``id``, ``service``, ``started`` (``YYYY-MM-DD``), ``state`` and ``summary``.

    Raises
    ------
    ValueError
        If the service is unknown.

    Examples
    --------
    >>> [(incident["id"], incident["state"]) for incident in list_incidents("payments")]
    [('I-27', 'resolved')]
    >>> list_incidents("email")
    Traceback (most recent call last):
    ValueError: unknown service 'email'; known: booking, payments, register, sync

    Notes
    -----
    ``state`` is ``monitoring`` while engineers work on the incident, then ``resolved``.

    Guide
    -----
    - Name the day on which the incident started.

    See Also
    --------
    search_articles : Instructions from the help center.
    """
    if service is not None and service not in _SERVICES:
        raise ValueError(f"unknown service {service!r}; known: {', '.join(_SERVICES)}")
    return [dict(row) for row in read_table("incidents") if service in (None, row["service"])]
