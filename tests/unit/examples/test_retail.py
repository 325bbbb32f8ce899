"""The example shop does what the tools of the real episodes do: results and arguments."""

import importlib
import inspect
import json
import lzma
from collections import defaultdict
from collections.abc import Iterator
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
