"""Rows of coreloop.yaml: the tools of the project, and nothing that users wrote."""

import ast
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coreloop.admin.init.new_settings import SettingsProposals, add_reach, add_rows, propose_settings
from coreloop.base.project.allowed_values import declared_choices
from coreloop.base.project.tools import Tool, resolve_tools
from coreloop.base.project.workspace import open_workspace
from coreloop.observe.descriptions_in_force import SentTool, keep_descriptions
from rows import each_row

SOURCE = """
from enum import StrEnum
from typing import Literal, Optional
Order = Literal["asc", "desc"]
class Channel(StrEnum):
    MAIL = "e-mail"
    PHONE = "phone"

@mcp.tool()
def refund(order: str, reason: Literal["damaged", "late"] = "late", sort: Order | None = None): ...

@tool("look_up")
def lookup(query: str, section: str): return {"billing": 1, "shipping": 2}

@server.tool(name="escalate-now", description="x")
async def escalate(channel: Channel, note: "Optional[Literal['a', 'b']]" = None): ...

class Desk:
    @agent.tool_plain
    def close(self, ticket: str): ...

@function_tool(name_override="reopen")
def _reopen(n: Literal[1, 2], mixed: Literal["a", 1]): ...

@beta_tool
def ping(): ...

@observed_tool
def pong(): ...

@functools.cache
def not_a_tool(): ...

@property
def toolish(): ...
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "desk.py").write_text(SOURCE)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "fake.py").write_text("@tool\ndef fake(): ...\n")
    (tmp_path / "torn.py").write_text("@tool\ndef (\n")
    return tmp_path


def log(folder: Path, *calls: dict[str, Any]) -> Path:
    records = folder / "data" / "audit" / "ai-ask"
    records.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"ts": "2026-04-25T09:30:00+00:00", "tool_calls": [call]}) for call in calls]
    (records / "2026-04-25.jsonl").write_text("\n".join(["torn {", "[]", *lines]) + "\n")
    return records


def called(name: str = "lookup", *, ok: bool = True, **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args, "ok": ok}


def proposed(folder: Path) -> SettingsProposals:
    return propose_settings(open_workspace(folder))


# --- the source ---------------------------------------------------------------------------------------


def test_decorated_functions_are_tools_under_the_name_that_the_model_knows(folder: Path):
    assert proposed(folder).targets == {
        "refund": "desk.py::refund",
        "look_up": "desk.py::lookup",
        "escalate-now": "desk.py::escalate",
        "close": "desk.py::Desk.close",
        "reopen": "desk.py::_reopen",
        "ping": "desk.py::ping",
        "pong": "desk.py::pong",
    }


def test_literals_and_enums_are_closed_sets(folder: Path):
    tools = resolve_tools(["refund", "escalate-now"], open_workspace(folder))
    assert {name: dict(tool.choices) for name, tool in tools.items() if isinstance(tool, Tool)} == {
        "refund": {"reason": ("damaged", "late"), "sort": ("asc", "desc")},
        "escalate-now": {"channel": ("e-mail", "phone"), "note": ("a", "b")},
    }


@each_row(
    ("annotation", "values"),
    [
        ("Literal['a', 'b']", ("a", "b")),
        ("typing.Literal['a', None]", ("a",)),
        ("Annotated[Literal['a', 'b'], 'text']", ("a", "b")),
        ("None | Literal['a']", ("a",)),
        ("'Literal['", None),
        ("str | int", None),
        ("list[Literal['a']]", ("a",)),
        ("Unknown", None),
        ("Kind", ("one", "two")),
    ],
)
def test_annotations(annotation: str, values: tuple[str, ...] | None):
    source = f"class Kind(enum.StrEnum):\n    ONE = auto()\n    TWO = 'two'\ndef f(x: {annotation}): ...\n"
    tree = ast.parse(source)
    function = tree.body[1]
    assert isinstance(function, ast.FunctionDef)
    assert declared_choices(function, tree).get("x") == values


# --- the rows -----------------------------------------------------------------------------------------

HOSTILE = ["x: {}\n# y", "\x1b[31m", "a" * 200, "\u202ex", "{", "'", "-x", "Kowalski"]


def test_rows_are_of_tools_that_the_source_defines(folder: Path):
    """Another recorded name may be anything that a user wrote, and coreloop.yaml is committed."""
    (folder / "more.py").write_text(
        "@tool\ndef 조회(kind): ...\n@tool('on')\ndef _on(): ...\n", encoding="utf-8"
    )
    log(folder, called("mcp__desk__조회"), *map(called, HOSTILE))
    proposals = proposed(folder)
    assert proposals.unclear == {}
    content, _ = add_rows(b"data_dir: data\n", proposals.targets)
    assert content.decode() == (
        "data_dir: data\ntools:\n"
        "  close: {target: 'desk.py::Desk.close'}\n"
        "  escalate-now: {target: 'desk.py::escalate'}\n"
        "  look_up: {target: 'desk.py::lookup'}\n"
        "  'on': {target: 'more.py::_on'}\n"
        "  ping: {target: 'desk.py::ping'}\n"
        "  pong: {target: 'desk.py::pong'}\n"
        "  refund: {target: 'desk.py::refund'}\n"
        "  reopen: {target: 'desk.py::_reopen'}\n"
        "  조회: {target: 'more.py::조회'}\n"
    )


ROW = b"new: {target: 'a.py::b'}"


@each_row(
    ("old", "new"),
    [
        (b"tools:\n#  x: {}\n", b"tools:\n  " + ROW + b"\n#  x: {}\n"),
        (
            b"tools: # mine\n\n    x: {}\ngates: {}",
            b"tools: # mine\n    " + ROW + b"\n\n    x: {}\ngates: {}",
        ),
        (b"a: 1\r\nb: 2", b"a: 1\r\nb: 2\r\ntools:\r\n  " + ROW + b"\r\n"),
        (b"tools: {}\n", None),
        (b"tools: {x: {}}\n", None),
        (b"a: '\ntools:\n  '\n", None),
    ],
)
def test_rows_change_nothing_that_a_person_wrote(old: bytes, new: bytes | None):
    assert add_rows(old, {"new": "a.py::b"})[0] == (old if new is None else new)


BOARD = "from fastmcp import FastMCP\nboard = FastMCP('board')\n"
HELP = "from pydantic_ai import Agent\nhelper = Agent('m')\n"
ASKED = "  # does the agent get its tools from it?\n"


@pytest.mark.parametrize(
    ("files", "framework", "row"),
    [
        ({"src/a/b.py": BOARD}, None, 'reach: {framework: fastmcp, tools: "a.b:board"}\n'),
        (
            {"b.py": BOARD, "h.py": HELP},
            "pydantic-ai",
            'reach: {framework: pydantic-ai, tools: "h:helper"}\n',
        ),
        (
            {"b.py": BOARD, "c.py": BOARD},
            "fastmcp",
            f'# reach: {{framework: fastmcp, tools: "b:board"}}{ASKED}'
            f'# reach: {{framework: fastmcp, tools: "c:board"}}{ASKED}',
        ),
        ({}, "langchain", f'# reach: {{framework: langchain, tools: "package.module:TOOLS"}}{ASKED}'),
        ({"agents/x.py": "", "b.py": HELP.replace("pydantic_ai", "agents")}, None, ""),
        ({"b.py": "def board():\n    return FastMCP('board')\n"}, "unknown", ""),
    ],
)
def test_reach_is_of_the_framework_that_recorded_and_of_its_only_server(
    files: dict[str, str], framework: str | None, row: str, tmp_path: Path
):
    for name, source in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(source)
    if framework is not None:
        keep_descriptions([SentTool("x", "", {})], tmp_path / "data" / "audit", framework)
    content, _ = add_reach(b"data_dir: data\n", open_workspace(tmp_path))
    assert content.decode() == f"data_dir: data\n{row}"
    assert add_reach(content, open_workspace(tmp_path)) == (content, ())


def test_init_adds_the_rows_of_tools_that_came_later(
    folder: Path, entry_point: Callable[..., Any], quiet_git: None
):
    from promoting import run_git

    run_git(folder, "init", "--quiet")
    settings = folder / "coreloop.yaml"
    assert entry_point(folder, "init", "--confirm")[0] == 0
    (folder / "more.py").write_text("@tool('later')\ndef _later(): ...\n")
    settings.write_text(settings.read_text() + "# mine\n")
    before = settings.read_text()
    row = "  later: {target: 'more.py::_later'}"
    assert f"append to  coreloop.yaml\n           {row}\n" in entry_point(folder, "init", "--confirm")[1]
    assert settings.read_text() == before.replace("tools:\n", f"tools:\n{row}\n")
    assert open_workspace(folder).settings.tools["later"].target == "more.py::_later"
    assert "keep       coreloop.yaml\n" in entry_point(folder, "init")[1]
    settings.write_text("tools: {}\n")
    assert "the lines under coreloop.yaml are to be added by hand" in entry_point(folder, "init")[1]
