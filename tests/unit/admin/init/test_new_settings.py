"""What ``init`` finds: the tools of the project, and nothing that users wrote; the framework."""

import ast
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest

from coreloop.admin.checks.setup import project_tools
from coreloop.admin.init.new_settings import add_rows, reach_todo
from coreloop.base.project.allowed_values import declared_choices
from coreloop.base.project.promotion_settings import Framework
from coreloop.base.project.tools import Tool, resolve_tools
from coreloop.base.project.workspace import open_workspace
from coreloop.observe.descriptions_in_force import SentTool, keep_descriptions

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


def proposed(folder: Path) -> dict[str, str]:
    tools = project_tools(open_workspace(folder)).values()
    return {tool.name: f"{tool.file}::{tool.qualname}" for tool in tools if isinstance(tool, Tool)}


# --- the source ---------------------------------------------------------------------------------------


def test_decorated_functions_are_tools_under_the_name_that_the_model_knows(folder: Path):
    assert proposed(folder) == {
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


def test_annotations():
    source = """
class Kind(enum.StrEnum):
    ONE = auto()
    TWO = 'two'
def f(a: Literal['a', 'b'], b: typing.Literal['a', None], c: Annotated[Literal['a', 'b'], 'text'],
      d: None | Literal['a'], e: 'Literal[', f: str | int, g: list[Literal['a']], h: Unknown, i: Kind): ...
"""
    tree = ast.parse(source)
    assert isinstance(tree.body[1], ast.FunctionDef)
    both, one = ("a", "b"), ("a",)
    wanted = {"a": both, "b": one, "c": both, "d": one, "g": one, "i": ("one", "two")}
    assert declared_choices(tree.body[1], tree) == wanted


HOSTILE = ["x: {}\n# y", "\x1b[31m", "a" * 200, "\u202ex", "{", "'", "-x", "Kowalski"]


def test_tools_are_those_that_the_source_defines(folder: Path):
    """Another recorded name may be anything that a user wrote, and the names are shown."""
    (folder / "more.py").write_text(
        "@tool\ndef 조회(kind): ...\n@tool('on')\ndef _on(): ...\n", encoding="utf-8"
    )
    known = proposed(folder)
    log(folder, called("mcp__desk__조회"), *map(called, HOSTILE))
    found = proposed(folder)
    assert found == {**known, "on": "more.py::_on", "조회": "more.py::조회"}


BOARD = "from fastmcp import FastMCP\nboard = FastMCP('board')\n"
HELP = "from pydantic_ai import Agent\nhelper = Agent('m')\n"
BUILT = "def build(model{0}):\n    from pydantic_ai import Agent\n    return Agent(model)\n"
TAKES = BUILT.format("").replace("(model)", "(model, tools=TOOLS)")
TOOL = "from {} import function_tool\n@function_tool\ndef f(): ...\n"
MADE = "from langchain.tools import StructuredTool as Tool\nt = Tool.from_function(print)\n"
INDEX = "from llama_index.core.tools import FunctionTool\n"
LISTED = f"{INDEX}TOOLS = [FunctionTool.from_defaults(fn=one) for one in (print, len)]\n"
FLOW = "from llama_index.core import workflow as w\nflow = w.AgentWorkflow.from_tools_or_functions([len])\n"
BUILDS = BUILT.format("").replace("pydantic_ai", "llama_index.core").replace("Agent", "FunctionAgent")
LI = "reach: {framework: llama-index, tools: "
PAI = "reach: {framework: pydantic-ai, tools: "
RUNS = 'importing h runs it: put that below if __name__ == "__main__":'
ASKED = "  # does the agent get its tools from it?\n"


@pytest.mark.parametrize(
    ("files", "framework", "row"),
    [
        ({"src/a/b.py": BOARD}, None, 'reach: {framework: fastmcp, tools: "a.b:board"}\n'),
        ({"b.py": BOARD, "h.py": HELP}, "pydantic-ai", f'{PAI}"h:helper"}}\n'),
        (
            {"b.py": BOARD, "c.py": BOARD},
            "fastmcp",
            f'# reach: {{framework: fastmcp, tools: "b:board"}}{ASKED}'
            f'# reach: {{framework: fastmcp, tools: "c:board"}}{ASKED}',
        ),
        ({}, "langchain", f'# reach: {{framework: langchain, tools: "package.module:TOOLS"}}{ASKED}'),
        ({"agents/x.py": "", "b.py": HELP.replace("pydantic_ai", "agents")}, None, ""),
        ({"b.py": "def board():\n    return FastMCP('board')\n"}, "unknown", ""),
        (
            {"h.py": "import pydantic_ai as p\nh: p.Agent[A] = attach(p.Agent[A]('m'))\n"},
            None,
            f'{PAI}"h:h"}}\n',
        ),
        ({"h.py": f"from .t import TOOLS\n{TAKES}", "t.py": "TOOLS = []\n"}, None, f'{PAI}"t:TOOLS"}}\n'),
        ({"h.py": BUILT.format("='m'")}, None, f'# {PAI}"h:build"}}{ASKED}'),
        (
            {"h.py": BUILT.format("")},
            None,
            f'# {PAI}"h:TOOLS"}}  # h has no TOOLS: make that the list of its tools\n',
        ),
        (
            {"h.py": BUILT.format("").replace("pydantic_ai", "agents"), "a/t.py": TOOL.format("agents")},
            None,
            'reach: {framework: openai-agents, tools: "a.t"}\n',
        ),
        (
            {"t.py": TOOL.format("langchain_core.tools"), "u.py": MADE},
            None,
            'reach: {framework: langchain, tools: "t, u"}\n',
        ),
        ({"h.py": BUILDS, "t.py": LISTED}, None, f'{LI}"t:TOOLS"}}\n'),
        ({"f.py": FLOW, "t.py": LISTED}, None, f'{LI}"f:flow"}}\n'),
        ({"t.py": f"{LISTED}one = FunctionTool.from_defaults(len)\n"}, None, f'{LI}"t:TOOLS, t"}}\n'),
        (
            {"h.py": f"{HELP}for one in 'ab':\n    helper.run_sync(one)\n"},
            None,
            f'# {PAI}"h:helper"}}  # {RUNS}\n',
        ),
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
    content, _ = add_rows(b"data_dir: data\n", open_workspace(tmp_path))
    assert content.decode() == f"data_dir: data\n{row}"
    assert add_rows(content, open_workspace(tmp_path)) == (content, ())
    assert row.removeprefix("# ").partition("}")[0] in reach_todo(open_workspace(tmp_path))


def test_what_is_to_be_done_names_every_framework(tmp_path: Path):
    todo = reach_todo(open_workspace(tmp_path))
    assert [name for name in get_args(Framework) if name not in todo] == []


def test_init_writes_at_most_six_lines_and_needs_no_row_for_a_tool(
    folder: Path, entry_point: Callable[..., Any], quiet_git: None
):
    from promoting import run_git

    run_git(folder, "init", "--quiet")
    (folder / "board.py").write_text(BOARD)
    code, out, _ = entry_point(folder, "init", "--confirm", "--max-open", "2")
    assert code == 0
    assert "7 tools found: " in out
    settings = (folder / "coreloop.yaml").read_text()
    assert len(settings.splitlines()) <= 6
    assert 'reach: {framework: fastmcp, tools: "board:board"}' in settings
    assert "ok       tools " in entry_point(folder, "doctor", "-v")[1]
