"""The store of runs in a file: its modes, its errors, its remains."""

import os
import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from coreloop.base.errors import RunStoreError
from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import Workspace
from coreloop.runs import events as happened
from coreloop.runs.stores.store import Store, open_store, store_at
from running import MOMENT, new_run

posix = pytest.mark.skipif(os.name != "posix", reason="needs file modes")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "runs" / "coreloop.db"


def modes(folder: Path) -> dict[str, int]:
    return {file.name: stat.S_IMODE(file.stat().st_mode) for file in (folder, *folder.rglob("*"))}


@posix
def test_the_store_of_a_workspace_is_private_with_any_umask(tmp_path: Path, path: Path):
    path.parent.mkdir(parents=True)
    path.parent.chmod(0o755)
    before = os.umask(0)
    try:
        with open_store(Workspace(tmp_path, Settings()), environ={}) as store:
            run_id = new_run(store)
            with store.hold(run_id):
                found = modes(path.parent)
    finally:
        os.umask(before)
    files = dict.fromkeys(["coreloop.db", "coreloop.db-wal", "coreloop.db-shm", f"{run_id}.lock"], 0o600)
    assert found == {"runs": 0o700, "held": 0o700, **files}


def test_a_step_survives_a_power_loss_and_a_note_need_not(path: Path):
    """SQLite waits for the disk at a commit if synchronous is FULL, 2, and not if it is NORMAL, 1."""
    with store_at(path) as store:
        run_id = new_run(store)
        levels = []
        for seq, event in enumerate(
            (
                happened.Noted(at=MOMENT, name="n"),
                happened.StepCommitted(at=MOMENT, name="n", key="k"),
                happened.IterationCommitted(at=MOMENT, iteration=1),
                happened.StopRequested(at=MOMENT),
            ),
            start=1,
        ):
            store.append(run_id, [event], after=seq)
            levels.append(store._database._connection.execute("PRAGMA synchronous").fetchone()[0])
    assert levels == [1, 2, 1, 2]


def test_no_file_holds_a_forgotten_question(path: Path):
    with store_at(path) as store, closing(sqlite3.connect(path)) as reader:
        run_id, other = new_run(store, question="QUESTION1"), new_run(store, question="QUESTION2")
        step = happened.StepCommitted(at=MOMENT, name="n", key="QUESTION1", result="QUESTION1" * 1000)
        store.append(run_id, [step], after=1)
        reader.execute("SELECT * FROM events").fetchall()
        store.forget(run_id)
        content = b"".join(file.read_bytes() for file in path.parent.rglob("*") if file.is_file())
        assert [row.run_id for row in store.runs()] == [other]
    assert b"QUESTION1" not in content
    assert b"QUESTION2" in content


def test_other_files_are_refused_and_left_alone(tmp_path: Path):
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE runs (x)")
    with pytest.raises(RunStoreError, match=r"x\.db: is not a coreloop database; name another file"):
        store_at(path).__enter__()
    path.write_text("no database at all " * 100)
    with pytest.raises(RunStoreError, match=r"x\.db: is not a valid SQLite database"):
        store_at(path).__enter__()
    (tmp_path / "folder").mkdir()
    with pytest.raises(RunStoreError, match=r"folder: cannot be opened \(not a regular file\)"):
        store_at(tmp_path / "folder").__enter__()


def test_a_store_of_another_version_is_refused(path: Path):
    with store_at(path):
        pass
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE versions SET version = 99")
        connection.commit()
    with pytest.raises(RunStoreError, match="the tables of runs have version 99; this coreloop reads 2"):
        store_at(path).__enter__()


def test_a_full_disk_is_one_line_and_nothing_is_half_written(path: Path):
    with store_at(path) as store:
        run_id = new_run(store)
        fill(store)
        events = [happened.Noted(at=MOMENT, name="n", data="x" * 2000) for _ in range(20)]
        with pytest.raises(
            RunStoreError, match=r"coreloop\.db: the disk is full .*; make room and try again"
        ):
            store.append(run_id, [*events, reserved()], after=1)
        assert [seq for seq, _event in store.read(run_id)] == [1]
        assert store.spent_on(MOMENT.date()).microusd == 0
        store._database._connection.execute("PRAGMA max_page_count = 1000000")
        assert store.append(run_id, [*events, reserved()], after=1) == []


def reserved() -> happened.Reserved:
    return happened.Reserved(at=MOMENT, reservation="r", microusd=5)


def fill(store: Store) -> None:
    """Let the database have no more pages than it has: SQLite's own answer to a full disk."""
    pages = store._database._connection.execute("PRAGMA page_count").fetchone()[0]
    store._database._connection.execute(f"PRAGMA max_page_count = {pages}")


@pytest.mark.parametrize("replaced", [False, True], ids=["removed", "replaced"])
def test_a_store_whose_file_is_gone_takes_no_more_events(path: Path, replaced: bool):
    with store_at(path) as store:
        run_id = new_run(store)
        path.rename(path.with_name("away.db"))
        if replaced:
            shutil.copy(path.with_name("away.db"), path)
        with pytest.raises(RunStoreError, match="was removed or replaced while it was in use"):
            list(store.read(run_id))
        assert path.exists() == replaced
