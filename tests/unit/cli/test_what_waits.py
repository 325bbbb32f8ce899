"""A project's line from the log to its promotion: what hides it says so, and no narrower look drops it."""

import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from logs import call, failed, record, word, write_log

Run = Callable[..., subprocess.CompletedProcess[str]]
SOURCE = "export const tools = { book_room: tool({ description: 'Books.', inputSchema: z.object({\n"
SOURCE += "  check_in: z.string().describe('Day of arrival') }) }) }\n"


@pytest.fixture
def project(tmp_path: Path, quiet_git: None) -> Path:
    """A repository with a tool in TypeScript, and requests of two weeks, some with a wrong date."""
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=tmp_path, check=True)
    (tmp_path / "tools.ts").write_text(SOURCE)
    subprocess.run(["git", "add", "tools.ts"], cwd=tmp_path, check=True)
    subprocess.run(["git", "commit", "-qm", "tools"], cwd=tmp_path, check=True)
    rows = []
    for number in range(60):
        ts = datetime.now(UTC) - timedelta(days=number % 12, minutes=1)
        right = call("book_room", {"check_in": f"2026-04-{number % 28 + 1:02}"})
        wrong = failed("book_room", {"check_in": f"{number % 28 + 1}/4/2026"}, "ValueError: no such day")
        calls = [wrong if number % 12 >= 5 and number % 2 else right]
        rows.append(
            record(ts=ts.isoformat(), tool_calls=calls, question=word(number), request_id=f"r{number}")
        )
    write_log(tmp_path / "data/audit/ai-ask/a.jsonl", rows)
    return tmp_path


@pytest.mark.parametrize("command", ["refine", "promote --tool book_room", "doctor", "init"])
def test_a_tool_in_typescript_names_the_extra_that_reads_it(
    command: str, project: Path, run: Run, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "tree_sitter_typescript", None)
    if command.startswith("promote"):
        run("refine")
    done = run(*command.split())
    assert "typescript]" in done.stdout + done.stderr
    assert "under tools:" not in done.stdout + done.stderr
    assert "path.py::name" not in done.stdout


def test_a_look_at_fewer_days_only_shows_while_a_line_waits(project: Path, run: Run):
    assert run("refine").stderr.endswith("next: dartlab-coreloop promote --tool book_room\n")
    narrow = run("refine", "--since", "3d")
    assert "only shown: today's file has the proposals since" in narrow.stderr
    assert narrow.stderr.endswith("next: dartlab-coreloop promote --tool book_room\n")
    assert "waiting: 1" in run("judge").stdout
    assert "check_in: as YYYY-MM-DD" in run("promote", "--tool", "book_room").stdout


def test_pattern_is_next_only_where_it_would_propose_a_text(project: Path, run: Run):
    assert "\nnext: record more; refused so far: " in run("refine", "--since", "2d").stderr
    assert "0 proposals" in run("pattern").stdout
