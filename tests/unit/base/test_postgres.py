"""A Postgres that is restarted or is not there: what its users notice."""

import threading

import psycopg
import pytest

from coreloop.base.errors import RunStoreError
from coreloop.runs.stores.store import store_at
from postgres_servers import PostgresServer
from queueing import queue_at
from running import new_run

LOST = r"^the Postgres store cannot be used \(.*\); check CORELOOP_DATABASE_URL$"
pytestmark = pytest.mark.slow


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_stores_that_are_open_work_again_after_a_restart(own_postgres: PostgresServer, mode: str):
    with store_at(own_postgres.address) as store, queue_at(own_postgres.address) as queue:
        run_id, job = new_run(store), queue.put("index", {})
        own_postgres.stop(mode)
        for _ in range(2):
            with pytest.raises(RunStoreError, match=LOST):
                store.runs()
            with pytest.raises(RunStoreError, match=LOST):
                queue.take(["index"])
        own_postgres.start()
        assert [row.run_id for row in store.runs()] == [run_id]
        taken = queue.take(["index"])
        assert taken is not None
        assert (taken.id, queue.extend_lease(taken)) == (job.id, True)


def test_a_transaction_that_loses_its_session_has_done_nothing(own_postgres: PostgresServer):
    with queue_at(own_postgres.address) as queue:
        database = queue._database

        def lose() -> None:
            with database.writing(), psycopg.connect(own_postgres.address, autocommit=True) as admin:
                database.rows("UPDATE versions SET version = 7")
                admin.execute(
                    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE state LIKE 'idle in%'"
                )
                database.rows("SELECT 1")

        with pytest.raises(RunStoreError, match=LOST):
            lose()
        with database.reading():
            assert database.rows("SELECT version FROM versions") == [(1,)]


def test_a_session_with_a_notice_goes_on(own_postgres: PostgresServer):
    with queue_at(own_postgres.address) as queue:
        database = queue._database
        with database.reading():
            ((pid,),) = database.rows("SELECT pg_backend_pid()")
        with psycopg.connect(own_postgres.address, autocommit=True) as admin:
            admin.execute("ALTER SYSTEM SET timezone = 'Asia/Seoul'")  # each session is told
            admin.execute("SELECT pg_reload_conf()")
        with database.reading():
            assert database.rows("SELECT pg_backend_pid()") == [(pid,)]


def test_threads_take_turns_with_one_session(own_postgres: PostgresServer):
    with queue_at(own_postgres.address) as queue:
        meeting = threading.Barrier(12)

        def put(number: int) -> None:
            meeting.wait(20)
            queue.put("index", {"n": number})

        threads = [threading.Thread(target=put, args=(number,)) for number in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        assert sorted(job.payload["n"] for job in queue.jobs()) == list(range(12))
        with queue._database.reading():
            ((used,),) = queue._database.rows(
                "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'process%'"
            )
        assert used == 1
