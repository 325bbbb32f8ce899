"""``get_customer``: a customer's account."""

from .tables import find_customer


def get_customer(customer: str) -> dict[str, object]:
    """Get a customer's account.

    The plan decides which features the customer has, and the seats how many people can sign in.

    Parameters
    ----------
    customer : str
        Full name of the shop, or customer id; upper and lower case are the same.

    Returns
    -------
    dict
        ``id``, ``name``; ``plan``, ``"Starter"``, ``"Team"`` or ``"Business"``; ``seats``, an int; ``since``,
        the day of the sign-up as ``YYYY-MM-DD``.

    Raises
    ------
    LookupError
        If no customer has this name or id.

    Examples
    --------
    >>> account = get_customer("Quillfern Bakery")
    >>> account["id"], account["plan"]
    ('C-207', 'Team')
    >>> get_customer("Quillfern")
    Traceback (most recent call last):
    LookupError: customer 'Quillfern' not found; give the full name or the id

    Notes
    -----
    A part of a name is not enough: several shops may share it.

    Guide
    -----
    - Name the plan in the answer when a feature depends on it.

    See Also
    --------
    list_orders : What the customer bought.
    list_tickets : What the customer reported.
    """
    row = find_customer(customer)
    return {**row, "seats": int(row["seats"])}
