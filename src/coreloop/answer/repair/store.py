"""Where repair keeps its rows: tables in the database of the project."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from datetime import date, datetime
from hashlib import sha256
from pathlib import Path
from secrets import token_bytes
from typing import Any, Final, Literal, get_args, get_type_hints

import coreloop.answer.research.answer  # noqa: F401 (registers it)
from coreloop.answer.research.research_state import ASK
from coreloop.answer.search.index.run import file_at
from coreloop.answer.search.provider import Source
from coreloop.base.database import ADDRESS, JSON, Database, Tables, of_row, storable
from coreloop.base.errors import UsageError
from coreloop.base.postgres import project_database
from coreloop.base.project.workspace import Workspace
from coreloop.base.text import printable
from coreloop.observe.judgments import USER, HumanVerdict, VerdictLetter, take_back_verdict
from coreloop.runs.clock import new_ulid
from coreloop.runs.duplicates import QueryHistory, Search
from coreloop.runs.kinds import kind_named, register_kind
from coreloop.runs.state import State

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
    line: int
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
    found: dict[str, int] = field(default_factory=dict, metadata=JSON)


@dataclass(frozen=True, slots=True)
class Rejection:
    """What a person rejected as an answer to a question, until a person says otherwise.

    Attributes
    ----------
    details : dict
        ``sentences``.
    """

    id: str
    topic: str
    details: dict[str, Any] = field(metadata=JSON)
    reason: str
    created_at: datetime


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
# Tables with text of users or about them, and the column with a row's time.
_KEPT: Final = {
    name: "ended_at" if name == "answers" else "created_at" for name in _TABLES if name != "gate_snapshots"
}


class RepairStore:
    """Feedback, gaps, suggestions, links, evidence and figures. Several threads and processes may use it.

    Every method raises `coreloop.base.errors.RunStoreError` if the database cannot be used.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._select, self._change = database.select, database.change

    def _put(self, table: str, row: Any, on_conflict: str = "") -> None:
        with self._database.writing():
            self._database.insert(table, row, on_conflict and f"ON CONFLICT {on_conflict}")

    def add_feedback(self, feedback: Feedback) -> None:
        """Add a row."""
        self._put("feedback", feedback)

    def feedback_of(self, message_id: str) -> list[Feedback]:
        """Return what people said of an answer, in order."""
        return self._select(Feedback, "SELECT * FROM feedback WHERE message_id = ? ORDER BY id", message_id)

    def feedback_since(self, moment: datetime) -> list[Feedback]:
        """Return what people said since a time, in order."""
        return self._select(Feedback, "SELECT * FROM feedback WHERE created_at >= ? ORDER BY id", moment)

    def open_gap(self, *, topic: str, file: str, symbol: str, reason: str, now: datetime) -> Gap:
        """Open a gap, or count one that is open already."""
        topic = storable(topic)
        new = Gap(_new_id(now), topic, file, symbol, reason, seen=1, created_at=now)
        with self._database.writing():
            seen = self._database.rows(
                "UPDATE knowledge_gaps SET seen = seen + 1 WHERE topic = ? AND file = ? AND symbol = ? "
                "AND reason = ? AND closed_at IS NULL RETURNING *",
                (topic, file, symbol, reason),
            )
            if not seen:
                self._database.insert("knowledge_gaps", new)
        return of_row(Gap, seen[0]) if seen else new

    def gaps(self, *, open_only: bool = True) -> list[Gap]:
        """Return gaps, those that came back most often first."""
        where = "WHERE closed_at IS NULL" if open_only else ""
        return self._select(Gap, f"SELECT * FROM knowledge_gaps {where} ORDER BY seen DESC, id")

    def close_gaps(self, *, topic: str = "", gap_id: str = "", by: str, now: datetime) -> None:
        """Close the open gaps of a topic, or one by its id.

        Raises
        ------
        UsageError
            There is no open gap of this id.
        """
        closed = self._change(
            "UPDATE knowledge_gaps SET closed_at = ?, closed_by = ? WHERE (topic = ? OR id = ?) "
            "AND closed_at IS NULL RETURNING id",
            *(now, by, topic, gap_id),
        )
        if gap_id and not closed:
            raise UsageError(
                f"no open gap {printable(gap_id[:40])}; `dartlab-coreloop repair show` lists them"
            )

    def suggest(self, action: str, details: dict[str, Any], *, now: datetime) -> Suggestion:
        """Add a suggestion; the same one is added once, whatever was decided about it."""
        new = Suggestion(_new_id(now), action, details["code_symbol"], details, "pending", now)
        self._put("fix_suggestions", new, "(action, target, details) DO NOTHING")
        statement = "SELECT * FROM fix_suggestions WHERE action = ? AND details = ?"
        return self._select(Suggestion, statement, action, details)[0]

    def suggestions(self, *, status: Status | None = None) -> list[Suggestion]:
        """Return suggestions, the oldest first."""
        statement = "SELECT * FROM fix_suggestions WHERE ? = '' OR status = ? ORDER BY id"
        return self._select(Suggestion, statement, status or "", status or "")

    def decide(self, suggestion_id: str, status: Status, *, now: datetime) -> Suggestion:
        """Store a decision, and return the suggestion.

        Raises
        ------
        UsageError
            There is no suggestion of this id, or it was decided already.
        """
        decided = self._change(
            "UPDATE fix_suggestions SET status = ?, decided_at = ? WHERE id = ? AND status = 'pending' "
            "RETURNING *",
            *(status, now, suggestion_id),
        )
        if decided:
            return of_row(Suggestion, decided[0])
        for known in self._select(Suggestion, "SELECT * FROM fix_suggestions WHERE id = ?", suggestion_id):
            raise UsageError(f"suggestion {suggestion_id} is {known.status} already")
        shown = printable(suggestion_id[:40])
        raise UsageError(f"no suggestion {shown}; `dartlab-coreloop repair show` lists them")

    def inject(self, evidence: Evidence) -> None:
        """Put evidence before a question; what the same file said before is replaced."""
        key = (evidence.question, evidence.location)
        with self._database.writing():
            self._database.rows("DELETE FROM evidence WHERE question = ? AND location = ?", key)
            self._database.insert("evidence", evidence)

    def evidence_for(self, question: str, root: Path) -> list[Source]:
        """Return the evidence for a question, in order; that of a file that changed since is left out."""
        statement = "SELECT * FROM evidence WHERE question = ? ORDER BY created_at, location"
        kept = self._select(Evidence, statement, question_key(question))
        return [
            Source(
                title=evidence.symbol or evidence.location,
                location=evidence.location,
                type="python" if evidence.location.endswith((".py", ".pyi")) else "text",
                text=evidence.content,
                line=evidence.line or None,
                retrieved_at=evidence.created_at,
                provider="repair",
            )
            for evidence in kept
            if evidence.version == file_at(root / evidence.location, evidence.location).version
        ]

    def reject(self, topic: str, rejected: Sequence[str], *, reason: str, now: datetime) -> None:
        """Keep what a person rejected as an answer to a question, and the person's reason."""
        self._put("rejections", Rejection(_new_id(now), topic, {"sentences": rejected}, reason, now))

    def accept(self, topic: str) -> None:
        """Forget what was rejected for a question and its duplicates, since a person says otherwise."""
        for known in {row.topic for row in self._of_same_topics(topic)}:
            self._change("DELETE FROM rejections WHERE topic = ?", known)

    def rejections(self, *topics: str) -> frozenset[str]:
        """Return what persons rejected for questions and their duplicates."""
        rows = [row for topic in dict.fromkeys(topics) for row in self._of_same_topics(topic)]
        return frozenset(sentence for row in rows for sentence in row.details["sentences"])

    def reasons(self, topic: str) -> list[str]:
        """Return why persons rejected answers to a question, oldest first."""
        rows = self._select(Rejection, "SELECT * FROM rejections WHERE topic = ? ORDER BY id", topic)
        return [row.reason for row in rows if row.reason]

    def _of_same_topics(self, topic: str) -> list[Rejection]:
        """Return what was rejected for this question, and for those that ask the same."""
        history = QueryHistory([Search(topic := storable(topic), 1, 1, success=True)])
        rows = self._select(Rejection, "SELECT * FROM rejections")
        same = {row.topic: row.topic == topic or history.is_duplicate_query(row.topic)[0] for row in rows}
        return [row for row in rows if same[row.topic]]

    def put_snapshot(self, snapshot: Snapshot) -> None:
        """Keep a day's snapshot of a gate; a later one of the same day replaces it."""
        changes = "(day, gate) DO UPDATE SET good = excluded.good, total = excluded.total"
        self._put("gate_snapshots", snapshot, changes)

    def snapshots(self, gate: str) -> list[Snapshot]:
        """Return a gate's snapshots, the newest first."""
        return self._select(Snapshot, "SELECT * FROM gate_snapshots WHERE gate = ? ORDER BY day DESC", gate)

    def keep_answer(self, row: AnswerRow) -> None:
        """Keep an ended answer; a second time changes nothing."""
        self._put("answers", row, "(run_id) DO NOTHING")

    def has_answer(self, run_id: str) -> bool:
        """Whether an ended answer was kept."""
        return bool(self._select(AnswerRow, "SELECT * FROM answers WHERE run_id = ?", run_id))

    def answers(self, *, since: datetime) -> list[AnswerRow]:
        """Return the answers that ended since a time, in order."""
        return self._select(AnswerRow, "SELECT * FROM answers WHERE ended_at >= ? ORDER BY ended_at", since)

    def asked(self) -> tuple[int, int]:
        """Return how many answers ended, and how many gaps are open."""
        counts = "SELECT (SELECT count(*) FROM answers), count(*) FROM knowledge_gaps WHERE closed_at IS NULL"
        with self._database.reading():
            answers, gaps = self._database.rows(counts)[0]
        return answers, gaps

    def forget_answer(self, run_id: str, question: str) -> None:
        """Remove what people said of an answer, its row, and the gaps of its question."""
        for statement, value in (
            ("DELETE FROM feedback WHERE message_id = ?", run_id),
            ("UPDATE feedback SET mended_by = '' WHERE mended_by = ?", run_id),
            ("DELETE FROM answers WHERE run_id = ?", run_id),
            ("DELETE FROM knowledge_gaps WHERE topic = ?", question),
            ("DELETE FROM rejections WHERE topic = ?", question),
        ):
            self._change(statement, value)
        self._database.erase(*_KEPT)

    def forget_before(self, moment: datetime) -> int:
        """Remove rows with text of users that are older than a time; returns how many."""
        removed = sum(
            len(self._change(f"DELETE FROM {table} WHERE {column} < ? RETURNING 1", moment))
            for table, column in _KEPT.items()
        )
        if removed:
            self._database.erase(*_KEPT)
        return removed


