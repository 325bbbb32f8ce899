"""Orders, and what can be changed before they are packed."""

from copy import deepcopy

from .store import Fields, complete_address, find, order_in, price_difference, replacements, settle

_REASONS = ("no longer needed", "ordered by mistake")


def get_order_details(order_id: str) -> Fields:
    """Look up an order.

    Tells its status, which decides what can be done: a pending order can be changed or cancelled, a delivered
    one returned or exchanged, a processed one only waited for.

    Parameters
    ----------
    order_id : str
        ``#W`` and seven digits, the sign included.

    Returns
    -------
    dict
        ``order_id``, ``user_id``, ``address`` in its parts, ``items`` (each ``name``, ``product_id``,
        ``item_id``, ``price`` in dollars, ``options``), ``fulfillments`` (of what was sent: each
        ``tracking_id``, ``item_ids``), ``status`` and ``payment_history`` (each ``transaction_type``,
        ``amount``, ``payment_method_id``); and what a cancellation, return or exchange has added.

    Raises
    ------
    LookupError
        If there is no such order.

    Examples
    --------
    >>> order = get_order_details("#W1000006")
    >>> order["status"], [item["item_id"] for item in order["items"]]
    ('processed', ['1000000202', '1000000302'])
    >>> order["payment_history"]
    [{'transaction_type': 'payment', 'amount': 107.0, 'payment_method_id': 'credit_card_7000001'}]
    >>> get_order_details("W1000006")
    Traceback (most recent call last):
    LookupError: order not found

    Notes
    -----
    Statuses: ``pending``, ``pending (item modified)``, ``processed``, ``delivered``, ``cancelled``, and after
    a request ``return requested`` or ``exchange requested``.

    Guide
    -----
    - Compare ``user_id`` with the customer before saying a word about the order.
    - Look the order up again after changing it, instead of working out what it must be now.

    See Also
    --------
    get_user_details : The ids of a customer's orders.
    get_product_details : The other variants of an item's product.
    """
    return deepcopy(find("orders", order_id))


def cancel_pending_order(order_id: str, reason: str) -> Fields:
    """Cancel an order that is still pending.

    What was paid goes back the way it came: to a gift card at once, otherwise within a week.

    Parameters
    ----------
    order_id : str
        ``#W`` and seven digits.
    reason : str
        ``no longer needed`` or ``ordered by mistake``; the shop takes no other.

    Returns
    -------
    dict
        The order as ``get_order_details`` gives it, now ``cancelled``, with the refund in ``payment_history``
        and ``cancel_reason``.

    Raises
    ------
    LookupError
        If there is no such order.
    ValueError
        If it is not pending, or the reason is another one.

    Examples
    --------
    >>> order = cancel_pending_order("#W1000003", "no longer needed")
    >>> order["status"], order["payment_history"][-1]["transaction_type"]
    ('cancelled', 'refund')
    >>> cancel_pending_order("#W1000006", "no longer needed")
    Traceback (most recent call last):
    ValueError: non-pending order cannot be cancelled

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
    order = order_in("pending", order_id, "cancelled")
    if reason not in _REASONS:
        raise ValueError("invalid reason")
    for paid in list(order["payment_history"]):
        settle(order, paid["payment_method_id"], -paid["amount"])
    order.update(status="cancelled", cancel_reason=reason)
    return get_order_details(order_id)


def modify_pending_order_items(
    order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
) -> Fields:
    """Take other variants of the ordered products in a pending order.

    A lamp in another colour, a backpack in another size. Another product needs another order.

    Parameters
    ----------
    order_id : str
        ``#W`` and seven digits.
    item_ids : list of str
        Items of the order that are to be replaced.
    new_item_ids : list of str
        In the same order, an available variant of the same product for each.
    payment_method_id : str
        Pays or receives the difference.

    Returns
    -------
    dict
        The order as ``get_order_details`` gives it, now ``pending (item modified)``, with the new items, and
        with the difference in ``payment_history``: a ``payment``, or a ``refund`` when it is not dearer.

    Raises
    ------
    LookupError
        If the order, an item of it or the payment method does not exist.
    ValueError
        If the order is not pending, the lists do not pair up, a new item is not available, or a gift card
        does not hold the difference.

    Examples
    --------
    >>> order = modify_pending_order_items("#W1000002", ["1000000201"], ["1000000203"], "gift_card_5000002")
    >>> order["status"], order["items"][0]["price"]
    ('pending (item modified)', 61.25)
    >>> order["payment_history"][-1]
    {'transaction_type': 'payment', 'amount': 3.25, 'payment_method_id': 'gift_card_5000002'}
    >>> modify_pending_order_items("#W1000009", ["1000000401"], [], "credit_card_5000001")
    Traceback (most recent call last):
    ValueError: the number of new items does not match

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
    order = order_in("pending", order_id, "modified")
    new = replacements(order, item_ids, new_item_ids)
    settle(order, payment_method_id, price_difference(order, new))
    order["items"] = [new.get(position, item) for position, item in enumerate(order["items"])]
    order["status"] = "pending (item modified)"
    return get_order_details(order_id)


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
        ``#W`` and seven digits.
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
    >>> order = modify_pending_order_address("#W1000005", "4 Mill Lane", "", "Boulder", "CO", "USA", "80302")
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
    order = order_in("pending", order_id, "modified")
    order["address"] = complete_address(address1, address2, city, state, country, zip)
    return get_order_details(order_id)
