"""Tools that no docstring describes, from the first command to the effect: nothing has to be allowed."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from coreloop.base.git.trailers import read_promoted
from coreloop.descriptions.schemas import schema_of
from coreloop.descriptions.texts import find_texts
from guard_bench import Bench
from logs import call, failed, record, write_log
from promoting import Project, run_git
from rows import slow_after

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
    "toml": """[[tools]]
name = "refund"
description = "Pays an order back."
inputSchema.properties.order_id.description = "The order."
inputSchema.properties.reason.description = "Why, in the customer's words."
inputSchema.required = ["order_id"]""",
    "typescript": """server.registerTool("refund", {
  description: "Pays an order back.",
  inputSchema: {
    order_id: z.string(), reason: z.string().optional().describe("Why, in the customer's words."),
  },
}, refund);""",
}
FILES = {"yaml": "tools.yaml", "python": "server.py", "toml": "tools.toml", "typescript": "tools.ts"}
NOW = datetime.now(UTC)
_REASONS = ("late", "broken", "wrong")


@pytest.fixture
def project(tmp_path: Path, quiet_git: None) -> Project:
    """An empty repository without a remote."""
    project = Project(tmp_path / "project", tmp_path / "remote.git")
    project.root.mkdir()
    project.git("init", "--quiet", "--initial-branch=main")
    return project


def _write_log(root: Path, missing: str, days: range, *, n_failed: int = 10) -> None:
    """Calls on days from today, of which those without an argument fail, or those with another reason."""
    for day in days:
        rows = []
        for number in range(30):
            name = f"{day}-{number}"
            args = {"order_id": f"A-{name}", "reason": _REASONS[number % 3], "amount": 5}
            if number < n_failed:
                args = {key: value for key, value in args.items() if key != missing}
                args |= {} if missing else {"reason": f"another, {number}"}
            one = (failed if number < n_failed else call)("refund", args)
            moment = (NOW + timedelta(days=day)).replace(hour=9, minute=number).isoformat()
            session = f"session:{name}"
            own = {"ts": moment, "request_id": name, "question": f"Refund {name}", "session_hash": session}
            rows.append(record(**own, tool_calls=[one], category_hash="SHOP-orders"))
        write_log(root / f"data/audit/ai-ask/{NOW + timedelta(days=day):%Y-%m-%d}.jsonl", rows)


def _take_the_patch(project: Project, file: str, missing: str, body: str) -> None:
    assert f"`Always pass {missing}`: refuses none of 420 calls that worked, with retries." in body
    patch = body.partition("## The schema instead")[2].split("```")[1].removeprefix("diff\n")
    project.git("apply", "-", stdin=patch.encode())
    source = (project.root / file).read_bytes()
    required = schema_of(find_texts(file, source)[0].schema)[1]
    assert required == ("order_id", missing) if required else b"optional" not in source
    project.git("checkout", "--quiet", "--", file)


@pytest.mark.parametrize("form", slow_after(2, ["openai", "python", "mcp", "yaml", "toml", "typescript"]))
def test_a_line_goes_from_the_log_into_a_schema_through_the_guard_and_helps(
    form: str, project: Project, tmp_path: Path, entry_point: Any, monkeypatch: pytest.MonkeyPatch
):
    missing = "amount" if form in ("python", "mcp") else "reason"
    run_git(tmp_path, "init", "--quiet", "--bare", "--initial-branch=main", str(project.remote))
    project.git("remote", "add", "origin", str(project.remote))
    source, file = SOURCES[form], FILES.get(form, "tools.json")
    name = "refund[reason]" if missing == "reason" else "refund"
    code = "def refund(order_id, reason='', amount=0):\n    return order_id\n"
    project.commit({file: source, "shop/refunds.py": code, ".gitignore": "data/\n"}, "first")
    _write_log(project.root, missing, range(-21, 0))
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

    (text,) = project.root.glob("data/audit/*/*-pull-request.md")
    _take_the_patch(project, file, missing, body := text.read_text())
    project.git("switch", "--quiet", "--create", branch, f"origin/{branch}")
    bench = Bench(project)
    happened = bench.event(title=message.partition("\n")[0], body=body, branch=branch, labels=("coreloop",))
    bench.review()
    decision = bench.decide(happened)
    assert (decision.coreloop, decision.reasons) == (True, ())

    project.git("merge", "--quiet", "--no-ff", "-m", f"Merge pull request #7 from octo/{branch}", branch)
    bench.push()
    later = SimpleNamespace(now=lambda _: NOW + timedelta(days=22))
    monkeypatch.setattr("coreloop.cli.effect.datetime", later)
    for days, n_failed, *verdict in ((range(1, 3), 10, "too early", 1), (range(3, 14), 0, "helps", 12)):
        _write_log(project.root, missing, days, n_failed=n_failed)
        (effect,) = json.loads(run("effect", "--tool", "refund", "--json"))["changes"]
        assert effect["change"]["target"] == f"{file}::refund"
        assert [effect["verdict"], effect["look"]["day"]] == verdict
        assert effect["lines"] == [f"- Always pass {missing}"]


_CODE = f"REASONS = {_REASONS}\n\ndef refund(order_id, reason='', amount=0):\n    return reason in REASONS\n"


@pytest.mark.parametrize("form", ["openai", "python"])
@pytest.mark.parametrize("is_named", [False, True], ids=["found", "named under tools"])
def test_the_words_of_the_code_behind_a_schema_are_promoted(
    form: str, is_named: bool, project: Project, entry_point: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "80")
    file = FILES.get(form, "tools.json")
    settings = f"tools: {{refund: {{target: {file}::refund}}}}\n" if is_named else ""
    project.commit({file: SOURCES[form], "desk/refunds.py": _CODE, "coreloop.yaml": settings}, "first")
    _write_log(project.root, "", range(-6, 0))
    line = f"reason: one of {', '.join(sorted(_REASONS))}"
    assert entry_point(project.root, "refine")[1].count(line) == 1
    code, out, _ = entry_point(project.root, "promote", "--tool", "refund")
    assert code == 0
    assert f"target   {file}::refund[reason]" in out
    assert f"- {line}" in out
    assert form == "python" or max(map(len, out.splitlines())) <= 80


_SLUGS = f"axis_slugs: {{{', '.join(f'{word}: {word}' for word in sorted(_REASONS))}}}"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (("openai",), f"Commit `{_SLUGS}` in coreloop.yaml"),
        (
            ("openai", "python"),
            "described 2 times (server.py::refund, tools.json::refund); name one under tools",
        ),
    ],
    ids=["the base lacks the words", "two files describe it"],
)
def test_a_refusal_says_what_to_write(files: tuple[str, ...], said: str, project: Project, entry_point: Any):
    project.commit({FILES.get(form, "tools.json"): SOURCES[form] for form in files}, "first")
    (project.root / "refunds.py").write_text(_CODE)
    _write_log(project.root, "", range(-6, 0))
    entry_point(project.root, "refine")
    assert said in entry_point(project.root, "promote", "--tool", "refund")[2]
    project.commit({"coreloop.yaml": f"{_SLUGS}\ntools: {{refund: {{target: tools.json::refund}}}}\n"})
    entry_point(project.root, "refine")
    assert entry_point(project.root, "promote", "--tool", "refund")[0] == 0
