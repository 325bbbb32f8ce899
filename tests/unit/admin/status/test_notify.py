"""``notify:``: a real command, working or broken, gets each change of a status once."""

import json
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bounded import given_up
from coreloop.admin.checks.diagnosis import Alarm
from coreloop.admin.checks.registry import CHECKS
from coreloop.admin.status import notify
from coreloop.admin.status.log_figures import Log
from coreloop.admin.status.notify import MOST_AT_ONCE, Notified, find_changes, read_notified
from coreloop.admin.status.status import Standing, Status
from coreloop.base.date_range import Days
from coreloop.base.project.settings import NotifySettings, Settings
from coreloop.base.project.workspace import Workspace
from logs import record, repeated, write_log
from promoting import candidate, write_candidates

NOW = datetime(2026, 4, 25, 12, tzinfo=UTC)
SILENT = Alarm("no_record", "no record for 8 days", "is the server up?")
FULL = Alarm("dropped", "records were dropped: 1", "has the disk room?")
APPEND = "import sys; open('sent.jsonl', 'ab').write(sys.stdin.buffer.read())"


def notify_changes(project: Workspace, now: Status) -> tuple[str, ...]:
    return notify.notify_changes(project, now, environ=os.environ)


def workspace(folder: Path, *command: str) -> Workspace:
    return Workspace(folder, Settings(notify=NotifySettings(command=command)))


@pytest.fixture
def notifying(tmp_path: Path) -> Workspace:
    """A project whose command appends its input to sent.jsonl."""
    return workspace(tmp_path, sys.executable, "-c", APPEND)


def status(*alarms: Alarm, waiting: dict[str, str] | None = None, at: datetime = NOW) -> Status:
    waiting = waiting or {}
    standing = Standing(pending=len(waiting), oldest=None, promoted=0, rejected=0, waiting=waiting)
    return Status(
        generated_at=at,
        log=Log(days=Days(date(2026, 3, 26), date(2026, 4, 25))),
        sieved=None,
        candidates=standing,
        counterexamples=replace(standing, waiting={}),
        promotions=None,
        alarms=alarms,
    )


def documents(folder: Path) -> list[dict[str, Any]]:
    path = folder / "sent.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def subjects(folder: Path) -> list[tuple[str, str]]:
    return [(document["kind"], document["subject"]) for document in documents(folder)]


# --- documents ----------------------------------------------------------------------------------------


def test_each_change_is_sent_once(notifying: Workspace, tmp_path: Path) -> None:
    waiting = {"aa": "cand-2026-04-25-001"}
    for _ in range(2):
        assert notify_changes(notifying, status(SILENT, waiting=waiting)) == ()
    assert subjects(tmp_path) == [("alarm_raised", "no_record"), ("candidate_waits", "cand-2026-04-25-001")]
    longer = replace(SILENT, text="no record for 9 days")
    assert (
        notify_changes(notifying, status(longer, FULL, waiting={**waiting, "bb": "ce-2026-04-26-001"})) == ()
    )
    assert subjects(tmp_path)[2:] == [("alarm_raised", "dropped"), ("candidate_waits", "ce-2026-04-26-001")]
    notify_changes(notifying, status(FULL))
    notify_changes(notifying, status(SILENT, FULL, waiting=waiting))
    assert subjects(tmp_path)[4:] == [("alarm_cleared", "no_record"), ("alarm_raised", "no_record")]


def test_a_document_has_these_fields(notifying: Workspace, tmp_path: Path) -> None:
    notify_changes(notifying, status(SILENT))
    assert documents(tmp_path) == [
        {
            "kind": "alarm_raised",
            "subject": "no_record",
            "message": "no record for 8 days",
            "project": tmp_path.name,
            "at": "2026-04-25T12:00:00+00:00",
        }
    ]
    notify_changes(notifying, status(at=NOW + timedelta(days=1)))
    assert (
        documents(tmp_path)[1]["message"]
        == "the alarm no_record is over; it was raised 2026-04-25T12:00:00+00:00"
    )


def test_an_alarm_that_cannot_be_checked_is_not_cleared(notifying: Workspace, tmp_path: Path) -> None:
    unmerged = Alarm("unmerged", "promotions without a merge", "merge them")
    notify_changes(notifying, status(SILENT, unmerged))
    notify_changes(notifying, replace(status(), log=None))
    assert {kind for kind, _ in subjects(tmp_path)} == {"alarm_raised"}


def test_every_alarm_of_the_log_or_the_history_is_listed() -> None:
    blind = replace(status(), log=None)
    all_sent = Notified(alarms=dict.fromkeys([*notify._OF_LOG, *notify._OF_HISTORY, "dropped"], "then"))
    assert [change.key for change in find_changes(blind, all_sent)] == ["dropped"]
    raised = {find.__name__ for check in CHECKS for find in check.of_status}
    assert {*notify._OF_LOG, *notify._OF_HISTORY} <= raised


