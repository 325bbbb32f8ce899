"""Snapshots are verified, and restore everything."""

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from coreloop.base import sqlite
from coreloop.base.errors import UsageError, WorkspaceError
from coreloop.base.sqlite import transaction
from coreloop.learn.knowledge import archive
from coreloop.learn.knowledge.archive import restore, snapshot
from coreloop.learn.knowledge.cleanup import Notes, clean
from coreloop.learn.knowledge.store import writing
from old_knowledge import execution, insight, make_old, rows_of
from weekly import WEEKLY

NOW = datetime(2026, 4, 25, 9, 30, tzinfo=UTC)
TABLES = ("executions", "insights", "playbook", "skills", "meta")


@pytest.fixture
def database(tmp_path: Path) -> Path:
    rows: dict[str, Any] = {
        "executions": [execution(n, at=1.0) for n in range(50)],
        "insights": [insight(1, at=1.0, source="live")],
    }
    return make_old(tmp_path / "x.db", **rows)


def _state(path: Path) -> dict[str, Any]:
    return {table: rows_of(path, table) for table in TABLES}


def _clean(database: Path) -> Path:
    return clean(database, Notes(frozenset(), "x"), database.parent / "a", now=NOW).archive


def test_restoring_brings_everything_back_after_a_snapshot_of_the_present_state(database: Path):
    before = _state(database)
    taken = _clean(database)
    cleaned = rows_of(database, "executions")
    present = restore(taken, database, database.parent / "a", now=NOW)
    assert _state(database) == before
    assert present == database.parent / "a" / "2026-04-25-pre-restore.sqlite"
    assert rows_of(present, "executions") == cleaned == []


def test_a_restored_database_can_be_cleaned_again(database: Path):
    restore(_clean(database), database, database.parent / "a", now=NOW)
    assert _clean(database).name == "2026-04-25-pre-cleanup-2.sqlite"
    assert rows_of(database, "insights") == []


