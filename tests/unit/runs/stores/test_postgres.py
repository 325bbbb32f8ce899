"""The store of runs in Postgres: its address, its errors, its sessions."""

import re
import sys
from pathlib import Path

import psycopg
import pytest

from coreloop.base.errors import MissingExtraError, RunBusyError, RunStoreError
from coreloop.base.extras import install_line
from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import Workspace
from coreloop.runs.active_run import work_on
from coreloop.runs.amounts import NOTHING
from coreloop.runs.stores.store import open_store, store_at
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
        store_at(address).__enter__()


def test_without_the_extra_the_line_that_installs_it_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    environ = {"CORELOOP_DATABASE_URL": "postgresql://x"}
    line = f"CORELOOP_DATABASE_URL needs an extra; install it: {install_line('postgres')}"
    with pytest.raises(MissingExtraError, match=f"^{re.escape(line)}$"):
        open_store(Workspace(tmp_path, Settings()), environ=environ).__enter__()
    assert list(tmp_path.iterdir()) == []


def end_sessions(database: str) -> None:
    """End all sessions of the database, as a restart does."""
    with psycopg.connect(database, autocommit=True) as admin:
        admin.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE pid <> pg_backend_pid() AND application_name <> ''"
        )


@pytest.mark.slow
def test_a_run_whose_session_was_lost_goes_on_until_another_process_takes_it_up(database: str):
    with store_at(database) as store, store_at(database) as other:
        run_id = new_run(store)
        with work_on(store, run_id) as run:
            run.step("none", "none", lambda _: ("ok", NOTHING), at_most=NOTHING)
            with pytest.raises(RunBusyError, match=r"^process "):
                other.hold(run_id).__enter__()
            end_sessions(database)
            run.step("one", "one", lambda _: ("ok", NOTHING), at_most=NOTHING)
            with work_on(other, run_id), pytest.raises(RunBusyError):
                run.step("two", "two", lambda _: ("ok", NOTHING), at_most=NOTHING)
        assert store.step(run_id, "one") is not None
        assert store.step(run_id, "two") is None


OPEN = """
import sys
from coreloop.runs.stores.store import store_at
with store_at(sys.argv[1]):
    pass
"""


@pytest.mark.slow
def test_processes_that_start_at_once_make_one_schema(database: str):
    processes = [python(OPEN, database) for _ in range(4)]
    assert [process.communicate()[1] for process in processes] == [""] * 4
