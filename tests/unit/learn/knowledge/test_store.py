"""Opening files, waiting for other processes, and error messages."""

import os
import stat
from pathlib import Path

import pytest

from coreloop.base.errors import WorkspaceError
from coreloop.base.sqlite import transaction
from coreloop.learn.knowledge.store import reading, writing


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


def test_the_error_for_an_absent_file_names_the_command_that_creates_it(tmp_path: Path):
    with pytest.raises(WorkspaceError, match=r"does not exist; `backfill-blog --confirm` creates it"):
        reading(tmp_path / "x.db").__enter__()
    assert list(tmp_path.iterdir()) == []
