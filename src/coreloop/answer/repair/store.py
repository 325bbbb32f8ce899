"""Where repair keeps its tables: a SQLite file, or Postgres."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from datetime import UTC, date, datetime
from secrets import token_bytes
from typing import Any, Final, TypeVar

import msgspec

from coreloop.answer.repair.tables import (
    FIRST,
    REPAIR,
    SECOND,
    AnswerRow,
    Evidence,
    Feedback,
    Gap,
    Link,
    Rejected,
    Snapshot,
    Status,
    Suggestion,
)
from coreloop.base.database import Database, sqlite_database, stamp
from coreloop.base.errors import UsageError
from coreloop.base.project.workspace import Workspace
from coreloop.base.records import encodable
from coreloop.base.text import printable
from coreloop.runs.duplicates import QueryHistory
from coreloop.runs.ulid import new_ulid

T = TypeVar("T", Feedback, Gap, Suggestion, Evidence, AnswerRow)
FILE_NAME: Final = "repair.db"
_REJECTED: Final = ("sentence", "passage", "location")
_KEPT: Final = {
    **dict.fromkeys(
        ("feedback", "knowledge_gaps", "fix_suggestions", "evidence", "rejections"), "created_at"
    ),
    "answers": "ended_at",
}
"""Tables with text of users or about them, and the column with a row's time."""


