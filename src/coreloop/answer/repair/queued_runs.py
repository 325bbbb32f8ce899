"""Runs as jobs: researches and answers that wait for a worker, in this process or another one.

The lease of the job is what makes a run go on elsewhere when its process dies; the journal of the run is what
keeps its committed steps from being done again.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from coreloop.answer.research.research_state import ASK as ANSWER
from coreloop.answer.research.research_state import KIND as RESEARCH
from coreloop.base.errors import RunBusyError, UsageError
from coreloop.runs.driver.driven_run import is_driven
from coreloop.runs.jobs.job import Job
from coreloop.runs.jobs.queue import JobQueue
from coreloop.runs.manage import read_run
from coreloop.runs.pause_and_stop import resume_run, stop_run
from coreloop.runs.state import State
from coreloop.runs.stores.store import Store

_AFTER_STOP_S: Final = 2.0
"""Until a worker looks at a run that is being stopped; long enough to commit that."""
JOB_NAMES: Final[Mapping[str, str]] = {RESEARCH: "run.research", ANSWER: "run.ask"}
"""Of the jobs that work on runs, by the kind of the run."""


def queue_run(queue: JobQueue, kind: str, run_id: str, *, is_new: bool = True) -> Job:
    """Put the work on a run into a queue.

    Parameters
    ----------
    queue : JobQueue
        Of the project.
    kind : str
        Of the run: ``research`` or ``ask``.
    run_id : str
        Of a run in the store.
    is_new : bool
        A second job of a new run is the first one; a run that was paused gets another.
    """
    return queue.put(JOB_NAMES[kind], {"run": run_id}, key=f"run {run_id}" if is_new else "")


def go_on(store: Store, queue: JobQueue, run_id: str) -> State:
    """Let a paused run go on; a worker takes it if workers know its kind.

    Raises
    ------
    RunNotFoundError, RunEndedError
        The store has no such run, or it is over.
    UsageError
        A driver drives it, which must be started again, by a person who can be told from the agent.
    """
    if is_driven(read_run(store, run_id)):
        raise UsageError(f"a command drives this run; in a terminal: dartlab-coreloop runs resume {run_id}")
    state = resume_run(store, run_id)
    if state.kind in JOB_NAMES:
        queue_run(queue, state.kind, run_id, is_new=False)
    return state


def stop_queued(store: Store, queue: JobQueue, run_id: str) -> State:
    """End a run; the record of one that nobody works on is a worker's next job.

    The job of a paused run is in the queue before the run is over, so that a process that is killed in
    between leaves none without a record. As `coreloop.runs.pause_and_stop.stop_run` otherwise.
    """
    before = read_run(store, run_id)
    is_queued = before.status == "paused" and before.kind in JOB_NAMES
    if is_queued:
        later = datetime.now(UTC) + timedelta(seconds=_AFTER_STOP_S)
        queue.put(JOB_NAMES[before.kind], {"run": run_id}, run_at=later)
    state = stop_run(store, run_id)
    if not is_queued and state.kind in JOB_NAMES and _is_left(store, run_id):  # it was paused meanwhile
        queue_run(queue, state.kind, run_id, is_new=False)
    return state


def _is_left(store: Store, run_id: str) -> bool:
    try:
        with store.hold(run_id):
            return True
    except RunBusyError:
        return False
