"""Workers killed with SIGKILL at random: no job is lost, and no committed job is done again."""

import os
import random
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

from queueing import queue_at
from running import python
from weekly import WEEKLY

JOBS = 1_000 if WEEKLY else 400
WORKERS = 3
LEASE_S = 1.0
needs_kill = pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
WORKER = """
import os, sys, time
from coreloop.runs.jobs.work import work
from queueing import queue_at

place, log, lease_s = sys.argv[1], os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND), float(sys.argv[3])

def note(word, job):
    os.write(log, f"{word} {job.id}\\n".encode())

def handle(job):
    note("begun", job)
    time.sleep(job.payload["takes_s"])
    return job.payload["n"]

with queue_at(place, lease_s=lease_s) as queue:
    print("ready", flush=True)
    work(queue, {"count": handle}, until_idle=False, show=lambda job: note(job.status, job))
"""


def killed_until_done(place: str, log: Path, chance: random.Random) -> int:
    """Let workers work, and kill one after another, until no job is left; returns how many died."""
    workers: list[subprocess.Popen[str]] = []
    killed = 0
    give_up_at = time.monotonic() + 300
    try:
        with queue_at(place, lease_s=LEASE_S) as queue:
            while queue.metrics().by_status != {"done": JOBS}:
                assert time.monotonic() < give_up_at, queue.metrics()
                while len(workers) < WORKERS:
                    workers.append(python(WORKER, place, str(log), str(LEASE_S)))
                    assert workers[-1].stdout is not None
                    assert workers[-1].stdout.readline() == "ready\n"
                time.sleep(chance.uniform(0.0, 0.25))
                worker = workers.pop(chance.randrange(WORKERS))
                worker.kill()
                _, errors = worker.communicate()
                assert (errors, worker.returncode) == ("", -signal.SIGKILL)
                killed += 1
    finally:
        for worker in workers:
            worker.kill()
            worker.communicate()
    return killed


@needs_kill
@pytest.mark.slow
def test_no_job_is_lost_and_no_committed_job_is_done_again(place: str, tmp_path: Path):
    chance = random.Random(25)
    log = tmp_path / "log"
    log.touch()
    with queue_at(place) as queue:
        for number in range(JOBS):
            takes_s = chance.uniform(0.0, 0.06)
            queue.put("count", {"n": number, "takes_s": takes_s}, key=f"count {number}", max_attempts=50)
    killed = killed_until_done(place, log, chance)
    with queue_at(place) as queue:
        jobs = queue.jobs(limit=2 * JOBS)
    assert sorted(job.result for job in jobs) == list(range(JOBS))
    committed: set[str] = set()
    begun = Counter[str]()
    for word, job_id in map(str.split, log.read_text().splitlines()):
        assert job_id not in committed, "a committed job was begun or committed again"
        if word == "done":
            committed.add(job_id)
        begun[job_id] += word == "begun"
    attempts = {job.id: job.attempts for job in jobs}
    assert all(1 <= begun[job_id] <= attempts[job_id] for job_id in attempts)
    assert killed >= JOBS // 100
    assert 0 < begun.total() - JOBS <= killed
