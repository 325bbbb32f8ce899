"""What every queue does, in SQLite and in Postgres."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from coreloop.base.errors import UsageError
from coreloop.runs.jobs.queue import Job, JobQueue, backoff
from queueing import SHORT_S, eventually, queue_at

HOSTILE = "a\0b \ud800 가\u202e '; DROP TABLE jobs; -- \\u0000 ? %s" + "x" * 10_000
STORED = HOSTILE.replace("\0", "").replace("\ud800", "?")
NAMES = ("index", "link")


def begun(queue: JobQueue) -> Job:
    job = queue.take(NAMES)
    assert job is not None
    return job


def test_a_job_is_kept_as_it_was_put(queue: JobQueue):
    job = queue.put(
        "index", {"path": HOSTILE, "n": [1, 2.5, None, True, {HOSTILE: ()}]}, key=HOSTILE, priority=3
    )
    assert job == queue.get(job.id)
    assert job.payload == {"path": STORED, "n": [1, 2.5, None, True, {STORED: []}]}
    assert (job.name, job.key, job.priority, job.status) == ("index", STORED, 3, "queued")
    assert (job.attempts, job.max_attempts, job.finished_at, job.error, job.result) == (0, 5, None, "", None)
    assert abs(job.created_at - datetime.now(UTC)) < timedelta(minutes=1)
    assert job.run_at == job.created_at


def test_two_jobs_of_the_same_key_are_one_job_whatever_became_of_it(queue: JobQueue):
    job = queue.put("index", {"n": 1}, key="k")
    assert queue.put("link", {"n": 2}, key="k") == job
    assert queue.put("index", {"n": 1}).id != queue.put("index", {"n": 1}).id
    taken = begun(queue)
    assert queue.put("index", {"n": 3}, key="k") == taken
    assert queue.finish(taken, "ok")
    assert queue.put("index", {"n": 4}, key="k") == queue.get(job.id)
    assert queue.get(job.id).status == "done"


def test_processes_that_put_the_same_key_at_once_get_one_job(place: str):
    def put(number: int) -> str:
        with queue_at(place) as queue:
            return queue.put("index", {"n": number}, key="k").id

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(put, range(16)))) == 1


def test_a_higher_priority_comes_first_then_the_older_job(queue: JobQueue):
    for number, priority in enumerate([0, -1, 5, 0, 5]):
        queue.put("index", {"n": number}, priority=priority)
    assert [begun(queue).payload["n"] for _ in range(5)] == [2, 4, 0, 3, 1]
    assert queue.take(NAMES) is None


def test_a_job_is_not_begun_before_its_time(queue: JobQueue):
    due = datetime.now(UTC) + timedelta(seconds=SHORT_S)
    job = queue.put("index", {}, run_at=due)
    assert queue.take(NAMES) is None
    assert job.run_at == due
    eventually(lambda: queue.take(NAMES))
    assert datetime.now(UTC) >= due


def test_only_the_named_jobs_are_taken(queue: JobQueue):
    index, link, other = (queue.put(name, {}) for name in ("index", "link", "other"))
    assert queue.take([]) is None
    assert queue.take(NAMES, only=[]) is None
    assert queue.take(NAMES, only=[other.id]) is None
    assert queue.take(NAMES, only=[link.id, other.id]) == queue.get(link.id)
    assert queue.take(["other"]) == queue.get(other.id)
    assert queue.take(NAMES) == queue.get(index.id)
    assert queue.get(index.id).status == "running"


def test_a_committed_job_has_its_result_and_is_never_taken_again(queue: JobQueue):
    queue.put("index", {})
    job = begun(queue)
    assert (job.status, job.attempts) == ("running", 1)
    assert queue.finish(job, {"read": 3, "text": HOSTILE})
    done = queue.get(job.id)
    assert (done.status, done.attempts, done.error) == ("done", 1, "")
    assert done.result == {"read": 3, "text": STORED}
    assert done.is_finished
    assert done.finished_at is not None
    assert done.finished_at >= done.created_at
    assert queue.take(NAMES) is None
    assert not queue.finish(job, "again")
    assert not queue.extend_lease(job)
    assert queue.fail(job, "late") == done
    queue.release(job)
    assert queue.get(job.id) == done


def test_a_failed_job_waits_and_keeps_its_error(queue: JobQueue):
    queue.put("index", {})
    before = datetime.now(UTC)
    job = queue.fail(begun(queue), HOSTILE)
    assert (job.status, job.attempts, job.error, job.finished_at) == ("queued", 1, STORED, None)
    assert job.run_at >= before + timedelta(seconds=backoff(1) - 0.1)
    assert queue.take(NAMES) is None


def test_a_job_that_failed_too_often_is_dead(queue: JobQueue):
    queue.put("index", {}, max_attempts=1)
    job = queue.fail(begun(queue), "ValueError: no")
    assert (job.status, job.attempts, job.error) == ("dead", 1, "ValueError: no")
    assert job.finished_at is not None
    assert queue.take(NAMES) is None


def test_a_job_of_a_dead_process_is_done_again_and_only_the_new_attempt_counts(place: str):
    with queue_at(place, lease_s=SHORT_S) as old, queue_at(place, lease_s=SHORT_S) as new:
        old.put("index", {})
        lost = begun(old)
        assert new.take(NAMES) is None
        job = eventually(lambda: new.take(NAMES))
        assert (job.id, job.attempts) == (lost.id, 2)
        assert not old.extend_lease(lost)
        assert not old.finish(lost, "late")
        assert old.fail(lost, "late").status == "running"
        old.release(lost)
        assert new.extend_lease(job)
        assert new.finish(job, "ok")
        assert (old.get(job.id).result, old.get(job.id).error) == ("ok", "")


def test_a_job_that_kills_every_process_is_dead_in_the_end(place: str):
    with queue_at(place, lease_s=SHORT_S) as old, queue_at(place, lease_s=SHORT_S) as new:
        job = old.put("index", {}, max_attempts=1)
        begun(old)
        dead = eventually(
            lambda: new.take(NAMES) or (new.get(job.id) if new.get(job.id).is_finished else None)
        )
        assert (dead.status, dead.error) == ("dead", "its process ended before it was done")


def test_dead_and_cancelled_jobs_can_be_queued_again(queue: JobQueue):
    job = queue.put("index", {}, key="k", max_attempts=1)
    queue.fail(begun(queue), "no")
    again = queue.retry(job.id)
    assert (again.status, again.attempts, again.max_attempts, again.finished_at) == ("queued", 1, 6, None)
    assert queue.cancel(job.id).status == "cancelled"
    assert queue.get(job.id).finished_at is not None
    assert queue.take(NAMES) is None
    assert queue.retry(job.id).status == "queued"
    assert queue.finish(begun(queue), "ok")


@pytest.mark.parametrize(
    ("change", "refused"),
    [(JobQueue.retry, ("queued", "running", "done")), (JobQueue.cancel, ("running", "done", "dead"))],
    ids=["retry", "cancel"],
)
def test_other_jobs_are_left_as_they_are(
    queue: JobQueue, change: Callable[..., Job], refused: tuple[str, ...]
):
    jobs = {
        status: queue.put("index", {"n": status}, max_attempts=1) for status in ("done", "dead", "running")
    }
    assert queue.finish(begun(queue), None)
    queue.fail(begun(queue), "no")
    begun(queue)
    jobs["queued"] = queue.put("index", {})
    for status in refused:
        job = queue.get(jobs[status].id)
        assert job.status == status
        with pytest.raises(UsageError, match=f"^job {job.id} is {status}; only"):
            getattr(queue, change.__name__)(job.id)
        assert queue.get(job.id) == job


@pytest.mark.parametrize("name", ["get", "retry", "cancel"])
def test_an_unknown_job_is_one_line(queue: JobQueue, name: str):
    for job_id in ("01ARZ3NDEKTSV4RRFFQ69G5FAV", "\udc80\n'; --"):
        with pytest.raises(UsageError, match=r"^no job .*; `dartlab-coreloop jobs show` shows the jobs$"):
            getattr(queue, name)(job_id)


def test_finished_jobs_are_forgotten_and_their_keys_are_free_again(queue: JobQueue):
    done = queue.put("index", {}, key="k")
    queue.finish(begun(queue), None)
    waiting = queue.put("index", {}, key="w")
    assert queue.forget_before(datetime.now(UTC) - timedelta(hours=1)) == 0
    assert queue.forget_before(datetime.now(UTC) + timedelta(hours=1)) == 1
    assert queue.jobs() == [waiting]
    assert queue.put("index", {}, key="k").id != done.id


def test_workers_that_take_at_once_take_every_job_once(place: str):
    with queue_at(place) as queue:
        jobs = [queue.put("index", {"n": number}).id for number in range(60)]

        def worker(_number: int) -> list[str]:
            done = []
            with queue_at(place) as own:
                while job := own.take(NAMES):
                    assert own.finish(job, None)
                    done.append(job.id)
            return done

        with ThreadPoolExecutor(4) as pool:
            taken = [job_id for done in pool.map(worker, range(4)) for job_id in done]
        assert sorted(taken) == sorted(jobs)
        assert queue.metrics().by_status == {"done": 60}
