"""The rows of repair's tables; a table has the columns of its dataclass."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import date, datetime
from typing import Any, Final, Literal, get_args, get_type_hints

from coreloop.base.database import JSON, Tables

Kind = Literal["local_file", "params", "returns", "fields"]
Gate = Literal["coverage", "io"]
Status = Literal["pending", "applied", "rejected", "failed"]


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
    mends : str
        The id of the rejected one that it replaces, or "".
    found : dict
        Sources by where they come from.
    """

    run_id: str
    session_id: str
    ended_at: datetime
    is_supported: bool
    repairs: int
    mends: str = ""
    found: dict[str, int] = field(default_factory=dict, metadata=JSON)


@dataclass(frozen=True, slots=True)
class Rejection:
    """What a person rejected as an answer to a question, until a person says otherwise.

    Attributes
    ----------
    kind, value : str
        A ``sentence`` on one line, a ``passage`` by its hash, the ``location`` of a file, a date ``until``
        which sources are out of date; ``said``: the person's reason alone.
    """

    topic: str
    kind: str
    value: str
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


@dataclass(frozen=True, slots=True)
class Rounds:
    """Rounds of repair in an hour (UTC, ``YYYY-MM-DDTHH``)."""

    hour: str
    rounds: int


_TABLES: Final[Mapping[str, tuple[type, str]]] = {
    "feedback": (Feedback, "PRIMARY KEY (id)"),
    "knowledge_gaps": (Gap, "PRIMARY KEY (id)"),
    "fix_suggestions": (Suggestion, "PRIMARY KEY (id), UNIQUE (action, target, details)"),
    "links": (Link, "PRIMARY KEY (code_symbol, schema_ref)"),
    "evidence": (Evidence, "PRIMARY KEY (question, kind, location, symbol)"),
    "gate_snapshots": (Snapshot, "PRIMARY KEY (day, gate)"),
    "repairs": (Rounds, "PRIMARY KEY (hour)"),
    "answers": (AnswerRow, "PRIMARY KEY (run_id)"),
    "rejections": (Rejection, "PRIMARY KEY (topic, kind, value)"),
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
)
