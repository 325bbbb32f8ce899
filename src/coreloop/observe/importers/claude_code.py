"""Session files of Claude Code (``~/.claude/projects/…/*.jsonl``): one request per message that a user typed.

A call and its result are paired within a turn, the result with the earliest open call of its id: ids repeat.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from coreloop.observe.importers.files import TraceFile, Unusable, read_each, read_line_values
from coreloop.observe.importers.trace import FOREIGN, NO_TIME, TORN, SkippedTrace, TracedCall, TracedRequest
from coreloop.observe.importers.values import body_text, milliseconds, read_moment, text

NAME: Final = "claude-code"
SUFFIXES: Final = (".jsonl",)
_MARKS: Final = frozenset({"sessionId", "uuid", "leafUuid", "messageId"})
_QUIET_S: Final = 60.0
"""A line of an answer that is under way may wait this long for the next one."""

_SYNTHETIC: Final = "<synthetic>"
_INTERRUPTED: Final = "[Request interrupted by user"
_NOT_TYPED: Final = re.compile(
    r"<(?:command-|local-command-|bash-|task-notification|user-memory-input)|Caveat: The messages below"
)
_ADDED: Final = re.compile(r"<(?:system-reminder|ide_)")
_ERROR_TAG: Final = re.compile(r"</?tool_use_error>")


@dataclass(slots=True)
class _Open:
    """A call whose result may still come."""

    name: str
    args: dict[str, Any]
    begun: datetime | None
    asked: int
    call: TracedCall | None = None

    def close(self) -> TracedCall:
        return self.call or TracedCall(
            name=self.name, args=self.args, error="the trace has no result", asked=self.asked
        )


@dataclass(slots=True)
class _Turn:
    """What a user typed, and what has happened since."""

    ids: tuple[str, ...]
    question: str
    session_id: str | None
    begun: datetime | None
    ended: datetime | None
    calls: list[_Open] = field(default_factory=list)
    waiting: dict[str, list[_Open]] = field(default_factory=dict)
    message_ids: set[str] = field(default_factory=set)
    answer_chars: int = 0
    error: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    last: str | None = None
    n_results: int = 0

    def is_finished(self, quiet_s: float) -> bool:
        """Whether nothing can follow; an answer without a stop reason is one when nobody writes any more."""
        if self.last != "text" or self.stop_reason == "tool_use":
            return False
        return self.stop_reason is not None or self.error is not None or quiet_s >= _QUIET_S


def read(files: Iterable[TraceFile]) -> Iterator[TracedRequest | SkippedTrace | Unusable]:
    """Every turn of some sessions; what is written at the moment is left for the next time."""
    yield from read_each(files, _read_file)


def _read_file(file: TraceFile) -> Iterator[TracedRequest | SkippedTrace]:
    with file.open() as lines:
        yield from read_session(read_line_values(lines), quiet_s=file.quiet_s)


_SEEN: Final = SkippedTrace("message that was read before")
_SIDECHAIN: Final = SkippedTrace("message of a sub-agent")
_META: Final = SkippedTrace("message that nobody typed")
_COMMAND: Final = SkippedTrace("command or notification")
_UNASKED: Final = SkippedTrace("answer to no question")
_UNFINISHED: Final = SkippedTrace("turn that is not finished")
_UNANSWERED: Final = SkippedTrace("question without an answer")


def read_session(lines: Iterable[Any], *, quiet_s: float) -> Iterator[TracedRequest | SkippedTrace]:
    """The turns of one session.

    Parameters
    ----------
    lines : iterable
        The JSON value of each line; `TORN` for what is none.
    quiet_s : float
        How long nobody has written to the file.
    """
    seen: set[int] = set()
    turn: _Turn | None = None
    line: Any = None
    for line in lines:
        skipped = _why_skipped(line, seen)
        if skipped is not None:
            yield skipped
        elif line["type"] == "assistant":
            if turn is None:
                yield _UNASKED
            else:
                _add_answer(turn, line)
        elif not _add_results(turn, line):
            typed = _typed(line)
            if typed is None:
                yield _META
                continue
            if turn is not None:
                turn.error = "interrupted by the user" if typed.startswith(_INTERRUPTED) else turn.error
                yield _request(turn)
            is_question = not typed.startswith(_INTERRUPTED) and not _NOT_TYPED.match(typed)
            turn = _begin(line, typed) if is_question else None
            if turn is None:
                yield _COMMAND
    if turn is not None:
        yield _request(turn) if line is not TORN and turn.is_finished(quiet_s) else _UNFINISHED


def _why_skipped(line: Any, seen: set[int]) -> SkippedTrace | None:
    if isinstance(line, SkippedTrace):
        return line
    if not isinstance(line, dict) or not isinstance(line.get("type"), str) or _MARKS.isdisjoint(line):
        return FOREIGN
    if line["type"] not in {"user", "assistant"} or not isinstance(line.get("message"), dict):
        return SkippedTrace("line that is no message")
    uuid = line.get("uuid")
    if isinstance(uuid, str):
        if hash(uuid) in seen:  # a number instead of the text: a long session has many
            return _SEEN
        seen.add(hash(uuid))
    if line.get("isSidechain"):
        return _SIDECHAIN
    return _META if line.get("isMeta") or line.get("isCompactSummary") else None


def _begin(line: dict[str, Any], typed: str) -> _Turn:
    session_id = text(line.get("sessionId"))
    begun = read_moment(line.get("timestamp"))
    uuid = text(line.get("uuid"))
    ids = (uuid,) if uuid else (session_id or "", text(line.get("timestamp")) or "", typed)
    return _Turn(ids, typed, session_id, begun, begun)


def _typed(line: dict[str, Any]) -> str | None:
    """A message without what the editor and the agent's own machinery put before it; None if that is all."""
    content = line["message"].get("content")
    parts = content if isinstance(content, list) else [content]
    typed = [part for part in parts if not _ADDED.match(body_text([part]))]
    return body_text(typed) if typed else None


