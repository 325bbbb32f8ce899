"""``runs``: what people see of runs, and what they tell them."""

import json
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
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
            drive(run, iterate, show=Viewer(project, store))
    return run_id


def going(project: Path) -> str:
    with open_store(open_workspace(project)) as store:
        return create_run(store, "q", kind="test")


def test_a_run_is_shown_for_people_and_as_its_state_json(runs: Command, run_id: str, project: Path):
    shown = runs("show").output
    assert "iteration   2 of 2\n" in shown
    assert "spent       $0.50 of $10.00; $0.00 reserved\n" in shown
    assert "  q1 answered  2 findings  매출은?\n  q2 open      0 findings  이익은?\n" in shown
    state = json.loads((project / ".research" / "state.json").read_text(encoding="utf-8"))
    assert json.loads(runs("show", run_id, "--json").output) == state


def test_an_overshoot_is_shown(runs: Command, project: Path):
    with open_store(open_workspace(project)) as store:
        run_id = create_run(store, "q", kind="test", limits=Limits(usd=1))
        with work_on(store, run_id) as run:
            drive(run, lambda run: run.step("x", "k", lambda _: (None, Amount(1_500_000)), at_most=None))
    shown = runs("show").output
    assert "budget_exceeded (usd)" in shown
    assert "spent       $1.50 of $1.00, $0.50 over; $0.00 reserved\n" in shown


def test_pause_resume_and_stop(runs: Command, project: Path):
    run_id = going(project)
    assert runs("pause", run_id).output == f"{run_id}  paused\n"
    assert json.loads(runs("show", "--json").output)["status"] == "paused"
    assert runs("resume").output == f"{run_id}  running\n"
    assert json.loads(runs("stop", "--json").output) == {"run_id": run_id, "status": "stopped_by_user"}
    refused = runs("pause", run_id).exception
    assert str(refused) == f"run {run_id} is over: stopped_by_user; start a new run"


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


def test_sanitize_reads_an_export(runs: Command, project: Path):
    with open_store(open_workspace(project)) as store:
        run_id = create_run(store, "메일은 kim.minseo@example.com 입니다", kind="test")
    (project / "logs").mkdir()
    runs("report", run_id, "--format", "events", "--out", str(project / "logs" / "run.jsonl"))
    for mode in ("mask", "hash", "drop"):
        done = CliRunner().invoke(
            main, ["sanitize", "--in", "logs", "--out", f"shared/{mode}", "--mode", mode, "--json"]
        )
        assert done.exit_code == 0, done.output
        (file,) = (project / "shared" / mode).iterdir()
        (line,) = file.read_text(encoding="utf-8").splitlines()
        assert "kim.minseo" not in line


def test_forgetting_is_a_dry_run_until_confirmed(runs: Command, run_id: str, project: Path):
    assert runs("forget").output == (
        f"would remove {run_id} (stopped): 왜\\u{{1b}}[2J 올랐나?\n"
        "nothing changed; add --confirm to carry it out\n"
    )
    assert session_folder(project, run_id).is_dir()
    assert runs("forget", run_id, "--confirm").output == f"removed {run_id}\n"
    assert runs("list").output == "no runs\n"
    assert not session_folder(project, run_id).exists()
    remaining = b"".join(
        path.read_bytes() for path in (project / "data" / "runs").iterdir() if path.is_file()
    )
    assert "올랐다".encode() not in remaining


def test_a_run_at_work_keeps_its_views(runs: Command, run_id: str, project: Path):
    with open_store(open_workspace(project)) as store, store.hold(run_id):
        result = runs("forget", run_id, "--confirm")
    assert result.exit_code != 0
    assert "works on run" in str(result.exception)
    assert (session_folder(project, run_id) / "archival" / "iteration_001.json").is_file()


def test_a_run_with_an_unreadable_event_can_be_forgotten(runs: Command, run_id: str, project: Path):
    with closing(sqlite3.connect(project / "data" / "runs" / "coreloop.db")) as database, database:
        database.execute("UPDATE events SET event = '{' WHERE seq = 2")
    assert "damaged event" in str(runs("show", run_id).exception)
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


@pytest.mark.parametrize("args", [("list",), ("show",), ("forget",)])
def test_a_question_that_is_a_whole_file_is_cut(args: tuple[str, ...], runs: Command, project: Path):
    with open_store(open_workspace(project)) as store:
        create_run(store, "매출 " * 1_000_000, kind="test")
    result = runs(*args)
    assert result.exit_code == 0
    assert max(len(line) for line in result.output.splitlines()) < 1_200


def test_a_file_name_that_is_not_utf_8_is_shown_in_json(runs: Command, run_id: str):
    assert (
        json.loads(runs("report", "--format", "events", "--json", "--out", "\udcff.out").output)["file"]
        == "\ufffd.out"
    )


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
