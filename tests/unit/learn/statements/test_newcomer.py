"""A newcomer's agent with four planted failures, each mended by a retry: only their causes are said."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import pytest

from coreloop.base.project.settings import Settings
from coreloop.base.project.tools import Tool, resolve_tools
from coreloop.base.project.workspace import Workspace
from coreloop.learn.facts.read_lines import MineSettings
from coreloop.learn.mine.folder import read_folder
from coreloop.learn.mine.window import merge
from coreloop.learn.proposals.allowed_lines import Vocabulary
from coreloop.learn.statements.findings import to_statements
from coreloop.learn.statements.logged_calls import read_log
from coreloop.learn.statements.search import search_tools
from logs import one_by_one, write_log
from samples import ALWAYS

PRIORITY = '''from enum import Enum


class Priority(Enum):
    """What the backend takes."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"
'''
TOOLS = '''"""Tools of a newcomer's agent."""

{priority}


def find_customer(name: str) -> dict:
    """Find a customer."""


def verify_customer(customer_id: str) -> dict:
    """Verify a customer."""


def open_ticket(customer_id: str, priority: str, note: str = "") -> dict:
    """Open a ticket."""
    return {taken}


def get_invoice(customer_id: str, month: str = "") -> dict:
    """Get an invoice."""
    if not customer_id.startswith("cus_"):
        raise ValueError(customer_id)
    return dict()


def refund_order(customer_id: str, amount: float, note: str = "") -> dict:
    """Refund an order."""


def book_call(customer_id: str, day: str) -> dict:
    """Book a call."""
'''
EXPECTED = {
    ("open_ticket", "- priority: one of high, low, normal"),
    ("get_invoice", "- customer_id: begins with cus_"),
    ("refund_order", "- Call verify_customer first (same customer_id)"),
    ("book_call", "- day: as YYYY-MM-DD"),
}


def _call(tool: str, /, error: str | None = None, **args: Any) -> dict[str, Any]:
    return {"name": tool, "args": args, "ok": error is None, "error": error, "duration_ms": 4.0}


def _tried(tool: str, error: str, bad: dict[str, Any], good: dict[str, Any]) -> list[dict[str, Any]]:
    """A call, after a failed one if the agent errs first."""
    return [*([_call(tool, error, **{**good, **bad})] if bad else []), _call(tool, **good)]


def _records(seed: int) -> Iterator[dict[str, Any]]:
    """Two weeks of one agent's requests, about 80 customers; every fourth call goes wrong first."""
    rng = Random(seed)
    start = datetime(2026, 3, 1, tzinfo=UTC)
    for number in range(280):
        customer = f"cus_{rng.randrange(80):04d}"
        optional = rng.choice([{}, {"note": rng.choice(["call back", "by mail"])}])
        errs, task = rng.random() < 0.25, number % 4
        calls = [_call("find_customer", name=f"name {customer[4:]}")]
        if task == 0:
            bad = {"priority": rng.choice(["urgent", "P1", "asap"])} if errs else {}
            good = {"customer_id": customer, "priority": rng.choice(["low", "normal", "high"]), **optional}
            calls += _tried("open_ticket", "ValueError: no such Priority", bad, good)
        elif task == 1:
            bad = {"customer_id": str(int(customer[4:]))} if errs else {}
            calls += _tried("get_invoice", "no customer", bad, {"customer_id": customer})
        elif task == 2:
            refund = {"customer_id": customer, "amount": rng.randrange(1, 90), **optional}
            if errs:
                calls.append(_call("refund_order", "403 identity unknown", **refund))
            calls += [_call("verify_customer", customer_id=customer), _call("refund_order", **refund)]
        else:
            day = start + timedelta(days=rng.randrange(200))
            bad = {"day": f"{day:%d/%m/%Y}"} if errs else {}
            good = {"customer_id": customer, "day": f"{day:%Y-%m-%d}"}
            calls += _tried("book_call", "cannot parse", bad, good)
        ts = start + timedelta(days=number / 20, seconds=rng.randrange(60))
        yield {
            "schema_version": 2,
            "ts": f"{ts:%Y-%m-%dT%H:%M:%SZ}",
            "request_id": f"req-{number:05d}",
            "question": f"task {rng.choice('abcdefgh')} {rng.choice('abcdefgh')}",
            "model": "m",
            "tool_calls": calls,
            "chunk_len": 200,
            "error": None,
        }


def _lines(records: Iterable[dict[str, Any]], folder: Path) -> set[tuple[str, str]]:
    """What is said of the agent, whose tools are in the folder."""
    write_log(folder / "log" / "2026-03-01.jsonl", records)
    log = read_log(merge(read_folder(folder / "log", MineSettings()), ALWAYS), {})
    words = Vocabulary(resolve_tools(set(log.tools), Workspace(folder, Settings())), Settings())
    found = to_statements(search_tools(log, words), log)
    return {(statement.tool, statement.line) for statement, _ in found}


@pytest.mark.parametrize("records", [*map(_records, (1, 2, 3)), chain(*map(one_by_one, _records(1)))])
def test_the_four_causes_are_said_and_no_other_line(records: Iterable[Any], tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(TOOLS.format(priority=PRIORITY, taken="Priority(priority)"))
    assert _lines(records, tmp_path) == EXPECTED


CREATE = "from shop.backend import types\n\n\ndef create(level):\n    return types.Priority(level)\n"
COMPARED = 'def create(level):\n    if level not in ("low", "normal", "high"):\n        raise ValueError\n'

ALL = {"backend/__init__": "from .types import *\n"}


@pytest.mark.parametrize(
    ("imported", "taken", "files"),
    [
        pytest.param("from shop.backend.types import Priority", "Priority(priority)", {}, id="from"),
        pytest.param("import shop.backend.types", "shop.backend.types.Priority(priority)", {}, id="module"),
        pytest.param("from .backend import Priority", "Priority(priority)", ALL, id="passed on"),
        pytest.param(
            "from shop.tickets import create", "create(priority)", {"tickets": CREATE}, id="by what it calls"
        ),
        pytest.param(
            "from shop import tickets",
            "tickets.create(priority)",
            {"tickets": COMPARED, "backend/types": ""},
            id="compared by what it calls",
        ),
    ],
)
def test_values_that_another_file_of_the_project_declares_are_said(
    imported: str, taken: str, files: dict[str, str], tmp_path: Path
) -> None:
    package = tmp_path / "src" / "shop"
    texts = {"tools": TOOLS.format(priority=imported, taken=taken), "backend/types": PRIORITY, **files}
    for name, text in texts.items():
        path = package / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    tool = resolve_tools(["open_ticket"], Workspace(tmp_path, Settings()))["open_ticket"]
    assert isinstance(tool, Tool)
    assert frozenset({"low", "normal", "high"}) in tool.listed
