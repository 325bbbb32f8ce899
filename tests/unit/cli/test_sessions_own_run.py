"""Commands on runs without an id are about the session's own run, and never about another session's."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from coreloop.base.errors import CoreloopError, UsageError
from coreloop.cli.main import main
from terminals import typed


def runs(session: str, *words: str, given: str = "") -> str:
    environ = {"CLAUDE_CODE_SESSION_ID": session, "CLAUDECODE": "", "CORELOOP_RUN": ""}
    done = CliRunner(env=environ).invoke(main, ["runs", *words], input=given)
    if isinstance(done.exception, CoreloopError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout.strip()


def status(run_id: str) -> str:
    return json.loads(runs("", "show", run_id, "--json"))["status"]


@pytest.mark.parametrize(("word", "then"), [("pause", "paused"), ("stop", "stopped_by_user")])
def test_a_person_in_a_session_ends_its_run_and_not_the_newest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str, then: str
):
    monkeypatch.chdir(tmp_path)
    mine, others = runs("mine", "open", "why?"), runs("another", "open", "how?")
    assert runs("", word, "--session", "mine") == f"{mine}  {then}"
    assert (status(mine), status(others)) == (then, "running")


@pytest.mark.parametrize("word", ["next", "pause", "stop", "resume", "report"])
def test_a_session_without_a_run_does_not_take_another_sessions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str
):
    monkeypatch.chdir(tmp_path)
    mine, others = runs("mine", "open", "why?"), runs("another", "open", "how?")
    assert typed(tmp_path, "runs", "forget", mine, "--confirm").returncode == 0
    with pytest.raises(UsageError, match=f"this session has no run; name one, .*: {others}"):
        runs("mine", word)
    assert status(others) == "running"
    assert runs("", "pause") == f"{others}  paused"  # a person's own terminal means the newest


def test_a_session_does_not_take_a_run_without_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    others = runs("", "open", "how?")
    with pytest.raises(UsageError, match="this session has no run"):
        runs("mine", "stop")
    assert status(others) == "running"


@pytest.mark.parametrize("session", ["p" * 101, "x; rm -rf tests", "$(id)", "세션", "--json"])
def test_what_is_no_id_of_a_session_reaches_no_command(
    session: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="the id of a session has up to 100 of the characters"):
        runs(session, "open", "why?")
