"""Recorded requests -> contexts: what was asked and called, up to a call that a line is about."""

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from textwrap import wrap
from typing import Any, Final

import msgspec

from coreloop.answer.models.model import Message
from coreloop.base.project.workspace import Workspace
from coreloop.base.record_lines import ELIDED
from coreloop.learn.effect.named_failure import NamedFailure, places_against
from coreloop.learn.facts.read_lines import case_of, question_template
from coreloop.learn.facts.schema import as_int
from coreloop.learn.mine.folder import day_files
from coreloop.learn.statements.cases import RequestKeys, case_numbers
from coreloop.observe import jsonl
from coreloop.observe.case_keys import known_case_key
from coreloop.observe.reading.decode import CallFields, RecordLine, decode_line, read_lines
from coreloop.observe.reading.outcome import worked

MAX_PER_CASE: Final = 2
"""CallContexts from one case: repeats of one question carry almost no information (ICC 0.79)."""
_ANY_TIME: Final = "2026-01-01T00:00:00+00:00"
_MAX_QUESTION_CHARS: Final = 8_000
_ENDED: Final = {True: "ok", False: "failed", None: "unknown"}
_OK: Final = {how: ok for ok, how in _ENDED.items()}
_MAX_EARLIER: Final = 20
"""Calls before the next one that a model is shown: the newest."""


@dataclass(frozen=True, slots=True)
class NextCall:
    """A call of a tool with its arguments."""

    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class CallContext:
    """A request up to a call.

    Attributes
    ----------
    key : str
        Identifies the context, without anything of it.
    case : str
        What contexts of one piece of work share.
    question : str
        As it was asked.
    earlier : tuple of (NextCall, str)
        The calls before, and how each ended: ``ok``, ``failed`` or ``unknown``.
    reference : NextCall or None
        The call of the same tool that worked in this request, if one did.
    was_against : bool
        Whether the recorded call was one that the line says to fail.
    turns : tuple of Message
        What the model had read since the question, if it was kept.
    """

    key: str
    case: str
    question: str
    earlier: tuple[tuple[NextCall, str], ...]
    tool: str
    reference: NextCall | None
    was_against: bool
    turns: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class KeptCall:
    """A call of a conversation, see `coreloop.observe.record_parts`."""

    name: str
    args: dict[str, Any]
    result: str | None
    said: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Conversation:
    """A line of the file of conversations."""

    request_id: str
    question: str
    calls: tuple[KeptCall, ...]

    def turns(self, names: Sequence[str], index: int) -> tuple[Message, ...]:
        """What the model had read before a call; empty if these are not the calls of a record."""
        if [call.name for call in self.calls[: index + 1]] != list(names[: index + 1]):
            return ()
        turns = list[Message]()
        for at, call in enumerate(self.calls[: index + 1]):
            turns += [Message("user", text) for text in call.said]
            if index - _MAX_EARLIER <= at < index:
                asked = msgspec.json.encode({"tool": call.name, "arguments": call.args}).decode()
                result = "unknown" if call.result is None else call.result
                turns += [Message("assistant", asked), Message("user", f"The result:\n{result}")]
        return tuple(turns)


@dataclass(frozen=True, slots=True)
class CallContexts:
    """CallContexts that the line is about, and controls that it is not about."""

    about: tuple[CallContext, ...]
    controls: tuple[CallContext, ...]


def choose_contexts(
    workspace: Workspace,
    tool: str,
    failure: NamedFailure,
    *,
    n_about: int,
    n_controls: int,
    needs_reference: bool = True,
) -> CallContexts:
    """Choose contexts from the newest records.

    They are the same ones each time while the log is the same.

    CallContexts whose recorded call was against the line come first: there, it can change something. Both
    descriptions are asked anew, so that choosing by the recorded call favours neither.

    Parameters
    ----------
    workspace : Workspace
        Its ``never_ask`` leaves contexts of tools out. Its log is read, newest file first, until there are
        ten times as many contexts as are wanted.
    tool : str
        The tool that the line is about.
    failure : NamedFailure
        What the line says to fail.
    n_about, n_controls : int
        Largest numbers.
    needs_reference : bool
        Whether only a call of the tool that then worked tells which call is right; else the line does.

    Raises
    ------
    WorkspaceError
        The log cannot be read.
    """
    contexts, n_found = list[CallContext](), Counter[bool]()
    requests = list[RequestKeys]()
    case_key = known_case_key(workspace.audit_dir)
    for path in reversed(day_files(workspace.records_dir)):
        against = places_against(failure, tool, _records(workspace, path), case_key)
        kept = _conversations(workspace, path)
        for line in _records(workspace, path):
            for context in _contexts(line, tool, against, kept):
                is_judged = context.reference is not None or (context.tool == tool and not needs_reference)
                if is_judged and context.tool not in workspace.settings.measure.never_ask:
                    contexts.append(context)
                    requests.append(_request_keys(line, case_key))
                    n_found[context.tool == tool] += 1
        if n_found[True] >= 10 * n_about and n_found[False] >= 10 * n_controls:
            break
    numbers, _ = case_numbers(requests)
    cased = (replace(context, case=str(case)) for context, case in zip(contexts, numbers, strict=True))
    ordered = sorted(cased, key=lambda context: (not context.was_against, context.key))
    about = [context for context in ordered if context.tool == tool]
    controls = sorted((context for context in ordered if context.tool != tool), key=lambda its: its.key)
    return CallContexts(_few_per_case(about, n_about), _few_per_case(controls, n_controls))