class RepairStore:
    """Feedback, gaps, suggestions, links, evidence and figures. Several threads and processes may use it.

    Every method raises `coreloop.base.errors.RunStoreError` if the database cannot be used.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def add_feedback(self, feedback: Feedback) -> None:
        """Add a row."""
        values = (
            *(feedback.id, feedback.chat_id, feedback.message_id, feedback.kind),
            *(feedback.reason, feedback.mended_by, stamp(feedback.created_at)),
        )
        self._write("INSERT INTO feedback VALUES (?, ?, ?, ?, ?, ?, ?)", values)

    def feedback_of(self, message_id: str) -> list[Feedback]:
        """Return what people said of an answer, in order."""
        rows = self._read("SELECT * FROM feedback WHERE message_id = ? ORDER BY id", (message_id,))
        return [_row(Feedback, row) for row in rows]

    def feedback_since(self, moment: datetime) -> list[Feedback]:
        """Return what people said since a time, in order."""
        rows = self._read("SELECT * FROM feedback WHERE created_at >= ? ORDER BY id", (stamp(moment),))
        return [_row(Feedback, row) for row in rows]

    def open_gap(self, *, topic: str, file: str, symbol: str, reason: str, now: datetime) -> Gap:
        """Open a gap, or count one that is open already."""
        topic = _storable(topic)
        with self._database.writing():
            rows = self._database.rows(
                "SELECT * FROM knowledge_gaps WHERE topic = ? AND file = ? AND symbol = ? AND reason = ? "
                f"AND closed_at IS NULL{self._database.lock_row}",
                (topic, file, symbol, reason),
            )
            if rows:
                known = _row(Gap, rows[0])
                gap = replace(known, seen=known.seen + 1)
                self._database.rows("UPDATE knowledge_gaps SET seen = ? WHERE id = ?", (gap.seen, gap.id))
                return gap
            gap = Gap(
                id=_new_id(now),
                topic=topic,
                file=file,
                symbol=symbol,
                reason=reason,
                seen=1,
                created_at=now,
            )
            self._database.rows(
                "INSERT INTO knowledge_gaps VALUES (?, ?, ?, ?, ?, 1, ?, NULL, NULL)",
                (gap.id, topic, file, symbol, reason, stamp(now)),
            )
            return gap

    def gaps(self, *, open_only: bool = True) -> list[Gap]:
        """Return gaps, those that came back most often first."""
        where = "WHERE closed_at IS NULL" if open_only else ""
        return [
            _row(Gap, row)
            for row in self._read(f"SELECT * FROM knowledge_gaps {where} ORDER BY seen DESC, id")
        ]

    def close_gaps(self, topic: str, *, by: str, now: datetime) -> int:
        """Close the open gaps of a topic; returns how many."""
        rows = self._write(
            "UPDATE knowledge_gaps SET closed_at = ?, closed_by = ? WHERE topic = ? AND closed_at IS NULL "
            "RETURNING id",
            (stamp(now), by, topic),
        )
        return len(rows)

    def close_gap(self, gap_id: str, *, by: str, now: datetime) -> None:
        """Close one gap.

        Raises
        ------
        UsageError
            There is no open gap of this id.
        """
        rows = self._write(
            "UPDATE knowledge_gaps SET closed_at = ?, closed_by = ? WHERE id = ? AND closed_at IS NULL "
            "RETURNING id",
            (stamp(now), by, gap_id),
        )
        if not rows:
            raise UsageError(
                f"no open gap {printable(gap_id[:40])}; `dartlab-coreloop repair gaps` lists them"
            )

    def suggest(self, *, action: str, target: str, details: Mapping[str, Any], now: datetime) -> Suggestion:
        """Add a suggestion; the same one is added once, whatever was decided about it."""
        text = json.dumps(details, ensure_ascii=False, sort_keys=True)
        with self._database.writing():
            self._database.rows(
                "INSERT INTO fix_suggestions VALUES (?, ?, ?, ?, 'pending', ?, NULL) "
                "ON CONFLICT (action, target, details) DO NOTHING",
                (_new_id(now), action, target, text, stamp(now)),
            )
            rows = self._database.rows(
                "SELECT * FROM fix_suggestions WHERE action = ? AND target = ? AND details = ?",
                (action, target, text),
            )
        return _suggestion(rows[0])

    def suggestions(self, *, status: Status | None = None) -> list[Suggestion]:
        """Return suggestions, the oldest first."""
        rows = self._read(
            "SELECT * FROM fix_suggestions WHERE ? = '' OR status = ? ORDER BY id",
            (status or "", status or ""),
        )
        return [_suggestion(row) for row in rows]

    def suggestion(self, suggestion_id: str) -> Suggestion:
        """Return a suggestion.

        Raises
        ------
        UsageError
            There is none of this id.
        """
        rows = self._read("SELECT * FROM fix_suggestions WHERE id = ?", (suggestion_id,))
        if not rows:
            raise UsageError(
                f"no suggestion {printable(suggestion_id[:40])}; `dartlab-coreloop repair "
                "suggestions` lists them"
            )
        return _suggestion(rows[0])

    def decide(self, suggestion_id: str, status: Status, *, now: datetime, link: Link | None = None) -> None:
        """Store a decision, and the link that it applies.

        Raises
        ------
        UsageError
            There is no suggestion of this id, or it was decided already.
        """
        with self._database.writing():
            rows = self._database.rows(
                "UPDATE fix_suggestions SET status = ?, decided_at = ? WHERE id = ? AND status = 'pending' "
                "RETURNING id",
                (status, stamp(now), suggestion_id),
            )
            if rows and link is not None:
                self._database.rows(
                    "INSERT INTO links VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                    (link.code_symbol, link.schema_ref, stamp(now)),
                )
        if not rows:
            raise UsageError(f"suggestion {suggestion_id} is {self.suggestion(suggestion_id).status} already")

    def links(self) -> list[Link]:
        """Return the applied links."""
        return [Link(*row) for row in self._read("SELECT code_symbol, schema_ref FROM links ORDER BY 1, 2")]

    def inject(self, evidence: Evidence) -> None:
        """Put evidence before a question; what the same place said before is replaced."""
        values = (
            *(evidence.question, evidence.kind, evidence.location, evidence.symbol),
            *(evidence.content, evidence.content_hash, stamp(evidence.created_at)),
        )
        self._write(
            "INSERT INTO evidence VALUES (?, ?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (question, kind, location, symbol) DO UPDATE SET content = excluded.content, "
            "content_hash = excluded.content_hash, created_at = excluded.created_at",
            values,
        )

    def evidence_for(self, question: str) -> list[Evidence]:
        """Return the evidence of a question's key, in the order in which it was injected."""
        rows = self._read(
            "SELECT * FROM evidence WHERE question = ? ORDER BY created_at, location, symbol", (question,)
        )
        return [_row(Evidence, row) for row in rows]

    def reject(self, topic: str, rejected: Rejected, *, reason: str, now: datetime) -> None:
        """Keep what a person rejected as an answer to a question, and the person's reason."""
        rows = [("said", reason), *(("sentence", sentence) for sentence in rejected.sentences)]
        rows += [("passage", passage) for passage in rejected.passages]
        rows += [("location", location) for location in rejected.locations]
        rows += [("until", rejected.until.isoformat())] if rejected.until else []
        with self._database.writing():
            for kind, value in rows:
                self._database.rows(
                    "INSERT INTO rejections VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                    tuple(map(_storable, (topic, kind, value, reason, stamp(now)))),
                )

    def accept(self, topic: str) -> None:
        """Forget what was rejected for a question and its duplicates, since a person says otherwise."""
        with self._database.writing():
            for known in self._same_topics(topic):
                self._database.rows("DELETE FROM rejections WHERE topic = ?", (known,))

    def rejections(self, topic: str) -> Rejected:
        """Return what persons rejected for a question and its duplicates."""
        with self._database.reading():
            rows = [
                (kind, value)
                for known in self._same_topics(topic)
                for kind, value in self._database.rows(
                    "SELECT kind, value FROM rejections WHERE topic = ?", (known,)
                )
            ]
        of = {name: frozenset(value for kind, value in rows if kind == name) for name in _REJECTED}
        until = max((value for kind, value in rows if kind == "until"), default="")
        return Rejected(
            sentences=of["sentence"],
            passages=of["passage"],
            locations=of["location"],
            until=date.fromisoformat(until) if until else None,
        )

    def reasons(self, topic: str) -> list[str]:
        """Return why persons rejected answers to a question, oldest first."""
        rows = self._read(
            "SELECT reason FROM rejections WHERE topic = ? AND kind = 'said' AND reason <> '' "
            "ORDER BY created_at",
            (_storable(topic),),
        )
        return [row[0] for row in rows]

    def _same_topics(self, topic: str) -> list[str]:
        """Return the rejected questions that ask what this one asks; inside a transaction."""
        topic = _storable(topic)
        rows = self._database.rows("SELECT DISTINCT topic FROM rejections")
        history = QueryHistory()
        history.add_query_to_history(topic, 1, 1, True)
        return [known for (known,) in rows if known == topic or history.is_duplicate_query(known)[0]]

    def put_snapshot(self, snapshot: Snapshot) -> None:
        """Keep a day's snapshot of a gate; a later one of the same day replaces it."""
        self._write(
            "INSERT INTO gate_snapshots VALUES (?, ?, ?, ?) "
            "ON CONFLICT (day, gate) DO UPDATE SET good = excluded.good, total = excluded.total",
            (snapshot.day.isoformat(), snapshot.gate, snapshot.good, snapshot.total),
        )

    def snapshots(self, gate: str) -> list[Snapshot]:
        """Return a gate's snapshots, the newest first."""
        rows = self._read("SELECT * FROM gate_snapshots WHERE gate = ? ORDER BY day DESC", (gate,))
        return [Snapshot(date.fromisoformat(day), name, good, total) for day, name, good, total in rows]

    def take_repair(self, now: datetime, *, most: int) -> bool:
        """Count a round of repair; whether the hour's budget allows it."""
        hour = now.astimezone(UTC).isoformat(timespec="hours")[:13]
        rows = self._write(
            "INSERT INTO repairs VALUES (?, 1) ON CONFLICT (hour) DO UPDATE SET rounds = repairs.rounds + 1 "
            "WHERE repairs.rounds < ? RETURNING rounds",
            (hour, most),
        )
        return bool(rows) and rows[0][0] <= most

    def keep_answer(self, row: AnswerRow) -> None:
        """Keep an ended answer; a second time changes nothing."""
        values = (
            *(row.run_id, row.session_id, stamp(row.ended_at), int(row.is_supported)),
            *(row.repairs, row.mends, json.dumps(row.found, sort_keys=True)),
        )
        self._write(
            "INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run_id) DO NOTHING", values
        )

    def has_answer(self, run_id: str) -> bool:
        """Whether an ended answer was kept."""
        return bool(self._read("SELECT run_id FROM answers WHERE run_id = ?", (run_id,)))

    def answers(self, *, since: datetime) -> list[AnswerRow]:
        """Return the answers that ended since a time, in order."""
        rows = self._read("SELECT * FROM answers WHERE ended_at >= ? ORDER BY ended_at", (stamp(since),))
        return [_answer(row) for row in rows]

    def forget_answer(self, run_id: str, question: str) -> None:
        """Remove what people said of an answer, its row, and the gaps of its question."""
        with self._database.writing():
            for change, value in (
                ("DELETE FROM feedback WHERE message_id = ?", run_id),
                ("UPDATE feedback SET mended_by = '' WHERE mended_by = ?", run_id),
                ("DELETE FROM answers WHERE run_id = ?", run_id),
                ("DELETE FROM knowledge_gaps WHERE topic = ?", _storable(question)),
                ("DELETE FROM rejections WHERE topic = ?", _storable(question)),
            ):
                self._database.rows(change, (value,))
        self._database.erase(*_KEPT)

    def forget_before(self, moment: datetime) -> int:
        """Remove rows with text of users that are older than a time; returns how many."""
        removed = 0
        with self._database.writing():
            for table, column in _KEPT.items():
                rows = self._database.rows(
                    f"DELETE FROM {table} WHERE {column} < ? RETURNING 1", (stamp(moment),)
                )
                removed += len(rows)
        if removed:
            self._database.erase(*_KEPT)
        return removed

    def _read(self, statement: str, parameters: tuple[Any, ...] = ()) -> list[Any]:
        with self._database.reading():
            return self._database.rows(statement, parameters)

    def _write(self, statement: str, parameters: tuple[Any, ...]) -> list[Any]:
        with self._database.writing():
            return self._database.rows(statement, tuple(map(_storable, parameters)))


