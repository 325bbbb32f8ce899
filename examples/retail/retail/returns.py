"""What can be done after delivery: giving items back, or taking other variants for them."""

from .orders import get_order_details
from .store import Fields, charge, check_items, check_swap, find, order_in, payment_method, total


def get_return_refund_options(order_id: str, item_ids: list[str] | None = None) -> Fields:
    """Tell what a return would give back, and over which payment methods.

    Asks only; nothing is requested by it.

    Parameters
    ----------
    order_id : str
        ``#W`` and four digits.
    item_ids : list of str, optional
        Items of the order; all of them by default.

    Returns
    -------
    dict
        ``refund`` in dollars, and ``payment_method_ids``: the one that paid, then the customer's gift cards.

    Raises
    ------
    LookupError
        If the order does not exist, or does not hold an item.
    ValueError
        If the order is not delivered.

    Examples
    --------
    >>> get_return_refund_options("#W1007")
    {'refund': 45.5, 'payment_method_ids': ['credit_card_701']}
    >>> get_return_refund_options("#W1007", ["3001"])
    Traceback (most recent call last):
    LookupError: the order has no item 3001, or not that often

    Notes
    -----
    Other credit cards and accounts of the customer are never among them: a refund goes back the way the money
    came, or to a gift card.

    Guide
    -----
    - Call it with exactly the items that the customer wants to return.
    - Name the sum and let the customer choose before requesting the return.

    See Also
    --------
    return_delivered_order_items : Requests the return.
    """
    order = order_in(order_id, "delivered")
    chosen = order["item_ids"] if item_ids is None else item_ids
    check_items(order, chosen)
    return {"refund": total(chosen), "payment_method_ids": _refundable(order)}


def _refundable(order: Fields) -> list[str]:
    methods = find("users", order["user_id"])["payment_methods"]
    cards = [name for name, method in methods.items() if method["source"] == "gift_card"]
    return list(dict.fromkeys([order["paid_with"], *cards]))


def return_delivered_order_items(order_id: str, item_ids: list[str], payment_method_id: str) -> Fields:
    """Request the return of items of a delivered order.

    The customer gets an e-mail with the way to send the items back; the refund follows when they
    have arrived.

    Parameters
    ----------
    order_id : str
        ``#W`` and four digits.
    item_ids : list of str
        Items of the order; one that was ordered twice can be named twice.
    payment_method_id : str
        Receives the refund: the one that paid, or a gift card of the customer.

    Returns
    -------
    dict
        The order as ``get_order_details`` gives it, now ``return requested``, and ``refund`` in dollars.

    Raises
    ------
    LookupError
        If the order, an item of it or the payment method does not exist.
    ValueError
        If the order is not delivered, or the payment method may not receive the refund.

    Examples
    --------
    >>> order = return_delivered_order_items("#W1004", ["2003"], "gift_card_602")
    >>> order["status"], order["refund"]
    ('return requested', 61.25)
    >>> return_delivered_order_items("#W1006", ["2002"], "credit_card_701")
    Traceback (most recent call last):
    ValueError: order #W1006 is processed, not delivered

    Notes
    -----
    One request per order: a second one, or an exchange, is refused afterwards. A gift card is credited only
    when the items have arrived.

    Guide
    -----
    - Ask whether there is anything else of this order to return, and put it all into one call.
    - Name the items, the sum and the payment method, and wait for a yes.

    See Also
    --------
    get_return_refund_options : The sum and the payment methods beforehand.
    exchange_delivered_order_items : Another variant instead of the money.
    """
    order = order_in(order_id, "delivered")
    check_items(order, item_ids)
    payment_method(order, payment_method_id)
    if payment_method_id not in _refundable(order):
        raise ValueError(f"{payment_method_id} did not pay and is no gift card")
    order["status"] = "return requested"
    return {**get_order_details(order_id), "refund": total(item_ids)}


def exchange_delivered_order_items(
    order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
) -> Fields:
    """Request other variants for items of a delivered order.

    The same product in another colour or size. The customer gets an e-mail with the way to send the old items
    back; no new order is made.

    Parameters
    ----------
    order_id : str
        ``#W`` and four digits.
    item_ids : list of str
        Items of the order that go back.
    new_item_ids : list of str
        In the same order, an available variant of the same product for each.
    payment_method_id : str
        Pays or receives the difference.

    Returns
    -------
    dict
        The order as ``get_order_details`` gives it, now ``exchange requested``, and ``difference`` in
        dollars: paid when positive, given back when negative.

    Raises
    ------
    LookupError
        If the order, an item of it or the payment method does not exist.
    ValueError
        If the order is not delivered, the lists do not pair up, a new item is not available, or a gift card
        does not hold the difference.

    Examples
    --------
    >>> order = exchange_delivered_order_items("#W1001", ["1001"], ["1002"], "credit_card_501")
    >>> order["status"], order["difference"]
    ('exchange requested', 3.5)
    >>> exchange_delivered_order_items("#W1007", ["1002"], ["3001"], "credit_card_701")
    Traceback (most recent call last):
    ValueError: 3001 is not another variant of the product of 1002

    Notes
    -----
    One request per order: a second one, or a return, is refused afterwards. The order shows the old items
    until they have arrived.

    Guide
    -----
    - Ask whether there is anything else of this order to exchange, and put it all into one call.
    - Say the difference and its payment method, and wait for a yes.

    See Also
    --------
    get_product_details : Item ids of the variants.
    return_delivered_order_items : The money instead of another variant.
    """
    order = order_in(order_id, "delivered")
    difference = check_swap(order, item_ids, new_item_ids)
    charge(order, payment_method_id, difference)
    order["status"] = "exchange requested"
    return {**get_order_details(order_id), "difference": difference}
