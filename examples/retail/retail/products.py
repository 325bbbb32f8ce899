"""What the shop sells."""

from .store import Fields, find


def get_product_details(product_id: str) -> Fields:
    """Look up a product and all its variants.

    A product is what customers call by name; a variant of it, with its own item id, is what they order.

    Parameters
    ----------
    product_id : str
        Four digits. Not an item id: an order's items name both.

    Returns
    -------
    dict
        ``product_id``, ``name``, and ``variants``: by item id the ``options``, whether it is ``available``,
        and its ``price`` in dollars.

    Raises
    ------
    LookupError
        If there is no such product.

    Examples
    --------
    >>> product = get_product_details("8101")
    >>> product["name"], sorted(product["variants"])
    ('Desk Lamp', ['1001', '1002', '1003'])
    >>> product["variants"]["1003"]["available"]
    False

    Notes
    -----
    Prices are today's. A price that was paid stands in the order.

    Guide
    -----
    - Take the product id from ``get_order_details``; do not guess it from a name.
    - Offer a variant only when it is available, and name its options, not its id.

    See Also
    --------
    get_cheapest_available_variant : When only the price matters.
    exchange_delivered_order_items : Takes item ids of one product.
    """
    return {"product_id": product_id, **find("products", product_id)}


def get_cheapest_available_variant(product_id: str, required_options: dict[str, str] | None = None) -> Fields:
    """Find the cheapest variant of a product that can be ordered now.

    Looks only at variants that are available and, when options are given, have all of them.

    Parameters
    ----------
    product_id : str
        Four digits.
    required_options : dict of str to str, optional
        Options that the variant must have, such as ``{"color": "green"}``.

    Returns
    -------
    dict
        ``item_id``, ``options`` and ``price``.

    Raises
    ------
    LookupError
        If there is no such product, or no available variant with these options.

    Examples
    --------
    >>> get_cheapest_available_variant("8102", {"size": "large"})
    {'item_id': '2003', 'options': {'color': 'grey', 'size': 'large'}, 'price': 61.25}
    >>> get_cheapest_available_variant("8103", {"material": "glass"})
    Traceback (most recent call last):
    LookupError: no available variant of 8103 with these options

    Notes
    -----
    Of two variants at one price the one with the lower item id is given.

    Guide
    -----
    - Leave ``required_options`` out when the customer has no wish; an empty object means the same.
    - Spell options as ``get_product_details`` does.

    See Also
    --------
    get_product_details : Every variant, also those that are not available.
    """
    wanted = (required_options or {}).items()
    fitting = [
        (one["price"], item_id, one)
        for item_id, one in find("products", product_id)["variants"].items()
        if one["available"] and wanted <= one["options"].items()
    ]
    if not fitting:
        raise LookupError(f"no available variant of {product_id} with these options")
    price, item_id, one = min(fitting, key=lambda entry: entry[:2])
    return {"item_id": item_id, "options": one["options"], "price": price}
