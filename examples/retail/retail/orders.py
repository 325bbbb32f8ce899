"""Orders, and what can be changed before they are packed."""

from .store import Fields, charge, check_swap, complete_address, find, order_in, swap, total, variant

_REASONS = ("no longer needed", "ordered by mistake")


def get_order_details(order_id: str) -> Fields:
    """Look up an order.

    Tells its status, which decides what can be done: a pending order can be changed or cancelled, a delivered
    one returned or exchanged, a processed one only waited for.

    Parameters
    ----------
    order_id : str
        ``#W`` and four digits, the sign included.

    Returns
    -------
    dict
        ``order_id``, ``user_id``, ``status``, ``address``, ``paid_with``, ``total`` in dollars, and
        ``items``: per item ``item_id``, ``product_id``, ``options`` and ``price``.

    Raises
    ------
    LookupError
        If there is no such order.

    Examples
    --------
    >>> order = get_order_details("#W1006")
    >>> order["status"], order["total"], [item["item_id"] for item in order["items"]]
    ('processed', 107.0, ['2002', '3002'])
    >>> get_order_details("W1006")
    Traceback (most recent call last):
    LookupError: no order W1006

    Notes
    -----
    Statuses: ``pending``, ``processed``, ``delivered``, ``cancelled``, and after a request ``return
    requested`` or ``exchange requested``.

    Guide
    -----
    - Compare ``user_id`` with the customer before saying a word about the order.
    - Look the order up again after changing it, instead of working out what it must be now.

    See Also
    --------
    get_user_details : The ids of a customer's orders.
    get_product_details : The other variants of an item's product.
    """
    order = find("orders", order_id)
    kept = {name: order[name] for name in ("user_id", "status", "address", "paid_with")}
    items = [_item(item_id) for item_id in order["item_ids"]]
    return {"order_id": order_id, **kept, "total": total(order["item_ids"]), "items": items}


def _item(item_id: str) -> Fields:
    product_id, found = variant(item_id)
    price = found["price"]
    return {"item_id": item_id, "product_id": product_id, "options": found["options"], "price": price}


def cancel_pending_order(order_id: str, reason: str) -> Fields:
    """Cancel an order that is still pending.

    What was paid goes back the way it came: to a gift card at once, otherwise within a week.

    Parameters
    ----------
    order_id : str
        ``#W`` and four digits.
    reason : str
        ``no longer needed`` or ``ordered by mistake``; the shop takes no other.

    Returns
    -------
    dict
        The order as ``get_order_details`` gives it, now ``cancelled``.

    Raises
    ------
    LookupError
        If there is no such order.
    ValueError
        If it is not pending, or the reason is another one.

    Examples
    --------
    >>> cancel_pending_order("#W1003", "no longer needed")["status"]
    'cancelled'
    >>> cancel_pending_order("#W1006", "no longer needed")
    Traceback (most recent call last):
    ValueError: order #W1006 is processed, not pending

    Notes
    -----
    A cancelled order cannot be taken up again; it has to be placed anew.

    Guide
    -----
    - Ask for the reason; do not choose one for the customer.
    - A single item cannot be cancelled: offer another variant of it instead.

    See Also
    --------
    modify_pending_order_items : Other variants instead of no order.
    """
    order = order_in(order_id, "pending")
    if reason not in _REASONS:
        raise ValueError(f"the reason must be one of: {', '.join(_REASONS)}")
    charge(order, order["paid_with"], -total(order["item_ids"]))
    order["status"] = "cancelled"
    return get_order_details(order_id)


def modify_pending_order_items(
    order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
) -> Fields:
    """Take other variants of the ordered products in a pending order.

    A lamp in another colour, a backpack in another size. Another product needs another order.

    Parameters
    ----------
    order_id : str
        ``#W`` and four digits.
    item_ids : list of str
        Items of the order that are to be replaced.
    new_item_ids : list of str
        In the same order, an available variant of the same product for each.
    payment_method_id : str
        Pays or receives the difference.

    Returns
    -------
    dict
        The order as ``get_order_details`` gives it, and ``difference`` in dollars: paid when positive,
        given back when negative.

    Raises
    ------
    LookupError
        If the order, an item of it or the payment method does not exist.
    ValueError
        If the order is not pending, the lists do not pair up, a new item is not available, or a gift card
        does not hold the difference.

    Examples
    --------
    >>> order = modify_pending_order_items("#W1002", ["2001"], ["2003"], "gift_card_502")
    >>> order["difference"], order["total"]
    (3.25, 61.25)

    Notes
    -----
    Nothing is changed when any of the items is refused.

    Guide
    -----
    - Collect every change first and call once.
    - Say the difference and its payment method, and wait for a yes.

    See Also
    --------
    get_product_details : Item ids of the variants.
    exchange_delivered_order_items : The same after delivery.
    """
    order = order_in(order_id, "pending")
    difference = check_swap(order, item_ids, new_item_ids)
    charge(order, payment_method_id, difference)
    swap(order, item_ids, new_item_ids)
    return {**get_order_details(order_id), "difference": difference}


def modify_pending_order_address(
    order_id: str,
    address1: str,
    address2: str,
    city: str,
    state: str,
    country: str,
    zip: str,  # noqa: A002 - the tool's argument
) -> Fields:
    """Send a pending order to another address.

    Only this order: the customer's own address and other orders stay as they are.

    Parameters
    ----------
    order_id : str
        ``#W`` and four digits.
    address1, address2 : str
        Street and number; flat or floor, empty when there is none.
    city, state, country, zip : str
        State by its two letters, country as ``USA``, postal code in five digits.

    Returns
    -------
    dict
        The order as ``get_order_details`` gives it, with the new address.

    Raises
    ------
    LookupError
        If there is no such order.
    ValueError
        If it is not pending, or a part other than ``address2`` is empty.

    Examples
    --------
    >>> order = modify_pending_order_address("#W1005", "4 Mill Lane", "", "Boulder", "CO", "USA", "80302")
    >>> order["address"]["city"], order["status"]
    ('Boulder', 'pending')

    Notes
    -----
    All parts are replaced; a part that stays must be given again.

    Guide
    -----
    - Read the whole new address back and wait for a yes.
    - For the customer's own address, ``get_user_details`` has every part.

    See Also
    --------
    modify_user_address : The default for orders to come.
    """
    order = order_in(order_id, "pending")
    order["address"] = complete_address(address1, address2, city, state, country, zip)
    return get_order_details(order_id)
