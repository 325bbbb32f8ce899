"""A new coreloop.yaml: tools and selectors from the source and the records, and nothing that users wrote."""

import ast
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coreloop.admin.init.decorated import decorated_tools
from coreloop.admin.init.new_settings import (
    SettingsProposals,
    ToolProposal,
    propose_tools,
    used_tools,
    write_settings,
)
from coreloop.admin.init.scaffold import read_template
from coreloop.base.project.allowed_values import declared_choices
from coreloop.base.project.settings import Settings
from coreloop.base.project.settings_file import load_settings
from coreloop.base.project.workspace import open_workspace
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


def load_bare(folder: Path, text: str) -> Settings:
    """The settings that the proposals of a file make once their # is gone."""
    bare = re.sub(r"(?m)^#(?=  -|  \S+: \{)|^# (?=\w+: \{)", "", text)
    (folder / "coreloop.yaml").write_text(bare, encoding="utf-8")
    return load_settings(folder, environ={})


# --- the source ---------------------------------------------------------------------------------------


def test_decorated_functions_are_tools_under_the_name_that_the_model_knows(folder: Path):
    targets = {name: f"{tool.file}::{tool.qualname}" for name, tool in decorated_tools(folder).items()}
    assert targets == {
        "refund": "desk.py::refund",
        "look_up": "desk.py::lookup",
        "escalate-now": "desk.py::escalate",
        "close": "desk.py::Desk.close",
        "reopen": "desk.py::_reopen",
        "ping": "desk.py::ping",
        "pong": "desk.py::pong",
    }


def test_literals_and_enums_are_closed_sets(folder: Path):
    choices = {name: dict(tool.choices) for name, tool in decorated_tools(folder).items() if tool.choices}
    assert choices == {
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
        ("list[Literal['a']]", None),
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


# --- the proposals ------------------------------------------------------------------------------------


def test_a_recorded_tool_without_definition_is_not_proposed(tmp_path: Path):
    """Its name and its arguments may be anything that a user wrote, and coreloop.yaml is committed."""
    calls = [called("Kowalski", Marlene=value) for value in ("positive", "negative") for _ in range(20)]
    assert propose_tools(used_tools(log(tmp_path, *calls)), tmp_path) == ()


def test_every_proposal_is_a_comment_and_valid_without_the_hash(folder: Path):
    (folder / "more.py").write_text("@tool\ndef 조회(kind): ...\n@tool\ndef on(): ...\n", encoding="utf-8")
    tools = propose_tools(used_tools(log(folder, called("조회"), called("on"))), folder)
    proposals = SettingsProposals(tools, "fastmcp")
    text = write_settings(read_template("coreloop.yaml"), proposals).decode()
    assert [line for line in text.splitlines() if not line.startswith("#")] == [
        "data_dir: data",
        "categories:",
        "tools:",
    ]
    assert '#  look_up: {target: "desk.py::lookup"}' in text
    assert "selectors: [reason, sort]}  # reason: damaged, late; sort: asc, desc\n" in text
    settings = load_bare(folder, text)
    assert set(settings.tools) == {tool.name for tool in tools} >= {"조회", "on"}
    assert settings.reach.framework == "fastmcp"


def test_hostile_names_do_not_reach_the_file(tmp_path: Path):
    hostile = ["x: {}\n# y", "\x1b[31m", "a" * 200, "\u202ex", "{", "'", "-x"]
    calls = [called(name, **{name: value}) for name in hostile for value in ("a", "b") for _ in range(9)]
    fine = [called("fine", **{name: value}) for name in hostile for value in ("a", "b") for _ in range(9)]
    (tmp_path / "tools.py").write_text("@tool\ndef fine(**names): ...\n")
    tools = propose_tools(used_tools(log(tmp_path, *calls, *fine)), tmp_path)
    assert tools == (ToolProposal("fine", "tools.py::fine", {}),)


def test_init_writes_the_proposals_and_counts_them(
    folder: Path, entry_point: Callable[..., Any], quiet_git: None
):
    from promoting import run_git

    run_git(folder, "init", "--quiet")
    (folder / "requirements.txt").write_text("mcp\n")
    code, out, _ = entry_point(folder, "init")
    assert code == 0
    assert "           proposes, each behind a #: 7 tools, 4 selectors, reach by mcp\n" in out
    entry_point(folder, "init", "--confirm")
    assert "#  refund: {target:" in (folder / "coreloop.yaml").read_text()
    assert open_workspace(folder).settings == Settings()
    assert "proposes" not in entry_point(folder, "init")[1]
