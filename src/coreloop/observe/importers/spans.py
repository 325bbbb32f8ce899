"""Groups the spans of tracing tools by trace and converts each trace into a request."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from tempfile import gettempdir
from typing import Any, Final, Literal

import msgspec
import orjson

from coreloop.base.errors import WorkspaceError
from coreloop.base.project.score_rule import Score
from coreloop.base.record_lines import MAX_CHARS, to_plain
from coreloop.base.records import NO_RESULT, encodable
from coreloop.observe.calls import milliseconds
from coreloop.observe.importers.files import UnusableFile
from coreloop.observe.importers.trace_values import size_bytes
from coreloop.observe.importers.traced_request import NO_TIME, SkippedTrace, TracedRequest
from coreloop.observe.record_parts import TracedCall

_EPOCH: Final = datetime.fromtimestamp(0, UTC)
_TABLE: Final = """
CREATE TABLE span (
    trace TEXT NOT NULL,
    id    TEXT NOT NULL,
    ended REAL NOT NULL,  -- seconds since 1970
    body  BLOB NOT NULL,  -- the span as JSON
    PRIMARY KEY (trace, id)
) WITHOUT ROWID
"""
_ADD: Final = """
INSERT INTO span VALUES (?, ?, ?, ?)
ON CONFLICT DO UPDATE SET ended = excluded.ended, body = excluded.body
WHERE (excluded.ended, length(excluded.body), excluded.body) > (ended, length(body), body)
"""
_BY_TRACE: Final = """
SELECT trace, body
FROM span JOIN (SELECT trace, MAX(ended) AS last FROM span GROUP BY trace) USING (trace)
ORDER BY last, trace, id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceSpan:
    """The parts of a span that a record needs.

    Attributes
    ----------
    kind : str
        ``trace`` is the trace itself, in formats that have an object for it.
    args : dict
        Of a tool call.
    answer : str or None
        Empty if what was captured has no text; None if nothing was captured.
    result : object
        Of a tool call, as JSON of up to 64 KB; None if longer or absent.
    error : str or None
        None after success.
    """

    trace_id: str
    id: str
    kind: Literal["trace", "tool", "model", "other"]
    name: str
    parent_id: str | None = None
    started: datetime | None = None
    ended: datetime | None = None
    args: dict[str, Any] = field(default_factory=dict)
    question: str | None = None
    answer: str | None = None
    error: str | None = None
    result_size_bytes: int | None = None
    result: Any = None
    provider: str | None = None
    model: str | None = None
    session_id: str | None = None
    scores: tuple[Score, ...] = ()


_decode_span = msgspec.json.Decoder(TraceSpan).decode
_TEXTS: Final = (
    "trace_id", "id", "name", "parent_id", "args", "question", "answer", "error", "provider", "model",
    "session_id", "result",
)  # fmt: skip


def requests(
    source: str, parts: Iterable[TraceSpan | SkippedTrace | UnusableFile]
) -> Iterator[TracedRequest | SkippedTrace | UnusableFile]:
    """Yield one request per trace, after all parts that are not spans.

    The spans wait in a temporary database, because a trace may be spread over all files. Of duplicates in any
    order, the version counts that ends later or is longer.

    Parameters
    ----------
    source : str
        The format's name.
    parts : iterable
        Spans in any order; other parts are yielded unchanged.

    Raises
    ------
    WorkspaceError
        The disk has no room for temporary files.
    """
    database = sqlite3.connect("")  # a temporary file that SQLite deletes on close
    try:
        database.execute(_TABLE)
        for part in parts:
            if isinstance(part, TraceSpan):
                ended = (part.ended or _EPOCH).timestamp()
                row = encodable(part.trace_id), encodable(part.id), ended, _packed(part)
                database.execute(_ADD, row)
            else:
                yield part
        for _, rows in groupby(database.execute(_BY_TRACE), key=lambda row: row[0]):
            yield from _request(source, sorted((_decode_span(body) for _, body in rows), key=_start_order))
    except sqlite3.Error as error:  # for example, a full disk
        raise WorkspaceError(f"cannot gather spans ({error})", path=Path(gettempdir())) from error
    finally:
        database.close()


