"""``doctor``: the result of each check of a broken set-up; an exception stops no other check."""

import json
import os
import socket
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from coreloop.admin.checks.diagnosis import Diagnosis
from coreloop.admin.checks.registry import check_setup
from github_stand_in import GithubStandIn
from logs import call, one_by_one, record, write_log
from promoting import run_git

NOW = datetime(2026, 4, 25, 12, tzinfo=UTC)
Command = Callable[..., tuple[int, str, str]]
SOURCE = f"git+https://example.com/coreloop.git@{'0' * 40}"


@pytest.fixture
def folder(tmp_path: Path, quiet_git: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder outside of any repository."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    return tmp_path


@pytest.fixture
def sound(folder: Path, entry_point: Command) -> Path:
    """A repository that ``init`` has set up, with a record of today and its tool."""
    run_git(folder, "init", "--quiet", "--initial-branch=main")
    assert entry_point(folder, "init", "--source", SOURCE, "--owner", "@kim", "--confirm")[0] == 0
    (folder / "tools.py").write_text("def analysis(axis): ...\n")
    log(folder)
    return folder


def log(folder: Path, *records: dict[str, Any], day: str = "2026-04-25") -> Path:
    path = write_log(folder / f"data/audit/ai-ask/{day}.jsonl", records or [record()])
    path.chmod(0o600)
    path.parent.chmod(0o700)
    return path


def checked(folder: Path, **environ: str) -> dict[str, Diagnosis]:
    """Return the diagnoses by check; if a check has several, the worst."""
    diagnoses = check_setup(folder, now=NOW, environ=environ)
    return {
        diagnosis.check: diagnosis
        for diagnosis in sorted(diagnoses, key=lambda each: ("ok", "warning", "fault").index(each.level))
    }


# --- broken set-ups -----------------------------------------------------------------------------------


def test_in_an_empty_folder_every_check_has_a_result(folder: Path):
    results = checked(folder)
    assert {name: found.level for name, found in results.items() if found.level != "ok"} == {
        "settings": "warning",
        "records": "warning",
        "tools": "warning",
        "reach": "warning",
    }
    assert "nothing is recorded" in results["records"].message
    assert "init --confirm" in results["settings"].todo
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("later", "level", "says"),
    [
        (timedelta(days=1), "ok", "is from 2026-04-25 09:30 UTC"),
        (timedelta(days=3), "warning", "is 3 days old: 2026-04-25 09:30 UTC"),
    ],
)
def test_the_age_of_the_newest_record(sound: Path, later: timedelta, level: str, says: str):
    log(sound, record(ts="2026-03-01T00:00:00+00:00"), day="2026-03-01")
    results = {each.check: each for each in check_setup(sound, now=NOW + later, environ={})}
    assert results["newest"].level == level
    assert says in results["newest"].message


def test_a_log_of_torn_lines_is_a_fault_and_a_long_line_is_not(sound: Path):
    path = log(sound, record(question="x" * 600_000))
    assert checked(sound)["records"].level == "ok"
    path.write_bytes(b'{"ts": \n\xff\n')
    assert "can be read as a record" in checked(sound)["records"].message


def test_calls_without_sessions_are_a_warning(sound: Path):
    log(sound, *({**row, "session_hash": None} for row in one_by_one(record())))
    assert "no line is found from earlier results" in checked(sound)["sessions"].message


@pytest.mark.parametrize(
    ("name", "mode"),
    [("ai-ask", 0o755), ("ai-ask/2026-04-25.jsonl", 0o640), ("replays.txt", 0o644)],
)
def test_a_path_that_others_can_read_is_a_fault(sound: Path, name: str, mode: int):
    assert checked(sound)["private"].level == "ok"
    path = sound / "data" / "audit" / name
    path.touch()
    path.chmod(mode)
    diagnosis = checked(sound)["private"]
    assert diagnosis.level == "fault"
    assert f"data/audit/{name} ({mode:04o})" in diagnosis.message
    assert f"chmod -R go-rwx data/audit in {sound}" in diagnosis.todo


