"""The tables of a store of runs.

``runs`` has what a list shows without reading the events, whose rows are added, never changed, and leave with
their run. ``days`` is what all runs spent and reserved, also those that were forgotten.
``reflexions`` is what the runs of a kind learnt.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from coreloop.base.database import Tables
from coreloop.runs import events as happened
from coreloop.runs.amounts import Amount
from coreloop.runs.events import Status
from coreloop.runs.limits import Mode

_SCRIPT: Final = """
CREATE TABLE runs (
    run_id      TEXT PRIMARY KEY,      -- ULID
    kind        TEXT NOT NULL,
    mode        TEXT NOT NULL,
    question    TEXT NOT NULL,
    status      TEXT NOT NULL,         -- as in state.json
    stop_reason TEXT,
    iteration   BIGINT NOT NULL,       -- committed iterations
    microusd    BIGINT NOT NULL,       -- settled, without reservations
    tokens      BIGINT NOT NULL,
    created_at  TEXT NOT NULL,         -- UTC, YYYY-MM-DDTHH:MM:SS.ffffff+00:00, like all times here
    updated_at  TEXT NOT NULL,         -- the newest event's
    parent      TEXT NOT NULL,         -- the run whose command started it, and pays for it; or ""
    origin      TEXT NOT NULL,         -- the run that it answers again, which it goes with; or ""
    newest      BIGINT NOT NULL        -- the newest event's seq
);
CREATE TABLE events (
    run_id      TEXT NOT NULL REFERENCES runs(run_id) ON DELETE CASCADE,
    seq         BIGINT NOT NULL,       -- 1 is the run's creation
    event       BLOB NOT NULL,         -- JSON; bytes, since Postgres' text cannot hold a NUL
    step        BLOB,                  -- SHA-256 of a committed step's key, or of a reservation
    PRIMARY KEY (run_id, seq)
);
CREATE UNIQUE INDEX events_by_step ON events(run_id, step) WHERE step IS NOT NULL;
CREATE TABLE days (
    day         TEXT PRIMARY KEY,      -- UTC, YYYY-MM-DD
    microusd    BIGINT NOT NULL,
    tokens      BIGINT NOT NULL
);
CREATE TABLE reflexions (
    kind        TEXT PRIMARY KEY,
    reflexion   BLOB NOT NULL          -- JSON, opaque to the store
);
"""
RUNS: Final = Tables("runs", _SCRIPT, version=2)
CLEARED: Final = ("events", "runs", "reflexions")
"""Tables that lose rows when a run is forgotten."""
DURABLE: Final = (
    *(happened.Created, happened.Ended, happened.Said),
    *(happened.Reserved, happened.ChildSpent),
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


def utc_day(timestamp: datetime) -> str:
    """Return the UTC day of a time, whose limit a call at that time counts for."""
    return timestamp.astimezone(UTC).date().isoformat()
