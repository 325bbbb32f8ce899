"""Spans that exporters have sent: on disk until their traces are quiet, then records like those of files."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import Connection
from threading import Lock
from typing import Any, Final

from coreloop.base.messages import number_of
from coreloop.base.project.workspace import Workspace
from coreloop.base.sqlite import Schema, sqlite_errors, transaction, writer
from coreloop.observe.importers.append_requests import ImportReport, RequestLog
from coreloop.observe.importers.otlp import NAME, span_of, trace_and_parent
from coreloop.observe.importers.spans import TraceSpan, requests_in
from coreloop.observe.importers.trace_values import decode_trace
from coreloop.observe.importers.traced_request import SkippedTrace

QUIET_S: Final = 5.0
"""After the last span of a trace whose outermost one has ended: exporters send every 5 s by default."""
UNFINISHED_S: Final = 120.0
"""After the last span of another: it runs, or its outermost span is sent elsewhere."""
KEPT_S: Final = 3600.0
"""How long spans are kept after their trace was written, for those that come later."""
MAX_SPANS: Final = 100_000
"""Of a trace. Small ones take some 900 MB while they become a record of as many calls."""
MAX_TRACE_BYTES: Final = 128 << 20
"""Of the spans that are read at once: a few that are large take several times as much."""
_TRACES_AT_ONCE: Final = 500  # chosen: what a kill repeats is read again in less than a second

_SCHEMA: Final = Schema(
    "received spans",
    """
