"""The shop's data, read once from shop.json and changed in memory only; and the checks that tools share."""

import json
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

Fields = dict[str, Any]


@cache
def shop() -> Fields:
    """Products, users and orders by their ids."""
    data: Fields = json.loads(Path(__file__).with_name("shop.json").read_text(encoding="utf-8"))
    for order in data["orders"].values():
        order["address"] = dict(data["users"][order["user_id"]]["address"])
    return data


def find(kind: str, wanted: str) -> Fields:
    """The entry of that id, or a LookupError that says what is missing."""
    try:
        found: Fields = shop()[kind][wanted]
    except KeyError:
        raise LookupError(f"no {kind.removesuffix('s')} {wanted}") from None
    return found


def order_in(order_id: str, status: str) -> Fields:
    """The order, if it is in that status."""
    order = find("orders", order_id)
    if order["status"] != status:
        raise ValueError(f"order {order_id} is {order['status']}, not {status}")
    return order


def variant(item_id: str) -> tuple[str, Fields]:
    """Product id and variant of an item."""
    for product_id, product in shop()["products"].items():
        if item_id in product["variants"]:
            return product_id, product["variants"][item_id]
    raise LookupError(f"no item {item_id}")


def total(item_ids: Iterable[str]) -> float:
    """Sum of the items' prices."""
    prices: list[float] = [variant(item_id)[1]["price"] for item_id in item_ids]
    return round(sum(prices), 2)


def check_items(order: Fields, item_ids: Sequence[str]) -> None:
    """Refuse items that the order does not hold, as often as they are named."""
    if not item_ids:
        raise ValueError("name at least one item")
    for item_id in item_ids:
        if item_ids.count(item_id) > order["item_ids"].count(item_id):
            raise LookupError(f"the order has no item {item_id}, or not that often")


def check_swap(order: Fields, item_ids: Sequence[str], new_item_ids: Sequence[str]) -> float:
    """Price difference of a swap within the same products; refused when it cannot be."""
    check_items(order, item_ids)
    if len(item_ids) != len(new_item_ids):
        raise ValueError("item_ids and new_item_ids must pair up")
    for old, new in zip(item_ids, new_item_ids, strict=True):
        if old == new or variant(old)[0] != variant(new)[0]:
            raise ValueError(f"{new} is not another variant of the product of {old}")
        if not variant(new)[1]["available"]:
            raise ValueError(f"item {new} is not available")
    return round(total(new_item_ids) - total(item_ids), 2)


def swap(order: Fields, item_ids: Sequence[str], new_item_ids: Sequence[str]) -> None:
    """Put the new items where the old ones are."""
    for old, new in zip(item_ids, new_item_ids, strict=True):
        order["item_ids"][order["item_ids"].index(old)] = new


def charge(order: Fields, payment_method_id: str, difference: float) -> None:
    """Take a difference from one of the customer's payment methods; a gift card must hold it."""
    method = payment_method(order, payment_method_id)
    if method["source"] == "gift_card":
        if method["balance"] < difference:
            raise ValueError(f"{payment_method_id} holds {method['balance']:.2f}, {difference:.2f} is due")
        method["balance"] = round(method["balance"] - difference, 2)


def payment_method(order: Fields, payment_method_id: str) -> Fields:
    """One of the payment methods of the customer who ordered."""
    methods: dict[str, Fields] = find("users", order["user_id"])["payment_methods"]
    if payment_method_id not in methods:
        raise LookupError(f"{order['user_id']} has no payment method {payment_method_id}")
    return methods[payment_method_id]


def complete_address(*parts: str) -> dict[str, str]:
    """An address from its parts in the shop's order; only the second may be empty."""
    names = ("address1", "address2", "city", "state", "country", "zip")
    address = {name: part.strip() for name, part in zip(names, parts, strict=True)}
    empty = [name for name, part in address.items() if not part and name != "address2"]
    if empty:
        raise ValueError(f"the address lacks {', '.join(empty)}")
    return address
