"""The tables of repair, and their rows."""

from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Final, Literal

from coreloop.base.database import JSON, Tables

_SCRIPT: Final = """
-- What people say of answers.
CREATE TABLE feedback (
    id          TEXT PRIMARY KEY,      -- ULID
    chat_id     TEXT NOT NULL,         -- the conversation
    message_id  TEXT NOT NULL,         -- the answer: the id of its run
    kind        TEXT NOT NULL,         -- up, down
    reason      TEXT NOT NULL,         -- of a person: never part of a prompt
    mended_by   TEXT NOT NULL,         -- the run that answers again, or ""
    created_at  TEXT NOT NULL          -- UTC, YYYY-MM-DDTHH:MM:SS.ffffff+00:00, like all times here
);
CREATE INDEX feedback_by_message ON feedback(message_id);

-- Questions that repairs could not answer; an open one is counted up, not repeated.
CREATE TABLE knowledge_gaps (
    id          TEXT PRIMARY KEY,
    topic       TEXT NOT NULL,         -- the question
    file        TEXT NOT NULL,
    symbol      TEXT NOT NULL,
    reason      TEXT NOT NULL,         -- of the signal
    seen        BIGINT NOT NULL,
    created_at  TEXT NOT NULL,
    closed_at   TEXT,
    closed_by   TEXT
);
CREATE INDEX gaps_by_topic ON knowledge_gaps(topic);

-- What only a person may apply.
CREATE TABLE fix_suggestions (
    id          TEXT PRIMARY KEY,
    action      TEXT NOT NULL,
    target      TEXT NOT NULL,
    details     TEXT NOT NULL,         -- JSON
    status      TEXT NOT NULL,         -- pending, applied, rejected, failed
    created_at  TEXT NOT NULL,
    decided_at  TEXT,
    UNIQUE (action, target, details)
);

-- Applied links between code and declared schemas, which retrieval uses.
CREATE TABLE links (
    code_symbol TEXT NOT NULL,
    schema_ref  TEXT NOT NULL,
    created_at  TEXT NOT NULL,
    PRIMARY KEY (code_symbol, schema_ref)
);

-- Passages of the project's files that repairs put before a question.
CREATE TABLE evidence (
    question     TEXT NOT NULL,        -- SHA-256 of its words
    kind         TEXT NOT NULL,        -- local_file, params, returns, fields
    location     TEXT NOT NULL,
    symbol       TEXT NOT NULL,
    content      TEXT NOT NULL,
    content_hash TEXT NOT NULL,        -- SHA-256 of the file that it is from
    created_at   TEXT NOT NULL,
    PRIMARY KEY (question, kind, location, symbol)
);

-- The gates, once a day (UTC).
CREATE TABLE gate_snapshots (
    day         TEXT NOT NULL,
    gate        TEXT NOT NULL,         -- coverage, io
    good        BIGINT NOT NULL,
    total       BIGINT NOT NULL,
    PRIMARY KEY (day, gate)
);

-- Rounds of repair in an hour (UTC).
CREATE TABLE repairs (
    hour        TEXT PRIMARY KEY,      -- YYYY-MM-DDTHH
    rounds      BIGINT NOT NULL
);

-- Ended answers, for figures and for better answers to rejected ones.
CREATE TABLE answers (
    run_id       TEXT PRIMARY KEY,
    session_id   TEXT NOT NULL,
    ended_at     TEXT NOT NULL,
    is_supported BIGINT NOT NULL,
    repairs      BIGINT NOT NULL,
    mends        TEXT NOT NULL,        -- the rejected answer, or ""
    found        TEXT NOT NULL         -- JSON: sources by where they come from
);
CREATE INDEX answers_by_mended ON answers(mends);

-- What a person rejected as an answer to a question, until a person says otherwise.
CREATE TABLE rejections (
    topic       TEXT NOT NULL,         -- the question
    kind        TEXT NOT NULL,         -- sentence, passage, location, until; said: the person's reason alone
    value       TEXT NOT NULL,         -- words on one line, SHA-256, path, or ISO date
    reason      TEXT NOT NULL,         -- of a person: never part of a prompt
    created_at  TEXT NOT NULL,
    PRIMARY KEY (topic, kind, value)
);
"""
Kind = Literal["local_file", "params", "returns", "fields"]
Gate = Literal["coverage", "io"]
Status = Literal["pending", "applied", "rejected", "failed"]


REPAIR: Final = Tables("repair", _SCRIPT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """What a person said of an answer; ``mended_by`` is the run that answers again, or ""."""

    id: str
    chat_id: str
    message_id: str
    kind: Literal["up", "down"]
    reason: str
    mended_by: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Gap:
    """A question that repairs could not answer; ``closed_at`` is None while it is open."""

    id: str
    topic: str
    file: str
    symbol: str
    reason: str
    seen: int
    created_at: datetime
    closed_at: datetime | None = None
    closed_by: str | None = None


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What only a person may apply.

    Attributes
    ----------
    action : str
        See `coreloop.answer.repair.actions`.
    target : str
        What it changes.
    details : dict
        Of the action, as its job has them.
    """

    id: str
    action: str
    target: str
    details: dict[str, Any] = field(metadata=JSON)
    status: Status
    created_at: datetime
    decided_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """An applied link: what a symbol handles is described by an entry of a schema."""

    code_symbol: str
    schema_ref: str
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A passage of one of the project's files for a question.

    Attributes
    ----------
    question : str
        Key of the question, see `coreloop.answer.repair.evidence.question_key`.
    kind : str
        What it is: a passage (``local_file``), or what a symbol's docstring says of its parameters, its
        return value or its fields.
    location, symbol : str
        Where it stands; ``symbol`` is "" for none.
    content : str
        The passage.
    content_hash : str
        SHA-256 of the file: evidence of a file that changed is not used.
    """

    question: str
    kind: Kind
    location: str
    symbol: str
    content: str
    content_hash: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A gate on a day: how many of how many were good."""

    day: date
    gate: Gate
    good: int
    total: int

    @property
    def share(self) -> float:
        """0–1; 1 if there is nothing that could be good."""
        return self.good / self.total if self.total else 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRow:
    """An ended answer; ``mends`` is the id of the rejected one that it replaces, or ""."""

    run_id: str
    session_id: str
    ended_at: datetime
    is_supported: bool
    repairs: int
    mends: str = ""
    found: dict[str, int] = field(default_factory=dict, metadata=JSON)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """What persons rejected as an answer to a question.

    Attributes
    ----------
    sentences : frozenset of str
        See `coreloop.answer.research.best_passages.sentence_key`.
    passages : frozenset of str
        Hashes of the passages that they stood in, see `coreloop.answer.search.source.Source`.
    locations : frozenset of str
        Files that are the wrong ones.
    until : date or None
        Sources of this day or before are out of date.
    """

    sentences: frozenset[str] = frozenset()
    passages: frozenset[str] = frozenset()
    locations: frozenset[str] = frozenset()
    until: date | None = None

    def __bool__(self) -> bool:
        return bool(self.sentences or self.locations or self.until)


NOTHING: Final = Rejected()
