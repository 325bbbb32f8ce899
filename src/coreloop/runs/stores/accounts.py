"""What events change in a store's tables beside themselves: a run's row, and the spending of days."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from coreloop.runs import events as happened
from coreloop.runs.amounts import Amount
from coreloop.runs.events import CONTROL, Event, Status
from coreloop.runs.state import RESUMABLE

DURABLE: Final = (
    *(happened.Created, happened.Ended, *CONTROL),
    *(happened.Reserved, happened.Charged, happened.ChildSpent),
    *(happened.Settled, happened.StepCommitted, happened.StepFailed),
)
"""Events that survive a power loss. The others are repeated by the iteration that is done again."""


@dataclass(slots=True)
class RunRow:
    """A run in a list.

    Attributes
    ----------
    spent : Amount
        Settled, without reservations.
    created_at, updated_at : datetime
        UTC: of the first and the newest event.
    """

    run_id: str
    kind: str
    mode: str
    question: str
    status: Status
    stop_reason: str | None
    iteration: int
    spent: Amount
    created_at: datetime
    updated_at: datetime

    @property
    def cost_usd(self) -> float:
        return self.spent.usd

    @property
    def tokens(self) -> int:
        return self.spent.tokens


@dataclass(slots=True)
class Progress:
    """The changing columns of a run's row."""

    status: str
    stop_reason: str | None
    iteration: int

    def follow(self, events: Iterable[Event]) -> None:
        """Add events, as `coreloop.runs.fold` does: an ended run keeps its status."""
        for event in events:
            if isinstance(event, happened.IterationCommitted):
                self.iteration = event.iteration
            elif isinstance(event, happened.Ended) and self.status in {"running", "paused"}:
                self.status, self.stop_reason = event.status, event.reason
            elif isinstance(event, happened.StopRequested) and self.status in {"running", "paused"}:
                self.status = "stopped_by_user"
            elif isinstance(event, happened.Completed) and self.status in {"running", "paused"}:
                self.status = "completed"
            elif isinstance(event, happened.Paused) and self.status == "running":
                self.status = "paused"
            elif isinstance(event, happened.Resumed) and self.status in RESUMABLE:
                self.status, self.stop_reason = "running", None


def is_durable(events: Iterable[Event]) -> bool:
    """Whether one of the events must survive a power loss."""
    return any(isinstance(event, DURABLE) for event in events)


def utc_day(timestamp: datetime) -> str:
    """Return the UTC day of a time, whose limit a call at that time counts for."""
    return timestamp.astimezone(UTC).date().isoformat()
