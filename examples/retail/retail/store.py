"""The shop's data, read once from shop.json and changed in memory only; and the checks that tools share."""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

Fields = dict[str, Any]


@cache
def shop() -> Fields:
    """Products, users and orders by their ids, each as the tools give it."""
    data: Fields = json.loads(Path(__file__).with_name("shop.json").read_text(encoding="utf-8"))
    for product_id, product in data["products"].items():
        product["product_id"] = product_id
        product["variants"] = {key: {"item_id": key, **fields} for key, fields in product["variants"].items()}
    for user in data["users"].values():
        user["payment_methods"] = {
            key: {**fields, "id": key} for key, fields in user["payment_methods"].items()
        }
    data["orders"] = {key: _order(key, order, data) for key, order in data["orders"].items()}
    return data


def _order(order_id: str, short: Fields, data: Fields) -> Fields:
    """An order from its line in shop.json."""
    products = {key: product for product in data["products"].values() for key in product["variants"]}
    items = [order_item(products[item_id], item_id) for item_id in short["item_ids"]]
    paid = {"amount": total(items), "payment_method_id": short["paid_with"]}
    history = [{"transaction_type": "payment", **paid}]
    if short["status"] == "cancelled":
        history.append({"transaction_type": "refund", **paid})
    numbers = [short["tracking_id"]] if "tracking_id" in short else []
    return {
        "order_id": order_id,
        "user_id": short["user_id"],
        "address": dict(data["users"][short["user_id"]]["address"]),
        "items": items,
        "fulfillments": [{"tracking_id": [number], "item_ids": short["item_ids"]} for number in numbers],
        "status": short["status"],
        "payment_history": history,
    }


def order_item(product: Fields, item_id: str) -> Fields:
    """A variant of the product as it stands in an order, at today's price."""
    variant = product["variants"][item_id]
    named = {"name": product["name"], "product_id": product["product_id"], "item_id": item_id}
    return {**named, "price": variant["price"], "options": dict(variant["options"])}


def total(items: Iterable[Fields]) -> float:
    """Sum of the items' prices."""
    prices: list[float] = [item["price"] for item in items]
    return round(sum(prices), 2)


def find(kind: str, wanted: str) -> Fields:
    """The entry of that id, or a LookupError that says what is missing."""
    try:
        found: Fields = shop()[kind][wanted]
    except KeyError:
        raise LookupError(f"{kind.removesuffix('s')} not found") from None
    return found


def order_in(status: str, order_id: str, done: str) -> Fields:
    """The order, if it is in exactly that status."""
    order = find("orders", order_id)
    if order["status"] != status:
        raise ValueError(f"non-{status} order cannot be {done}")
    return order


def positions(order: Fields, item_ids: Sequence[str]) -> list[int]:
    """Where the items stand in the order; each copy of an item can be named once."""
    if not item_ids:
        raise ValueError("name at least one item")
    left: list[str | None] = [item["item_id"] for item in order["items"]]
    chosen = []
    for item_id in item_ids:
        if item_id not in left:
            raise LookupError(f"item {item_id} not found")
        chosen.append(left.index(item_id))
        left[chosen[-1]] = None
    return chosen


def replacements(order: Fields, item_ids: Sequence[str], new_item_ids: Sequence[str]) -> dict[int, Fields]:
    """By position in the order, the available variant of the same product that takes its place."""
    chosen = positions(order, item_ids)
    if len(item_ids) != len(new_item_ids):
        raise ValueError("the number of new items does not match")
    return {
        position: _available(order["items"][position]["product_id"], item_id)
        for position, item_id in zip(chosen, new_item_ids, strict=True)
    }


def _available(product_id: str, item_id: str) -> Fields:
    product = find("products", product_id)
    if not product["variants"].get(item_id, {}).get("available"):
        raise ValueError(f"new item {item_id} not found or available")
    return order_item(product, item_id)


def price_difference(order: Fields, new: Mapping[int, Fields]) -> float:
    """What the replacements cost more than what they replace."""
    return round(total(new.values()) - total(order["items"][position] for position in new), 2)


def payment_method(order: Fields, payment_method_id: str, due: float = 0.0) -> Fields:
    """One of the payment methods of the customer who ordered; a gift card must hold what is due."""
    methods: dict[str, Fields] = find("users", order["user_id"])["payment_methods"]
    if payment_method_id not in methods:
        raise LookupError("payment method not found")
    method = methods[payment_method_id]
    if method["source"] == "gift_card" and method["balance"] < due:
        raise ValueError("insufficient gift card balance to pay the difference")
    return method


def settle(order: Fields, payment_method_id: str, difference: float) -> None:
    """Take the difference from the payment method, or give it back when it is negative; once per entry."""
    method = payment_method(order, payment_method_id, difference)
    if method["source"] == "gift_card":
        method["balance"] = round(method["balance"] - difference, 2)
    kind = "payment" if difference > 0 else "refund"
    entry = {"transaction_type": kind, "amount": abs(difference), "payment_method_id": payment_method_id}
    order["payment_history"].append(entry)


def complete_address(*parts: str) -> dict[str, str]:
    """An address from its parts in the shop's order; only the second may be empty."""
    names = ("address1", "address2", "city", "state", "country", "zip")
    address = {name: part.strip() for name, part in zip(names, parts, strict=True)}
    empty = [name for name, part in address.items() if not part and name != "address2"]
    if empty:
        raise ValueError(f"the address lacks {', '.join(empty)}")
    return address


def from_json(argument: Any, kind: type[list[str]] | type[dict[str, str]]) -> Any:
    """An argument that some models send as JSON text."""
    value = json.loads(argument) if isinstance(argument, str) else argument
    if type(value) is not kind:
        raise ValueError(f"expected a JSON {'array' if kind is list else 'object'}")
    return value
