"""Session files of Claude Code (``~/.claude/projects/…/*.jsonl``): one request per message typed by the user.

What follows a command or a notification is a request of its own if the model calls tools.

A result is paired with the earliest open call of its id within the turn, because ids repeat. A sub-agent has
a file of its own, ``SESSION/subagents/agent-ID.jsonl``, beside ``SESSION.jsonl``, or in older versions
``agent-ID.jsonl``; its task is a request inside the turn whose call started it.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, Final, TypeAlias

from coreloop.observe.calls import AskedCalls, milliseconds
from coreloop.observe.importers import message_forms as forms
from coreloop.observe.importers import trace_values as values
from coreloop.observe.importers import traced_request
from coreloop.observe.importers.files import TraceFile, TracePart, read_documents, read_each
from coreloop.observe.importers.traced_request import FOREIGN, TORN, UNDATED, SkippedTrace, TracedRequest

NAME: Final = "claude-code"
SUFFIXES: Final = (".jsonl",)
_MARKS: Final = frozenset({"sessionId", "uuid", "leafUuid", "messageId"})
# Longest pause between two lines of an unfinished answer; and, chosen, until somebody allows a call.
_QUIET_S: Final = 60.0
_ABANDONED_S: Final = 86_400.0

_SYNTHETIC: Final = "<synthetic>"
_INTERRUPTED: Final = "[Request interrupted by user"
_NOT_TYPED: Final = re.compile(
    r"<(?:command-|local-command-|bash-|task-notification|user-memory-input)|Caveat: The messages below"
)
_MCP: Final = "mcp__"  # a server's tool: only Claude Code's own ones flag every failure
_ADDED: Final = re.compile(r"<(?:system-reminder|ide_)")
AGENTS: Final = "subagents"
_AGENT_FILE: Final = re.compile(r"agent-(?P<id>[\w-]{1,100})\.jsonl")
_WARM_UP: Final = "Warmup"
_COMMAND: Final = SkippedTrace("command or notification")
_COMMAND_LINE: Final = re.compile(r"<command-(?:name|args)>([^<]{1,2000})</command-(?:name|args)>")
_NOT_TYPED_MESSAGE: Final = SkippedTrace("message not typed by the user")
# The id of the request whose turn started a sub-agent, by the ids of its session and itself.
_StartedBy: TypeAlias = dict[tuple[str | None, str], str]


@dataclass(slots=True)
class _Turn:
    """A message typed by the user, and the lines that follow it."""

    ids: tuple[str, ...]
    question: str
    session_id: str | None
    started: datetime | None
    ended: datetime | None
    agents: list[str] = field(default_factory=list)  # ids of the sub-agents that it started
    calls: AskedCalls = field(default_factory=AskedCalls)
    tokens: dict[str, tuple[int, int]] = field(default_factory=dict)  # input and output, by reply
    answer_chars: int | None = None
    is_answered: bool = False
    error: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    is_open: bool = False
    untyped: SkippedTrace | None = None  # why it is no request of a user, unless it has calls
    parent_id: str | None = None

    def is_finished(self, file: TraceFile) -> bool:
        """Whether nothing more will come: with an answer, without a stop reason, after a pause of `_QUIET_S`.

        A file that was just copied is new, but the times of its messages are not.
        """
        age_s = 0.0 if self.ended is None else file.now_s - self.ended.timestamp()
        quiet_s = max(file.quiet_s, age_s)
        if self.answer_chars is None or self.stop_reason == "tool_use":
            return quiet_s >= _ABANDONED_S
        return bool(self.stop_reason or self.error) or quiet_s >= _QUIET_S


def read(files: Iterable[TraceFile]) -> Iterator[TracePart]:
    """Read the turns of session files; unfinished turns are skipped until the next import.

    Sessions are read before sub-agents, which their turns start. Of copies of a session, the longest is read
    first: in a shorter one, the last turn may lack its end.
    """
    ordered = sorted(files, key=lambda file: (bool(_AGENT_FILE.fullmatch(file.path.name)), -file.size_bytes))
    yield from read_each(ordered, partial(_read_file, started_by={}))


def _read_file(file: TraceFile, started_by: _StartedBy) -> Iterator[TracedRequest | SkippedTrace]:
    agent = _AGENT_FILE.fullmatch(file.path.name)
    for turn in _turns(file, of_agent=agent is not None):
        if isinstance(turn, SkippedTrace):
            yield turn
        elif agent is None:
            turn_id = traced_request.request_id(NAME, turn.ids)
            started_by.update(((turn.session_id, started), turn_id) for started in turn.agents)
            yield _request(turn)
        elif turn.question.strip() == _WARM_UP:
            yield _COMMAND
        else:  # inside the turn that started it; if that is not found, a session of its own
            turn.parent_id = started_by.get((turn.session_id, agent["id"]))
            turn.session_id = turn.session_id if turn.parent_id else None
            yield _request(turn)


def _turns(file: TraceFile, *, of_agent: bool = False) -> Iterator[_Turn | SkippedTrace]:
    """Read the turns of one session."""
    turn: _Turn | None = None
    line: Any = None
    with file.open() as lines:
        for line in read_documents(lines):
            skipped = _why_skipped(line, of_agent=of_agent)
            if skipped is not None:
                yield skipped
            elif line["type"] == "assistant":
                turn = turn or _start_turn(line, "", untyped=SkippedTrace("answer without a question"))
                _add_answer(turn, line)
            elif results := [part for part in _parts(line) if part.get("type") == "tool_result"]:
                if turn is not None:
                    _add_results(turn, line, results)
            elif (typed := _typed(line)) is None:
                yield _NOT_TYPED_MESSAGE
            else:
                is_interruption = typed.startswith(_INTERRUPTED)
                if turn is not None:
                    turn.error = "interrupted by the user" if is_interruption else turn.error
                    yield turn
                untyped = _COMMAND if _NOT_TYPED.match(typed) else None
                turn = None if is_interruption else _start_turn(line, typed, untyped=untyped)
                if is_interruption:
                    yield _COMMAND
    if turn is not None:
        turn.answer_chars = None if line is TORN else turn.answer_chars
        turn.is_open = not turn.is_finished(file)
        yield turn


def _why_skipped(line: Any, *, of_agent: bool) -> SkippedTrace | None:
    """Why a line is no message of the session; messages of sub-agents are in files of their own, too."""
    if isinstance(line, SkippedTrace):
        return line
    if not isinstance(line, dict) or not isinstance(line.get("type"), str) or _MARKS.isdisjoint(line):
        return FOREIGN
    if line["type"] not in {"user", "assistant"} or not isinstance(line.get("message"), dict):
        return SkippedTrace("line that is not a message")
    if line.get("isSidechain") and not of_agent:
        return SkippedTrace("message of a sub-agent")
    return _NOT_TYPED_MESSAGE if line.get("isMeta") or line.get("isCompactSummary") else None


def _start_turn(line: dict[str, Any], typed: str, *, untyped: SkippedTrace | None) -> _Turn:
    session_id, uuid = values.text(line.get("sessionId")), values.text(line.get("uuid"))
    started = values.read_time(line.get("timestamp"))
    ids = (uuid,) if uuid else (session_id or "", values.text(line.get("timestamp")) or "", typed)
    question = " ".join(_COMMAND_LINE.findall(typed)) if untyped else typed
    return _Turn(ids, question, session_id, started, started, untyped=untyped)


def _parts(line: dict[str, Any]) -> list[dict[str, Any]]:
    content = line["message"].get("content")
    parts = content if isinstance(content, list) else [content]
    return [part if isinstance(part, dict) else {"type": "text", "text": part} for part in parts]


def _typed(line: dict[str, Any]) -> str | None:
    """A message without the parts added by the editor or the agent; None if nothing remains."""
    typed = [part for part in _parts(line) if not _ADDED.match(values.body_text([part]))]
    return values.body_text(typed) if typed else None


def _add_answer(turn: _Turn, line: dict[str, Any]) -> None:
    message, is_error = line["message"], bool(line.get("isApiErrorMessage"))
    model = values.text(message.get("model"))
    if model == _SYNTHETIC and not is_error:
        return
    at = values.read_time(line.get("timestamp"))
    turn.ended = at or turn.ended
    for part in _parts(line):
        if part.get("type") == "tool_use":
            name, args = values.text(part.get("name")) or "?", values.arguments(part.get("input"))
            turn.calls.ask(str(part.get("id")), name, args, at=at)
            turn.answer_chars, turn.is_answered = None, True
        elif body := values.body_text([part]):
            turn.answer_chars, turn.is_answered = (turn.answer_chars or 0) + len(body), True
            turn.error = body if is_error else None
    turn.stop_reason = values.text(message.get("stop_reason"))
    if model and model != _SYNTHETIC:
        turn.model = model
        reply = values.text(message.get("id")) or str(line.get("uuid"))  # the same in a line per block
        turn.tokens[reply] = values.anthropic_tokens(message.get("usage"))


def _add_results(turn: _Turn, line: dict[str, Any], results: list[dict[str, Any]]) -> None:
    """Add the results in a message to their calls."""
    at = values.read_time(line.get("timestamp"))
    turn.ended, turn.answer_chars, turn.is_answered = at or turn.ended, None, True
    told = line.get("toolUseResult")
    if isinstance(told, dict) and isinstance(told.get("agentId"), str):
        turn.agents.append(told["agentId"])
    for part in results:
        result = forms.result_of({**part, "is_error": part.get("is_error") in (True, "true")}, "tool_result")
        call = forms.give(turn.calls, str(part.get("tool_use_id")), result, at=at)
        if call is not None and call.error is None and not call.name.startswith(_MCP):
            call.ok = True


def _request(turn: _Turn) -> TracedRequest | SkippedTrace:
    if turn.untyped and not turn.calls.all:
        return turn.untyped
    if turn.is_open:
        return SkippedTrace("turn that is not finished")
    if not turn.is_answered:
        return SkippedTrace("question without an answer")
    return TracedRequest(
        source=NAME,
        ids=turn.ids,
        question=turn.question,
        ended=turn.ended or UNDATED,
        calls=tuple(turn.calls.all),
        answer_chars=None if turn.stop_reason == "tool_use" else turn.answer_chars,
        error=turn.error,
        provider="anthropic",
        model=turn.model,
        session_id=turn.session_id,
        rounds=len(turn.tokens),
        input_tokens=sum(used for used, _ in turn.tokens.values()) or None,
        output_tokens=sum(used for _, used in turn.tokens.values()) or None,
        duration_ms=milliseconds(turn.started, turn.ended),
        parent_id=turn.parent_id,
    )
