"""``list_tickets``, ``update_ticket`` and ``escalate``: the problems that customers reported."""

from .tables import find_customer, find_row, read_table

_STATUSES = ("open", "pending", "solved")
_PRIORITIES = ("low", "normal", "high", "urgent")
_TEAMS = {"billing": 1, "engineering": 3, "onboarding": 2}
"""Business days within which a team answers."""


def list_tickets(customer: str, status: str = "open") -> list[dict[str, object]]:
    """List a customer's tickets, newest first.

    Check the list before you open a ticket: the customer may have reported the problem already.

    Parameters
    ----------
    customer : str
        Full name of the shop, or customer id; upper and lower case are the same.
    status : str
        ``open``, ``pending`` or ``solved``.

    Returns
    -------
    list of dict
        Each with ``id``, ``subject``, ``status`` and ``opened`` (``YYYY-MM-DD``); empty if the customer has
        no ticket with this status.

    Raises
    ------
    LookupError
        If no customer has this name or id.
    ValueError
        If the status is unknown.

    Examples
    --------
    >>> [(ticket["id"], ticket["subject"]) for ticket in list_tickets("Quillfern Bakery")]
    [('T-1071', 'Reminder emails arrive twice')]
    >>> list_tickets("Quillfern Bakery", status="closed")
    Traceback (most recent call last):
    ValueError: unknown status 'closed'; known: open, pending, solved

    Notes
    -----
    The list has the tickets of everybody at the shop, not only those of the person who asks.

    Guide
    -----
    - Quote the subject, so that the customer sees which ticket is meant.

    See Also
    --------
    update_ticket : Change a ticket.
    """
    _check("status", status, _STATUSES)
    key = find_customer(customer)["id"]
    fields = ("id", "subject", "status", "opened")
    return [
        {name: row[name] for name in fields}
        for row in read_table("tickets")
        if row["customer_id"] == key and row["status"] == status
    ]


def update_ticket(
    ticket_id: str, status: str | None = None, priority: str | None = None, note: str | None = None
) -> dict[str, object]:
    """Change a ticket: its status, its priority, or both.

    Fields that are left out stay unchanged. The customer is notified of a new status, but not of a new
    priority.

    Parameters
    ----------
    ticket_id : str
        Which ticket.
    status : str, optional
        ``open``, ``pending`` or ``solved``.
    priority : str, optional
        How soon the ticket should be answered.
    note : str, optional
        For the team; the customer does not see it.

    Returns
    -------
    dict
        The ticket with its changes: ``id``, ``subject``, ``status``, ``priority``, ``note``.

    Raises
    ------
    LookupError
        If the ticket does not exist.
    ValueError
        If a value is not allowed.

    Examples
    --------
    >>> update_ticket("T-1071", priority="high")["priority"]
    'high'
    >>> update_ticket("T-1071", status="done")
    Traceback (most recent call last):
    ValueError: unknown status 'done'; known: open, pending, solved

    Notes
    -----
    Tickets are answered by priority, then by age.

    Guide
    -----
    - Leave a note that says why the priority changed.

    See Also
    --------
    escalate : Hand a case to another team.
    """
    ticket = find_row("tickets", ticket_id)
    if status is not None:
        _check("status", status, _STATUSES)
    if priority is not None:
        _check("priority", priority, _PRIORITIES)
    return {
        "id": ticket["id"],
        "subject": ticket["subject"],
        "status": status or ticket["status"],
        "priority": priority or ticket["priority"],
        "note": note,
    }


def escalate(team: str, summary: str) -> dict[str, object]:
    """Hand a case to another team.

    The team gets the summary and the conversation so far, and takes over the answer to the customer.

    Parameters
    ----------
    team : str
        ``billing``, ``engineering`` or ``onboarding``.
    summary : str
        What the customer needs and what was tried, in one or two sentences.

    Returns
    -------
    dict
        ``team``, ``summary``; ``days``, the business days within which the team answers.

    Raises
    ------
    ValueError
        If the team is unknown.

    Examples
    --------
    >>> escalate("billing", "Wants a refund for a label printer.")["days"]
    1
    >>> escalate("legal", "Asks for a contract.")
    Traceback (most recent call last):
    ValueError: unknown team 'legal'; known: billing, engineering, onboarding

    Notes
    -----
    ``days`` are business days in the United States.

    Guide
    -----
    - Tell the customer which team has the case and when it answers.

    See Also
    --------
    update_ticket : Change a ticket that stays with support.
    """
    _check("team", team, tuple(_TEAMS))
    return {"team": team, "summary": summary, "days": _TEAMS[team]}


def _check(what: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"unknown {what} {value!r}; known: {', '.join(known)}")
