"""Opening files, waiting for other processes, and error messages."""

import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from coreloop.base import sqlite
from coreloop.base.errors import WorkspaceError
from coreloop.base.sqlite import transaction
from coreloop.learn.knowledge.schema import VERSION
from coreloop.learn.knowledge.store import reading, writing
from old_knowledge import make_old, rows_of


@pytest.fixture
def open_umask():
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("open_umask")
@pytest.mark.skipif(os.name != "posix", reason="needs file modes")
def test_a_new_database_is_private_to_its_owner(tmp_path: Path):
    path = tmp_path / "data" / "ai" / "knowledge" / "x.db"
    with writing(path) as connection, transaction(connection):
        connection.execute("INSERT INTO unscrubbed VALUES ('x')")
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    assert modes == {"x.db": 0o600, "x.db-wal": 0o600, "x.db-shm": 0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_every_connection_has_wal_foreign_keys_a_timeout_and_secure_delete(tmp_path: Path):
    with writing(tmp_path / "x.db") as connection:
        pragmas = {
            name: connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "foreign_keys", "busy_timeout", "secure_delete")
        }
    expected = {"journal_mode": "wal", "foreign_keys": 1, "busy_timeout": 30_000, "secure_delete": 1}
    assert pragmas == expected


def test_reading_cannot_write(tmp_path: Path):
    path = tmp_path / "x.db"
    with writing(path):
        pass
    with pytest.raises(WorkspaceError, match="readonly"), reading(path) as connection:
        connection.execute("DELETE FROM insights")


def _sqlite(path: Path, statements: str) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(statements)
    return path


FOREIGN = {
    "other tables": "CREATE TABLE urls (x)",
    "a version and no table": "PRAGMA user_version = 3",
    "one of the tables": "CREATE TABLE insights (stock_code, narrative, source, created_at)",
}


@pytest.mark.parametrize("statements", FOREIGN.values(), ids=FOREIGN)
def test_a_foreign_database_is_refused_unchanged(statements: str, tmp_path: Path):
    path = _sqlite(tmp_path / "x.db", statements)
    before = path.read_bytes()
    for opened in (reading, writing):
        with pytest.raises(WorkspaceError, match=r"x\.db: is not a knowledge database"), opened(path):
            pass
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"hello, world" * 100, b"SQLite format 3\0" + b"\xff" * 4096])
def test_a_file_that_is_not_a_database_is_refused_unchanged(content: bytes, tmp_path: Path):
    path = tmp_path / "x.db"
    path.write_bytes(content)
    for opened in (reading, writing):
        with pytest.raises(WorkspaceError, match=r"x\.db: is not a valid SQLite database"), opened(path):
            pass
    assert path.read_bytes() == content


def test_a_database_of_another_version_is_refused_unchanged(tmp_path: Path):
    path = tmp_path / "x.db"
    with writing(path) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    before = path.read_bytes()
    for opened in (reading, writing):
        with pytest.raises(WorkspaceError, match=f"has schema version {VERSION + 1}; "), opened(path):
            pass
    assert path.read_bytes() == before


def test_the_error_for_an_absent_file_names_the_command_that_creates_it(tmp_path: Path):
    with pytest.raises(WorkspaceError, match=r"does not exist; `backfill-blog --confirm` creates it"):
        reading(tmp_path / "x.db").__enter__()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("opened", [reading, writing])
def test_a_folder_instead_of_the_file_is_refused(opened, tmp_path: Path):
    with pytest.raises(WorkspaceError, match="cannot be"), opened(tmp_path):
        pass


def test_a_file_instead_of_the_folder_is_refused(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(WorkspaceError, match="cannot be opened"), writing(tmp_path / "file" / "x.db"):
        pass


def test_a_file_name_with_special_characters_works(tmp_path: Path):
    path = tmp_path / "회사 100%?#&=;'\".db"
    with writing(path):
        pass
    with reading(path) as connection:
        assert connection.execute("SELECT count(*) FROM insights").fetchone()[0] == 0
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_a_failed_transaction_changes_nothing(tmp_path: Path):
    with writing(tmp_path / "x.db") as connection:
        with pytest.raises(ZeroDivisionError), transaction(connection):
            connection.executemany("INSERT INTO unscrubbed VALUES (?)", ((1 / n,) for n in (1, 0)))
        assert connection.execute("SELECT count(*) FROM unscrubbed").fetchone()[0] == 0
        with transaction(connection):
            pass


def test_waiting_too_long_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "x.db"
    monkeypatch.setattr(sqlite, "BUSY_TIMEOUT_S", 0.1)
    waited = "another process has been using it for 0 s; run this again"
    with (
        writing(path) as first,
        transaction(first),
        pytest.raises(WorkspaceError, match=waited),
        writing(path) as second,
        transaction(second),
    ):
        pass


@pytest.mark.slow
@pytest.mark.parametrize("wal", [True, False])
def test_opening_waits_for_another_process_that_writes(wal: bool, tmp_path: Path):
    path = make_old(tmp_path / "x.db", wal=wal)
    hold = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN EXCLUSIVE")
connection.execute("INSERT INTO meta VALUES ('held', '1')")
print("ready", flush=True)
sys.stdin.readline()
connection.execute("COMMIT")
"""
    command = [sys.executable, "-c", hold, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline() == "ready\n"
        opener = [sys.executable, "-c", "import sys; from pathlib import Path\n"
                  "from coreloop.learn.knowledge.store import writing\n"
                  "print('opening', flush=True)\n"
                  "with writing(Path(sys.argv[1])): print('open')", str(path)]  # fmt: skip
        with subprocess.Popen(opener, stdout=subprocess.PIPE, encoding="utf-8") as waiting:
            assert waiting.stdout is not None
            assert waiting.stdout.readline() == "opening\n"
            holder.stdin.write("\n")
            holder.stdin.flush()
            assert waiting.communicate(timeout=60)[0] == "open\n"
    assert rows_of(path, "meta") == [{"key": "held", "value": "1"}]
