"""``look``: traces of any format in, a screen out, and nothing else."""

import json
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from agent_traces import codex
from coreloop.base.text import text_width
from coreloop.cli.main import main
from foreign_traces import Session, otlp, span, write_document, write_lines

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, quiet_git: None, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The commands in an empty folder, with a temporary folder of their own."""
    (tmp_path / "here").mkdir()
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.chdir(tmp_path / "here")

    def run(*args: str | Path, code: int = 0, columns: int = 100) -> Result:
        done = CliRunner(env={"COLUMNS": str(columns)}).invoke(main, ["look", *(str(arg) for arg in args)])
        assert done.exit_code == code, done.output
        return done

    return run


def call(name: str, args: dict[str, Any], result: str, id: str) -> list[dict[str, Any]]:
    function = {"name": name, "arguments": json.dumps(args)}
    return [
        {"role": "assistant", "tool_calls": [{"id": id, "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": id, "content": result},
    ]


def chat(number: int, *, reward: float | None = None, fails: bool = False) -> dict[str, Any]:
    """A customer's order is looked up and cancelled, which a later call repeats if it failed."""
    order = f"#W{number:07}"
    messages = [{"role": "user", "content": "Cancel my last order"}]
    messages += call(
        "get_orders", {"email": f"kim{number}@example.com"}, json.dumps({"orders": [order]}), "1"
    )
    messages += call(
        "cancel", {"order_id": order}, f"Error: order {order} is shipped" if fails else "done", "2"
    )
    messages.append({"role": "assistant", "content": "Done."})
    return {"messages": messages, **({} if reward is None else {"reward": reward})}


def chats(folder: Path, *, n: int = 12, **more: Any) -> Path:
    listed = [
        {
            **chat(k, reward=float(k % 3 != 0), fails=k % 3 == 0),
            "ts": f"2026-04-{20 + k % 2}T09:00:00Z",
            **more,
        }
        for k in range(n)
    ]
    return write_lines(folder / "chats.jsonl", listed)


def claude_code(folder: Path) -> Path:
    session = Session().user("list the files").calls("Bash", {"command": "ls"}).result("x").says("there is x")
    return write_lines(folder / "projects" / "a-project" / "session.jsonl", session.lines)


def spans(folder: Path) -> Path:
    root = {"openinference.span.kind": "AGENT", "input.value": "q", "output.value": "a" * 300}
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "Grep"}
    return write_document(
        folder / "spans.json", otlp(span("r", root, trace="t"), span("a", tool, trace="t", at=1))
    )


