"""``list_orders`` and ``refund_order``: what a customer paid for."""

from .tables import find_customer, find_row, read_table

_MOST_WITHOUT_APPROVAL = 100


def list_orders(customer: str) -> list[dict[str, object]]:
    """List a customer's orders, newest first.

    Hardware and subscriptions are both orders. Use the list to find the order that a customer means: few
    customers know its number.

    Parameters
    ----------
    customer : str
        Full name of the shop, or customer id; upper and lower case are the same.

    Returns
    -------
    list of dict
        Each with ``id``, ``item``, ``total`` (US dollars), ``placed`` (``YYYY-MM-DD``) and ``status``.

    Raises
    ------
    LookupError
        If no customer has this name or id.

    Examples
    --------
    >>> [(order["id"], order["total"]) for order in list_orders("Quillfern Bakery")[:2]]
    [('ORD-48219', 100.0), ('ORD-48235', 190.0)]
    >>> list_orders("C-1")
    Traceback (most recent call last):
    LookupError: customer 'C-1' not found; give the full name or the id

    Notes
    -----
    Totals include tax and shipping.

    Guide
    -----
    - If two orders fit the question, name both and ask which is meant.

    See Also
    --------
    refund_order : Refund an order.
    """
    key = find_customer(customer)["id"]
    return [
        {"id": row["id"], "item": row["item"], "total": float(row["total"])}
        | {name: row[name] for name in ("placed", "status")}
        for row in read_table("orders")
        if row["customer_id"] == key
    ]


def refund_order(order_id: str, amount: float, reason: str = "") -> dict[str, object]:
    """Refund an order, in full or in part.

    The money goes back to the original card, and the customer gets a credit note by email.

    Parameters
    ----------
    order_id : str
        The order's ``id`` from ``list_orders``.
    amount : float
        US dollars, up to the order's total.
    reason : str
        Printed on the credit note.

    Returns
    -------
    dict
        ``order_id``, ``amount``, ``reason``; ``reference`` of the credit note; ``days``, how many business
        days the bank takes.

    Raises
    ------
    LookupError
        If the order does not exist.
    PermissionError
        If the refund has to be approved first.
    ValueError
        If the order cannot be refunded as asked.

    Examples
    --------
    >>> refund_order("ORD-48219", 10, reason="scratched on arrival")["reference"]
    'CN-48219'
    >>> refund_order("ORD-48219", 5000, reason="scratched on arrival")
    Traceback (most recent call last):
    ValueError: amount must be above 0 and at most the order's total

    Notes
    -----
    A refund cannot be undone.

    Guide
    -----
    - Tell the customer the reference and the number of days.

    See Also
    --------
    escalate : Hand a case to another team.
    """
    order = find_row("orders", order_id)
    if not reason.strip():
        raise ValueError("reason must not be empty")
    if not 0 < amount <= float(order["total"]):
        raise ValueError("amount must be above 0 and at most the order's total")
    if amount > _MOST_WITHOUT_APPROVAL:
        raise PermissionError(f"a refund of {amount:.2f} has to be approved by the billing team")
    return {
        "order_id": order["id"],
        "amount": float(amount),
        "reason": reason,
        "reference": order["id"].replace("ORD", "CN"),
        "days": 5,
    }
