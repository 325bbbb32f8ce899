"""A decorator above a framework's records nothing: it is counted and said once, at import."""

import logging
import sys
from importlib.util import module_from_spec, spec_from_file_location
from textwrap import dedent

import pytest

from coreloop.observe import AuditCollector, dropped, observed_tool

_FRAMEWORK = """
from functools import wraps

from coreloop import observed_tool as seen_tool
from coreloop.observe import observed_tool

class Server:
    def __init__(self):
        self.tools = []

    def tool(self, name=None, description=None):
        def register(function):
            self.tools.append(function)
            return function
        return register

class FunctionTool:
    pass

def function_tool(function):
    return FunctionTool()

def logged(function):
    @wraps(function)
    def call(*args):
        return function(*args)
    return call

mcp = Server()
"""


@pytest.fixture
def load(tmp_path):
    def load(source: str):
        path = tmp_path / "agent_tools.py"
        path.write_text(_FRAMEWORK + dedent(source), encoding="utf-8")
        spec = spec_from_file_location("agent_tools", path)
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    yield load
    sys.modules.pop("agent_tools", None)


@pytest.mark.parametrize(
    "decorators",
    [
        "@observed_tool\n@mcp.tool()",
        "@observed_tool(name='book')\n@logged\n@mcp.tool(\n    'book',\n    description='def',\n)",
        "@logged\n@observed_tool\n@logged\n@mcp.tool()",
    ],
    ids=["directly", "over several lines", "others between"],
)
def test_above_a_framework_s_decorator_is_counted_at_import(load, caplog, decorators: str):
    caplog.set_level(logging.WARNING, logger="coreloop")

    load(f"{decorators}\ndef book(room):\n    return room\n")

    assert dropped() == {"decorator_order": 1}
    assert ["directly above def" in message for message in caplog.messages] == [True]


@pytest.mark.parametrize(
    "decorators", ["@mcp.tool()\n@observed_tool", "@observed_tool\n@logged", "@observed_tool", "@logged"]
)
def test_below_a_framework_s_decorator_nothing_is_said(load, decorators: str):
    load(f"{decorators}\nasync def book(room):\n    return room\n")

    assert dropped() == {}


def test_a_framework_s_object_is_returned_unchanged(load):
    module = load("@observed_tool\n@function_tool\ndef book(room):\n    return room\n")

    assert isinstance(module.book, module.FunctionTool)
    assert dropped() == {"decorator_order": 1}


def test_functions_without_source_are_observed():
    namespace: dict = {"observed_tool": observed_tool}
    exec("@observed_tool\ndef book(room):\n    return room\n", namespace)

    assert namespace["book"](3) == 3
    assert dropped() == {"outside_request": 1}


def test_calls_outside_any_request_are_counted_before_the_first_request_too(monkeypatch):
    book = observed_tool(str.upper)

    assert [book("os") for _ in range(50)] == ["OS"] * 50
    assert dropped() == {"outside_request": 50}

    monkeypatch.setenv("CORELOOP_AUDIT_DISABLE", "1")
    book("os")
    assert dropped() == {"outside_request": 50}


# static methods, class methods and properties; the name alone


@pytest.mark.parametrize("kind", ["staticmethod", "classmethod"])
def test_a_static_or_class_method_below_is_observed_and_stays_one(kind: str, tmp_path):
    kinds = {"staticmethod": staticmethod, "classmethod": classmethod}

    def find(*args):
        return args[-1]

    class Shop:
        found = observed_tool(kinds[kind](find))

    with AuditCollector(question="q", data_dir=tmp_path):
        assert (Shop.found(3), Shop().found(4)) == (3, 4)
    assert "".join(path.read_text() for path in tmp_path.rglob("*.jsonl")).count('"name":"find"') == 2
    assert isinstance(vars(Shop)["found"], kinds[kind])
    assert dropped() == {}


def test_a_property_below_is_returned_unchanged_and_said_once(caplog):
    caplog.set_level(logging.WARNING, logger="coreloop")

    class Shop:
        @observed_tool
        @property
        def name(self):
            return "shop"

    assert Shop().name == "shop"
    assert dropped() == {"decorator_order": 1}
    assert ["@property" in message for message in caplog.messages] == [True]


def test_a_text_alone_is_the_name(tmp_path):
    @observed_tool("find")
    def find_orders(order):
        return order

    with AuditCollector(question="q", data_dir=tmp_path):
        assert find_orders("o1") == "o1"
    assert '"name":"find"' in "".join(path.read_text() for path in tmp_path.rglob("*.jsonl"))


def test_the_hint_of_a_call_outside_names_the_remedy_for_a_thread_pool(caplog):
    caplog.set_level(logging.WARNING, logger="coreloop")
    observed_tool(str.upper)("os")
    assert ["contextvars.copy_context().run" in message for message in caplog.messages] == [True]