def test_control_characters_are_escaped(notifying: Workspace, tmp_path: Path) -> None:
    notify_changes(
        notifying, status(replace(SILENT, text="torn \x1b[31m \ud800"), waiting={"k": "cand-\x07"})
    )
    raw = (tmp_path / "sent.jsonl").read_text()
    assert not any(char in raw for char in "\x1b\x07")
    assert documents(tmp_path)[0]["message"] == "torn \\u{1b}[31m \\u{d800}"


def test_the_state_is_private(notifying: Workspace, tmp_path: Path) -> None:
    notify_changes(notifying, status(SILENT))
    path = tmp_path / "data" / "audit" / "notified.json"
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert json.loads(path.read_text()) == {
        "alarms": {"no_record": "2026-04-25T12:00:00+00:00"},
        "candidates": {},
        "verdicts": {},
        "at": "2026-04-25T12:00:00+00:00",
    }


def test_without_the_setting_nothing_is_written(tmp_path: Path) -> None:
    assert notify_changes(workspace(tmp_path), status(SILENT)) == ()
    assert list(tmp_path.iterdir()) == []


# --- commands that fail -------------------------------------------------------------------------------


def test_a_failure_is_a_warning_and_is_tried_again(tmp_path: Path) -> None:
    fails = workspace(tmp_path, "sh", "-c", "echo first >&2; printf '\\033[31mlast\\n' >&2; exit 7")
    assert notify_changes(fails, status(SILENT)) == (
        "notify: sh ended with 7: \\u{1b}[31mlast; the next status tries alarm_raised no_record again",
    )
    assert not (tmp_path / "data" / "audit" / "notified.json").exists()
    works = workspace(tmp_path, sys.executable, "-c", APPEND)
    assert notify_changes(works, status(SILENT)) == ()
    assert subjects(tmp_path) == [("alarm_raised", "no_record")]


def test_a_failed_document_does_not_block_the_others(tmp_path: Path) -> None:
    picky = "import sys; text = sys.stdin.read(); sys.exit('no_record' in text) ; "
    project = workspace(tmp_path, sys.executable, "-c", picky)
    assert len(notify_changes(project, status(SILENT, FULL))) == 1
    assert set(read_notified(project.notified_file).alarms) == {"dropped"}


def test_after_three_failures_the_rest_waits(tmp_path: Path) -> None:
    waiting = {f"k{number}": f"cand-{number}" for number in range(5)}
    warnings = notify_changes(workspace(tmp_path, "false"), status(waiting=waiting))
    assert len(warnings) == 4
    assert warnings[0].startswith("notify: false ended with 1: no message; ")
    assert warnings[3] == "notify: 2 changes left for the next status"


def test_a_command_that_cannot_be_run_is_tried_once(tmp_path: Path) -> None:
    warnings = notify_changes(workspace(tmp_path, "./no-such-program"), status(SILENT, FULL))
    assert warnings == (
        "notify: ./no-such-program cannot be run (No such file or directory); "
        "the next status tries alarm_raised no_record again",
        "notify: 1 change left for the next status",
    )


def _is_alive(pid: int) -> bool:
    """Whether a process runs; what was killed may wait for its parent to notice."""
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


def test_a_command_that_hangs_is_killed_with_what_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notify, "TIMEOUT_S", 0.5)
    hangs = workspace(tmp_path, "sh", "-c", "(exec sleep 600) & echo $! >child; sleep 600")
    with given_up():
        warnings = notify_changes(hangs, status(SILENT, FULL))
    assert "took longer than 0.5 s" in warnings[0]
    child = int((tmp_path / "child").read_text())
    with given_up():
        while _is_alive(child):
            time.sleep(0.01)


@pytest.mark.parametrize(
    "script",
    ["exit 0", "exec <&-", "yes | head -c 1000000; yes >&2 | head -c 10; exit 0", "sleep 30 & exit 0"],
    ids=["reads nothing", "closes its input", "prints a lot", "leaves a child"],
)
def test_commands_that_ignore_their_input_or_print_a_lot_succeed(tmp_path: Path, script: str) -> None:
    script = script.replace("yes >&2 | head -c 10; ", "yes | head -c 1000000 >&2; ")
    assert notify_changes(workspace(tmp_path, "sh", "-c", script), status(SILENT)) == ()


def test_no_shell_sees_the_words(tmp_path: Path) -> None:
    script = "import sys; open('words', 'w').write(sys.argv[1])"
    assert notify_changes(workspace(tmp_path, sys.executable, "-c", script, "$(id); *"), status(SILENT)) == ()
    assert (tmp_path / "words").read_text() == "$(id); *"


def test_no_more_than_a_hundred_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notify, "_run", lambda *_: None)
    waiting = {f"k{number}": f"cand-{number}" for number in range(MOST_AT_ONCE + 1)}
    project = workspace(tmp_path, "x")
    assert notify_changes(project, status(waiting=waiting)) == ("notify: 1 change left for the next status",)
    assert notify_changes(project, status(waiting=waiting)) == ()


