"""``runs open|next|record|install``: what an agent runs, and what it cannot do."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from coreloop.base.project.workspace import open_workspace
from coreloop.cli.main import main
from coreloop.runs import events as happened
from coreloop.runs.active_run import work_on
from coreloop.runs.manage import create_run
from coreloop.runs.stores.store import open_store
from terminals import typed

Command = Callable[..., Result]
QUIET = {"COLUMNS": "120", "CLAUDE_CODE_SESSION_ID": "", "CLAUDECODE": "", "CORELOOP_RUN": ""}
FIRST = {
    "iteration": 1,
    "actions": [{"tool": "web", "strategy": ["English"]}],
    "queries": [{"query": "profit 2025", "results_count": 3, "success": True}],
    "findings": [{"text": "올랐다", "sources": ["dart:1"], "answers": "이익이 왜?"}],
    "sub_questions": ["이익이 왜?", "이익이 얼마나?"],
    "next_actions": ["read the report"],
    "usage": {"usd": 0.25, "tokens": 4000},
}
PLAN = {
    "queries": [{"query": "profit", "results_count": 0, "success": True}],
    "actions": ["web", "read"],
    "next_actions": ["read"],
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def runs(project: Path) -> Command:
    def runs(*args: str, report: Any = None, **environ: str) -> Result:
        given = json.dumps(report) if report is not None else None
        return CliRunner(env=QUIET | environ).invoke(main, ["runs", *args], input=given)

    return runs


def test_a_run_that_a_person_ended_takes_no_report(runs: Command):
    run_id = runs("open", "이익은 왜 올랐나?").stdout.strip()
    for act, words in {"complete": ["stop", "--completed"], "forget": ["forget", "--confirm"]}.items():
        refused = runs(*words, CLAUDECODE="1").exception
        assert str(refused).startswith(f"an agent cannot {act} a run")
    assert typed(Path.cwd(), "runs", "stop", "--completed").stdout == f"{run_id}  completed\n"
    assert str(runs("record", report=PLAN).exception).startswith(f"run {run_id} is over: completed;")
    ended = json.loads(runs("next").output)
    assert ended["goes_on"] is False
    assert ended["do"].startswith("연구가 끝났습니다(completed).")
    assert f"dartlab-coreloop runs report {run_id}" in ended["do"]


def test_a_terminal_is_safe_from_what_an_agent_found(runs: Command):
    runs("open", "why?")
    found = {**PLAN, "findings": [{"text": "a\x1b[2J\nb" + "c" * 999, "sources": []}]}
    shown = runs("record", report=found).output
    assert "\x1b" not in shown
    assert r"- a\u{1b}[2J bccc" in " ".join(shown.split())
    assert max(map(len, shown.splitlines())) <= 340


def test_a_wrong_report_is_a_line_and_changes_nothing(runs: Command):
    runs("open", "why?")
    refused = runs("record", report={**PLAN, "findings": [{"text": "up", "sources": ["s"], "answers": "q9"}]})
    assert str(refused.exception).startswith(
        "$.findings[0].answers: no sub-question q9; the run has none yet"
    )
    assert json.loads(runs("next").output)["iteration"]["next"] == 1


def test_only_a_person_agrees_that_a_sub_question_falls_away(runs: Command):
    runs("open", "Why did profit rise?")
    runs("record", report={**PLAN, "sub_questions": ["Which profit?"]})
    runs("record", report={**PLAN, "sub_questions": [{"id": "q1", "falls_away": "moot"}]})
    for environ in ({}, {"CLAUDECODE": "1"}, {"CORELOOP_RUN": "x"}):
        refused = runs("confirm", "--waive", "q1", **environ)
        assert str(refused.exception).startswith("an agent cannot agree to its own proposal")
    assert "falls away: q1" in typed(Path.cwd(), "runs", "confirm", "--waive", "q1").stdout
    assert json.loads(runs("next").output)["status"] == "completed"


def test_only_a_person_confirms_what_is_not_about_the_question(runs: Command):
    runs("open", "Why did profit rise?")
    runs("record", report={**PLAN, "sub_questions": ["Is water wet?"]})
    for environ in ({}, {"CLAUDECODE": "1"}, {"CORELOOP_RUN": "x"}):
        refused = runs("confirm", "q1", **environ)
        assert str(refused.exception).startswith("an agent cannot agree to its own proposal")
    assert "q1 note" in runs("show").stdout
    assert typed(Path.cwd(), "runs", "confirm", "q1").stdout.startswith("counted now: q1;")
    assert "q1 open" in runs("show").stdout


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["open", "  "], "the question is empty"),
        (["next"], "the project has no runs yet"),
        (["install", "cursor"], "'cursor' is not one of 'claude-code', 'plugin', 'agents-md'"),
        (["uninstall", "claude-code"], "nothing is installed"),
    ],
)
def test_a_wrong_use_is_a_line(runs: Command, args: list[str], message: str):
    done = runs(*args)
    assert done.exit_code != 0
    assert message in str(done.exception) + done.output


def test_an_agent_of_a_driver_reports_to_the_drivers_run(runs: Command, project: Path):
    with open_store(open_workspace(project)) as store:
        run_id = create_run(store, "why?", kind="driven")
        runs("open", "another question, newer")
        with work_on(store, run_id) as run:
            shown = runs("record", report=FIRST, CORELOOP_RUN=run_id)
            assert shown.output.splitlines()[-2:] == [
                "Iteration 1/100 · running · $0.00/$10.00",
                "recorded; the driver says what follows",
            ]
            refused = runs("record", "01KQ0000000000000000000000", report=PLAN, CORELOOP_RUN=run_id)
            assert str(refused.exception) == f"this agent works on run {run_id}; leave out RUN"
            run.catch_up()
            assert [part.is_answered for part in run.state.sub_questions] == [False, False]
            run.record(happened.Progressed)
            run.commit_iteration()
            assert (run.state.iteration, run.state.spent.usd) == (1, 0.0)


def test_a_run_that_is_covered_when_it_resumes_is_completed_and_names_its_report(
    runs: Command, monkeypatch: pytest.MonkeyPatch
):
    run_id = runs("open", "why?", "--max-iterations", "1").stdout.strip()
    runs("pause")
    runs("record", report=PLAN)
    refused = runs("resume", CLAUDECODE="1")
    assert str(refused.exception).startswith("an agent cannot resume a run")
    resumed = typed(Path.cwd(), "runs", "resume")
    assert resumed.stdout == f"{run_id}  stopped\n"
    assert f"dartlab-coreloop runs report {run_id}" in resumed.stderr
