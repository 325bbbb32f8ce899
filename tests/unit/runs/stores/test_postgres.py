"""The store of runs in Postgres: its address, its errors, its sessions."""

import re
import sys
from pathlib import Path

import pytest

from coreloop.errors import MissingExtraError, RunBusyError, RunStoreError
from coreloop.project.settings import Settings
from coreloop.project.workspace import Workspace
from coreloop.runs.stores.postgres import postgres_store
from coreloop.runs.stores.store import open_store
from rows import each_row
from running import new_run, python


@each_row(
    ("address", "line"),
    [
        (
            "nonsense secret",
            "CORELOOP_DATABASE_URL is not an address such as postgresql://user@host/database",
        ),
        (
            "postgresql://x:secret@127.0.0.1:1/z",
            "the Postgres store cannot be used (connection failed: connection to server at "
            '"127.0.0.1", port 1 failed: Connection refused); check CORELOOP_DATABASE_URL',
        ),
    ],
)
def test_an_address_that_cannot_be_used_is_one_line_without_its_password(address: str, line: str):
    with pytest.raises(RunStoreError, match=f"^{re.escape(line)}$"):
        postgres_store(address).__enter__()


def test_without_the_extra_the_line_that_installs_it_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    environ = {"CORELOOP_DATABASE_URL": "postgresql://x"}
    line = r"^CORELOOP_DATABASE_URL needs an extra; install it: pip install 'dartlab-coreloop\[postgres\]'$"
    with pytest.raises(MissingExtraError, match=line):
        open_store(Workspace(tmp_path, Settings()), environ=environ).__enter__()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_workspace_uses_the_database_that_the_environment_names(database: str, tmp_path: Path):
    with open_store(Workspace(tmp_path, Settings()), environ={"CORELOOP_DATABASE_URL": database}) as store:
        run_id = new_run(store)
    with postgres_store(database) as store:
        assert [row.run_id for row in store.runs()] == [run_id]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_newer_schema_is_refused(database: str):
    with postgres_store(database) as store:
        store._database.rows("UPDATE schema_version SET version = 99")
    with pytest.raises(RunStoreError, match="schema version 99; upgrade coreloop"):
        postgres_store(database).__enter__()


@pytest.mark.slow
def test_a_lost_session_holds_nothing_and_cannot_append(database: str):
    """So a process that lost its hold cannot go on beside its successor."""
    with postgres_store(database) as store, postgres_store(database) as other:
        run_id = new_run(store)
        with store.hold(run_id):
            with pytest.raises(RunBusyError):
                other.hold(run_id).__enter__()
            other._database.rows(
                "SELECT pg_terminate_backend(?, 5000)", (store._session.connection.info.backend_pid,)
            )
            with other.hold(run_id):
                for _ in range(2):
                    line = r"^the Postgres store cannot be used \(.*\); check CORELOOP_DATABASE_URL$"
                    with pytest.raises(RunStoreError, match=line):
                        store.spent_on(store.runs()[0].created_at.date())


OPEN = """
import sys
from coreloop.runs.stores.postgres import postgres_store
with postgres_store(sys.argv[1]):
    pass
"""


@pytest.mark.slow
def test_processes_that_start_at_once_make_one_schema(database: str):
    processes = [python(OPEN, database) for _ in range(4)]
    assert [process.communicate()[1] for process in processes] == [""] * 4
