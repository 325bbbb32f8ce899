"""Databases of any schema: file modes, migrations, waiting writers and error messages."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from coreloop.base import sqlite
from coreloop.base.errors import WorkspaceError
from coreloop.base.sqlite import Schema, reader, sqlite_errors, writer
from rows import each_row

MADE_AT = "2026-04-25T00:00:00+00:00"
SCRIPT = """
CREATE TABLE jobs (
    name TEXT PRIMARY KEY  -- with ; in a comment
);
CREATE TABLE counts (n INTEGER NOT NULL);
INSERT INTO counts VALUES (0);
"""


def make(connection: sqlite3.Connection) -> None:
    sqlite.run_script(connection, SCRIPT)


def adopt(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE jobs ADD COLUMN made_at TEXT")
    connection.execute("UPDATE jobs SET made_at = ?", (MADE_AT,))


FIRST = Schema("jobs", make, {"jobs"})
SECOND = Schema("jobs", adopt, {"jobs"}, version=2)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database of version 1 with one job."""
    database = tmp_path / "data" / "runs" / "x.db"
    with writer(database, FIRST) as connection:
        connection.execute("INSERT INTO jobs VALUES ('a')")
    return database


def without_version(path: Path) -> Path:
    """As a program that knows no versions leaves a database."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 0")
    return path


def test_a_process_that_opens_it_twice_keeps_what_it_writes_when_another_closes_it(path: Path):
    opened = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1])"
    look = f"{opened}; print(c.execute('SELECT name FROM jobs').fetchall())"
    with writer(path, FIRST) as connection:
        with writer(path, FIRST):
            pass
        for name in "bc":
            subprocess.run(
                [sys.executable, "-c", f"{look}; c.close()", path], check=True, capture_output=True
            )
            connection.execute("INSERT INTO jobs VALUES (?)", (name,))
        said = subprocess.run([sys.executable, "-c", look, path], capture_output=True, text=True, check=True)
        assert said.stdout == "[('a',), ('b',), ('c',)]\n"


def test_a_database_without_a_version_gets_one_where_it_is_written_and_is_read_through_a_copy(path: Path):
    before = without_version(path).read_bytes()
    with reader(path, SECOND) as connection:
        assert [tuple(row) for row in connection.execute("SELECT * FROM jobs")] == [("a", MADE_AT)]
    assert path.read_bytes() == before
    with writer(path, SECOND) as connection:
        assert sqlite.version(connection) == 2
        assert sqlite.columns(connection, "jobs") == ["name", "made_at"]


def test_a_script_that_fails_leaves_the_database_as_it_was(path: Path):
    def breaks(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM jobs")
        connection.execute("SELECT * FROM nowhere")

    with pytest.raises(WorkspaceError, match=r"x\.db: cannot be used \(no such table: nowhere\)"):
        writer(without_version(path), Schema("jobs", breaks, {"jobs"})).__enter__()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM jobs").fetchone()[0] == 1


def test_a_database_of_another_version_is_refused_and_left_alone(path: Path):
    before = path.read_bytes()
    for opened in (reader, writer):
        with pytest.raises(WorkspaceError, match=r"x\.db: has schema version 1; this coreloop reads 2"):
            opened(path, SECOND).__enter__()
    assert path.read_bytes() == before


def test_another_kind_of_database_is_refused_and_left_alone(tmp_path: Path):
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE urls (x)")
    before = path.read_bytes()
    for opened in (reader, writer):
        with pytest.raises(WorkspaceError, match=r"x\.db: is not a jobs database; name another file"):
            opened(path, FIRST).__enter__()
    assert path.read_bytes() == before


COUNT = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
sys.path[:0] = sys.argv[2:]
from coreloop.base.sqlite import transaction, writer
from test_sqlite import FIRST
print("ready", flush=True)
sys.stdin.readline()
with writer(Path(sys.argv[1]), FIRST) as connection:
    for _ in range(100):
        with transaction(connection):
            (n,) = connection.execute("SELECT n FROM counts").fetchone()
            connection.execute("UPDATE counts SET n = ?", (n + 1,))
"""