def _packed(span: TraceSpan) -> bytes:
    if (size_bytes(span.result) or MAX_CHARS) >= MAX_CHARS:
        span = replace(span, result=None)
    try:
        return orjson.dumps(span)
    except TypeError:  # values without a JSON form, or nested too deeply
        return orjson.dumps(replace(span, **{name: to_plain(getattr(span, name)) for name in _TEXTS}))


def _start_order(span: TraceSpan) -> tuple[datetime, bool, str]:
    return span.started or _EPOCH, span.parent_id is not None, span.id


def _request(source: str, spans: Sequence[TraceSpan]) -> Iterator[TracedRequest | SkippedTrace]:
    by_id = {span.id: span for span in spans}
    tools = [span for span in spans if span.kind == "tool"]
    outermost = [span for span in tools if not _is_inside_itself(span, by_id)]
    yield from [SkippedTrace("span nested in a span of the same tool")] * (len(tools) - len(outermost))
    rest = [span for span in spans if span.kind != "tool"]
    rest.sort(key=lambda span: span.kind != "trace")  # the trace itself knows best
    question = next((span.question for span in rest if span.question), None)
    models = [span for span in spans if span.kind == "model"]
    if not tools and not (question and models):
        yield SkippedTrace("trace without a tool call or an answered question")
        return
    times = [time for span in spans for time in (span.started, span.ended) if time is not None]
    if not times:
        yield NO_TIME
        return
    named = [*reversed(models), *spans]
    answer = _answer(rest, by_id)
    yield TracedRequest(
        source=source,
        ids=(spans[0].trace_id,),
        question=question or "",
        ended=max(times),
        calls=tuple(map(_call, outermost)),
        answer_chars=None if answer is None else len(answer),
        error=next((span.error for span in rest if span.kind != "trace"), None),
        provider=next((span.provider for span in named if span.provider), None),
        model=next((span.model for span in named if span.model), None),
        session_id=next((span.session_id for span in spans if span.session_id), None),
        rounds=len(models) or None,
        duration_ms=milliseconds(min(times), max(times)),
        scores=tuple(score for span in spans for score in span.scores),
    )


def _is_inside_itself(span: TraceSpan, by_id: dict[str, TraceSpan]) -> bool:
    """Whether two libraries trace a call: the spans of one tool are nested."""
    visited = {span.id}
    parent = by_id.get(span.parent_id or "")
    while parent is not None and parent.id not in visited:  # hostile input may have circular parents
        if parent.kind == "tool":
            return parent.name == span.name
        visited.add(parent.id)
        parent = by_id.get(parent.parent_id or "")
    return False


def _answer(rest: Sequence[TraceSpan], by_id: dict[str, TraceSpan]) -> str | None:
    """The answer of the trace or its outermost span, else the latest answer; None if none was captured."""
    for span in rest:
        if span.answer and (span.kind == "trace" or span.parent_id not in by_id):
            return span.answer
    captured = [span for span in rest if span.answer is not None]
    latest = max(captured, key=lambda span: (bool(span.answer), span.ended or _EPOCH), default=None)
    return None if latest is None else latest.answer


def _call(span: TraceSpan) -> TracedCall:
    return TracedCall(
        name=span.name,
        args=span.args,
        error=span.error,
        duration_ms=milliseconds(span.started, span.ended),
        result_size_bytes=span.result_size_bytes,
        result=... if span.result is None else span.result,
        asked=None if span.started is None else span.started.timestamp(),
        answered=None if span.ended is None else span.ended.timestamp(),
        unknown=NO_RESULT if span.ended is None and span.result_size_bytes is None else None,
    )
