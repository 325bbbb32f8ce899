"""Session files of Claude Code (``~/.claude/projects/…/*.jsonl``): one request per message typed by the user.

A result is paired with the earliest open call of its id within the turn, because ids repeat. A sub-agent has
a file of its own, ``SESSION/subagents/agent-ID.jsonl``, beside ``SESSION.jsonl``, or in older versions
``agent-ID.jsonl``; its task is a request inside the turn whose call started it.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

import orjson

from coreloop.base.records import REFUSED
from coreloop.observe.calls import AskedCalls, milliseconds
from coreloop.observe.importers.files import TraceFile, UnusableFile, read_each, read_line_values
from coreloop.observe.importers.trace_values import (
    anthropic_tokens,
    block_error,
    blocks,
    body_text,
    read_timestamp,
    text,
)
from coreloop.observe.importers.traced_request import (
    FOREIGN,
    NO_TIME,
    TORN,
    SkippedTrace,
    TracedRequest,
    request_id,
)

NAME: Final = "claude-code"
SUFFIXES: Final = (".jsonl",)
_MARKS: Final = frozenset({"sessionId", "uuid", "leafUuid", "messageId"})
_QUIET_S: Final = 60.0
"""Longest pause between two lines of an unfinished answer."""

_SYNTHETIC: Final = "<synthetic>"
_INTERRUPTED: Final = "[Request interrupted by user"
_NOT_TYPED: Final = re.compile(
    r"<(?:command-|local-command-|bash-|task-notification|user-memory-input)|Caveat: The messages below"
)
_REFUSAL: Final = re.compile(
    r"The user doesn't want to (?:proceed with this tool use|take this action)"
    r"|Claude requested permissions to .{1,2000}? but you haven't granted it yet",
    re.DOTALL,
)
"""The result of a call that a person did not allow."""
_ADDED: Final = re.compile(r"<(?:system-reminder|ide_)")
AGENTS: Final = "subagents"
_AGENT_FILE: Final = re.compile(r"agent-(?P<id>[\w-]{1,100})\.jsonl")
_WARM_UP: Final = "Warmup"

Starters: TypeAlias = dict[str, tuple[str, ...]]
"""Id of a call, or of the sub-agent that it started -> the ids of the call's turn."""


@dataclass(slots=True)
class _Turn:
    """A message typed by the user, and the lines that follow it."""

    ids: tuple[str, ...]
    question: str
    session_id: str | None
    started: datetime | None
    ended: datetime | None
    calls: AskedCalls = field(default_factory=AskedCalls)
    tokens: dict[str, tuple[int, int]] = field(default_factory=dict)  # input and output, by reply
    answer_chars: int = 0
    error: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    last: str | None = None
    starters: Starters = field(default_factory=dict)

    def is_finished(self, quiet_s: float, now_s: float) -> bool:
        """Whether the turn is complete; without a stop reason, after a pause of `_QUIET_S`.

        A file that was just copied is new, but the times of its messages are not.
        """
        if self.ended is not None:
            quiet_s = max(quiet_s, now_s - self.ended.timestamp())
        if self.last != "text" or self.stop_reason == "tool_use":
            return False
        return self.stop_reason is not None or self.error is not None or quiet_s >= _QUIET_S


def read(files: Iterable[TraceFile]) -> Iterator[TracedRequest | SkippedTrace | UnusableFile]:
    """Read the turns of session files; unfinished turns are skipped until the next import."""
    yield from read_each(files, partial(_read_file, sessions={}))


def _read_file(file: TraceFile, sessions: dict[Path, Starters]) -> Iterator[TracedRequest | SkippedTrace]:
    match = _AGENT_FILE.fullmatch(file.path.name)
    with file.open() as lines:
        parts = read_session(
            read_line_values(lines), quiet_s=file.quiet_s, now_s=file.now_s, of_agent=match is not None
        )
        if match is None:
            yield from parts
            return
        for part in parts:
            if isinstance(part, SkippedTrace):
                yield part
            elif part.question.strip() == _WARM_UP:
                yield _COMMAND
            else:
                yield _as_nested(part, file.path, match["id"], sessions)


def _as_nested(task: TracedRequest, path: Path, agent: str, sessions: dict[Path, Starters]) -> TracedRequest:
    """A sub-agent's task inside the turn that started it; if that is not found, a session of its own."""
    folder = next((above.parent.parent for above in path.parents if above.name == AGENTS), path.parent)
    name = f"{task.session_id}.jsonl"
    if Path(name).name != name:  # a session's id is text of the file
        return replace(task, session_id=None)
    starters = sessions.get(folder / name)
    if starters is None:
        starters = sessions[folder / name] = _starters(folder / name)
    turn = starters.get(agent) or starters.get(_starting_call(path))
    if turn is None:
        return replace(task, session_id=None)
    return replace(task, parent_id=request_id(NAME, turn))


def _starters(session: Path) -> Starters:
    """The calls of a session's file, and the sub-agents whose results it has."""
    starters: Starters = {}
    if not session.is_file():  # a pipe would block
        return starters
    with suppress(OSError), session.open("rb") as lines:
        for _ in read_session(read_line_values(lines), quiet_s=0.0, starters=starters):
            pass
    return starters


def _starting_call(path: Path) -> str:
    """The id of the call that started a sub-agent, from the file beside its own."""
    try:
        described = orjson.loads(path.with_suffix(".meta.json").read_bytes())
    except (OSError, ValueError):
        return ""
    return (text(described.get("toolUseId")) if isinstance(described, dict) else None) or ""


