"""The queue in Postgres: what only a server can do wrong, and what procrastinate sees of a job."""

import sys
from datetime import timedelta

import pytest

from coreloop.errors import MissingExtraError, RunStoreError
from coreloop.jobs.procrastinate_queue import ProcrastinateQueue, procrastinate_queue
from queueing import queue_at

LOST = r"^the Postgres store cannot be used \(.*\); check CORELOOP_DATABASE_URL$"


def test_without_procrastinate_one_line_names_the_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "procrastinate.schema", None)
    with pytest.raises(MissingExtraError, match="postgres"):
        procrastinate_queue("postgresql://nobody@localhost/none").__enter__()


@pytest.mark.slow
def test_a_newer_schema_is_refused(database: str):
    with queue_at(database) as queue:
        assert isinstance(queue, ProcrastinateQueue)
        queue._database.rows("UPDATE procrastinate_migration SET version = 999")
    with pytest.raises(RunStoreError, match="schema version 999; upgrade coreloop"):
        procrastinate_queue(database).__enter__()


@pytest.mark.slow
def test_times_are_in_utc_whatever_the_session_has(database: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PGTZ", "Asia/Seoul")
    with queue_at(database) as queue:
        job = queue.put("index", {})
        queue.cancel(job.id)
        done = queue.get(job.id)
    assert done.finished_at is not None
    assert {moment.utcoffset() for moment in (done.created_at, done.run_at, done.finished_at)} == {
        timedelta()
    }


@pytest.mark.slow
def test_a_lost_session_is_one_line_and_its_job_is_done_by_another_worker(database: str):
    with queue_at(database, lease_s=0.0) as other:
        with queue_at(database) as queue:
            assert isinstance(queue, ProcrastinateQueue)
            queue.put("index", {})
            job = queue.take(["index"])
            assert job is not None
            pid = queue._database.connection.info.backend_pid
            assert isinstance(other, ProcrastinateQueue)
            other._database.rows("SELECT pg_terminate_backend(?, 5000)", (pid,))
            with pytest.raises(RunStoreError, match=LOST):
                queue.keep(job)
            with pytest.raises(RunStoreError, match=LOST):
                queue.finish(job, None)
        again = other.take(["index"])
        assert again is not None
        assert (again.id, again.attempts) == (job.id, 2)


@pytest.mark.slow
def test_a_worker_that_ends_leaves_no_worker_behind(database: str):
    with queue_at(database) as queue:
        queue.put("index", {})
        assert queue.take(["index"]) is not None
    with queue_at(database) as queue:
        assert isinstance(queue, ProcrastinateQueue)
        assert queue._database.rows("SELECT id FROM procrastinate_workers") == []
        job = queue.take(["index"])
    assert job is not None, "a job of a worker that has left is due at once"


@pytest.mark.slow
def test_procrastinate_itself_reads_the_jobs(database: str):
    from procrastinate import App, SyncPsycopgConnector

    with queue_at(database) as queue:
        queue.put("index", {"n": 1}, priority=2)
        queue.put("link", {})
        job = queue.take(["link"])
        assert job is not None
        assert queue.finish(job, "ok")
    app = App(
        connector=SyncPsycopgConnector(conninfo=database, kwargs={"options": "-c search_path=coreloop"})
    )
    with app.open():
        jobs = list(app.job_manager.list_jobs())
    assert [(job.task_name, job.task_kwargs, job.priority, job.status) for job in jobs] == [
        ("index", {"n": 1}, 2, "todo"),
        ("link", {}, 0, "succeeded"),
    ]
