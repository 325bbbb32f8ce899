"""The queue in Postgres: what only a server can do."""

from datetime import timedelta

import psycopg
import pytest

from coreloop.runs.jobs.queue import JobQueue
from queueing import queue_at


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
def test_leases_are_by_the_clock_of_the_server(database: str, monkeypatch: pytest.MonkeyPatch):
    """A machine whose clock is an hour ahead takes no job of another one away."""
    monkeypatch.setattr("coreloop.base.database.Database.now", None)  # a machine's own clock
    with queue_at(database) as queue, queue_at(database) as other:
        assert isinstance(queue, JobQueue)
        queue.put("index", {})
        assert queue.take(["index"]) is not None
        assert other.take(["index"]) is None


@pytest.mark.slow
def test_those_who_take_do_not_wait_for_a_row_that_another_one_changes(database: str):
    with queue_at(database) as queue, psycopg.connect(database) as other:
        first, second = (queue.put("index", {"n": number}) for number in range(2))
        other.execute("SELECT id FROM coreloop.jobs WHERE id = %s FOR UPDATE", (first.id,))
        job = queue.take(["index"])
        assert job is not None
        assert job.id == second.id
