"""A job, the figures of a queue, and what every queue shares."""

import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, get_args

from coreloop.base.database import JSON, storable

Status = Literal["queued", "running", "done", "dead", "cancelled"]
STATUSES: Final[tuple[Status, ...]] = get_args(Status)
MAX_ATTEMPTS: Final = 5  # chosen: the last begins three minutes after the first
LEASE_S: Final = 30.0
"""How long a process that died holds its job."""
STALLED: Final = "its process ended before it was done"
"""The error of such a job until it is done again."""
FINISHED: Final = frozenset({"done", "dead", "cancelled"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A piece of work.

    Attributes
    ----------
    id : str
        Of the queue that has it.
    name : str
        Says what does it, such as ``index.file``.
    payload : dict
        What it is about; JSON.
    key : str
        Two jobs of the same key are one job; "" for none.
    priority : int
        A higher one is done first.
    status : str
        ``dead``: given up after `max_attempts`, for people to look at.
    attempts, max_attempts : int
        Begun so far, and at most. An attempt's number is what says whether a worker still has the job.
    created_at, run_at : datetime
        In UTC; it is not begun before ``run_at``.
    finished_at : datetime or None
        None until it is done, dead or cancelled.
    error : str
        Of the last attempt; "" for none.
    result : object
        What it returned; JSON.
    """

    id: str
    name: str
    payload: dict[str, Any] = field(metadata=JSON)
    key: str
    priority: int
    status: Status
    attempts: int
    max_attempts: int
    created_at: datetime
    run_at: datetime
    finished_at: datetime | None = None
    error: str = ""
    result: Any = field(default=None, metadata=JSON)

    @property
    def is_finished(self) -> bool:
        """Whether nothing more happens to it, unless a person says so."""
        return self.status in FINISHED


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueMetrics:
    """What a queue holds and does.

    Attributes
    ----------
    by_status : dict of str to int
        Jobs.
    done_last_hour : int
        Jobs that ended well in the last hour.
    p95_s : float or None
        Seconds from ``created_at`` to the end that 95 % of the last hour's jobs needed at most; None if none.
    retried : int
        Jobs that needed more than one attempt.
    """

    by_status: dict[str, int]
    done_last_hour: int
    p95_s: float | None
    retried: int

    @property
    def retry_rate(self) -> float:
        """Share of jobs that needed more than one attempt."""
        total = sum(self.by_status.values())
        return self.retried / total if total else 0.0


def as_json(value: Any) -> str:
    """Return a value as JSON that every queue can hold.

    Raises
    ------
    TypeError, ValueError
        It is not JSON: an object of a class, NaN or infinity.
    """
    return json.dumps(storable(value), allow_nan=False)
