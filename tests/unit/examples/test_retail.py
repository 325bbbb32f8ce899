"""The example shop does what the tools of the real episodes do: results, arguments, refusals."""

import importlib
import inspect
import json
import lzma
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from retail_shop import SHOP

Calls = dict[str, list[tuple[dict[str, Any], Any]]]


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The example's package, with data that nobody has changed."""
    monkeypatch.syspath_prepend(str(SHOP))
    package = importlib.import_module("retail")
    store = importlib.import_module("retail.store")
    store.shop.cache_clear()
    yield package
    store.shop.cache_clear()


@pytest.fixture(scope="module")
def answered(shared_data: Path) -> Calls:
    """Arguments and results of the real calls that succeeded, by tool."""
    path = shared_data / "tau_retail_trajectories.jsonl.xz"
    if not path.exists():
        pytest.skip(f"no {path}")
    calls: Calls = defaultdict(list)
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for messages in (json.loads(line)["messages"] for line in lines):
            asked = {call["id"]: call["function"] for one in messages for call in one.get("tool_calls") or []}
            for one in messages:
                if one["role"] == "tool" and not one["content"].startswith("Error"):
                    function = asked[one["tool_call_id"]]
                    calls[function["name"]].append((json.loads(function["arguments"]), one["content"]))
    return calls


LAMP, COLD_LAMP, WHITE_LAMP = "1000000101", "1000000102", "1000000103"
GREEN, LARGE = "1000000201", "1000000202"
RESULTS: dict[str, tuple[Any, ...]] = {
    "get_user_details": ("mina_okafor_4821",),
    "modify_user_address": ("mina_okafor_4821", "1 A", "", "Austin", "TX", "USA", "78701"),
    "get_product_details": ("8100000001",),
    "get_cheapest_available_variant": ("8100000001",),
    "get_order_details": ("#W1000001",),
    "cancel_pending_order": ("#W1000003", "no longer needed"),
    "modify_pending_order_items": ("#W1000002", [GREEN], [LARGE], "credit_card_5000001"),
    "modify_pending_order_address": ("#W1000002", "1 A", "", "Austin", "TX", "USA", "78701"),
    "return_delivered_order_items": ("#W1000007", [COLD_LAMP], "credit_card_7000001"),
    "exchange_delivered_order_items": ("#W1000001", [LAMP], [COLD_LAMP], "credit_card_5000001"),
}


def shape(value: Any) -> Any:
    """Keys all the way down; ids of the data as keys, options and lists count as one of their entries."""
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    if not isinstance(value, dict):
        return None
    if any(character.isdigit() for character in next(iter(value))) and "address1" not in value:
        return {"<id>": shape(next(iter(value.values())))}
    return {key: None if key in {"options", "payment_methods"} else shape(value[key]) for key in value}


@pytest.mark.parametrize("tool", RESULTS)
def test_result_has_the_keys_of_a_real_one(shop: ModuleType, answered: Calls, tool: str) -> None:
    real = [shape(json.loads(result)) for _, result in answered[tool]]

    assert shape(getattr(shop, tool)(*RESULTS[tool])) in real


def test_refund_options_and_payment_methods_have_the_keys_of_real_ones(
    shop: ModuleType, answered: Calls
) -> None:
    options = {tuple(one) for _, text in answered["get_return_refund_options"] for one in json.loads(text)}
    methods = {
        (one["source"], frozenset(one))
        for _, text in answered["get_user_payment_methods"]
        for one in json.loads(text).values()
    }

    given = shop.get_return_refund_options("#W1000004", [COLD_LAMP])
    held = [
        one
        for user_id in ("mina_okafor_4821", "tomas_reyes_7733")
        for one in shop.get_user_payment_methods(user_id).values()
    ]

    assert {tuple(one) for one in given} == options
    assert {(one["source"], frozenset(one)) for one in held} == methods


def test_every_real_call_that_succeeded_fits_its_signature(shop: ModuleType, answered: Calls) -> None:
    for tool in shop.TOOLS:
        assert answered[tool.__name__]
        for arguments, _ in answered[tool.__name__]:
            inspect.signature(tool).bind(**arguments)


def test_refund_options_need_both_arguments(shop: ModuleType) -> None:
    parameters = inspect.signature(shop.get_return_refund_options).parameters.values()
    assert [one.name for one in parameters if one.default is one.empty] == ["order_id", "item_ids"]