@contextmanager
def open_repair_store(workspace: Workspace, *, environ: Mapping[str, str]) -> Iterator[RepairStore]:
    """Open the tables of a workspace; they are created if necessary.

    They are in Postgres or in the file ``repair.db``, as for `coreloop.runs.stores.store.open_store`.
    """
    if address := environ.get("CORELOOP_DATABASE_URL"):
        from coreloop.base.postgres import postgres_database

        with postgres_database(address, versions="repair_version", migrations=(FIRST, SECOND)) as postgres:
            yield RepairStore(postgres)
        return
    workspace.keep_private(workspace.runs_dir)
    with sqlite_database(workspace.runs_dir / FILE_NAME, REPAIR) as database:
        yield RepairStore(database)


def has_repair_store(workspace: Workspace, environ: Mapping[str, str]) -> bool:
    """Return whether a workspace may have tables of repair; those in Postgres are not looked for."""
    return bool(environ.get("CORELOOP_DATABASE_URL")) or (workspace.runs_dir / FILE_NAME).exists()


def _new_id(now: datetime) -> str:
    return new_ulid(now, token_bytes(10))


def _storable(value: Any) -> Any:
    """Leave out what a database cannot hold: NUL and lone surrogates."""
    return encodable(value).replace("\0", "") if isinstance(value, str) else value


def _row(kind: type[T], row: Sequence[Any]) -> T:
    """Read a row, whose columns are the fields of a type in their order."""
    names = [known.name for known in fields(kind)]
    return msgspec.convert(dict(zip(names, row, strict=True)), kind, strict=False)


def _suggestion(row: Any) -> Suggestion:
    key, action, target, details, *rest = row
    return _row(Suggestion, (key, action, target, json.loads(details), *rest))


def _answer(row: Any) -> AnswerRow:
    *first, found = row
    return _row(AnswerRow, (*first, json.loads(found)))
