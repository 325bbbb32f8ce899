"""Workers: what they do, leave, give back and keep."""

import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import pytest

from coreloop.base.errors import RunStoreError
from coreloop.runs.jobs.queue import Job, JobQueue
from coreloop.runs.jobs.work import Handler, WorkReport, work, work_on_jobs
from queueing import queue_at


def echo(job: Job) -> object:
    return job.payload["n"]


def fail(_job: Job) -> None:
    raise ValueError("no\nsuch file")


HANDLERS: dict[str, Handler] = {"echo": echo, "fail": fail}


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[JobQueue]:
    with queue_at(str(tmp_path / "jobs.db")) as queue:
        yield queue


def ids(queue: JobQueue, count: int, name: str = "echo") -> list[str]:
    return [queue.put(name, {"n": number}).id for number in range(count)]


def test_a_handler_that_raises_fails_its_job_and_no_other(queue: JobQueue):
    failed, done = queue.put("fail", {}), queue.put("echo", {"n": 1})
    assert work(queue, HANDLERS, until_idle=True) == WorkReport(done=1, failed=1)
    job = queue.get(failed.id)
    assert (job.status, job.attempts, job.error) == ("queued", 1, "ValueError: no\nsuch file")
    assert queue.get(done.id).status == "done"


@pytest.mark.parametrize("result", [object(), float("nan"), {1, 2}], ids=["object", "nan", "set"])
def test_a_result_that_is_not_json_fails_the_job(queue: JobQueue, result: object):
    (job_id,) = ids(queue, 1)
    assert work(queue, {"echo": lambda _job: result}, limit=1) == WorkReport(failed=1)
    assert queue.get(job_id).result is None


def test_ctrl_c_gives_the_job_back(queue: JobQueue):
    def interrupt(_job: Job) -> None:
        raise KeyboardInterrupt

    (job_id,) = ids(queue, 1)
    with pytest.raises(KeyboardInterrupt):
        work(queue, {"echo": interrupt})
    assert (queue.get(job_id).status, queue.get(job_id).attempts) == ("queued", 0)


def test_a_worker_waits_for_jobs_until_it_is_stopped(queue: JobQueue):
    stop, done = Event(), Event()
    worker = Thread(
        target=work, args=(queue, HANDLERS), kwargs={"stop": stop, "show": lambda _job: done.set()}
    )
    worker.start()
    (job_id,) = ids(queue, 1)
    assert done.wait(20)
    stop.set()
    worker.join(20)
    assert not worker.is_alive()
    assert queue.get(job_id).status == "done"


@pytest.mark.slow
def test_a_job_that_takes_longer_than_its_lease_is_kept(tmp_path: Path):
    place = str(tmp_path / "jobs.db")
    with queue_at(place, lease_s=5.0) as queue, queue_at(place) as other:

        def long(_job: Job) -> str:
            end = time.monotonic() + 6
            while time.monotonic() < end:
                assert other.take(["long"]) is None
                time.sleep(0.02)  # a processor is left to what keeps the job
            return "ok"

        queue.put("long", {})
        assert work(queue, {"long": long}, limit=1) == WorkReport(done=1)


def test_a_heartbeat_that_fails_is_not_the_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    beats, kept, keep = [], Event(), JobQueue.extend_lease

    def keep_at_times(queue: JobQueue, job: Job) -> bool:
        beats.append(job.id)
        if len(beats) == 1:
            raise RunStoreError("the database is locked")
        kept.set()
        return keep(queue, job)

    monkeypatch.setattr(JobQueue, "extend_lease", keep_at_times)
    with queue_at(str(tmp_path / "jobs.db"), lease_s=1.0) as queue:
        queue.put("wait", {})
        assert work(queue, {"wait": lambda _: kept.wait(20)}, limit=1) == WorkReport(done=1)
        assert queue.jobs()[0].result is True


def test_a_result_that_comes_too_late_is_lost(tmp_path: Path):
    place = str(tmp_path / "jobs.db")
    with queue_at(place) as slow, queue_at(place) as other:

        def overtaken(_job: Job) -> str:
            assert isinstance(other, JobQueue)
            other._database.rows("UPDATE jobs SET run_at = created_at")  # the lease is over
            job = other.take(["echo"])
            assert job is not None
            assert other.finish(job, "in time")
            return "late"

        slow.put("echo", {"n": 1})
        assert work(slow, {"echo": overtaken}, until_idle=True) == WorkReport(lost=1)
        assert other.jobs()[0].result == "in time"


def test_threads_share_the_work(queue: JobQueue):
    ids(queue, 12)
    both = Event()
    begun: list[str] = []

    def meet(job: Job) -> None:
        begun.append(job.id)
        if len(begun) == 2:
            both.set()
        assert both.wait(20)

    report = work(queue, {"echo": meet}, threads=2, until_idle=True)
    assert report == WorkReport(done=12)


def test_a_thread_that_breaks_stops_the_others(tmp_path: Path):
    path = tmp_path / "jobs.db"

    def lose(_job: Job) -> None:
        path.unlink()

    with queue_at(str(path)) as queue:
        queue.put("lose", {})
        with pytest.raises(RunStoreError, match="was removed or replaced"):
            work(queue, {"lose": lose}, threads=3)


def test_named_jobs_are_done_now_and_once(queue: JobQueue):
    first, second = ids(queue, 2)
    (other,) = ids(queue, 1)
    failing = queue.put("fail", {}).id
    unknown = queue.put("unknown", {}).id
    jobs = work_on_jobs(queue, HANDLERS, [second, failing, unknown, first])
    assert [job.id for job in jobs] == [second, failing, unknown, first]
    assert [job.status for job in jobs] == ["done", "queued", "queued", "done"]
    assert [job.attempts for job in jobs] == [1, 1, 0, 1]
    assert queue.get(other).status == "queued"


def test_a_named_job_that_another_worker_is_doing_is_waited_for(queue: JobQueue):
    (job_id,) = ids(queue, 1)
    job = queue.take(["echo"])
    assert job is not None
    assert work_on_jobs(queue, HANDLERS, [job_id], wait_s=0.1)[0].status == "running"
    other = Thread(target=queue.finish, args=(job, "by the other"))
    other.start()
    (done,) = work_on_jobs(queue, HANDLERS, [job_id])
    other.join()
    assert (done.status, done.result, done.attempts) == ("done", "by the other", 1)