CREATE TABLE traces (
    trace   TEXT PRIMARY KEY,
    n       INTEGER NOT NULL,  -- spans
    size    INTEGER NOT NULL,  -- their bytes
    ended   INTEGER NOT NULL,  -- whether its outermost span has come
    seen    REAL NOT NULL,     -- Unix time of the last span
    written INTEGER NOT NULL   -- spans when its record was written
);
CREATE INDEX waiting ON traces (seen) WHERE n > written;
CREATE TABLE spans (trace TEXT NOT NULL, span BLOB NOT NULL);
CREATE INDEX of_trace ON spans (trace);
""",
    ("traces", "spans"),
)


class Receiver:
    """The spans of a project that have come in; several threads and processes may use it.

    Parameters
    ----------
    connection : Connection
        Of its database.
    path : Path
        Of the database.
    workspace : Workspace
        The project.

    Attributes
    ----------
    heard, silent : set of str
        Instrumentations with spans that say what models and tools are told, and with others.
    """

    def __init__(self, connection: Connection, path: Path, workspace: Workspace) -> None:
        self._database, self._path = connection, path
        self._log = RequestLog(workspace.records_dir, workspace.settings, workspace.root)
        self._turn = Lock()
        self.heard = set[str]()
        self.silent = set[str]()

    def add(self, spans: Iterable[tuple[str, dict[str, Any]]], *, now_s: float) -> tuple[int, str]:
        """Keep spans of agents, tools and models; what others sent is left out.

        What this returns from, it has: another process can go on after this one was killed.

        Parameters
        ----------
        spans : iterable of (str, dict)
            Scopes and spans, see `coreloop.observe.importers.otlp_http.spans_in`.
        now_s : float
            Unix time.

        Returns
        -------
        int, str
            How many cannot be kept, and why.

        Raises
        ------
        WorkspaceError
            The disk is full, for example; nothing was kept.
        """
        found: dict[str, list[bytes]] = {}
        ended, n_unread = set[str](), 0
        for scope, span in spans:
            part, (trace, parent) = span_of(span), trace_and_parent(span)
            if part is None or trace is None:
                n_unread += 1
                continue
            if parent is None:
                ended.add(trace)
            if isinstance(part, TraceSpan):
                if part.kind in {"model", "tool"}:
                    (self.heard if _says(part) else self.silent).add(scope)
                found.setdefault(trace, []).append(json.dumps(span).encode())
        with self._turn, sqlite_errors(self._path), transaction(self._database):
            n_beyond = sum(self._add(trace, kept, now_s) for trace, kept in found.items())
            rows = ((trace,) for trace in ended)
            self._database.executemany("UPDATE traces SET ended = 1 WHERE trace = ?", rows)
        bound = f"{MAX_SPANS:,} spans or {MAX_TRACE_BYTES >> 20} MB"
        reasons = {"have no ids": n_unread, f"are of traces of more than {bound}": n_beyond}
        why = "; ".join(f"{number_of(n, 'span')} {reason}" for reason, n in reasons.items() if n)
        return n_unread + n_beyond, why

    def _add(self, trace: str, spans: list[bytes], now_s: float) -> int:
        """Keep spans of a trace; returns how many were too many."""
        row = self._database.execute("SELECT n, size FROM traces WHERE trace = ?", (trace,)).fetchone()
        n, size = row or (0, 0)
        kept = list[bytes]()
        for span in spans:
            size += len(span)
            if n + len(kept) < MAX_SPANS and size <= MAX_TRACE_BYTES:
                kept.append(span)
        self._database.execute(
            "INSERT INTO traces VALUES (?, ?, ?, 0, ?, 0) ON CONFLICT (trace) "
            "DO UPDATE SET n = n + excluded.n, size = size + excluded.size, seen = excluded.seen",
            (trace, len(kept), sum(map(len, kept)), now_s),
        )
        self._database.executemany("INSERT INTO spans VALUES (?, ?)", ((trace, span) for span in kept))
        return len(spans) - len(kept)

    def write_records(self, *, now_s: float) -> Iterator[ImportReport]:
        """Write the records of traces that are quiet, and those of written ones that have grown.

        After a kill, what was not noted as written is found in the records and not added again. What is
        yielded is a report for each few hundred of them.

        Raises
        ------
        WorkspaceError
            A file cannot be read or written; the spans are kept.
        """
        while waiting := self._quiet(now_s):
            yield self._log.append(requests_in(NAME, self._parts_of(waiting)))
            with self._turn, sqlite_errors(self._path), transaction(self._database):
                self._database.executemany("UPDATE traces SET written = ? WHERE trace = ?", waiting)
        with self._turn, sqlite_errors(self._path), transaction(self._database):
            old = (now_s - KEPT_S,)
            condition = "trace IN (SELECT trace FROM traces WHERE n = written AND seen < ?)"
            for table in ("spans", "traces"):
                self._database.execute(f"DELETE FROM {table} WHERE {condition}", old)

    def _quiet(self, now_s: float) -> list[tuple[int, str]]:
        """The next traces to write, and how many spans each has."""
        condition = "n > written AND seen < CASE ended WHEN 1 THEN ? ELSE ? END"
        with self._turn, sqlite_errors(self._path):
            rows = self._database.execute(
                f"SELECT n, trace, size FROM traces WHERE {condition} ORDER BY seen LIMIT {_TRACES_AT_ONCE}",
                (now_s - QUIET_S, now_s - UNFINISHED_S),
            ).fetchall()
        first, total = list[tuple[int, str]](), 0
        for n, trace, size in rows:
            if first and total + size > MAX_TRACE_BYTES:
                break
            first.append((n, trace))
            total += size
        return first

    def _parts_of(self, traces: Iterable[tuple[int, str]]) -> Iterator[TraceSpan | SkippedTrace]:
        for _, trace in traces:
            with self._turn, sqlite_errors(self._path):
                rows = self._database.execute("SELECT span FROM spans WHERE trace = ?", (trace,)).fetchall()
            yield from filter(None, (span_of(decode_trace(span)) for (span,) in rows))


@contextmanager
def open_receiver(workspace: Workspace) -> Iterator[Receiver]:
    """Open the spans of a project, ``received.db`` beside its records.

    Raises
    ------
    WorkspaceError
        The database cannot be used.
    """
    path = workspace.audit_dir / "received.db"
    with writer(path, _SCHEMA, threads=True) as connection:
        yield Receiver(connection, path, workspace)


def _says(span: TraceSpan) -> bool:
    """Whether a span has what a model or a tool was told, or said."""
    return bool(span.question or span.answer or span.messages or span.args or span.result_size_bytes)