def test_a_log_with_data_that_git_does_not_ignore_is_a_fault(folder: Path):
    run_git(folder, "init", "--quiet")
    assert checked(folder)["ignored"].level == "warning"
    log(folder)
    diagnosis = checked(folder)["ignored"]
    assert (diagnosis.level, "git does not ignore data/audit and data/ai" in diagnosis.message) == (
        "fault",
        True,
    )
    (folder / ".gitignore").write_text("data/audit/\n*.db\n")
    assert checked(folder)["ignored"].level == "ok"


def test_a_recorded_tool_without_a_definition_is_a_warning_and_a_wrong_target_a_fault(sound: Path):
    log(sound, record(tool_calls=[call("lost"), call("mcp__x__analysis")]))
    diagnosis = checked(sound)["tools"]
    assert (diagnosis.level, diagnosis.message) == (
        "warning",
        "1 of 2 tools without a known definition: 1 that only records name",
    )
    (sound / "coreloop.yaml").write_text('tools: {lost: {target: "tools.py::gone"}}\n')
    assert "tools.py has no gone" in checked(sound)["tools"].message
    assert checked(sound)["tools"].level == "fault"


SCHEMAS = [{"type": "function", "function": {"name": "find_orders", "description": "Find orders."}}]


def test_tools_in_a_json_file_are_found_and_reach_is_as_it_says(sound: Path):
    (sound / "tools.json").write_text(json.dumps(SCHEMAS))
    log(sound, record(tool_calls=[call("find_orders")]))
    (sound / "tools.py").unlink()
    results = checked(sound)
    assert (results["tools"].level, results["reach"].message) == ("ok", "as tools.json says it")
    (sound / "chat.py").write_text(f"TOOLS = {SCHEMAS!r}\n")
    said = "find_orders (described 2 times (chat.py::find_orders, tools.json::find_orders);"
    assert said in checked(sound)["tools"].message


def test_an_absent_base_branch_is_a_fault_with_the_setting(folder: Path):
    run_git(folder, "init", "--quiet", "--initial-branch=master")
    assert "base" not in checked(folder)  # without a commit there is no branch yet
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    run_git(folder, *who, "commit", "--quiet", "--allow-empty", "-m", "first")
    fault = checked(folder)["base"]
    assert (fault.level, fault.todo) == ("fault", "set forge: {base: master} in coreloop.yaml")
    assert "there is no branch main, only master" in fault.message
    (folder / "coreloop.yaml").write_text("forge: {base: master}\n")
    assert "base" not in checked(folder)


def test_a_wrong_setting_is_a_fault_and_the_other_checks_run(sound: Path):
    (sound / "coreloop.yaml").write_text("gate: {min_repeat: 2}\n")
    results = checked(sound)
    assert "coreloop.yaml:1: gate: unknown field 'gate'" in results["settings"].message
    assert results["records"].level == "ok"


# --- reach and replay ---------------------------------------------------------------------------------


TOOLS = '{"name": "refund", "description": "Pays back."}, {"name": "search", "description": "Finds."}'


@pytest.mark.parametrize(
    ("setting", "printed", "level", "says"),
    [
        (
            '{framework: fastmcp, tools: "schema:agnt"}',
            "",
            "fault",
            "reach: schema has no agnt; change tools",
        ),
        (
            '{framework: fastmcp, tools: "shema:agent"}',
            "",
            "fault",
            "reach: there is no module shema; change",
        ),
        ("{command: [python, -m, schema]}", f"[{TOOLS}]", "ok", "measured: from the schema command, 2 tools"),
        ("{command: [python, -m, schema]}", "[]", "fault", "has no tool with a name and a description"),
        ("{command: [python, -m, schema]}", "not JSON", "fault", "did not print JSON"),
        ("{command: [python, -c, 'import nothing_here']}", "", "fault", "nothing_here"),
    ],
)
def test_the_tools_are_read_as_reach_says(folder: Path, setting: str, printed: str, level: str, says: str):
    (folder / "schema.py").write_text(f"print({printed!r})\n")
    (folder / "coreloop.yaml").write_text(f"reach: {setting}\n")
    before = sorted(folder.iterdir())
    diagnosis = checked(folder)["reach"]
    assert (diagnosis.level, says in diagnosis.message) == (level, True)
    assert sorted(folder.iterdir()) == before


