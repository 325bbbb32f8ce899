"""Checks of texts and schemas: what is found, and what is not said to be wrong."""

import json

import pytest

from coreloop.descriptions.check import RULES, SENT_CHARS, Finding, check_texts
from coreloop.descriptions.texts import find_texts


def check_files(sources: dict[str, bytes], caps: dict[str, int] | None = None) -> list[Finding]:
    return check_texts({path: find_texts(path, raw) for path, raw in sources.items()}, caps or {}, sources)


def check(argument: object = None, description: str = "Pays the bill of a day.") -> list[Finding]:
    """Check a tool with the argument ``due_day`` among others."""
    others = {key: {"description": "Whom."} for key in ("to", "by")}
    schema = {"properties": {"due_day": argument or {"description": "When."}, **others}}
    raw = json.dumps({"tools": [{"name": "pay", "description": description, "parameters": schema}]}, indent=1)
    return check_files({"a.json": raw.encode()}, {"openai": 1024})


FOUND = {
    "default outside an enum": ({"enum": ["a", "b"], "default": "c"}, "value-outside-enum"),
    "example outside an enum": ({"enum": ["a", "b"], "examples": ["c"]}, "value-outside-enum"),
    "example in words": ({"enum": ["mon"], "description": "Day, e.g. 'sunday'."}, "value-outside-enum"),
    "default below": ({"minimum": 1, "default": 0}, "default-outside-range"),
    "default above": ({"maximum": 9.5, "default": 10}, "default-outside-range"),
    "fits": ({"enum": ["a", "b"], "default": "a", "description": "E.g. 'A' (default: a)."}, None),
    "numbers fit": ({"minimum": 1, "maximum": 30, "default": 10, "description": "Default: 10"}, None),
    "null in an enum": ({"enum": ["a", None], "default": "b"}, None),
    "wrong types": ({"enum": 1, "default": {}, "examples": "x", "minimum": "2"}, None),
}


@pytest.mark.parametrize(("argument", "rule"), FOUND.values(), ids=FOUND)
def test_a_schema_that_contradicts_itself_or_its_text_is_found(argument: dict[str, object], rule: str | None):
    found = check({"description": "When.", **argument})
    assert [(its.rule, its.tool, its.argument) for its in found] == (
        [(rule, "pay", "due_day")] if rule else []
    )
    assert {its.rule for its in found} <= RULES.keys()


@pytest.mark.parametrize(
    ("argument", "description", "message"),
    [
        ({"type": "string"}, "Pays.", 'neither this text nor its schema has a word about "due_day"'),
        ({"type": "string"}, "Pays the bill of a day that is due.", None),
        ({"enum": ["mon"]}, "Pays the bill.", None),
        ({"anyOf": [{"description": "When."}]}, "Pays the bill.", None),
        ({"properties": {"from": {"description": "When."}}}, "Pays the bill.", None),
        ({"$ref": "#/$defs/Day"}, "Pays the bill.", None),
        (None, "x" * 1025, "its description has 1,025 characters, and openai takes 1,024"),
    ],
)
def test_a_tool_that_says_too_little_or_too_much_is_found(
    argument: object, description: str, message: str | None
):
    found = check(argument, description)
    assert [(its.file, its.line, its.message) for its in found] == (
        [("a.json", 5, message)] if message else []
    )


def test_two_tools_with_nearly_the_same_text_are_found():
    texts = {
        "pay": "Pays a bill that is due now.",
        "settle": "Pays the bill due now",
        "ask": "Pays now the due bill.",
        "to": "Moves the bill to a day",
        "from": "Moves the bill from a day",
    }
    raw = json.dumps({"tools": [{"name": name, "description": text} for name, text in texts.items()]})
    listed = json.dumps({"tools": [{"name": "PayTool", "description": texts["pay"]}]})
    found = check_files({"a.json": raw.encode(), "b.json": raw.encode(), "specs.json": listed.encode()})
    message = 'its text has the same words as that of "pay"'
    assert {(its.tool, its.message) for its in found} == {("settle", message)}


@pytest.mark.parametrize(
    "properties",
    ['{"due_day": {}}', '{"to": {"description": "Whom."}, "bill_id": {}, "billIds": {}}'],
    ids=["none has words", "the id of what is named"],
)
def test_arguments_without_words_are_no_news(properties: str):
    raw = f"""{{"name": "pay", "description": "A bill.", "parameters": {{"properties": {properties}}}}}"""
    assert check_files({"a.json": raw.encode()}) == []


LONG = "Pays the bill of a day.\n    " * 75
BEHIND = "Pays.\n\n    Args:\n        day: " + "a day " * 400 + "\n    "
SDK, OTHER = "from mcp.server.fastmcp import FastMCP", "from fastmcp import FastMCP"


@pytest.mark.parametrize(
    ("imported", "docstring", "what"),
    [
        (SDK, LONG * 2, "docstring"),
        (SDK, BEHIND, "docstring"),
        (SDK, LONG, None),
        (OTHER, LONG * 2, "docstring without sections"),
        (OTHER, BEHIND, None),
        ("from agents import tool", LONG * 2, None),
    ],
)
def test_a_docstring_is_measured_as_an_mcp_server_sends_it(imported: str, docstring: str, what: str | None):
    raw = f'{imported}\n@tool\ndef pay(day):\n    """{docstring}"""\n'.encode()
    assert len(raw) > SENT_CHARS
    found = [its.message.partition(" has ")[0] for its in check_files({"a.py": raw})]
    assert found == ([f"its {what}"] if what else [])


def test_what_is_computed_is_unknown():
    raw = b"""NAMES = ["a"]
@tool(description="Settles.")
def settle(when: Day): ...
@tool(description=f"Pays {NAMES}")
def pay(day): ...
T = {"name": "ask", "description": "Asks.", "parameters": {"properties": {
    "day": {"description": "When.", "enum": NAMES + ["b"], "default": "c"}, "to": {"description": "x"}}}}
"""
    typed = b"server.tool('pay', 'Pays.', {day: days('When.').optional()}, f)"
    assert check_files({"a.py": raw, "a.ts": typed}) == []