def test_refund_options_do_not_look_at_the_status_and_read_json_text(shop: ModuleType) -> None:
    options = shop.get_return_refund_options("#W1000008", '["1000000403"]')
    assert options == [{"id": "paypal_7000002", "description": "PayPal"}]


CHANGES: dict[str, Callable[[ModuleType], object]] = {
    "items": lambda shop: shop.modify_pending_order_items(
        "#W1000002", [GREEN], [LARGE], "credit_card_5000001"
    ),
    "address": lambda shop: shop.modify_pending_order_address(
        "#W1000002", "1 A", "", "Austin", "TX", "USA", "78701"
    ),
    "cancel": lambda shop: shop.cancel_pending_order("#W1000002", "ordered by mistake"),
    "return": lambda shop: shop.return_delivered_order_items("#W1000001", [LAMP], "credit_card_5000001"),
    "exchange": lambda shop: shop.exchange_delivered_order_items(
        "#W1000001", [LAMP], [COLD_LAMP], "credit_card_5000001"
    ),
}


@pytest.mark.parametrize(
    ("first", "then"),
    [
        *(("items", then) for then in ("items", "address", "cancel")),
        *(("cancel", then) for then in ("items", "address", "cancel")),
        *((first, then) for first in ("return", "exchange") for then in ("return", "exchange")),
    ],
)
def test_order_takes_no_second_change_of_this_kind(shop: ModuleType, first: str, then: str) -> None:
    CHANGES[first](shop)
    with pytest.raises(ValueError, match=r"^non-(pending|delivered) order cannot be"):
        CHANGES[then](shop)


@pytest.mark.parametrize("then", ["items", "address", "cancel"])
def test_another_address_leaves_an_order_pending(shop: ModuleType, then: str) -> None:
    CHANGES["address"](shop)
    CHANGES[then](shop)


@pytest.mark.parametrize(
    ("item_ids", "new_item_ids", "payment_method_id", "error"),
    [
        pytest.param([LAMP], [], "paypal_6000001", "number of new items", id="none for one"),
        pytest.param([LAMP], [WHITE_LAMP], "paypal_6000001", "not found or available", id="sold out"),
        pytest.param([LAMP], [GREEN], "paypal_6000001", "not found or available", id="another product"),
        pytest.param([LAMP] * 2, [COLD_LAMP] * 2, "paypal_6000001", "item .* not found", id="twice"),
        pytest.param([LAMP], [COLD_LAMP], "gift_card_0", "payment method not found", id="nobody's card"),
    ],
)
def test_refused_change_of_items_changes_nothing(
    shop: ModuleType, item_ids: list[str], new_item_ids: list[str], payment_method_id: str, error: str
) -> None:
    before = shop.get_order_details("#W1000005")

    with pytest.raises((ValueError, LookupError), match=error):
        shop.modify_pending_order_items("#W1000005", item_ids, new_item_ids, payment_method_id)

    assert shop.get_order_details("#W1000005") == before


def test_one_of_two_copies_is_replaced_and_an_item_may_stay_what_it_is(shop: ModuleType) -> None:
    order = shop.modify_pending_order_items(
        "#W1000009", [LARGE, "1000000401"], [GREEN, "1000000401"], "credit_card_5000001"
    )
    assert [item["item_id"] for item in order["items"]] == ["1000000401", GREEN, LARGE]
    assert order["payment_history"][-1]["transaction_type"] == "refund"
    assert order["payment_history"][-1]["amount"] == 8.0


def test_gift_card_must_hold_the_difference_and_is_charged_by_a_change_alone(shop: ModuleType) -> None:
    coats = ["1000000401"], ["1000000402"]
    with pytest.raises(ValueError, match="insufficient gift card balance"):
        shop.modify_pending_order_items("#W1000009", *coats, "gift_card_5000002")
    shop.exchange_delivered_order_items("#W1000010", *coats, "gift_card_6000002")
    assert shop.get_user_payment_methods("tomas_reyes_7733")["gift_card_6000002"]["balance"] == 75.0

    shop.cancel_pending_order("#W1000003", "no longer needed")

    assert shop.get_user_payment_methods("tomas_reyes_7733")["gift_card_6000002"]["balance"] == 116.0


def test_refund_goes_to_what_paid_or_to_a_gift_card(shop: ModuleType) -> None:
    with pytest.raises(ValueError, match="the one that paid, or a gift card"):
        shop.return_delivered_order_items("#W1000007", [COLD_LAMP], "paypal_7000002")