@contextmanager
def open_repair_store(workspace: Workspace, *, environ: Mapping[str, str]) -> Iterator[RepairStore]:
    """Open the tables of a workspace; they are created if necessary."""
    workspace.keep_private(workspace.runs_dir)
    with project_database(workspace.runs_dir, REPAIR, environ) as database:
        yield RepairStore(database)


def read_rejections(workspace: Workspace, environ: Mapping[str, str], *topics: str) -> frozenset[str]:
    """Return what persons rejected for questions, as `RepairStore.rejections`."""
    with open_repair_store(workspace, environ=environ) as tables:
        return tables.rejections(*topics)


def question_key(question: str) -> str:
    """Return the key under which evidence for a question is kept: of its words, whatever their case."""
    words = " ".join(question.split()).casefold()
    return sha256(words.encode("utf-8", "replace")).hexdigest()[:32]


def _new_id(now: datetime) -> str:
    return new_ulid(now, token_bytes(10))


def judgment_of(feedback: Feedback) -> HumanVerdict:
    """Return feedback as the verdict that the slow loop reads."""
    return HumanVerdict(
        id=feedback.message_id,
        key=None,
        verdict=VerdictLetter.PASS if feedback.kind == "up" else VerdictLetter.CAUTION,
        cause=feedback.reason or None,
        judged_at=feedback.created_at,
        judged_by=USER,
    )


def _forget(workspace: Workspace, state: State, address: str) -> None:
    """Remove what people said of an answer, its gaps and its verdicts; again, it changes nothing."""
    with open_repair_store(workspace, environ={ADDRESS: address} if address else {}) as tables:
        for feedback in tables.feedback_of(state.run_id):
            take_back_verdict(workspace.judgments_dir, judgment_of(feedback))
        tables.forget_answer(state.run_id, state.question)


register_kind(replace(kind_named(ASK), forget=_forget))
