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
from coreloop.observe.calls import TracedCall, milliseconds
from coreloop.observe.importers.files import UnusableFile
from coreloop.observe.importers.trace_values import size_bytes
from coreloop.observe.importers.traced_request import NO_TIME, SkippedTrace, TracedRequest

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


class GatheredSpans:
    """Spans by trace, in a temporary database, because a trace may be spread over all files."""

    def __init__(self) -> None:
        self._database = sqlite3.connect("")  # a temporary file that SQLite deletes on close
        self._database.execute(_TABLE)

    def add(self, span: TraceSpan) -> None:
        """Store a span; of duplicates in any order, the version that ends later or is longer."""
        ended = (span.ended or _EPOCH).timestamp()
        span = replace(span, result=_bounded(span.result))
        row = encodable(span.trace_id), encodable(span.id), ended, _packed(span)
        self._database.execute(_ADD, row)

    def traces(self) -> Iterator[list[TraceSpan]]:
        """Yield the spans of each trace by start time; traces are ordered by their end."""
        rows = self._database.execute(_BY_TRACE)
        for _, group in groupby(rows, key=lambda row: row[0]):
            spans = [_decode_span(body) for _, body in group]
            yield sorted(spans, key=_start_order)

    def close(self) -> None:
        self._database.close()


def _start_order(span: TraceSpan) -> tuple[datetime, bool, str]:
    return span.started or _EPOCH, span.parent_id is not None, span.id


def _bounded(result: Any) -> Any:
    return result if (size_bytes(result) or MAX_CHARS) < MAX_CHARS else None


def _packed(span: TraceSpan) -> bytes:
    try:
        return orjson.dumps(span)
    except TypeError:  # values without a JSON form, or nested too deeply
        return orjson.dumps(replace(span, **{name: to_plain(getattr(span, name)) for name in _TEXTS}))


_TEXTS: Final = (
    "trace_id", "id", "name", "parent_id", "args", "question", "answer", "error", "provider", "model",
    "session_id", "result",
)  # fmt: skip


def requests(
    source: str, parts: Iterable[TraceSpan | SkippedTrace | UnusableFile]
) -> Iterator[TracedRequest | SkippedTrace | UnusableFile]:
    """Yield one request per trace, after all parts that are not spans.

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
    gathered = GatheredSpans()
    try:
        for part in parts:
            if isinstance(part, TraceSpan):
                gathered.add(part)
            else:
                yield part
        for spans in gathered.traces():
            yield from _request(source, spans)
    except sqlite3.Error as error:  # for example, a full disk
        raise WorkspaceError(f"cannot gather spans ({error})", path=Path(gettempdir())) from error
    finally:
        gathered.close()


def _request(source: str, spans: Sequence[TraceSpan]) -> Iterator[TracedRequest | SkippedTrace]:
    tools, repeats = _tool_calls(spans)
    yield from [SkippedTrace("span nested in a span of the same tool")] * repeats
    question = next((span.question for span in _rest(spans) if span.question), None)
    models = [span for span in spans if span.kind == "model"]
    if not tools and not (question and models):
        yield SkippedTrace("trace without a tool call or an answered question")
        return
    times = [timestamp for span in spans for timestamp in (span.started, span.ended) if timestamp is not None]
    if not times:
        yield NO_TIME
        return
    top = [span for span in _rest(spans) if span.kind != "trace"][:1]
    named = [*reversed(models), *spans]
    yield TracedRequest(
        source=source,
        ids=(spans[0].trace_id,),
        question=question or "",
        ended=max(times),
        calls=tuple(map(_call, tools)),
        answer_chars=None if (answer := _answer(spans)) is None else len(answer),
        error=next((span.error for span in top), None),
        provider=next((span.provider for span in named if span.provider), None),
        model=next((span.model for span in named if span.model), None),
        session_id=next((span.session_id for span in spans if span.session_id), None),
        rounds=len(models) or None,
        duration_ms=milliseconds(min(times), max(times)),
        scores=tuple(score for span in spans for score in span.scores),
    )


def _rest(spans: Sequence[TraceSpan]) -> list[TraceSpan]:
    """All spans but the tool calls: the trace itself first, then by start time."""
    return sorted((span for span in spans if span.kind != "tool"), key=lambda span: span.kind != "trace")


def _tool_calls(spans: Sequence[TraceSpan]) -> tuple[list[TraceSpan], int]:
    """The calls without duplicates: if two libraries trace a call, their spans are nested."""
    by_id = {span.id: span for span in spans}
    tools = [span for span in spans if span.kind == "tool"]
    outermost = [span for span in tools if not _is_inside_itself(span, by_id)]
    return outermost, len(tools) - len(outermost)


def _is_inside_itself(span: TraceSpan, by_id: dict[str, TraceSpan]) -> bool:
    visited = {span.id}
    parent = by_id.get(span.parent_id or "")
    while parent is not None and parent.id not in visited:  # hostile input may have circular parents
        if parent.kind == "tool":
            return parent.name == span.name
        visited.add(parent.id)
        parent = by_id.get(parent.parent_id or "")
    return False


def _answer(spans: Sequence[TraceSpan]) -> str | None:
    """The answer of the trace or its outermost span, else the latest answer; None if none was captured."""
    rest = _rest(spans)
    ids = {span.id for span in spans}
    roots = [span for span in rest if span.answer and (span.kind == "trace" or span.parent_id not in ids)]
    if roots:
        return roots[0].answer
    captured = [span for span in rest if span.answer is not None]
    if not captured:
        return None
    return max(captured, key=lambda span: (bool(span.answer), span.ended or _EPOCH)).answer


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