# --- the state ----------------------------------------------------------------------------------------


def test_parallel_processes_send_each_change_once(notifying: Workspace, tmp_path: Path) -> None:
    newest = status(SILENT, FULL, waiting={"aa": "cand-1", "bb": "cand-2"})
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(lambda _: notify_changes(notifying, newest), range(4))) == {()}
    assert len(subjects(tmp_path)) == len(set(subjects(tmp_path))) == 4


def test_an_outdated_status_sends_nothing(notifying: Workspace, tmp_path: Path) -> None:
    notify_changes(notifying, status(SILENT, at=NOW + timedelta(seconds=1)))
    assert notify_changes(notifying, status(FULL)) == ()
    assert subjects(tmp_path) == [("alarm_raised", "no_record")]


def test_a_state_of_a_wrong_clock_holds_nothing_up(notifying: Workspace, tmp_path: Path) -> None:
    notify_changes(notifying, status(SILENT, at=NOW + timedelta(days=365)))
    assert notify_changes(notifying, status(SILENT, FULL)) == ()
    assert subjects(tmp_path) == [("alarm_raised", "no_record"), ("alarm_raised", "dropped")]


def test_the_command_does_not_get_the_tokens_for_github(tmp_path: Path) -> None:
    script = "import os; open('seen', 'w').write(' '.join(sorted(os.environ)))"
    environ = {**os.environ, "GITHUB_TOKEN": "secret", "GH_TOKEN": "secret", "CHAT_TOKEN": "mine"}
    project = workspace(tmp_path, sys.executable, "-c", script)
    assert notify.notify_changes(project, status(SILENT), environ=environ) == ()
    seen = (tmp_path / "seen").read_text().split()
    assert "CHAT_TOKEN" in seen
    assert not {"GITHUB_TOKEN", "GH_TOKEN"} & set(seen)


def test_a_damaged_state_is_a_warning_and_nothing_is_sent(notifying: Workspace, tmp_path: Path) -> None:
    notifying.audit_dir.mkdir(parents=True)
    notifying.notified_file.write_bytes(b'{"alarms": 3}')
    (warning,) = notify_changes(notifying, status(SILENT))
    assert "notified.json: is damaged; remove it" in warning
    assert subjects(tmp_path) == []


@pytest.mark.parametrize("at", ["zzz", "2026-04-25T12:00:00"])
def test_a_state_without_a_proper_time_is_damaged(notifying: Workspace, at: str) -> None:
    notifying.audit_dir.mkdir(parents=True)
    notifying.notified_file.write_text(json.dumps({"alarms": {}, "candidates": {}, "at": at}))
    (warning,) = notify_changes(notifying, status(SILENT))
    assert "is damaged" in warning


@pytest.mark.skipif(os.name != "posix", reason="needs a file in the place of a folder")
def test_a_folder_that_cannot_be_written_is_a_warning(notifying: Workspace, tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    (warning,) = notify_changes(notifying, status(SILENT))
    assert "cannot be written" in warning


# --- the command --------------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path, quiet_git: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project outside of git with an old log, a waiting candidate and a command."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    write_log(tmp_path / "data/audit/ai-ask/2026-01-01.jsonl", repeated(2, ts="2026-01-01T00:00:00+00:00"))
    command = json.dumps([sys.executable, "-c", APPEND])
    (tmp_path / "coreloop.yaml").write_text(f"notify: {{command: {command}}}\n")
    return tmp_path


def test_status_notifies_and_prints_nothing_about_it(project: Path, entry_point: Callable[..., Any]) -> None:
    path = project / "data/audit/candidates/2026-04-25-candidates.json"
    write_candidates(path, candidate(example_questions=["비밀 질문?"]))
    for _ in range(2):
        code, _, errors = entry_point(project, "status")
        assert (code, errors) == (0, "")
    kinds = subjects(project)
    assert ("alarm_raised", "no_record") in kinds
    assert ("candidate_waits", candidate()["id"]) in kinds
    assert len(kinds) == len(set(kinds))
    assert "비밀" not in (project / "sent.jsonl").read_text()
    assert record()["question"].split()[0] not in (project / "sent.jsonl").read_text()


def test_another_log_and_the_gates_alone_send_nothing(project: Path, entry_point: Callable[..., Any]) -> None:
    entry_point(project, "status", "--in-dir", "data/audit/ai-ask")
    entry_point(project, "status", "--stability")
    assert subjects(project) == []


def test_a_failure_is_one_line_on_stderr_and_no_failure_of_status(
    project: Path, entry_point: Callable[..., Any]
) -> None:
    (project / "coreloop.yaml").write_text("notify: {command: [./gone]}\n")
    code, out, errors = entry_point(project, "status", "--json")
    assert code == 0
    assert json.loads(out)["alarms"]
    assert errors.startswith("notify: ./gone cannot be run (No such file or directory); ")
