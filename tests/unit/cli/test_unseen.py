"""What a log does not say is said: by every command that counts, as text and as JSON."""

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from coreloop.cli.main import main
from foreign_traces import Session, otlp, span, write_document, write_lines

Run = Callable[..., Result]
TODAY = datetime.now(UTC).date().isoformat()
COMMANDS = (
    "refine --since 3650d",
    "pattern --since 3650d",
    "status",
    "judge",
    "doctor",
    "sanitize --check data/audit/ai-ask",
)


@pytest.fixture
def run(tmp_path: Path, quiet_git: None, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    project = tmp_path / "project"
    project.mkdir()
    (project / "coreloop.yaml").write_text("{}\n")
    monkeypatch.chdir(project)

    def run(*args: str | Path) -> Result:
        done = CliRunner(env={"COLUMNS": "200"}).invoke(main, [str(arg) for arg in args])
        assert done.exit_code in (0, 1), done.output
        assert not isinstance(done.exception, TypeError)
        return done

    return run


def without_content(folder: Path) -> Path:
    """OpenTelemetry's default: no texts."""
    spans = []
    for n in range(20):
        root = {"gen_ai.operation.name": "invoke_agent"}
        tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find"}
        spans += [
            span(f"r{n}", root, trace=f"t{n}"),
            span(f"a{n}", tool, trace=f"t{n}", parent=f"r{n}", at=1),
        ]
    return write_document(folder / "spans.json", otlp(*spans))


def long_turn(folder: Path) -> Path:
    session = Session().user("tidy up")
    for n in range(60):
        edit = {"file_path": f"/home/u/src/{n:03}.py", "old_string": "a" * 200, "new_string": "b" * 200}
        session.calls("Edit", edit, id=f"t{n}")
        session.result(
            "File has not been read yet" if n % 6 == 5 else "done", is_error=n % 6 == 5, id=f"t{n}"
        )
    return write_lines(folder / "session.jsonl", session.says("tidy", stop_reason="end_turn").lines)


def mixed(folder: Path) -> Path:
    """A long turn, one in which a person refused, and one of another session that ends without a result."""
    long_turn(folder)
    refused = Session("s-2").user("pay").calls("pay", {"n": 1})
    refused.result("The user doesn't want to proceed with this tool use.", is_error=True)
    lines = refused.calls("pay", {"n": 2}, id="t2").user("and?").says("no", stop_reason="end_turn").lines
    write_lines(folder / "other.jsonl", lines)
    return folder


def refusals(folder: Path) -> Path:
    session = Session()
    for n in range(12):
        session.user(f"refund {n}").calls("refund", {"amount": n})
        said = "The user doesn't want to proceed with this tool use." if n % 3 == 0 else "done"
        session.result(said, is_error=n % 3 == 0).says("done", stop_reason="end_turn")
    return write_lines(folder / "session.jsonl", session.lines)


def answers_by_a_call(folder: Path) -> Path:
    """The framework ends the run with a call, and the tool says how it went only in words."""
    chats = []
    for n in range(12):
        asked = [{"id": "1", "function": {"name": "find", "arguments": "{}"}}]
        final = [{"id": "2", "function": {"name": "Final-Answer", "arguments": '{"text": "42"}'}}]
        told = "Unable to find a room" if n % 3 == 0 else "a room"
        messages = [
            {"role": "user", "content": f"find {n}"},
            {"role": "assistant", "tool_calls": asked},
            {"role": "tool", "tool_call_id": "1", "content": told},
            {"role": "assistant", "content": "so", "tool_calls": final},
        ]
        chats.append({"ts": f"{TODAY}T00:00:{n:02}Z", "messages": messages})
    return write_lines(folder / "chats.jsonl", chats)


@pytest.mark.parametrize(
    ("write", "source", "line", "n_calls"),
    [
        (answers_by_a_call, "openai-chat", "unknown, and in no rate: 12 calls (a final call)", 24),
        (answers_by_a_call, "openai-chat", "4 failed calls only read like failures: no flag says so", 24),
        (without_content, "otlp", "unknown, and in no rate: 20 requests (no answer in the trace)", 20),
        (refusals, "claude-code", "unknown, and in no rate: 4 calls (refused by a person)", 12),
    ],
)
def test_every_screen_says_what_is_unknown_or_left_out(
    run: Run, tmp_path: Path, write: Callable[[Path], Path], source: str, line: str, n_calls: int
) -> None:
    path = write(tmp_path)
    looked = run("look", path).stdout
    assert line in looked
    assert ", 0 failed" in looked
    facts = json.loads(run("look", path, "--json").stdout)
    assert facts["unseen"]["omitted"] + sum(facts["report"]["untrusted_tools"].values()) == n_calls
    assert sum(row["n_calls"] for row in facts["errors"]) == facts["unseen"]["guessed"]
    imported = run("import", "--from", source, path).stdout
    assert line in imported
    assert f"calls: {n_calls}" in imported
    assert line in run("refine", "--since", "2020-01-01").output
    assert json.loads(run("refine", "--since", "2020-01-01", "--json").stdout)["unseen"] == facts["unseen"]


@pytest.mark.parametrize(
    ("write", "n_calls", "n_failed", "unknown"),
    [
        (long_turn, 60, 10, {}),
        (mixed, 62, 10, {"no result in the trace": 1, "refused by a person": 1}),
    ],
)
def test_look_import_refine_and_status_agree_to_the_call(
    run: Run,
    tmp_path: Path,
    write: Callable[[Path], Path],
    n_calls: int,
    n_failed: int,
    unknown: dict[str, int],
) -> None:
    path = write(tmp_path)
    yesterday = f"{datetime.now(UTC) - timedelta(days=1):%Y-%m-%d}"
    for file in tmp_path.glob("*.jsonl"):
        file.write_text(file.read_text("utf-8").replace("2026-04-25", yesterday), "utf-8")
    looked = json.loads(run("look", path, "--json").stdout)
    imported = json.loads(run("import", "--from", "claude-code", path, "--json").stdout)
    refined = json.loads(run("refine", "--since", "2020-01-01", "--json").stdout)
    log = json.loads(run("status", "--json").stdout)["log"]
    for tools in (looked["report"]["untrusted_tools"], imported["untrusted_tools"]):
        assert sum(tools.values()) == n_calls
    for errors in (looked["errors"], refined["errors"]):
        assert sum(row["n_calls"] for row in errors) == n_failed
    for screen in (looked, imported, refined, log):
        assert screen["unseen"]["calls"] == unknown
        assert screen["unseen"]["omitted"] == 0


def test_status_says_what_is_unknown_in_its_window(run: Run, tmp_path: Path) -> None:
    chats = [
        {"ts": f"{TODAY}T00:00:0{n}Z", "messages": [{"role": "user", "content": f"question {n}"}]}
        for n in range(3)
    ]
    run("import", "--from", "openai-chat", write_lines(tmp_path / "chats.jsonl", chats))
    assert "unknown, and in no rate: 3 requests (no answer in the trace)" in run("status").stdout
    log = json.loads(run("status", "--json").stdout)["log"]
    assert "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true" in run("status").stdout
    assert log["unseen"] == {
        "n_requests": 3,
        "omitted": 0,
        "guessed": 0,
        "requests": {"no answer in the trace": 3},
        "calls": {},
        "undated": 0,
    }


def test_chats_without_times_are_imported_once_and_have_no_days(run: Run, tmp_path: Path) -> None:
    chats = [{"messages": [{"role": "user", "content": f"question {n}"}]} for n in range(3)]
    path = write_lines(tmp_path / "chats.jsonl", chats)
    once = run("import", "--from", "openai-chat", path).stdout
    assert "records: 3 added, 0 already there" in once
    assert "dates unknown: 3 requests" in once
    os.utime(path, (1e9, 1e9))
    assert "records: 0 added, 3 already there" in run("import", "--from", "openai-chat", path).stdout
    for command in ("refine", "pattern"):
        assert "dates unknown: 3 requests" in run(command, "--since", "2000-01-01").output


@pytest.mark.parametrize("command", COMMANDS)
def test_json_of_a_command_is_json_where_lines_are_skipped_or_odd(run: Run, command: str) -> None:
    odd: list[dict[str, Any]] = [
        {"ts": f"{TODAY}T00:00:00Z", "question": "q", "tool_calls": [{"name": "a", "overrides_used": 5}]},
        {"ts": f"{TODAY}T00:00:00Z", "schema_version": 7},
        {"ts": f"{TODAY}T00:00:00Z", "tool_calls": [{"name": "a", "ok": None, "unknown": "\x1b[31m"}]},
        {"ts": "never"},
    ]
    path = write_lines(Path("data/audit/ai-ask") / f"{TODAY}.jsonl", odd)
    with path.open("ab") as file:
        file.write(b'{"torn\n\xff\xfe\n[]\n')
    json.loads(run(*command.split(), "--json").stdout)