@contextmanager
def unwritable(path: Path) -> Iterator[None]:
    """Take away the right to write a file and its folder; root becomes nobody meanwhile."""
    is_root = os.geteuid() == 0
    for folder in path.parents[:-2] if is_root else ():
        folder.chmod(0o755)
    path.chmod(0o444)
    path.parent.chmod(0o555)
    if is_root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)
        path.parent.chmod(0o755)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs file modes")
def test_a_database_that_nobody_can_write_is_read_without_a_file_beside_it(tmp_path: Path):
    path = tmp_path / "data" / "jobs.db"
    with writer(path, FIRST) as connection:
        connection.execute("UPDATE counts SET n = 7")
    with unwritable(path), reader(path, FIRST) as connection:
        assert connection.execute("SELECT n FROM counts").fetchone()[0] == 7
    assert [file.name for file in path.parent.iterdir()] == ["jobs.db"]


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs file modes")
def test_changes_that_only_a_writer_can_read_are_not_passed_over(tmp_path: Path):
    path = tmp_path / "data" / "jobs.db"
    with writer(path, FIRST) as connection:
        connection.execute("UPDATE counts SET n = 7")
        copy = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    other = tmp_path / "other" / "jobs.db"
    other.parent.mkdir()
    for name in ("jobs.db", "jobs.db-wal"):
        other.with_name(name).write_bytes(copy[name])
    with (
        unwritable(other),
        pytest.raises(WorkspaceError, match="allow writing to it and to its folder"),
        reader(other, FIRST),
    ):
        pass


@pytest.mark.slow
def test_concurrent_processes_create_it_once_and_lose_no_update(tmp_path: Path):
    path = tmp_path / "x.db"
    command = [
        sys.executable,
        "-c",
        COUNT,
        str(path),
        str(Path(__file__).parent),
        str(Path(__file__).parents[2]),
    ]
    processes = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
        for _ in range(3)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    assert [process.communicate(timeout=60)[1] for process in processes] == [None] * 3
    assert [process.returncode for process in processes] == [0] * 3
    with reader(path, FIRST) as connection:
        assert [row[0] for row in connection.execute("SELECT n FROM counts")] == [300]


# messages


def coded(kind: type[sqlite3.Error], text: str, code: int) -> sqlite3.Error:
    error = kind(text)
    error.sqlite_errorcode = code
    return error


MESSAGES = {
    "busy": (
        coded(sqlite3.OperationalError, "database is locked", sqlite3.SQLITE_BUSY),
        "another process has been using it for 30 s; run this again",
    ),
    "full": (
        coded(sqlite3.OperationalError, "database or disk is full", sqlite3.SQLITE_FULL),
        "the disk is full (database or disk is full); make room and try again",
    ),
    "read-only": (
        coded(sqlite3.OperationalError, "attempt to write a readonly database", sqlite3.SQLITE_READONLY),
        "cannot be used (attempt to write a readonly database); allow writing to it and to its folder",
    ),
    "damaged": (
        coded(sqlite3.DatabaseError, "database disk image is malformed", sqlite3.SQLITE_CORRUPT),
        "is not a valid SQLite database (database disk image is malformed)",
    ),
}


@each_row(("error", "message"), MESSAGES.values(), ids=MESSAGES)
def test_an_error_that_a_user_can_cause_is_one_line_with_the_file(error: sqlite3.Error, message: str):
    with pytest.raises(WorkspaceError) as caught, sqlite_errors(Path("x.db")):
        raise error
    assert str(caught.value) == f"x.db: {message}"
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("made", [False, True])
def test_a_file_that_cannot_be_opened_is_named(made: bool, tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(WorkspaceError, match=r"x\.db: cannot be"), sqlite_errors(tmp_path / "file" / "x.db"):
        sqlite.connect(tmp_path / "file" / "x.db", make=made)
