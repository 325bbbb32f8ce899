"""Finding a tool's definition in source files as people have them."""

import json
import sys
from dataclasses import replace

import pytest

from coreloop.base.project.settings import Settings, ToolSettings
from coreloop.base.project.tools import (
    Tool,
    Unresolved,
    is_tool_name,
    logged_names,
    resolve_tools,
)
from coreloop.base.project.workspace import Workspace
from rows import each_row


@pytest.fixture
def project(tmp_path):
    def write(**files):
        for name, source in files.items():
            path = tmp_path / name.replace("__", "/")
            path = path.with_name(path.name + ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(source if isinstance(source, bytes) else source.encode())
        return tmp_path

    return write


def resolve(root, name, target=None):
    settings = Settings(tools={name: ToolSettings(target=target)} if target else {})
    return resolve_tools([name], Workspace(root, settings))[name]


def place(tool):
    assert isinstance(tool, Tool), tool
    return f"{tool.file}::{tool.qualname}"


def test_a_definition_is_found_by_its_name(project):
    root = project(src__fin__tools="def analysis(company, /, axis='수익성', *rest, limit=3, **more): ...\n")
    tool = resolve(root, "analysis")
    assert isinstance(tool, Tool)
    assert replace(tool, declared={}, words=frozenset()) == Tool(
        "analysis",
        "src/fin/tools.py",
        "analysis",
        ("company", "axis", "limit", "**more"),
        frozenset({"수익성"}),
        numbers=frozenset({3.0}),
        line=1,
    )
    assert tool.declared == {"company": "", "axis": "= '수익성'", "limit": "= 3", "**more": "="}


@pytest.mark.parametrize(
    ("source", "qualname"),
    [
        pytest.param("async def tool(): ...\n", "tool", id="async"),
        pytest.param("class Box:\n    def tool(self, axis): ...\n", "Box.tool", id="method"),
        pytest.param(
            "class A:\n class B:\n  @classmethod\n  def tool(cls, axis): ...\n", "A.B.tool", id="inner"
        ),
        pytest.param("import sys\nif sys:\n    def tool(axis): ...\n", "tool", id="below if"),
        pytest.param(
            "try:\n    import fast\nexcept ImportError:\n    def tool(axis): ...\n", "tool", id="fallback"
        ),
        pytest.param("\ufeffdef tool(axis): ...\n", "tool", id="byte order mark"),
        pytest.param("# coding: cp949\n# 한글\ndef tool(axis): ...\n".encode("cp949"), "tool", id="cp949"),
    ],
)
def test_definitions_of_every_form_are_found(project, source, qualname):
    tool = resolve(project(pkg__mod=source), "tool")
    assert place(tool) == f"pkg/mod.py::{qualname}"
    assert not {"self", "cls"} & set(tool.parameters)


def test_the_implementation_of_overloads_is_used(project):
    source = """
import typing
from typing import overload
@overload
def tool(axis: int) -> int: ...
@typing.overload
def tool(axis: str) -> str: ...
def tool(axis, limit=1): return axis
"""
    assert resolve(project(mod=source), "tool").parameters == ("axis", "limit")


def test_a_name_that_is_defined_twice_is_unresolved_and_names_both_places(project):
    root = project(a="def tool(): ...\n", b="\ndef tool(x): ...\n")
    assert resolve(root, "tool") == Unresolved(
        "tool",
        "defined 2 times: a.py::tool, line 1 (its name); b.py::tool, line 2 (its name); choose one under "
        'tools: in coreloop.yaml, as tool: {target: "a.py::tool"}',
        is_defined=True,
    )


SERVICE = "class Service:\n    def tool(self, x): ...\n"
FUNCTION = "def tool(x): ...\n"
METHOD = "class Box:\n    @tool\n    def tool(self): ...\n"


@pytest.mark.parametrize(
    ("files", "found"),
    [
        pytest.param({"a": f"{SERVICE}@mcp.tool()\n{FUNCTION}"}, "a.py::tool", id="decorated"),
        pytest.param({"a": FUNCTION, "b": SERVICE + METHOD}, "b.py::Box.tool", id="decorated method"),
        pytest.param(
            {"a": FUNCTION, "b": SERVICE, "c": "Agent('m', tools=[tool])\n"}, "a.py::tool", id="listed"
        ),
        pytest.param({"a": FUNCTION, "b": SERVICE, "c": "f(tools=[T(tool)])"}, "a.py::tool", id="wrapped"),
        pytest.param({"a": FUNCTION, "b": SERVICE, "c": "mcp.add_tool(tool)"}, "a.py::tool", id="added"),
        pytest.param(
            {"a": FUNCTION, "b": FUNCTION, "c": "from b import tool\nadd_tool(tool)"},
            "b.py::tool",
            id="imported",
        ),
        pytest.param(
            {"a": FUNCTION, "b": SERVICE, "c": "add_tool(it.tool)"}, "b.py::Service.tool", id="method"
        ),
        pytest.param({"a": f"def f(m):\n    @m.tool\n    {FUNCTION}"}, "a.py::f.tool", id="nested"),
        pytest.param({"a": "def f(x): ...\nTool(f, name='tool')"}, "a.py::f", id="named"),
        pytest.param({"a": FUNCTION, "b": SERVICE}, "a.py::tool", id="function"),
        pytest.param({"a": f"@tool\n{FUNCTION}", "b": f"@tool\n{FUNCTION}"}, None, id="two"),
    ],
)
def test_of_a_tool_and_a_service_of_its_name_the_registered_one_is_meant(files, found, project):
    tool = resolve(project(**files), "tool")
    assert (place(tool) if isinstance(tool, Tool) else None) == found


@pytest.mark.parametrize(
    ("description", "parameters", "found"),
    [
        ("Book a  room.", [], "a.py::tool"),
        ("Write it down.", [], "b.py::tool"),
        ("", ["room", "day"], "b.py::tool"),
        ("", ["room"], None),
        ("x" * 2_000_000, [], None),
    ],
)
def test_what_was_sent_to_models_decides_first(description, parameters, found, project):
    root = project(
        a='@mcp.tool\ndef tool(room):\n    """Book a room.\n\n    Args:\n        room: x\n    """\n',
        b="@mcp.tool\ndef tool(room, day): 'Write it down.'\n",
    )
    sent = root / "data/audit/descriptions"
    sent.mkdir(parents=True)
    (sent / "a.json").write_text("[" * 5_000)
    (sent / "b.json").write_text('{"tools": [1]}')
    schema = {"properties": dict.fromkeys(parameters)}
    tools = [{"name": "tool", "description": description, "schema": schema}]
    (sent / "c.json").write_text(json.dumps({"tools": tools}))
    tool = resolve(root, "tool")
    assert (place(tool) if isinstance(tool, Tool) else None) == found


SCHEMA = "{'properties': {'day': {'enum': ['mon', 'tue']}, 'n': {'maximum': 4}}, 'required': ['day']}"
LOW_LEVEL = f"""
class Args(BaseModel):
    day: str
    n: int = 1
book = Tool(name="low", description="Book.", inputSchema={SCHEMA})
TOOLS = [{{"function": {{"name": "plain", "description": "Find.", "parameters": UNKNOWN}}}}]
async def list_tools():
    return [types.Tool(name="model", description=TEXT, inputSchema=Args.model_json_schema())]
def find(): "Find it."
F = {{"name": "find_it", "description": find.__doc__, "input_schema": {SCHEMA}}}
"""


@pytest.mark.parametrize("is_target", [False, True])
@pytest.mark.parametrize(
    ("name", "found", "parameters"),
    [("low", "low", 2), ("plain", "plain", 0), ("model", "model", 2), ("find_it", "find", 2)],
)
def test_a_tool_may_be_a_call_that_describes_it(name, found, parameters, is_target, project):
    tool = resolve(project(a=LOW_LEVEL), name, f"a.py::{found}" if is_target else None)
    assert place(tool) == f"a.py::{found}"
    assert tool.parameters == ("day", "n")[:parameters]
    if name == "low":
        assert tool.choices == {"day": ("mon", "tue")}
        assert tool.declared == {"day": "{'enum': ['mon', 'tue']}", "n": "= {'maximum': 4}"}


MOUNTED = """
import desk
from rooms import server as rooms
main.mount(rooms, namespace="rooms")
main.mount(desk.mcp, prefix="desk")
"""


def test_of_two_mounted_servers_each_has_its_own_tool(project):
    server = "{0} = FastMCP()\n@{0}.tool\ndef find(): ...\n"
    root = project(main=MOUNTED, rooms=server.format("server"), desk=server.format("mcp"))
    workspace = Workspace(root, Settings())
    names = ["mcp__x__rooms_find", "desk_find", "find"]
    assert logged_names(names, workspace) == {"mcp__x__rooms_find": "rooms_find"}
    assert place(resolve(root, "rooms_find")) == "rooms.py::find"
    assert place(resolve(root, "desk_find")) == "desk.py::find"
    assert isinstance(resolve(root, "find"), Unresolved)
    assert resolve_tools([], workspace, and_registered=True).keys() == {"rooms_find", "desk_find"}


def test_a_target_decides_between_two(project):
    root = project(a="def tool(x): ...\n", b="class B:\n    def tool(self, y): ...\n")
    assert place(resolve(root, "tool", "b.py::B.tool")) == "b.py::B.tool"
    assert place(resolve(root, "tool", "a.py::tool")) == "a.py::tool"


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("a.py::gone", "has no gone"),
        ("a.py::tool.gone", "has no"),
        ("broken.py::tool", "not readable Python"),
    ],
)
def test_an_absent_target_is_unresolved(project, target, reason):
    tool = resolve(project(a="def tool(): ...\n", broken="def tool(:\n"), "tool", target)
    assert isinstance(tool, Unresolved)
    assert reason in tool.reason


