"""``runs``: what people see of runs, and what they tell them."""

import json
import stat
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from coreloop.base.project.workspace import open_workspace
from coreloop.cli.main import main
from coreloop.runs import events as happened
from coreloop.runs.active_run import Run, work_on
from coreloop.runs.amounts import Amount
from coreloop.runs.iteration_loop import drive
from coreloop.runs.limits import Limits
from coreloop.runs.manage import begin_run, create_run
from coreloop.runs.run_files import Viewer, session_folder
from coreloop.runs.stores.store import open_store

Command = Callable[..., Result]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def runs(project: Path) -> Command:
    def runs(*args: str) -> Result:
        return CliRunner(env={"COLUMNS": "120"}).invoke(main, ["runs", *args])

    return runs


def iterate(run: Run) -> None:
    number = run.state.iteration + 1
    if number == 1:
        run.record(happened.Planned, sub_questions=("매출은?", "이익은?"))
    run.step("ask", f"k{number}", lambda _: ("ok", Amount(250_000, 40)), at_most=Amount(300_000, 50))
    run.record(happened.Searched, query=f"영업이익 {number}", outcome="found", results_count=3)
    run.record(happened.FindingRecorded, sub_question="q1", text="올랐다", source=f"dart:{number}")


@pytest.fixture
def run_id(project: Path) -> str:
    """A run that ended after two iterations."""
    workspace = open_workspace(project)
    with open_store(workspace) as store:
        run_id = create_run(store, "왜\x1b[2J 올랐나?", kind="test", limits=Limits(max_iterations=2))
        with work_on(store, run_id) as run:
            drive(run, iterate, show=lambda run: Viewer(project, store)(run.state))
    return run_id


@pytest.mark.parametrize("name", ["pause", "resume", "stop", "report", "show", "forget"])
@pytest.mark.parametrize("run_id", ["nonsense", "../../x", "01KQ0000000000000000000000"])
def test_an_unknown_run_is_one_clear_line(runs: Command, name: str, run_id: str):
    error = str(runs(name, run_id, *(["--out", "x"] if name == "report" else [])).exception)
    assert run_id in error
    assert "\n" not in error
    assert not Path("x").exists()


def test_an_export_is_private_and_complete(runs: Command, run_id: str, project: Path):
    out = project / "run.jsonl"
    events = ("report", run_id, "--format", "events", "--out", str(out))
    assert json.loads(runs(*events, "--json").output) == {"file": str(out)}
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    assert {"created", "planned", "step_committed", "iteration_committed", "ended"} <= {
        line["type"] for line in lines
    }
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert "exists; name a new file" in str(runs(*events).exception)


def test_forgetting_is_a_dry_run_until_confirmed(runs: Command, run_id: str, project: Path):
    assert runs("forget").output == (
        f"would remove {run_id} (stopped): 왜\\u{{1b}}[2J 올랐나?\n"
        "nothing changed; add --confirm to carry it out\n"
    )
    assert session_folder(project, run_id).is_dir()
    assert runs("forget", run_id, "--confirm").output == f"removed {run_id}\n"
    assert runs("list").output == "no runs\n"
    assert not session_folder(project, run_id).exists()


def test_a_status_that_no_run_can_have_is_refused(runs: Command, run_id: str):
    assert runs("list", "--status", "stopped").output.count("\n") == 2
    refused, _, valid = str(runs("list", "--status", "runing").exception).partition("; use ")
    assert refused.endswith(" runing")
    assert set(valid.split(", ")) == {
        *("running", "completed", "paused", "stopped_by_user", "budget_exceeded", "stopped", "failed")
    }


def test_a_new_run_forgets_those_that_are_too_old(project: Path):
    (project / "coreloop.yaml").write_text("retention_days: 30\nlimits: {usd_per_day: 2.5}\n")
    workspace = open_workspace(project)
    with open_store(workspace) as store:
        old = create_run(store, "old", kind="test")
        now = datetime.now(UTC)
        new = begin_run(workspace, store, "new", kind="test", now=now + timedelta(days=31))
        assert [row.run_id for row in store.runs()] in ([new], [])
        kept = begin_run(workspace, store, "kept", kind="test", now=now)
        assert kept in {row.run_id for row in store.runs()}
        assert old not in {row.run_id for row in store.runs()}
        with work_on(store, kept) as run:
            assert run.state.limits.usd_per_day == 2.5
