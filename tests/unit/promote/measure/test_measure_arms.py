"""The tools without and with an edit, read as a model is sent them; they must differ by exactly the edit."""

import json
import sys
from pathlib import Path

import pytest

from coreloop.descriptions import texts
from coreloop.descriptions.edit import Edited
from coreloop.descriptions.place import Wanted
from coreloop.promote.measure.run import refuse_difference, tools_of
from coreloop.promote.tool_schemas import SchemaCommand, read_schema
from editing import put_lines

SOURCE = '''"""Tools."""


def update(priority: str) -> None:
    """Update a ticket."""


def close() -> None:
    """Close a ticket."""
'''
LINE = "- priority: never empty"
FAITHFUL = "{name: inspect.getdoc(tools[name]) for name in tools}"
"""The description of each tool, as an expression."""


def line_edit() -> Edited:
    outcome = put_lines(SOURCE.encode(), "update", [LINE])
    assert isinstance(outcome, Edited)
    return outcome


def refused(expression: str, folder: Path) -> str | None:
    script = (
        "import inspect, json, random, shop; tools = {'update': shop.update, 'close': shop.close}; "
        f"found = {expression}; "
        "print(json.dumps([{'name': name, 'description': text} for name, text in found.items()]))"
    )
    command = SchemaCommand((sys.executable, "-c", script), "a script", sys.executable)
    edit, tools = line_edit(), []
    for name, content in (("without", edit.old), ("with", edit.source)):
        (folder / name).mkdir()
        (folder / name / "shop.py").write_bytes(content)
        tools.append(tools_of(read_schema(command, folder / name)))
    return refuse_difference(*tools, edit, "update")


def test_one_description_that_changed_by_the_edit_is_measured(tmp_path: Path) -> None:
    assert refused(FAITHFUL, tmp_path) is None


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("{'update': 'Update.', 'close': 'Close.'}", "does not change"),
        ("{name: inspect.getdoc(shop.update) for name in tools}", "also changes"),
        ("{'update': str(random.random()), 'close': 'Close.'}", "more than the edit"),
        ("{'update': inspect.getdoc(shop.update), str(random.random()): 'Close.'}", "different tools"),
        ("{'update': inspect.getdoc(shop.update)[:-4], 'close': 'Close.'}", "more than the edit"),
    ],
    ids=["unchanged", "two tools", "random", "renamed", "cut"],
)
def test_descriptions_that_differ_by_anything_else_are_not_measured(
    expression: str, reason: str, tmp_path: Path
) -> None:
    assert reason in (refused(expression, tmp_path) or "")


def test_an_argument_of_a_schema_is_measured_where_its_own_description_changed_alone():
    schema = {"properties": {"n": {"description": "A number."}}, "required": ["n"]}
    raw = json.dumps([{"name": "update", "description": "Updates.", "parameters": schema}]).encode()
    edit = texts.put_lines("a.json", raw, texts.find_text("a.json", raw, "update[n]"), Wanted((LINE,)))
    base, edited = (tools_of(json.loads(side)) for side in (edit.old, edit.source))
    other = tools_of(json.loads(edit.source.replace(b"required", b"optional")))
    assert refuse_difference(base, edited, edit, "update") is None
    assert "different tools or parameters" in (refuse_difference(base, other, edit, "update") or "")
