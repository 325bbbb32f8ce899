"""The tables of a store of runs, in SQL that both SQLite and Postgres understand."""

from typing import Final

from coreloop.base.database import Tables

_SCRIPT: Final = """
-- Runs: what a list shows without reading the events.
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

-- What happened to the runs. Rows are added, never changed, and leave with their run only.
CREATE TABLE events (
    run_id      TEXT NOT NULL REFERENCES runs(run_id) ON DELETE CASCADE,
    seq         BIGINT NOT NULL,       -- 1 is the run's creation
    version     BIGINT NOT NULL,       -- of the JSON; an older program refuses a newer one
    event       BLOB NOT NULL,         -- JSON; bytes, since Postgres' text cannot hold a NUL
    step        BLOB,                  -- of a committed step: SHA-256 of its key
    PRIMARY KEY (run_id, seq)
);
CREATE UNIQUE INDEX events_by_step ON events(run_id, step) WHERE step IS NOT NULL;

-- Calls under way, or whose process died: what they may cost at most is spent until it is settled.
CREATE TABLE reservations (
    run_id      TEXT NOT NULL REFERENCES runs(run_id) ON DELETE CASCADE,
    reservation TEXT NOT NULL,
    day         TEXT NOT NULL,         -- UTC, YYYY-MM-DD: the day whose limit it counts for
    microusd    BIGINT NOT NULL,
    tokens      BIGINT NOT NULL,
    PRIMARY KEY (run_id, reservation)
);

-- Spent and reserved by all runs, also by those that were forgotten: the daily limit outlives them.
CREATE TABLE days (
    day         TEXT PRIMARY KEY,      -- UTC, YYYY-MM-DD
    microusd    BIGINT NOT NULL,
    tokens      BIGINT NOT NULL
);

-- What the runs of a kind learnt from their failures.
CREATE TABLE reflexions (
    kind        TEXT PRIMARY KEY,
    reflexion   BLOB NOT NULL          -- JSON, opaque to the store
);
"""
RUNS: Final = Tables("runs", _SCRIPT)
CLEARED: Final = ("events", "runs", "reservations", "reflexions")
"""Tables that lose rows when a run is forgotten."""
