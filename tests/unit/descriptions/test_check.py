"""Checks of texts and schemas: what is found, and what is not said to be wrong."""

import json

import pytest

from coreloop.descriptions.check import RULES, SENT_BYTES, Finding, check_texts
from coreloop.descriptions.texts import find_texts


def check(argument: object = None, description: str = "Pays the bill of a day.") -> list[Finding]:
    """Check a tool with one argument, ``day``."""
    schema = {"properties": {"day": argument or {"description": "When."}, "to": {"description": "Whom."}}}
    raw = json.dumps({"tools": [{"name": "pay", "description": description, "parameters": schema}]}, indent=1)
    return check_texts({"a.json": find_texts("a.json", raw.encode())}, {"openai": 1024})


FOUND = {
    "default outside an enum": ({"enum": ["a", "b"], "default": "c"}, "value-outside-enum"),
    "example outside an enum": ({"enum": ["a", "b"], "examples": ["c"]}, "value-outside-enum"),
    "example in words": ({"enum": ["mon"], "description": "Day, e.g. 'sunday'."}, "value-outside-enum"),
    "default below": ({"minimum": 1, "default": 0}, "default-outside-range"),
    "default above": ({"maximum": 9.5, "default": 10}, "default-outside-range"),
    "other number": ({"default": 20, "description": "Days (default: 10)."}, "text-against-default"),
    "other flag": ({"default": False, "description": "Defaults to true."}, "text-against-default"),
    "other choice": (
        {"enum": ["a", "b"], "default": "a", "description": "Default is `b`"},
        "text-against-default",
    ),
    "fits": ({"enum": ["a", "b"], "default": "a", "description": "E.g. 'A' (default: a)."}, None),
    "numbers fit": ({"minimum": 1, "maximum": 30, "default": 10, "description": "Default: 10"}, None),
    "other unit": ({"default": 30000, "description": "Default: 30 seconds"}, None),
    "default in another word": ({"default": 0, "description": "Defaults to unlimited."}, None),
    "two defaults": ({"default": 1, "description": "Default: 1 for x, default: 2."}, None),
    "null in an enum": ({"enum": ["a", None], "default": "b"}, None),
    "wrong types": ({"enum": 1, "default": {}, "examples": "x", "minimum": "2"}, None),
}


@pytest.mark.parametrize(("argument", "rule"), FOUND.values(), ids=FOUND)
def test_a_schema_that_contradicts_itself_or_its_text_is_found(argument: dict[str, object], rule: str | None):
    found = check({"description": "When.", **argument})
    assert [(its.rule, its.tool, its.argument) for its in found] == ([(rule, "pay", "day")] if rule else [])
    assert {its.rule for its in found} <= RULES.keys()


@pytest.mark.parametrize(
    ("argument", "description", "message"),
    [
        ({"type": "string"}, "Pays the bill.", "no text has a word about day"),
        ({"type": "string"}, "Pays the bill of a day.", None),
        ({"anyOf": [{"description": "When."}]}, "Pays the bill.", None),
        ({"properties": {"from": {"description": "When."}}}, "Pays the bill.", None),
        ({"$ref": "#/$defs/Day"}, "Pays the bill.", None),
        (None, "x" * 1025, "it has 1,025 characters, and openai takes 1,024"),
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
    }
    raw = json.dumps({"tools": [{"name": name, "description": text} for name, text in texts.items()]})
    listed = json.dumps({"tools": [{"name": "PayTool", "description": texts["pay"]}]})
    files = {"a.json": raw, "b.json": raw, "specs.json": listed}
    found = check_texts({path: find_texts(path, file.encode()) for path, file in files.items()}, {})
    assert {(its.tool, its.message) for its in found} == {("settle", "its text is nearly that of pay")}


@pytest.mark.parametrize(
    "properties",
    ['{"day": {}}', '{"to": {"description": "Whom."}, "bill_id": {}, "billIds": {}}'],
    ids=["none has words", "the id of what is named"],
)
def test_arguments_without_words_are_no_news(properties: str):
    raw = (
        f"""{{"name": "pay", "description": "Pays a bill.", "parameters": {{"properties": {properties}}}}}"""
    )
    assert check_texts({"a.json": find_texts("a.json", raw.encode())}, {}) == []


def test_a_docstring_is_measured_as_it_is_sent():
    line = b"    Pays the bill of a day.\n"
    raw = b'@tool\ndef pay():\n    """Pays.\n' + line * 80 + b'    """\n'
    assert len(raw) > SENT_BYTES
    assert check_texts({"a.py": find_texts("a.py", raw)}, {}) == []


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
    files = {"a.py": find_texts("a.py", raw), "a.ts": find_texts("a.ts", typed)}
    assert check_texts(files, {}) == []
