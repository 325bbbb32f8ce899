"""Where a tool is defined: what models read of it comes before a function of its name."""

import json
from pathlib import Path

import pytest

from coreloop.base.project.tools import Tool
from coreloop.base.project.workspace import open_workspace
from coreloop.descriptions.find_tools import find_tools, logged_names

_SCHEMA = {"properties": {"day": {"description": "A day."}, "n": {"enum": ["a", "b"]}}, "required": ["day"]}
JSON = json.dumps({"tools": [{"name": "pay", "description": "Pays.", "inputSchema": _SCHEMA}]})
FUNCTION = "def pay(day, n):\n    'Does it.'\n"


def find(root: Path, **files: str) -> Tool | None:
    (root / "coreloop.yaml").write_text("{}\n")
    for name, text in files.items():
        path = root / name.replace("_", ".")
        path.write_text(text)
    tool = find_tools(["pay"], open_workspace(root))["pay"]
    return tool if isinstance(tool, Tool) else None


@pytest.mark.parametrize(
    ("files", "file"),
    [
        ({"a_json": JSON}, "a.json"),
        ({"a_json": JSON, "a_py": FUNCTION}, "a.json"),
        ({"a_json": JSON, "a_py": f"@mcp.tool()\n{FUNCTION}"}, "a.py"),
        ({"a_json": JSON, "a_py": FUNCTION.replace("Does it.", "Pays.")}, "a.py"),
        ({"a_json": JSON, "b_json": JSON, "a_py": FUNCTION}, "a.py"),
        ({"a_json": JSON, "b_json": JSON}, None),
        ({"a_py": f"{FUNCTION}T = {JSON}"}, "a.py"),
        ({"a_py": FUNCTION, "b_py": "from a import pay\nTool(pay, description='Pays.')\n"}, "b.py"),
        ({"a_py": FUNCTION, "b_py": "from a import pay\nTOOLS = [pay]\n"}, "a.py"),
        ({"a_py": f"{FUNCTION}TOOLS = [{JSON[11:-2]}]\n"}, "a.py"),
    ],
    ids=[
        *("schema", "its function", "registered", "a copy", "two and a function", "two", "one file"),
        *("described elsewhere", "listed elsewhere", "listed"),
    ],
)
def test_a_tool_is_where_models_read_of_it(files: dict[str, str], file: str | None, tmp_path: Path):
    tool = find(tmp_path, **files)
    assert (tool and tool.file) == file


def test_a_schema_says_arguments_values_and_what_is_required(tmp_path: Path):
    tool = find(tmp_path, a_json=JSON)
    assert tool is not None
    assert (tool.parameters, tool.choices) == (("day", "n"), {"n": ("a", "b")})
    assert tool.declared == {"day": "{'description': 'A day.'}", "n": "= {'enum': ['a', 'b']}"}
    assert (tool.docstring, tool.described) == ("Pays.", {"day": "A day."})
    assert logged_names(["mcp__shop__pay", "pay"], open_workspace(tmp_path)) == {"mcp__shop__pay": "pay"}


def test_lines_go_to_an_argument_whose_text_every_framework_sends(tmp_path: Path):
    first, second = 'Annotated[str, Field(description="A day.")]', 'Annotated[str, "A number."]'
    tool = find(tmp_path, a_py=f"@mcp.tool()\ndef pay(day: {first}, n: {second}):\n    'Pays.'\n")
    assert tool is not None
    assert [*tool.described] == ["day"]
