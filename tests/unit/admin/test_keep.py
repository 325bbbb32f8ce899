"""What a project keeps: its backup, its restore, and a run that is forgotten with its feedback."""

import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from coreloop.admin.backup import back_up, forget, restore
from coreloop.answer.repair.feedback import judgment_of
from coreloop.answer.repair.store import open_repair_store
from coreloop.answer.repair.tables import Feedback
from coreloop.answer.research.research_state import ASK as KIND
from coreloop.base.errors import CoreloopError, RunStoreError, UsageError
from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import Workspace
from coreloop.observe.judgments import append_verdict, read_verdicts
from coreloop.runs.jobs.queue import open_queue
from coreloop.runs.manage import begin_run
from coreloop.runs.stores.store import open_store

NOW = datetime(2026, 3, 1, tzinfo=UTC)
FILES = ["runs.db", "repair.db", "jobs.db"]


def workspace_at(folder: Path) -> Workspace:
    folder.mkdir(exist_ok=True)
    return Workspace(folder, Settings())


@pytest.fixture
def kept(tmp_path: Path) -> tuple[Workspace, str]:
    """A project with a run, its job, and what people said of it."""
    workspace = workspace_at(tmp_path / "project")
    with (
        open_store(workspace, environ={}) as store,
        open_queue(workspace, environ={}) as queue,
        open_repair_store(workspace, environ={}) as tables,
    ):
        run_id = begin_run(workspace, store, "Is SECRET known?", kind=KIND, now=NOW)
        queue.put("run.ask", {"run": run_id})
        tables.open_gap(topic="Is SECRET known?", file="", symbol="", reason="failed", now=NOW)
        for number, (message, mended_by) in enumerate(((run_id, ""), ("other", run_id))):
            feedback = said(str(number), message, mended_by)
            tables.add_feedback(feedback)
            append_verdict(workspace.judgments_dir, judgment_of(feedback))
    return workspace, run_id


def said(name: str, message: str, mended_by: str) -> Feedback:
    return Feedback(
        id=name,
        chat_id="",
        message_id=message,
        kind="down",
        reason="wrong",
        mended_by=mended_by,
        created_at=NOW,
    )


def test_a_backup_holds_runs_feedback_and_jobs_for_another_project(
    kept: tuple[Workspace, str], tmp_path: Path
):
    workspace, run_id = kept
    folder, other = tmp_path / "copy", workspace_at(tmp_path / "other")
    assert back_up(workspace, folder, environ={}) == [folder / name for name in FILES]
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.iterdir())]
    assert modes == [0o700, *[0o600] * 3]
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert [path.name for path in restore(other, folder, environ={})] == FILES
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    with (
        open_store(other, environ={}) as store,
        open_queue(other, environ={}) as queue,
        open_repair_store(other, environ={}) as tables,
    ):
        assert [row.run_id for row in store.runs()] == [run_id]
        assert [job.payload for job in queue.jobs()] == [{"run": run_id}]
        assert len(tables.feedback_of(run_id)) == len(tables.gaps()) == 1


def test_a_backup_overwrites_nothing_and_is_whole_or_absent(kept: tuple[Workspace, str], tmp_path: Path):
    workspace, _ = kept
    with pytest.raises(UsageError, match=r"project: exists; name a new folder"):
        back_up(workspace, workspace.root, environ={})
    (workspace.runs_dir / "jobs.db").write_bytes(b"no database" * 100)
    with pytest.raises(RunStoreError, match=r"jobs\.db"):
        back_up(workspace, tmp_path / "copy", environ={})
    with pytest.raises(RunStoreError, match="cannot be written"):
        back_up(workspace, tmp_path / "none" / "copy", environ={})
    assert [path.name for path in tmp_path.iterdir()] == ["project"]


def newer(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "jobs.db")) as connection:
        connection.execute("PRAGMA user_version = 99")


def damaged(folder: Path) -> None:
    (folder / "repair.db").write_bytes((folder / "repair.db").read_bytes()[:5_000])


def swapped(folder: Path) -> None:
    (folder / "runs.db").replace(folder / "jobs.db")
    (folder / "repair.db").rename(folder / "runs.db")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (newer, r"jobs\.db: has schema version 99; upgrade coreloop"),
        (damaged, r"repair\.db: is (damaged|not a valid)"),
        (swapped, r"runs\.db: is not a runs database"),
        (lambda folder: (folder / "runs.db").unlink(), "is not a folder of `runs backup`"),
    ],
    ids=["a newer schema", "a cut file", "files of other names", "no runs"],
)
def test_what_cannot_be_restored_leaves_the_project_as_it_was(
    change: Callable[[Path], None], message: str, kept: tuple[Workspace, str], tmp_path: Path
):
    folder, other = tmp_path / "copy", workspace_at(tmp_path / "other")
    back_up(kept[0], folder, environ={})
    change(folder)
    with pytest.raises(CoreloopError, match=message):
        restore(other, folder, environ={})
    assert not other.runs_dir.exists() or list(other.runs_dir.iterdir()) == []


def test_a_restore_overwrites_nothing(kept: tuple[Workspace, str], tmp_path: Path):
    workspace, _ = kept
    back_up(workspace, tmp_path / "copy", environ={})
    for path in workspace.runs_dir.glob("*.db*"):
        path.unlink()
    wal = workspace.runs_dir / "runs.db-wal"  # SQLite would add it to the restored file
    wal.touch()
    with pytest.raises(UsageError, match=r"runs\.db-wal: exists; .* move it away"):
        restore(workspace, tmp_path / "copy", environ={})


def test_postgres_is_left_to_its_own_tools(tmp_path: Path):
    environ, workspace = {"CORELOOP_DATABASE_URL": "postgresql:///x"}, workspace_at(tmp_path)
    with pytest.raises(UsageError, match="pg_dump --schema=coreloop"):
        back_up(workspace, tmp_path / "copy", environ=environ)
    with pytest.raises(UsageError, match="pg_restore"):
        restore(workspace, tmp_path, environ=environ)


def test_a_forgotten_run_leaves_no_feedback_and_no_question(kept: tuple[Workspace, str]):
    workspace, run_id = kept
    with open_store(workspace, environ={}) as store:
        forget(workspace, store, run_id, confirm=False, environ={})
        with open_repair_store(workspace, environ={}) as tables:
            assert len(tables.gaps()) == 1
        forget(workspace, store, run_id, confirm=True, environ={})
    with open_repair_store(workspace, environ={}) as tables:
        assert (tables.feedback_of(run_id), tables.gaps()) == ([], [])
        assert [row.mended_by for row in tables.feedback_of("other")] == [""]
    assert [judgment.id for judgment in read_verdicts(workspace.judgments_dir).given] == ["other"]
    files = [path for path in workspace.root.rglob("*") if path.is_file()]
    assert [path for path in files if b"SECRET" in path.read_bytes()] == []
