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

from agent_traces import codex
from coreloop.cli.main import main
from foreign_traces import Session, write_lines
from logs import records_in
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


def _facts(done: Result) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(done.stdout)
    return facts


def _claude_code(folder: Path) -> Path:
    session = Session()
    for task in TASKS:
        session.user(task).calls("Grep", {"pattern": task}).result("x").calls("Read").result("y").says(ANSWER)
    return write_lines(folder / "traces" / "세션.jsonl", session.lines)


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


def test_without_a_format_each_file_is_recognised(run: Run, tmp_path: Path) -> None:
    _claude_code(tmp_path)
    write_lines(tmp_path / "traces" / "rollout.jsonl", codex())
    facts = _facts(run("import", "--json", "traces"))
    assert {name: counts["requests"] for name, counts in facts["formats"].items()} == {
        "claude-code": 4,
        "codex": 4,
    }


def test_named_files_without_a_request_are_an_error_and_a_folder_is_not(
    one_line_of: Callable[..., str], run: Run, tmp_path: Path
) -> None:
    (tmp_path / "chat.json").write_text('{"messages": []}')
    reason = "chat.json: no request can be read; skipped: 1, list without a message"
    assert reason in one_line_of(tmp_path, "import", "chat.json")
    run("import", ".")


def test_usable_files_are_imported_along_with_unusable_files(
    one_line_of: Callable[..., str], tmp_path: Path
) -> None:
    good = _claude_code(tmp_path)
    (tmp_path / "bad.jsonl").write_text("x\n")
    one_line_of(tmp_path, "import", "--from", "claude-code", "bad.jsonl", good)
    assert len(records_in(tmp_path)) == len(TASKS)


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
