"""Tools that no docstring describes: from the first command to the guard, nothing has to be allowed."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from coreloop.base.git.trailers import read_promoted
from guard_bench import Bench
from logs import call, failed, record, write_log
from promoting import Project, run_git

_PROPERTIES = {
    "order_id": {"type": "string", "description": "The order."},
    "reason": {"type": "string", "description": "Why, in the customer's words."},
    "amount": {"type": "integer"},
}
_SCHEMA = {"type": "object", "properties": _PROPERTIES, "required": ["order_id"]}
_REFUND = {"name": "refund", "description": "Pays an order back."}
_MCP = json.dumps({"tools": [{**_REFUND, "inputSchema": _SCHEMA}]}, indent=2)
SOURCES = {
    "openai": json.dumps([{"type": "function", "function": {**_REFUND, "parameters": _SCHEMA}}]),
    "mcp": _MCP,
    "yaml": f"# tools\n{_MCP}",
    "python": f"TOOLS = {_MCP}",
}
FILES = {"yaml": "tools.yaml", "python": "server.py"}


def _write_log(root: Path, missing: str) -> None:
    """Calls of three weeks, of which those without an argument fail."""
    now = datetime.now(UTC)
    for day in range(1, 22):
        rows = []
        for number in range(30):
            name = f"{day}-{number}"
            args = {"order_id": f"A-{name}", "reason": "late", "amount": 5}
            if number % 3 == 0:
                del args[missing]
            one = failed("refund", args) if missing not in args else call("refund", args)
            moment = (now - timedelta(days=day)).replace(hour=9, minute=number).isoformat()
            session = f"session:{name}"
            own = {"ts": moment, "request_id": name, "question": f"Refund {name}", "session_hash": session}
            rows.append(record(**own, tool_calls=[one], category_hash="SHOP-orders"))
        write_log(root / f"data/audit/ai-ask/{now - timedelta(days=day):%Y-%m-%d}.jsonl", rows)


@pytest.mark.parametrize(
    ("form", "missing"), [("openai", "reason"), ("mcp", "amount"), ("yaml", "reason"), ("python", "amount")]
)
def test_a_line_goes_from_the_log_into_a_schema_and_through_the_guard(
    form: str, missing: str, tmp_path: Path, quiet_git: None, entry_point: Any
):
    project = Project(tmp_path / "project", tmp_path / "remote.git")
    project.root.mkdir()
    run_git(tmp_path, "init", "--quiet", "--bare", "--initial-branch=main", str(project.remote))
    project.git("init", "--quiet", "--initial-branch=main")
    project.git("remote", "add", "origin", str(project.remote))
    source, file = SOURCES[form], FILES.get(form, "tools.json")
    name = "refund[reason]" if missing == "reason" else "refund"
    code = "def refund(order_id, reason='', amount=0):\n    return order_id\n"
    project.commit({file: source, "shop/refunds.py": code, ".gitignore": "data/\n"}, "first")
    _write_log(project.root, missing)
    said = []

    def run(*words: str) -> str:
        status, out, err = entry_point(project.root, *words)
        said.append(out + err)
        assert status == 0, said
        return str(out)

    run("init", "--confirm")
    project.git("add", "--all")
    project.git("commit", "--quiet", "-m", "Add coreloop")
    project.git("push", "--quiet", "origin", "main")
    project.git("fetch", "--quiet", "origin")
    run("refine")
    run("promote", "--tool", "refund", "--confirm")
    assert not [text for text in said if "has no docstring" in text or "no line yet" in text]

    (branch,) = (name for name in project.heads() if name.startswith("skill/"))
    project.git("fetch", "--quiet", "origin")
    message = project.git("log", "-1", "--format=%B", f"origin/{branch}")
    assert [group["Target"] for group in read_promoted(message)] == [f"{file}::{name}"]
    line = f"\\n\\n- Always pass {missing}"
    text = _PROPERTIES["reason"]["description"] if missing == "reason" else _REFUND["description"]
    assert project.git("show", f"origin/{branch}:{file}") == source.replace(text, text + line)

    project.git("switch", "--quiet", "--create", branch, f"origin/{branch}")
    bench = Bench(project)
    title, _, body = message.partition("\n\n")
    happened = bench.event(title=title, body=body, branch=branch, labels=("coreloop",))
    bench.review()
    decision = bench.decide(happened)
    assert (decision.coreloop, decision.reasons) == (True, ())