def test_formats_are_found_by_looking(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "traces"
    for write in (chats, claude_code, spans):
        write(folder)
    write_lines(folder / "other.jsonl", [{"level": "info", "message": "started"}])
    (folder / "torn.json").write_text("{")
    (folder / "broken.json.gz").write_bytes(b"no gzip")
    (folder / "broken.jsonl.xz").write_bytes(b"no xz")
    facts = json.loads(run(folder, "--json").stdout)
    assert facts["formats"] == {
        "openai-chat": {"files": 1, "requests": 12, "calls": 24},
        "claude-code": {"files": 1, "requests": 1, "calls": 1},
        "otlp": {"files": 1, "requests": 1, "calls": 1},
    }
    assert facts["n_unknown"] == 4
    assert set(facts["report"]["untrusted_tools"]) == {"Bash", "Grep", "get_orders", "cancel"}


def test_nothing_is_kept(run: Run, tmp_path: Path) -> None:
    traces = chats(tmp_path / "traces")
    before = traces.read_bytes()
    run(tmp_path / "traces")
    assert list((tmp_path / "here").iterdir()) == list((tmp_path / "tmp").iterdir()) == []
    assert [path.read_bytes() for path in (tmp_path / "traces").iterdir()] == [before]


def cancelled(folder: Path, *, tool: str = "cancel", error: str = "no reason", **times: str) -> Path:
    """Forty chats: a call without a reason fails."""

    def of(k: int) -> dict[str, Any]:
        reason, result = ("", f"Error: {error}") if k % 5 == 0 else ("no longer needed", "done")
        question = {"role": "user", "content": f"Cancel order {k}"}
        called = call(tool, {"order_id": f"#W{k:07}", "reason": reason, "limit": k}, result, "1")
        messages = [question, *called, {"role": "assistant", "content": "Done."}]
        return {**{name: text.format(1 + k % 8) for name, text in times.items()}, "messages": messages}

    return write_lines(folder / "chats.jsonl", map(of, range(40)))


def test_lines_have_their_numbers_and_a_call_of_each_side_without_its_values(
    run: Run, tmp_path: Path
) -> None:
    lines = run(cancelled(tmp_path, ts="2026-04-{:02}T09:00:00Z")).stdout.splitlines()
    heading = lines.index("what failing calls have in common:")
    assert lines[heading + 1 : heading + 5] == [
        "  cancel: reason: never empty",
        "    worked: 32 of 32 calls that follow it, 0 of 8 others",
        '    failed: cancel(reason=<empty>, limit=<n>, order_id="<id>")',
        '    worked: cancel(reason="<text>", limit=<n>, order_id="<id>")',
    ]


def test_chats_without_times_have_lines_but_no_days(run: Run, tmp_path: Path) -> None:
    shown = run(cancelled(tmp_path)).stdout
    assert "40 requests, 8 failed; 40 calls of 1 tool, 8 failed; dates unknown" in shown
    assert "worked: 32 of 32 calls that follow it, 0 of 8 others; dates unknown" in shown
    assert not re.search(r"\d{4}-\d\d-\d\d(?!T)", shown)


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_nothing_is_wider_than_the_terminal(columns: int, run: Run, tmp_path: Path) -> None:
    tool, error = "mcp__orders__cancel_order_of_a_customer", "취소 사유가 없습니다. " * 9
    lines = run(cancelled(tmp_path, tool=tool, error=error), columns=columns).stdout.splitlines()
    assert max(map(text_width, lines)) <= columns
    assert lines[0] == "openai-chat: 1 file, 40 requests, 40 calls"
    assert " ".join(lines).endswith("`dartlab-coreloop import` these files")


def test_no_name_in_an_error_is_on_the_screen(run: Run, tmp_path: Path) -> None:
    people = ["Jane Roe", "Luis Ortega", "김민수", "Anna de la Cruz"]

    def lookup(number: int) -> dict[str, Any]:
        name = people[number % 4]
        called = call("find", {"who": {"name": name}}, f"Error: no patient called {name}, ask ops@x.org", "1")
        return {"messages": [{"role": "user", "content": f"Who is {number}?"}, *called], "reward": 0.0}

    traces = write_lines(tmp_path / "traces" / "chats.jsonl", map(lookup, range(12)))
    shown = run(traces).output
    assert "12 12 0/12 find: no patient called <who>, ask <address>" in " ".join(shown.split())
    assert not [name for name in people if name in shown + run(traces, "--json").output]


@pytest.mark.parametrize(
    "args", [{"names": ["Jane Roe"], "more": "x " * 4_000}, {"text": f"{'word ' * 120}Jane Roe"}]
)
def test_a_name_in_an_argument_that_the_record_cuts_is_taken_out(
    args: dict[str, Any], run: Run, tmp_path: Path
) -> None:
    calls = call("invite", args, "Error: cannot invite Jane Roe", "1")
    for number in range(2, 20):
        calls += call(
            "search", {"query": f"a query of some forty or more characters {number}"}, "ok", f"{number}"
        )
    chat = {"messages": [{"role": "user", "content": "?"}, *calls]}
    shown = run(write_lines(tmp_path / "chats.jsonl", [chat])).output
    assert f"invite: cannot invite <{next(iter(args))}>" in shown


def test_a_name_in_a_text_of_json_and_a_given_name_are_taken_out(run: Run, tmp_path: Path) -> None:
    escaped = call("post", {"body": json.dumps({"who": "김민수"})}, "Error: 김민수 고객 없음", "1")
    given = call("find", {"name": "김민수"}, "Error: 민수씨는 없습니다", "2")
    chat = {"messages": [{"role": "user", "content": "?"}, *escaped, *given]}
    shown = run(write_lines(tmp_path / "chats.jsonl", [chat])).output
    assert "post: <body> 고객 없음" in shown
    assert "민수" not in shown


def test_calls_of_an_mcp_log_are_one_request_where_all_their_identifiers_are(
    run: Run, tmp_path: Path
) -> None:
    log = []
    for n, (tool, order, text) in enumerate(
        [
            ("find", "W1000001", "found"),
            ("find", "W1000002", "found"),
            ("book", "W1000001", "no reason"),
            ("book", "W1000002", "done"),
            ("book", "W1000001", "done"),
        ]
    ):
        about = {"jsonrpc": "2.0", "id": n, "timestamp": f"2026-11-01T09:00:0{n}Z"}
        params = {"name": tool, "arguments": {"order_id": order}}
        result = {"content": [{"type": "text", "text": text}], "isError": text == "no reason"}
        log += [{**about, "method": "tools/call", "params": params}, {**about, "result": result}]
    shown = run(write_lines(tmp_path / "log.jsonl", log)).stdout
    assert "2 requests, 0 failed; 5 calls of 2 tools, 1 failed" in shown
    assert "1     0        1/1  book: no reason" in shown
    assert "sessions: without one, no line is found from earlier results" in shown


def test_folder_without_traces_is_refused_with_the_reason(run: Run, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "traces" / "other.jsonl", [{"level": "info"}])
    (tmp_path / "traces" / "more.json").touch()
    said = str(run(tmp_path / "traces", code=1).exception)
    assert said == f"{path.parent / 'more.json'}: is empty (and 1 other file)"


def test_what_a_folder_has_beside_traces_is_named_or_not_read(run: Run, tmp_path: Path) -> None:
    folder = chats(tmp_path / "traces").parent
    for name in (".venv", "node_modules", "own"):
        write_lines(folder / name / "other.json", [{"level": "info"}])
    (folder / "own" / "pyvenv.cfg").touch()
    write_document(folder / "tools.json", [{"type": "function", "function": {"name": "f", "parameters": {}}}])
    write_document(folder / "more.json", {"tools": [{"name": "f", "inputSchema": {}}]})
    write_lines(folder / "own.jsonl", [{"request_id": "r", "tool_calls": []}])
    write_lines(folder / "rollout.ndjson", codex())
    shown = run(folder, "-v", columns=300).output
    assert "openai-chat: 1 file, 12 requests, 24 calls\ncodex: 1 file, 4 requests, 4 calls" in shown
    assert "skipped: 1 file: a log of coreloop" in shown
    assert shown.endswith("next: run `dartlab-coreloop refine` on the records here\n")
    assert "skipped: 2 files: tool schemas, not traces" in shown
    assert f"{folder / 'tools.json'}: is tool schemas" in shown
    assert "other.json" not in shown


def test_a_list_of_words_that_only_the_source_has_is_announced(run: Run, tmp_path: Path) -> None:
    def ticket(k: int) -> dict[str, Any]:
        word, result = (("high", "urgent")[k % 2], "Error: unknown") if k % 3 == 0 else ("major", "done")
        called = call("open", {"urgency": "minor" if word == "major" and k % 2 else word}, result, "1")
        messages = [{"role": "user", "content": f"Open ticket {k}"}, *called]
        return {"ts": f"2026-04-{1 + k % 8:02}T09:00:00Z", "session_id": f"s{k}", "messages": messages}

    shown = run(write_lines(tmp_path / "chats.jsonl", map(ticket, range(40))), columns=200).output
    heading, line = shown.partition("what failing calls have in common:")[1:]
    assert heading
    assert line.startswith("\n  open: failing calls have other values of urgency than calls that worked")