def _add_answer(turn: _Turn, line: dict[str, Any]) -> None:
    message = line["message"]
    model = text(message.get("model"))
    if model == _SYNTHETIC and not line.get("isApiErrorMessage"):
        return
    at = read_moment(line.get("timestamp"))
    turn.ended = at or turn.ended
    said = message.get("content")
    parts = said if isinstance(said, list) else [{"type": "text", "text": said}]
    for part in parts:
        if isinstance(part, dict) and part.get("type") == "tool_use":
            _add_call(turn, part, at)
        elif body := body_text([part]):
            turn.answer_chars += len(body)
            turn.last = "text"
            turn.error = body if line.get("isApiErrorMessage") else None
    turn.stop_reason = text(message.get("stop_reason"))
    if model and model != _SYNTHETIC:
        turn.model = model
        turn.message_ids.add(text(message.get("id")) or str(line.get("uuid")))


def _add_call(turn: _Turn, part: dict[str, Any], at: datetime | None) -> None:
    args = part.get("input")
    opened = _Open(
        text(part.get("name")) or "?", args if isinstance(args, dict) else {"value": args}, at, turn.n_results
    )
    turn.calls.append(opened)
    turn.waiting.setdefault(str(part.get("id")), []).append(opened)
    turn.answer_chars, turn.last = 0, "tool_use"


def _add_results(turn: _Turn | None, line: dict[str, Any]) -> bool:
    """Whether the message brings results of calls; then nobody typed it."""
    content = line["message"].get("content")
    parts = content if isinstance(content, list) else []
    results = [part for part in parts if isinstance(part, dict) and part.get("type") == "tool_result"]
    if turn is None:
        return bool(results)
    at = read_moment(line.get("timestamp"))
    for part in results:
        turn.ended, turn.last, turn.answer_chars = at or turn.ended, "tool_result", 0
        waiting = turn.waiting.get(str(part.get("tool_use_id")))
        turn.n_results += 1
        if waiting:
            _close_call(waiting.pop(0), part, at, turn.n_results)
    return bool(results)


def _close_call(opened: _Open, part: dict[str, Any], at: datetime | None, answered: int) -> None:
    body = body_text(part.get("content"))
    failed = bool(part.get("is_error"))
    opened.call = TracedCall(
        name=opened.name,
        args=opened.args,
        error=(_ERROR_TAG.sub("", body).strip() or "failed") if failed else None,
        duration_ms=milliseconds(opened.begun, at),
        result_size_bytes=len(body.encode("utf-8", "replace")),
        result=part.get("content", ...),
        asked=opened.asked,
        answered=answered,
    )


def _request(turn: _Turn) -> TracedRequest | SkippedTrace:
    if turn.last is None:
        return _UNANSWERED
    if turn.ended is None:
        return NO_TIME
    return TracedRequest(
        source=NAME,
        ids=turn.ids,
        question=turn.question,
        ended=turn.ended,
        calls=tuple(one.close() for one in turn.calls),
        answer_chars=turn.answer_chars,
        error=turn.error,
        provider="anthropic",
        model=turn.model,
        session_id=turn.session_id,
        rounds=len(turn.message_ids),
        duration_ms=milliseconds(turn.begun, turn.ended),
    )
