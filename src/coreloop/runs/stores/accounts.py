"""What a store's tables have beside the events: a run's row, and the spending of days."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from coreloop.runs import events as happened
from coreloop.runs.amounts import Amount
from coreloop.runs.events import CONTROL, Event, Status
from coreloop.runs.limits import Mode

DURABLE: Final = (
    *(happened.Created, happened.Ended, *CONTROL),
    *(happened.Reserved, happened.Charged, happened.ChildSpent),
    *(happened.Settled, happened.StepCommitted, happened.StepFailed),
)
"""Events that survive a power loss. The others are repeated by the iteration that is done again."""


@dataclass(slots=True, kw_only=True)
class RunRow:
    """A run in a list; its fields are the columns of the table.

    Attributes
    ----------
    microusd, tokens : int
        Settled, without reservations.
    created_at, updated_at : datetime
        UTC: of the first and the newest event.
    parent, origin : str
        The runs that pay for it, and that it answers again; "" for none.
    newest : int
        The newest event's number.
    """

    run_id: str
    kind: str
    mode: Mode
    question: str
    status: Status = "running"
    stop_reason: str | None = None
    iteration: int = 0
    microusd: int = 0
    tokens: int = 0
    created_at: datetime
    updated_at: datetime
    parent: str
    origin: str
    newest: int = 0

    @property
    def spent(self) -> Amount:
        return Amount(self.microusd, self.tokens)

    @property
    def cost_usd(self) -> float:
        return self.spent.usd


def is_durable(events: Iterable[Event]) -> bool:
    """Whether one of the events must survive a power loss."""
    return any(isinstance(event, DURABLE) for event in events)


def utc_day(timestamp: datetime) -> str:
    """Return the UTC day of a time, whose limit a call at that time counts for."""
    return timestamp.astimezone(UTC).date().isoformat()
