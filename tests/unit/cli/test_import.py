"""``import`` and ``pattern`` together: foreign traces in, patterns out, and the output."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from coreloop.cli.main import main
from foreign_traces import Session, otlp, span, write_document, write_lines
from rows import slow_after

Run = Callable[..., Result]
ANSWER = "그래서 그렇습니다. " * 40
TASKS = ("배당은 얼마인가", "부채비율이 높은 곳", "매출 성장률을 알려줘", "현금흐름 추세")


@pytest.fixture
def run(tmp_path: Path, quiet_git: None, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The commands of an empty project."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.chdir(tmp_path)

    def run(*args: str | Path, code: int = 0) -> Result:
        done = CliRunner(env={"COLUMNS": "80"}).invoke(main, [str(arg) for arg in args])
        assert done.exit_code == code, done.output
        return done

    return run


@pytest.fixture
def samples(shared_data: Path) -> Path:
    """Unchanged traces of other tools."""
    folder = shared_data / "import_samples"
    if not folder.is_dir():
        pytest.skip(f"no real traces in {folder}; name the folder above it with CORELOOP_SHARED_DATA")
    return folder


def _facts(done: Result) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(done.stdout)
    return facts


def _records(folder: Path) -> list[dict[str, Any]]:
    paths = sorted((folder / "data" / "audit" / "ai-ask").glob("*.jsonl"))
    return [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]


def _claude_code(folder: Path) -> Path:
    session = Session()
    for task in TASKS:
        session.user(task).calls("Grep", {"pattern": task}).result("x").calls("Read").result("y").says(ANSWER)
    return write_lines(folder / "traces" / "세션.jsonl", session.lines)


def _otlp(folder: Path) -> Path:
    tool = {"gen_ai.operation.name": "execute_tool"}
    traces = [
        otlp(
            span(
                "r",
                {"openinference.span.kind": "AGENT", "input.value": task, "output.value": ANSWER},
                trace=task,
            ),
            span("a", {**tool, "gen_ai.tool.name": "Grep"}, trace=task, at=1),
            span("b", {**tool, "gen_ai.tool.name": "Read"}, trace=task, at=2),
        )
        for task in TASKS
    ]
    return write_lines(folder / "traces" / "spans.jsonl", traces)


def _langfuse(folder: Path) -> Path:
    times = [
        {"startTime": f"2026-04-25T09:00:0{at}Z", "endTime": f"2026-04-25T09:00:0{at}Z"} for at in (1, 2)
    ]
    for index, task in enumerate(TASKS):
        trace = {"id": task, "timestamp": "2026-04-25T09:00:00Z", "input": task, "output": ANSWER}
        observations = [
            {"id": name, "traceId": task, "type": "TOOL", "name": name, **time}
            for name, time in zip(("Grep", "Read"), times, strict=True)
        ]
        document = {"trace": trace, "observations": observations}
        write_document(folder / "traces" / f"{index}.json", document)
    return folder / "traces"


def _inspect(folder: Path) -> Path:
    samples = [
        {
            "uuid": task,
            "input": task,
            "scores": {"exact": {"value": "C"}},
            "output": {"choices": [{"message": {"role": "assistant", "content": "짧다"}}]},
            "events": [
                {"event": "tool", "function": name, "arguments": {}, "timestamp": f"2026-04-25T09:00:0{at}Z"}
                for at, name in enumerate(("Grep", "Read"))
            ],
        }
        for task in TASKS
    ]
    return write_document(folder / "traces" / "log.json", {"eval": {"model": "m"}, "samples": samples})


@pytest.mark.parametrize(
    ("source", "write"),
    [("claude-code", _claude_code), ("otlp", _otlp), ("langfuse", _langfuse), ("inspect", _inspect)],
)
def test_imported_traces_become_a_candidate(
    run: Run, tmp_path: Path, source: str, write: Callable[[Path], Path]
) -> None:
    path = write(tmp_path)
    assert _facts(run("import", "--from", source, path, "--json"))["added"] == len(TASKS)
    facts = _facts(run("pattern", "--since", "2026-01-01", "--json"))
    assert (facts["n_records"], facts["skipped"]) == (len(TASKS), {})
    [candidate] = facts["candidates"]
    assert [step["name"] for step in candidate["untrusted_tool_pattern"]] == ["Grep", "Read"]
    assert (candidate["n_observed"], candidate["success_rate"]) == (len(TASKS), 1.0)


@pytest.mark.parametrize(
    ("source", "pattern", "n_records", "n_patterns", "tools"),
    [
        (
            "claude-code",
            "claude_code_session.jsonl",
            1,
            1,
            {"Grep": 7, "TodoWrite": 4, "Edit": 3, "Read": 2, "ExitPlanMode": 1},
        ),
        (
            "langfuse",
            "langfuse_*.json",
            3,
            2,
            {
                "get_weather": 2,
                "get_pun_suggestion": 1,
                "get_dad_joke_suggestion": 1,
                "get_one_liner_suggestion": 1,
            },
        ),
        ("inspect", "inspect_*.json", 3, 0, {}),
        ("otlp", "otel_*.json", 0, 0, {}),
    ],
)
def test_real_traces_are_imported_once_and_mined(
    run: Run,
    samples: Path,
    source: str,
    pattern: str,
    n_records: int,
    n_patterns: int,
    tools: dict[str, int],
) -> None:
    paths = sorted(samples.glob(pattern))
    assert paths
    facts = _facts(run("import", "--from", source, *paths, "--json"))
    assert (facts["records"], facts["added"], facts["untrusted_tools"]) == (n_records, n_records, tools)
    again = _facts(run("import", "--from", source, *paths, "--json"))
    assert (again["added"], again["already_there"]) == (0, n_records)
    facts = _facts(run("pattern", "--since", "2025-01-01", "--json"))
    assert (facts["n_records"], facts["n_patterns"], facts["skipped"]) == (n_records, n_patterns, {})


def test_the_real_session_is_cut_to_a_line_and_keeps_its_sequence(
    run: Run, samples: Path, tmp_path: Path
) -> None:
    run("import", "--from", "claude-code", samples / "claude_code_session.jsonl")
    [record] = _records(tmp_path)
    assert len(record["tool_calls"]) + record.get("tool_calls_omitted", 0) == 17
    assert (record["question"][:28], record["error"]) == ("Oh, I just found out that th", None)
    failed = [call for call in record["tool_calls"] if not call["ok"]]
    assert all(call["error"].startswith("File has not been read yet") for call in failed)


def test_the_real_langfuse_traces_have_question_arguments_and_answer(
    run: Run, samples: Path, tmp_path: Path
) -> None:
    run("import", "--from", "langfuse", samples)
    agents, jokes, weather = _records(tmp_path)
    assert {agents["question"], weather["question"]} == {"What's the weather in Tokyo?"}
    assert jokes["question"].startswith("Select and call THREE of the available tools")
    assert [call["args"] for call in agents["tool_calls"]] == [{"city": "Tokyo"}]
    assert [call["args"] for call in weather["tool_calls"]] == [{"location": "Tokyo, Japan"}]
    assert weather["chunk_len"] == len("Current conditions in Tokyo, Japan: stormy, high around 23°C.")
    assert {record["provider"] for record in (agents, jokes, weather)} == {"openai"}


def test_the_real_scores_are_verdicts(run: Run, samples: Path, tmp_path: Path) -> None:
    run("import", "--from", "inspect", next(iter(samples.glob("inspect_*.json"))))
    judgments = [record["judgment"] for record in _records(tmp_path)]
    assert [judgment["verdict"] for judgment in judgments] == ["P", "P", "P"]
    assert {judgment["judged_by"] for judgment in judgments} == {"inspect: model_graded_fact"}


def test_control_characters_in_tool_names_are_escaped(run: Run, tmp_path: Path) -> None:
    lines = Session().user("q").calls("\x1b[2Jx").result("y").says("done").lines
    done = run("import", "--from", "claude-code", write_lines(tmp_path / "a.jsonl", lines))
    assert "\\u{1b}[2Jx" in done.stdout
    assert "\x1b" not in done.stdout


def test_a_folder_may_hold_other_files(run: Run, tmp_path: Path) -> None:
    folder = _claude_code(tmp_path).parent
    (folder / "notes.jsonl").write_text("no json\n")
    (folder / "empty.jsonl").touch()
    facts = _facts(run("import", "--from", "claude-code", folder, "--json"))
    assert facts["added"] == len(TASKS)
    assert facts["skipped"] == {
        "torn or not JSON": 1,
        "file that has no traces of this format": 1,
        "file that is empty": 1,
    }


@pytest.fixture
def one_line_of(command: Callable[..., subprocess.CompletedProcess[str]]) -> Callable[..., str]:
    return lambda folder, *words: _the_line_of(command(folder, *words))


def _the_line_of(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 2
    last = done.stderr.splitlines()[-1]
    assert last.startswith("dartlab-coreloop: ")
    assert "Traceback" not in done.stderr
    return last


@pytest.mark.parametrize(
    ("name", "content", "mention"),
    [
        pytest.param("없는.json", None, "cannot be read (No such file or directory)", id="missing"),
        pytest.param("빈.json", b"", "is empty; --from otlp cannot use it", id="empty"),
        pytest.param("깨진.json", b"\x00\xff{{{", "has no traces of this format", id="not JSON"),
        pytest.param("다른.json", b'{"hello": "world"}', "has no traces of this format", id="something else"),
        pytest.param("깊은.json", b"[" * 1_000_000, "has no traces of this format", id="nested without end"),
        pytest.param("압축.json.gz", b"no gzip", "cannot be read (Not a gzipped file", id="no gzip"),
    ],
)
def test_unusable_input_is_one_line(
    one_line_of: Callable[..., str], tmp_path: Path, name: str, content: bytes | None, mention: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    line = one_line_of(tmp_path, "import", "--from", "otlp", name)
    assert name in line
    assert mention in line


def test_usable_files_are_imported_along_with_unusable_files(
    one_line_of: Callable[..., str], tmp_path: Path
) -> None:
    good = _claude_code(tmp_path)
    (tmp_path / "bad.jsonl").write_text("x\n")
    one_line_of(tmp_path, "import", "--from", "claude-code", "bad.jsonl", good)
    assert len(_records(tmp_path)) == len(TASKS)


@pytest.mark.parametrize("n_turns", slow_after(1, [1, 4000]))
def test_a_long_import_shows_a_bar_on_a_terminal(tmp_path: Path, n_turns: int) -> None:
    session = Session()
    for _ in range(n_turns):
        session.user("왜?").says(ANSWER)
    path = write_lines(tmp_path / "a.jsonl", session.lines)
    terminal, stderr = pty.openpty()
    command = [sys.executable, "-m", "coreloop", "import", "--from", "claude-code", str(path)]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=stderr) as process:
        os.close(stderr)
        shown = b""
        while not shown.endswith(b"ai-ask\r\n"):
            shown += os.read(terminal, 4096)
    os.close(terminal)
    assert process.returncode == 0
    assert (b"100%" in shown) == (path.stat().st_size > 4 << 20)
    assert (b"reading" in shown) == (n_turns > 1)


def test_message_lists_without_times_say_what_to_give(run: Run, tmp_path: Path) -> None:
    chats = write_lines(
        tmp_path / "chats.jsonl", [{"request_id": "r", "messages": [{"role": "user", "content": "왜?"}]}]
    )
    done = run("import", "--from", "openai-chat", chats)
    assert "skipped: 1, no valid time; " in done.output
    assert "--times FILE" in done.output
    times = write_lines(tmp_path / "times.jsonl", [{"request_id": "r", "ts": "2026-04-25T09:00:00Z"}])
    assert _facts(run("import", "--from", "openai-chat", chats, "--times", times, "--json"))["added"] == 1
