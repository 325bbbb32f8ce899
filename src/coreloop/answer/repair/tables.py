"""The rows of repair's tables; a table has the columns of its dataclass."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import date, datetime
from typing import Any, Final, Literal, get_args, get_type_hints

from coreloop.base.database import JSON, Tables

Gate = Literal["coverage", "io"]
Status = Literal["pending", "applied", "rejected"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """What a person said of an answer.

    Attributes
    ----------
    chat_id, message_id : str
        The conversation, and the answer: the id of its run.
    reason : str
        Of a person: never part of a prompt.
    mended_by : str
        The run that answers again, or "".
    """

    id: str
    chat_id: str
    message_id: str
    kind: Literal["up", "down"]
    reason: str
    mended_by: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Gap:
    """A question that repairs could not answer; an open one is counted up, not repeated.

    Attributes
    ----------
    topic : str
        The question.
    reason : str
        Of the signal.
    """

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A passage of one of the project's files for a question.

    Attributes
    ----------
    question : str
        Key of the question, see `coreloop.answer.repair.store.question_key`.
    location, symbol : str
        Where it stands; ``symbol`` is "" for none.
    version : str
        Of the file: evidence of one that changed is not used.
    """

    question: str
    location: str
    symbol: str
    content: str
    version: str
    created_at: datetime
    kind: Literal["local_file"] = "local_file"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A gate on a day (UTC): how many of how many were good."""

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
    """An ended answer.

    Attributes
    ----------
    found : dict
        Sources by where they come from.
    """

    run_id: str
    ended_at: datetime
    is_supported: bool
    found: dict[str, int] = field(default_factory=dict, metadata=JSON)


@dataclass(frozen=True, slots=True)
class Rejection:
    """What a person rejected as an answer to a question, until a person says otherwise.

    Attributes
    ----------
    details : dict
        A `Rejected`.
    """

    id: str
    topic: str
    details: dict[str, Any] = field(metadata=JSON)
    reason: str
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """All that persons rejected as answers to some questions.

    Attributes
    ----------
    sentences : frozenset of str
        See `coreloop.answer.research.verify.sentence_key`.
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


_TABLES: Final[Mapping[str, tuple[type, str]]] = {
    "feedback": (Feedback, "PRIMARY KEY (id)"),
    "knowledge_gaps": (Gap, "PRIMARY KEY (id)"),
    "fix_suggestions": (Suggestion, "PRIMARY KEY (id), UNIQUE (action, target, details)"),
    "evidence": (Evidence, "PRIMARY KEY (question, location)"),
    "gate_snapshots": (Snapshot, "PRIMARY KEY (day, gate)"),
    "answers": (AnswerRow, "PRIMARY KEY (run_id)"),
    "rejections": (Rejection, "PRIMARY KEY (id)"),
}


def _columns(kind: type) -> Iterator[str]:
    types = get_type_hints(kind)
    for part in fields(kind):
        is_optional = type(None) in get_args(types[part.name])
        has_type = "BIGINT" if types[part.name] in (int, bool) else "TEXT"
        yield f"{part.name} {has_type}{'' if is_optional else ' NOT NULL'}"


REPAIR: Final = Tables(
    "repair",
    ";\n".join(
        f"CREATE TABLE {name} ({', '.join(_columns(kind))}, {keys})" for name, (kind, keys) in _TABLES.items()
    ),
    version=2,
)