@pytest.mark.parametrize("folder", [".venv", "venv", "tests", "node_modules"])
def test_environments_build_output_and_tests_are_not_searched(project, folder):
    root = project(src__mod="def tool(): ...\n")
    for inner in (root / folder, root / "src" / folder):
        inner.mkdir()
        (inner / "copy.py").write_text("def tool(): ...\ndef other(): ...\n")
    assert place(resolve(root, "tool")) == "src/mod.py::tool"
    assert isinstance(resolve(root, "other"), Unresolved)


def test_a_function_inside_a_function_is_not_a_tool(project):
    assert isinstance(resolve(project(mod="def outer():\n    def tool(): ...\n"), "tool"), Unresolved)


def test_a_class_is_a_tool_only_as_a_target(project):
    root = project(mod="class tool:\n    def __call__(self): ...\n")
    assert isinstance(resolve(root, "tool"), Unresolved)
    assert place(resolve(root, "tool", "mod.py::tool")) == "mod.py::tool"


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(b"def tool(:\n", id="syntax error"),
        pytest.param(b"def tool(): ...\n\xff\xfe\n", id="not UTF-8"),
        pytest.param(b"def tool(): ...\n\x00", id="null character"),
        pytest.param(b"# coding: nonsense\ndef tool(): ...\n", id="unknown coding"),
        pytest.param(b"def tool(): ...\nx = " + b"-" * 100_000 + b"1\n", id="nested without end"),
        pytest.param(b"#" * 2_000_001 + b"\ndef tool(): ...\n", id="huge"),
    ],
)
def test_unreadable_files_are_skipped(project, broken):
    root = project(broken=broken, good="def tool(axis): ...\n")
    assert place(resolve(root, "tool")) == "good.py::tool"
    assert isinstance(resolve(root, "tool", "broken.py::tool"), Unresolved)


def test_docstrings_are_not_literals(project):
    source = '"""module"""\ndef tool(axis="배당"):\n    """doc"""\n    return {"수익성": 1}[axis]\n'
    assert resolve(project(mod=source), "tool").literals == {"배당", "수익성"}


def test_nothing_is_imported(project):
    root = project(mod="raise SystemExit\ndef tool(): ...\n")
    assert place(resolve(root, "tool")) == "mod.py::tool"
    assert "mod" not in sys.modules


@each_row("name", ["analysis", "dart.analysis", "get-user", "분석", "fs/read_file", "mcp:tool", "a" * 100])
def test_tool_names_may_have_dots_colons_slashes_and_dashes(name):
    assert is_tool_name(name)


@each_row("name", ["", "1st", "a b", "a\nb", "a\n", "a`b`", "a(b)", "<b>", "a" * 101, "a\u200b"])
def test_other_strings_are_not_tool_names(name):
    assert not is_tool_name(name)
