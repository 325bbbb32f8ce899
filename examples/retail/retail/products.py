"""What the shop sells."""

from copy import deepcopy

from .store import Fields, find, from_json, shop


def get_product_details(product_id: str) -> Fields:
    """Look up a product and all its variants.

    A product is what customers call by name; a variant of it, with its own item id, is what they order.

    Parameters
    ----------
    product_id : str
        Ten digits. Not an item id: an order's items name both.

    Returns
    -------
    dict
        ``name``, ``product_id``, and ``variants``: by item id the ``item_id`` again, the ``options``, whether
        it is ``available``, and its ``price`` in dollars.

    Raises
    ------
    LookupError
        If there is no such product.

    Examples
    --------
    >>> product = get_product_details("8100000001")
    >>> product["name"], sorted(product["variants"])
    ('Desk Lamp', ['1000000101', '1000000102', '1000000103'])
    >>> product["variants"]["1000000103"]["available"]
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
    return deepcopy(find("products", product_id))


def get_cheapest_available_variant(
    product_id: str, required_options: dict[str, str] | str | None = None
) -> Fields:
    """Find the cheapest variant of a product that can be ordered now.

    Looks only at variants that are available and, when options are given, have all of them.

    Parameters
    ----------
    product_id : str
        Ten digits.
    required_options : dict of str to str, optional
        Options that the variant must have, such as ``{"color": "green"}``, also as JSON text.

    Returns
    -------
    dict
        ``item_id``, ``options``, ``available`` and ``price``; or only ``error``, if there is no such product
        or no available variant with these options.

    Raises
    ------
    ValueError
        If ``required_options`` is no JSON object.

    Examples
    --------
    >>> cheapest = get_cheapest_available_variant("8100000002", {"size": "large"})
    >>> cheapest["item_id"], cheapest["options"], cheapest["price"]
    ('1000000203', {'color': 'grey', 'size': 'large'}, 61.25)
    >>> get_cheapest_available_variant("8100000003", '{"material": "glass"}')
    {'error': 'no available variant has these options'}

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
    wanted = from_json(required_options or {}, dict)
    if product_id not in shop()["products"]:
        return {"error": "product not found"}
    fitting = [
        (variant["price"], item_id, variant)
        for item_id, variant in get_product_details(product_id)["variants"].items()
        if variant["available"] and all(variant["options"].get(name) == wanted[name] for name in wanted)
    ]
    if not fitting:
        return {"error": "no available variant has these options"}
    return dict(min(fitting, key=lambda entry: entry[:2])[2])