def test_reach_is_checked_as_a_promotion_reads_it_too(sound: Path):
    (sound / "coreloop.yaml").write_text(f"reach: {{command: [{sys.executable}, schema.py]}}\n")
    run_git(sound, "commit", "--quiet", "--allow-empty", "--message=x")
    (sound / "schema.py").write_text(f"print('[{TOOLS}]')\n")
    diagnosis = checked(sound)["reach"]
    assert diagnosis.message.endswith("No such file or directory on the base branch yet; commit it")


@pytest.fixture
def port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_an_endpoint_gets_a_connection_and_no_question(folder: Path, port: int):
    (folder / "coreloop.yaml").write_text(f'replay: {{url: "http://u:secret@127.0.0.1:{port}/api/ask"}}\n')
    diagnosis = checked(folder)["replay"]
    assert (diagnosis.level, diagnosis.message) == ("ok", f"the endpoint 127.0.0.1:{port} takes connections")


# --- the guard ----------------------------------------------------------------------------------------


@pytest.fixture
def hub(github: GithubStandIn, sound: Path) -> GithubStandIn:
    run_git(sound, "remote", "add", "origin", f"git@github.com:{github.repo}.git")
    return github


def asked(folder: Path, hub: GithubStandIn) -> dict[str, Diagnosis]:
    return checked(folder, GITHUB_TOKEN=hub.token, GITHUB_API_URL=hub.url)


def test_without_a_token_the_guard_is_not_checked_and_the_message_says_how(hub: GithubStandIn, sound: Path):
    diagnosis = checked(sound)["required"]
    assert (diagnosis.level, diagnosis.message) == (
        "warning",
        f"not checked: {hub.repo} was not asked, since there is no token",
    )
    assert "GITHUB_TOKEN" in diagnosis.todo
    assert hub.traffic == []


def test_a_guard_that_is_not_required_is_a_fault(hub: GithubStandIn, sound: Path):
    results = asked(sound, hub)
    assert results["required"].level == "fault"
    assert "a promotion can be merged while the guard is red" in results["required"].message


# --- CODEOWNERS ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message", "todo"),
    [
        pytest.param(None, "there is no CODEOWNERS (.github/CODEOWNERS,", "init --owner", id="absent"),
        pytest.param("* @OWNER\n", "names the placeholder @OWNER", "init --owner", id="placeholder"),
        pytest.param("*.py @kim\n", "has no owner for .github/", "add /.github/ @LOGIN", id="others"),
    ],
)
def test_codeowners_that_leaves_the_guard_s_files_to_everybody_is_a_warning(
    sound: Path, text: str | None, message: str, todo: str
):
    owners = sound / ".github/CODEOWNERS"
    owners.unlink() if text is None else owners.write_text(text)
    diagnosis = checked(sound)["owners"]
    assert (diagnosis.level, message in diagnosis.message, todo in diagnosis.todo) == ("warning", True, True)


# --- whatever comes -----------------------------------------------------------------------------------


@pytest.mark.skipif(os.name != "posix", reason="needs pipes")
def test_pipes_in_the_place_of_files_do_not_block(folder: Path):
    (folder / "data/audit/ai-ask").mkdir(parents=True)
    for name in ("coreloop.yaml", "data/audit/ai-ask/2026-04-25.jsonl", "data/audit/replays.txt"):
        os.mkfifo(folder / name)
    results = checked(folder)
    assert (results["settings"].level, results["records"].level) == ("fault", "warning")


# --- the command --------------------------------------------------------------------------------------


def test_a_fault_exits_with_1_and_warnings_with_0(
    sound: Path, entry_point: Command, monkeypatch: pytest.MonkeyPatch
):
    now = datetime.now(UTC)
    log(sound, record(ts=now.isoformat()), day=f"{now:%Y-%m-%d}")
    code, out, errors = entry_point(sound, "doctor")
    assert (code, errors) == (0, "")
    assert out.splitlines()[-1] == "0 faults, 2 warnings"
    (sound / "data/audit/ai-ask").chmod(0o755)
    code, out, _ = entry_point(sound, "doctor")
    assert (code, out.splitlines()[-1]) == (1, "1 fault, 2 warnings")
    monkeypatch.setenv("COLUMNS", "80")
    lines = entry_point(sound, "doctor", "-v")[1].splitlines()
    assert max(len(line) for line in lines if f"{sound}" not in line) <= 80  # a path is never cut
