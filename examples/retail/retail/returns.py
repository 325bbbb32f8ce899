"""What can be done after delivery: giving items back, or taking other variants for them."""

from .orders import get_order_details
from .store import (
    Fields,
    find,
    from_json,
    order_in,
    payment_method,
    positions,
    price_difference,
    replacements,
)


def get_return_refund_options(order_id: str, item_ids: list[str] | str) -> list[Fields]:
    """Tell over which payment methods a return can be refunded.

    Asks only; nothing is requested by it.

    Parameters
    ----------
    order_id : str
        ``#W`` and seven digits.
    item_ids : list of str
        Items of the order, also as JSON text.

    Returns
    -------
    list of dict
        Per payment method ``id`` and ``description``: the one that paid, then the customer's gift cards.

    Raises
    ------
    LookupError
        If the order does not exist, or does not hold an item.
    ValueError
        If ``item_ids`` is empty or no JSON array.

    Examples
    --------
    >>> get_return_refund_options("#W1000007", ["1000000102"])
    [{'id': 'credit_card_7000001', 'description': 'Credit Card (mastercard ****7719)'}]
    >>> [option["description"] for option in get_return_refund_options("#W1000004", '["1000000203"]')]
    ['PayPal', 'Gift Card']
    >>> get_return_refund_options("#W1000007", ["1000000301"])
    Traceback (most recent call last):
    LookupError: item 1000000301 not found

    Notes
    -----
    Other credit cards and accounts of the customer are never among them: a refund goes back the way the money
    came, or to a gift card. Whether the order can be returned is not looked at.

    Guide
    -----
    - Call it with exactly the items that the customer wants to return.
    - Let the customer choose one of them before requesting the return.

    See Also
    --------
    return_delivered_order_items : Requests the return.
    """
    order = find("orders", order_id)
    positions(order, from_json(item_ids, list))
    methods = find("users", order["user_id"])["payment_methods"]
    return [{"id": name, "description": _description(methods[name])} for name in _refundable(order)]


def _refundable(order: Fields) -> list[str]:
    methods = find("users", order["user_id"])["payment_methods"]
    cards = [name for name, method in methods.items() if method["source"] == "gift_card"]
    return list(dict.fromkeys([order["payment_history"][0]["payment_method_id"], *cards]))


def _description(method: Fields) -> str:
    if method["source"] == "credit_card":
        return f"Credit Card ({method['brand']} ****{method['last_four']})"
    return {"paypal": "PayPal", "gift_card": "Gift Card"}[method["source"]]


def return_delivered_order_items(order_id: str, item_ids: list[str], payment_method_id: str) -> Fields:
    """Request the return of items of a delivered order.

    The customer gets an e-mail with the way to send the items back; the refund follows when they
    have arrived.

    Parameters
    ----------
    order_id : str
        ``#W`` and seven digits.
    item_ids : list of str
        Items of the order; one that was ordered twice can be named twice.
    payment_method_id : str
        Receives the refund: the one that paid, or a gift card of the customer.

    Returns
    -------
    dict
        The order as ``get_order_details`` gives it, now ``return requested``, with ``return_items``, sorted,
        and ``return_payment_method_id``.

    Raises
    ------
    LookupError
        If the order, an item of it or the payment method does not exist.
    ValueError
        If the order is not delivered, or the payment method may not receive the refund.

    Examples
    --------
    >>> order = return_delivered_order_items("#W1000004", ["1000000203"], "gift_card_6000002")
    >>> order["status"], order["return_items"]
    ('return requested', ['1000000203'])
    >>> return_delivered_order_items("#W1000006", ["1000000202"], "credit_card_7000001")
    Traceback (most recent call last):
    ValueError: non-delivered order cannot be returned

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
    get_return_refund_options : The payment methods that may receive the refund.
    exchange_delivered_order_items : Another variant instead of the money.
    """
    order = order_in("delivered", order_id, "returned")
    payment_method(order, payment_method_id)
    if payment_method_id not in _refundable(order):
        raise ValueError("the payment method must be the one that paid, or a gift card")
    positions(order, item_ids)
    order["status"] = "return requested"
    order.update(return_items=sorted(item_ids), return_payment_method_id=payment_method_id)
    return get_order_details(order_id)


def exchange_delivered_order_items(
    order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
) -> Fields:
    """Request other variants for items of a delivered order.

    The same product in another colour or size. The customer gets an e-mail with the way to send the old items
    back; no new order is made.

    Parameters
    ----------
    order_id : str
        ``#W`` and seven digits.
    item_ids : list of str
        Items of the order that go back.
    new_item_ids : list of str
        In the same order, an available variant of the same product for each.
    payment_method_id : str
        Pays or receives the difference.

    Returns
    -------
    dict
        The order as ``get_order_details`` gives it, now ``exchange requested``, with ``exchange_items`` and
        ``exchange_new_items``, both sorted, ``exchange_payment_method_id``, and ``exchange_price_difference``
        in dollars: to pay when positive, to give back when negative.

    Raises
    ------
    LookupError
        If the order, an item of it or the payment method does not exist.
    ValueError
        If the order is not delivered, the lists do not pair up, a new item is not available, or a gift card
        does not hold the difference.

    Examples
    --------
    >>> lamps = ["1000000101"], ["1000000102"]
    >>> order = exchange_delivered_order_items("#W1000001", *lamps, "credit_card_5000001")
    >>> order["status"], order["exchange_price_difference"]
    ('exchange requested', 3.5)
    >>> exchange_delivered_order_items("#W1000007", ["1000000102"], ["1000000301"], "credit_card_7000001")
    Traceback (most recent call last):
    ValueError: new item 1000000301 not found or available

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
    order = order_in("delivered", order_id, "exchanged")
    difference = price_difference(order, replacements(order, item_ids, new_item_ids))
    payment_method(order, payment_method_id, difference)
    order["status"] = "exchange requested"
    order["exchange_items"], order["exchange_new_items"] = sorted(item_ids), sorted(new_item_ids)
    order.update(exchange_payment_method_id=payment_method_id, exchange_price_difference=difference)
    return get_order_details(order_id)