_SEEN: Final = SkippedTrace("duplicate message")
_SIDECHAIN: Final = SkippedTrace("message of a sub-agent")
_META: Final = SkippedTrace("message not typed by the user")
_COMMAND: Final = SkippedTrace("command or notification")
_UNASKED: Final = SkippedTrace("answer without a question")
_UNFINISHED: Final = SkippedTrace("turn that is not finished")
_UNANSWERED: Final = SkippedTrace("question without an answer")


def read_session(
    lines: Iterable[Any],
    *,
    quiet_s: float,
    now_s: float = 0.0,
    of_agent: bool = False,
    starters: Starters | None = None,
) -> Iterator[TracedRequest | SkippedTrace]:
    """Read the turns of one session.

    Parameters
    ----------
    lines : iterable
        The JSON value of each line; `TORN` for a line that is not JSON.
    quiet_s : float
        Seconds since the last write to the file.
    now_s : float
        Seconds since 1970; 0 if only ``quiet_s`` counts.
    of_agent : bool
        Whether the file is a sub-agent's; elsewhere, messages of sub-agents are skipped.
    starters : dict, optional
        Calls and sub-agents are added to it.
    """
    seen: set[int] = set()
    turn: _Turn | None = None
    line: Any = None
    for line in lines:
        skipped = _why_skipped(line, seen, of_agent=of_agent)
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
            turn = _start_turn(line, typed, starters) if is_question else None
            if turn is None:
                yield _COMMAND
    if turn is not None:
        yield _request(turn) if line is not TORN and turn.is_finished(quiet_s, now_s) else _UNFINISHED


def _why_skipped(line: Any, seen: set[int], *, of_agent: bool) -> SkippedTrace | None:
    if isinstance(line, SkippedTrace):
        return line
    if not isinstance(line, dict) or not isinstance(line.get("type"), str) or _MARKS.isdisjoint(line):
        return FOREIGN
    if line["type"] not in {"user", "assistant"} or not isinstance(line.get("message"), dict):
        return SkippedTrace("line that is not a message")
    uuid = line.get("uuid")
    if isinstance(uuid, str):
        if hash(uuid) in seen:  # hashes, because a long session has many ids
            return _SEEN
        seen.add(hash(uuid))
    if line.get("isSidechain") and not of_agent:
        return _SIDECHAIN
    return _META if line.get("isMeta") or line.get("isCompactSummary") else None


def _start_turn(line: dict[str, Any], typed: str, starters: Starters | None) -> _Turn:
    session_id = text(line.get("sessionId"))
    started = read_timestamp(line.get("timestamp"))
    uuid = text(line.get("uuid"))
    ids = (uuid,) if uuid else (session_id or "", text(line.get("timestamp")) or "", typed)
    return _Turn(ids, typed, session_id, started, started, starters={} if starters is None else starters)


def _typed(line: dict[str, Any]) -> str | None:
    """A message without the parts added by the editor or the agent; None if nothing remains."""
    content = line["message"].get("content")
    parts = content if isinstance(content, list) else [content]
    typed = [part for part in parts if not _ADDED.match(body_text([part]))]
    return body_text(typed) if typed else None


def _add_answer(turn: _Turn, line: dict[str, Any]) -> None:
    message = line["message"]
    model = text(message.get("model"))
    if model == _SYNTHETIC and not line.get("isApiErrorMessage"):
        return
    at = read_timestamp(line.get("timestamp"))
    turn.ended = at or turn.ended
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
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
        reply = text(message.get("id")) or str(line.get("uuid"))  # repeated in a line per block of the reply
        turn.tokens[reply] = anthropic_tokens(message.get("usage"))


def _add_call(turn: _Turn, part: dict[str, Any], at: datetime | None) -> None:
    args = part.get("input")
    id, named = str(part.get("id")), args if isinstance(args, dict) else {"value": args}
    turn.calls.ask(id, text(part.get("name")) or "?", named, began=at)
    turn.starters[id] = turn.ids
    turn.answer_chars, turn.last = 0, "tool_use"


def _add_results(turn: _Turn | None, line: dict[str, Any]) -> bool:
    """Add the results in a message to their calls; whether the message has any."""
    results = blocks(line["message"].get("content"), "tool_result")
    if turn is None:
        return bool(results)
    at = read_timestamp(line.get("timestamp"))
    told = line.get("toolUseResult")
    if isinstance(told, dict) and isinstance(told.get("agentId"), str):
        turn.starters[told["agentId"]] = turn.ids
    for part in results:
        turn.ended, turn.last, turn.answer_chars = at or turn.ended, "tool_result", 0
        call = turn.calls.answer(str(part.get("tool_use_id")), ended=at)
        if call is not None:
            call.receive(part.get("content"), body_text(part.get("content")))
            error = block_error(part)
            is_refused = error is not None and _REFUSAL.match(error) is not None
            call.error, call.unknown = (None, REFUSED) if is_refused else (error, None)
    return bool(results)


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
        calls=tuple(turn.calls.all),
        answer_chars=turn.answer_chars if turn.last == "text" else None,
        error=turn.error,
        provider="anthropic",
        model=turn.model,
        session_id=turn.session_id,
        rounds=len(turn.tokens),
        input_tokens=sum(used for used, _ in turn.tokens.values()) or None,
        output_tokens=sum(used for _, used in turn.tokens.values()) or None,
        duration_ms=milliseconds(turn.started, turn.ended),
    )
