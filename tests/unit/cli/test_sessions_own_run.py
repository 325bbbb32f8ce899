"""``runs next|record`` without an id are about the session's own run, not the newest one."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from coreloop.cli.main import main


def runs(session: str, *words: str, given: str = "") -> str:
    environ = {"CLAUDE_CODE_SESSION_ID": session, "CLAUDECODE": "", "CORELOOP_RUN": ""}
    done = CliRunner(env=environ).invoke(main, ["runs", *words], input=given)
    assert done.exit_code == 0, done.output
    return done.stdout.strip()


def test_a_session_goes_on_with_its_own_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    mine, others = runs("mine", "open", "why?"), runs("another", "open", "how?")
    assert json.loads(runs("mine", "next"))["run_id"] == mine
    assert json.loads(runs("", "next", "--session", "mine"))["run_id"] == mine
    searched = {"query": "one", "results_count": 1, "success": True}
    report = json.dumps({"sub_questions": ["one?"], "queries": [searched]})
    assert json.loads(runs("mine", "record", "--json", given=report))["run_id"] == mine
    assert json.loads(runs("a third", "next"))["run_id"] == others  # the newest


def test_a_session_whose_run_was_forgotten_gets_the_newest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    mine, others = runs("mine", "open", "why?"), runs("another", "open", "how?")
    runs("", "forget", mine, "--confirm")
    assert json.loads(runs("mine", "next"))["run_id"] == others
