"""Logs of every kind, through the commands that read them: torn, odd, large, old, of another encoding."""

import gzip
import json
import os
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from logs import call, line, record, repeated, write_log

Done = subprocess.CompletedProcess[str]
Run = Callable[..., Done]


def _mined(run: Run, *args: str) -> dict[str, Any]:
    done = run("pattern", "--in-dir", "in", "--since", "2026-01-01", "--until", "2026-12-31", "--json", *args)
    assert (done.returncode, done.stderr) == (0, "")
    facts: dict[str, Any] = json.loads(done.stdout)
    return facts


GOOD = b"".join(map(line, repeated(3)))


@pytest.mark.parametrize(
    ("files", "n_records", "skipped"),
    [
        ({}, 0, {}),
        ({"a.jsonl": b""}, 0, {}),
        ({"a.jsonl": b"\xef\xbb\xbf" + GOOD}, 3, {}),
        ({"a.jsonl": GOOD.replace(b"\n", b"\r\n")}, 3, {}),
        ({"a.jsonl": GOOD[:-1]}, 3, {}),
        ({"한국어 기록 ㉿.jsonl": GOOD}, 3, {}),
        ({"a.jsonl": GOOD + GOOD[:50]}, 3, {"torn or not JSON": 1}),
        ({"a.jsonl": b"\0" * 5000 + b"\n" + GOOD}, 3, {"torn or not JSON": 1}),
        (
            {"a.jsonl": GOOD + line(record(schema_version=3))},
            3,
            {"schema version is newer than 2: upgrade coreloop": 1},
        ),
        (
            {"a.jsonl": GOOD + b"hello\n{}\n[]\n"},
            3,
            {"not a record": 1, "ts is missing": 1, "torn or not JSON": 1},
        ),
        ({"a.jsonl": GOOD, "b.txt": b"x", "c.jsonl.gz": gzip.compress(GOOD)}, 3, {}),
    ],
)
def test_logs_of_every_kind(
    files: dict[str, bytes], n_records: int, skipped: dict[str, int], run: Run, tmp_path: Path
):
    (tmp_path / "in").mkdir()
    for name, content in files.items():
        (tmp_path / "in" / name).write_bytes(content)
    facts = _mined(run)
    assert (facts["n_records"], facts["skipped"]) == (n_records, skipped)
    assert len(facts["candidates"]) == (n_records == 3)


ODD_CALL = call("analysis", {"axis": "수익성"}, overrides_used=7)
ODD_LOG = GOOD + b"hello\n" + b"".join(line(record(tool_calls=[ODD_CALL])) for _ in range(3)) + b"{}\n" * 2


@pytest.mark.parametrize("command", ["pattern", "refine"])
def test_skipped_lines_and_unusable_fields_are_shown_with_their_first_place(
    command: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "120")
    write_log(tmp_path / "data" / "audit" / "ai-ask" / "2026-04-25.jsonl", []).write_bytes(ODD_LOG)
    window = ["--since", "2026-04-01", "--until", "2026-04-30"]
    shown = run(command, *window).stdout
    assert (
        "  3 records have an unusable overrides_used, first in 2026-04-25.jsonl line 5: read as absent\n"
        in shown
    )
    assert "  1 line skipped: torn or not JSON, first in 2026-04-25.jsonl line 4\n" in shown
    assert "  2 lines skipped: ts is missing, first in 2026-04-25.jsonl line 8\n" in shown
    facts = json.loads(run(command, *window, "--json").stdout)
    assert (facts["n_records"], facts["skipped"]) == (6, {"torn or not JSON": 1, "ts is missing": 2})
    assert facts["skipped_first"]["ts is missing"] == "2026-04-25.jsonl line 8"
    assert facts["read_as_absent"] == {"overrides_used": {"n": 3, "first": "2026-04-25.jsonl line 5"}}


def test_a_byte_that_is_not_utf_8_in_a_selector_stops_no_command(run: Run, tmp_path: Path):
    path = write_log(tmp_path / "data" / "audit" / "ai-ask" / "2026-04-25.jsonl", [])
    path.write_bytes(GOOD.replace('수익성"'.encode(), b'\xff"'))
    for command in ("pattern", "refine"):
        done = run(command, "--since", "2026-04-01", "--until", "2026-04-30")
        assert (done.returncode, done.stdout[:9]) == (0, "3 records")


def test_gzip_bytes_under_a_log_s_name_are_counted_and_skipped(run: Run, tmp_path: Path):
    write_log(tmp_path / "in" / "a.jsonl", []).write_bytes(gzip.compress(GOOD * 99, mtime=0))
    facts = _mined(run)
    assert facts["n_records"] == 0
    assert sum(facts["skipped"].values()) > 0


@pytest.mark.slow
def test_a_folder_whose_name_is_not_utf_8_works(spawn: Run, log: Path, tmp_path: Path):
    out = os.fsdecode(b"out\xff")
    assert json.loads(spawn("pattern", "--json", "--out", out).stdout)["candidates"]
    assert len(list((tmp_path / out).glob("*-candidates.json"))) == 1


@pytest.mark.slow
def test_output_without_utf_8_is_escaped_and_not_a_bug(spawn: Run, log: Path):
    plain = {"PATH": os.environ["PATH"], "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = spawn("pattern", env=plain)
    assert done.returncode == 0


def test_raw_files_older_than_retention_days_are_removed_and_named(run: Run, log: Path, tmp_path: Path):
    old = write_log(log.with_name("2020-01-01.jsonl"), [record(ts="2020-01-01")])
    replays = write_log(log.with_name("2020-01-02.jsonl"), [record(ts="2020-01-02", origin="replay")])
    newer = write_log(log.with_name("2020-01-03.jsonl"), [record(ts=datetime.now(UTC).isoformat())])
    (tmp_path / "coreloop.yaml").write_text("retention_days: 30\n")
    done = run("pattern")
    assert done.returncode == 0
    assert f"removed {old}" in done.stderr
    assert [path.exists() for path in (old, replays, log, newer)] == [False, False, True, True]


@pytest.mark.parametrize("name", ["pattern", "refine"])
def test_a_proposals_folder_is_closed_to_others_and_a_named_folder_is_not(
    run: Run, log: Path, tmp_path: Path, name: str
):
    own = tmp_path / "data" / "audit" / {"pattern": "candidates", "refine": "counterexamples"}[name]
    named = tmp_path / "named"
    for folder in (own, named):
        folder.mkdir(parents=True)
        folder.chmod(0o755)
    run(name, "--since", "2026-04-01")
    run(name, "--since", "2026-04-01", "--out", str(named))
    assert own.stat().st_mode & 0o777 == 0o700
    assert named.stat().st_mode & 0o777 == 0o755