RESTORE = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from coreloop.learn.knowledge.archive import restore
print("ready", flush=True)
sys.stdin.readline()
archive, database = map(Path, sys.argv[1:])
restore(archive, database, database.parent / "a", now=datetime.now(UTC))
"""


def _restoring(taken: Path, database: Path) -> "subprocess.Popen[str]":
    """A process that has finished its imports and starts to restore."""
    command = [sys.executable, "-c", RESTORE, str(taken), str(database)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.stdin.write("\n")
    process.stdin.flush()
    return process


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
def test_killing_a_restore_at_any_time_leaves_the_old_or_the_new_state(tmp_path: Path):
    rows = 5_000
    source = make_old(tmp_path / "x.db", executions=[execution(n, at=1.0) for n in range(rows)])
    taken = _clean(source)
    timed = shutil.copy(source, tmp_path / "timed.db")
    started = time.perf_counter()
    assert _restoring(taken, timed).communicate(timeout=60) == ("", None)
    duration_s = time.perf_counter() - started
    states = []
    chance = random.Random(7)
    for n in range(12 if WEEKLY else 4):
        database = tmp_path / str(n) / "x.db"
        database.parent.mkdir()
        shutil.copy(source, database)
        process = _restoring(taken, database)
        time.sleep(chance.uniform(0, 1.2 * duration_s))  # kills at a random moment
        process.kill()
        process.communicate(timeout=60)
        with closing(sqlite3.connect(database)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        states.append(len(rows_of(database, "executions")))
        restore(taken, database, database.parent / "a", now=NOW)
        assert len(rows_of(database, "executions")) == rows
    assert set(states) <= {0, rows}, states


def test_a_deleted_database_is_restored(database: Path):
    before = _state(database)
    taken = _clean(database)
    database.unlink()
    assert restore(taken, database, database.parent / "a", now=NOW) is None
    assert _state(database) == before
    assert os.name != "posix" or database.stat().st_mode & 0o777 == 0o600


def test_processes_with_open_connections_see_the_restored_rows_and_can_write(database: Path):
    taken = _clean(database)
    with writing(database) as connection:
        assert connection.execute("SELECT count(*) FROM insights").fetchone()[0] == 0
        restore(taken, database, database.parent / "a", now=NOW)
        assert connection.execute("SELECT count(*) FROM insights").fetchone()[0] == 1
        with transaction(connection):
            connection.execute("DELETE FROM insights")
    assert rows_of(database, "insights") == []


def test_restoring_waits_only_for_the_busy_timeout(database: Path, monkeypatch: pytest.MonkeyPatch):
    taken = _clean(database)
    monkeypatch.setattr(sqlite, "BUSY_TIMEOUT_S", 0.1)
    with (
        writing(database) as connection,
        transaction(connection),
        pytest.raises(WorkspaceError, match=r"x\.db: another process has been using it"),
    ):
        restore(taken, database, database.parent / "a", now=NOW)
    assert rows_of(database, "insights") == []


def _damaged(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096:12_288] = b"\xff" * 8192
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        pytest.param(Path.unlink, "does not exist", id="absent"),
        pytest.param(
            lambda path: path.write_bytes(b"hello" * 999), "not a valid SQLite database", id="foreign file"
        ),
        pytest.param(lambda path: path.write_bytes(b""), "is empty", id="empty"),
        pytest.param(_damaged, "damaged|not a valid", id="damaged"),
        pytest.param(
            lambda path: path.write_bytes(path.read_bytes()[:9000]), "damaged|not a valid", id="cut off"
        ),
    ],
)
def test_a_broken_archive_is_refused_and_changes_nothing(damage, reason, database: Path):
    taken = _clean(database)
    before = database.read_bytes()
    damage(taken)
    with pytest.raises(WorkspaceError, match=f"pre-cleanup.sqlite: .*({reason})"):
        restore(taken, database, database.parent / "a", now=NOW)
    assert database.read_bytes() == before
    assert not list((database.parent / "a").glob("*pre-restore*"))


def test_a_foreign_database_is_refused_as_archive(database: Path, tmp_path: Path):
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection:
        connection.execute("CREATE TABLE urls (x)")
    with pytest.raises(WorkspaceError, match="is not a knowledge database"):
        restore(tmp_path / "other.db", database, tmp_path / "a", now=NOW)


def test_the_database_itself_is_refused_as_archive(database: Path):
    before = _state(database)
    with pytest.raises(UsageError, match="the archive is the database itself"):
        restore(database, database, database.parent / "a", now=NOW)
    assert _state(database) == before


def test_a_damaged_database_is_not_archived(database: Path):
    _damaged(database)
    with pytest.raises(WorkspaceError, match=r"x\.db: .*(damaged|not a valid|malformed)"):
        _clean(database)
    assert [path.name for path in (database.parent / "a").iterdir()] == [".lock"]


def test_a_copy_with_different_row_counts_is_refused(database: Path, monkeypatch: pytest.MonkeyPatch):
    counts = iter([{"insights": 1}, {"insights": 2}])
    monkeypatch.setattr(archive, "_counts", lambda _: next(counts))
    with pytest.raises(WorkspaceError, match="the copy differs in its row counts; nothing was changed"):
        snapshot(database, database.parent / "a", "pre-cleanup", now=NOW)
    assert [path.name for path in (database.parent / "a").iterdir()] == [".lock"]


def test_leftovers_of_a_killed_run_are_removed(database: Path):
    folder = database.parent / "a"
    folder.mkdir()
    for name in (".2026-04-24-pre-cleanup.abc.partial", ".2026-04-24-pre-cleanup.abc.partial-journal"):
        (folder / name).write_text("QUESTION1")
    _clean(database)
    assert sorted(path.name for path in folder.iterdir()) == [".lock", "2026-04-25-pre-cleanup.sqlite"]


@pytest.mark.skipif(os.name != "posix", reason="needs a limit on the size of files")
def test_a_full_disk_gives_a_one_line_error_and_changes_nothing(database: Path):
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")  # else the limit would hit the WAL first
    before = database.read_bytes()
    code = f"""
from datetime import UTC, datetime
from pathlib import Path
from coreloop.base import sqlite
from coreloop.base.errors import WorkspaceError
from coreloop.learn.knowledge.archive import snapshot
try:
    folder = Path({str(database.parent / "a")!r})
    snapshot(Path({str(database)!r}), folder, "pre-cleanup", now=datetime.now(UTC))
except WorkspaceError as error:
    print(error)
"""
    limited = ["sh", "-c", 'ulimit -f 4; exec "$0" "$@"', sys.executable, "-c", code]
    done = subprocess.run(limited, capture_output=True, encoding="utf-8", check=False)
    assert f"{database.parent / 'a'}: cannot be used (" in done.stdout, done
    assert database.read_bytes() == before
    assert [path.name for path in (database.parent / "a").iterdir()] == [".lock"]


def test_simultaneous_snapshots_get_different_names(database: Path):
    folder = database.parent / "a"
    code = f"""
import sys
from datetime import UTC, datetime
from pathlib import Path
from coreloop.learn.knowledge.archive import snapshot
snapshot(Path({str(database)!r}), Path({str(folder)!r}), "x", now=datetime(2026, 4, 25, tzinfo=UTC))
"""
    processes = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(4)]
    assert [process.wait(timeout=60) for process in processes] == [0] * 4
    names = ["2026-04-25-x.sqlite", *(f"2026-04-25-x-{n}.sqlite" for n in (2, 3, 4))]
    assert {path.name for path in folder.iterdir()} == {".lock", *names}
    assert all(len(rows_of(folder / name, "executions")) == 50 for name in names)