def _request_keys(line: RecordLine, case_key: bytes) -> RequestKeys:
    """What may join a request with others."""
    fields, case = line.fields, case_of(line.fields, line.calls, case_key)
    session = as_int(fields.session_hash) if fields.session_hash else 0
    return RequestKeys(
        session, tuple(int(number, 16) for number in wrap(case, 8)), question_template(fields.question)
    )


def _records(workspace: Workspace, path: Path) -> Iterator[RecordLine]:
    replayed = workspace.replayed()
    for line in read_lines(path):
        if not isinstance(line, RecordLine) or line.fields.origin == "replay":
            continue
        if line.fields.question and line.fields.request_id not in replayed:
            yield line


def _conversations(workspace: Workspace, path: Path) -> Mapping[str, Conversation]:
    """What was kept of the day's requests, by their ids."""
    file = workspace.contexts_dir / path.name
    kept = jsonl.read(file, Conversation, other="not a conversation").values if file.is_file() else ()
    return {item.request_id: item for item in kept}


def _contexts(
    line: RecordLine, tool: str, against: Container[tuple[int, int]], kept: Mapping[str, Conversation]
) -> list[CallContext]:
    """The first context of the tool, the one that is against the line if any is, and one of another tool."""
    own = [at for at, call in enumerate(line.calls) if call.name == tool]
    deviating = [at for at in own if (line.offset, at) in against]
    other = [at for at, call in enumerate(line.calls) if call.name != tool and worked(call)]
    chosen = [*(deviating or own)[:1], *other[:1]]
    conversation = kept.get(line.fields.request_id or "")
    return [_context(line, at, conversation, was_against=at in deviating) for at in chosen]


def _context(
    line: RecordLine, index: int, conversation: Conversation | None, *, was_against: bool
) -> CallContext:
    fields, calls = line.fields, line.calls
    same = (call for call in calls[index:] if call.name == calls[index].name and worked(call))
    reference = next(same, None)
    identity = f"{fields.request_id or line.offset}\n{fields.question}\n{index}"
    earlier = calls[:index][-_MAX_EARLIER:]
    return CallContext(
        key=sha256(identity.encode("utf-8", "replace")).hexdigest()[:16],
        case="",
        question=(fields.question or "")[:_MAX_QUESTION_CHARS],
        earlier=tuple((next_call(call), _ENDED[worked(call)]) for call in earlier),
        tool=calls[index].name,
        reference=next_call(reference) if reference is not None else None,
        was_against=was_against,
        turns=conversation.turns([call.name for call in calls], index) if conversation is not None else (),
    )


def next_call(call: CallFields) -> NextCall:
    """A call with its values, without null, which counts as absent; unreadable values are `ELIDED`."""
    raws = call.args if isinstance(call.args, dict) else {}
    values = {name: _value(raw) for name, raw in raws.items()}
    return NextCall(call.name, {name: value for name, value in values.items() if value is not None})


def _value(raw: msgspec.Raw) -> Any:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ELIDED


def _few_per_case(contexts: Sequence[CallContext], most: int) -> tuple[CallContext, ...]:
    seen, chosen = Counter[str](), list[CallContext]()
    for context in contexts:
        seen[context.case] += 1
        if seen[context.case] <= MAX_PER_CASE:
            chosen.append(context)
    return tuple(chosen[:most])


def is_against(failure: NamedFailure, call: NextCall, earlier: Sequence[tuple[NextCall, str]]) -> bool:
    """Whether a model's call is against the lines, after the calls before."""
    calls = [
        {
            "name": item.tool,
            "args": item.arguments,
            "ok": _OK[how],
            "unknown": None if _OK[how] is not None else how,
        }
        for item, how in (*earlier, (call, _ENDED[True]))
    ]
    line = msgspec.json.encode({"ts": _ANY_TIME, "tool_calls": calls})
    return _is_record_against(failure, call.tool, line, len(earlier))


@lru_cache(maxsize=4096)  # a model often repeats itself, and each record is read anew
def _is_record_against(failure: NamedFailure, tool: str, line: bytes, index: int) -> bool:
    read = decode_line(line)
    return isinstance(read, RecordLine) and (0, index) in places_against(failure, tool, [read])
