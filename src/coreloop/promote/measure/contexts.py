"""Recorded requests -> contexts: what was asked and called, up to a call that a line is about."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

import msgspec

from coreloop.base.project.workspace import Workspace
from coreloop.learn.effect.calls import Call, Request
from coreloop.learn.effect.failures import NamedFailure, Place
from coreloop.learn.mine.folder import day_files
from coreloop.observe.reading.decode import RecordLine, read_lines
from coreloop.observe.reading.fields import CallFields
from coreloop.observe.reading.outcome import is_ok

MAX_PER_CASE: Final = 2
"""Contexts from one case: repeats of one question carry almost no information (ICC 0.79)."""
_MAX_QUESTION_CHARS: Final = 8_000
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
        The calls before, and how each ended: ``ok`` or the class of its error.
    reference : NextCall or None
        The call of the same tool that worked in this request, if one did.
    was_against : bool
        Whether the recorded call was one that the line says to fail.
    """

    key: str
    case: str
    question: str
    earlier: tuple[tuple[NextCall, str], ...]
    tool: str
    reference: NextCall | None
    was_against: bool


@dataclass(frozen=True, slots=True)
class CallContexts:
    """Contexts that the line is about, and controls that it is not about."""

    about: tuple[CallContext, ...]
    controls: tuple[CallContext, ...]


def choose_contexts(
    workspace: Workspace, tool: str, failure: NamedFailure, *, n_about: int, n_controls: int
) -> CallContexts:
    """Choose contexts from the newest records, the same ones each time while the log is the same.

    Contexts whose recorded call was against the line come first: there, it can change something. Both
    descriptions are asked anew, so that choosing by the recorded call favours neither.

    Parameters
    ----------
    workspace : Workspace
        Its log is read, newest file first, until there are ten times as many contexts as are wanted.
    tool : str
        The tool that the line is about.
    failure : NamedFailure
        What the line says to fail.
    n_about, n_controls : int
        Largest numbers.

    Raises
    ------
    WorkspaceError
        The log cannot be read.
    """
    about, controls = list[CallContext](), list[CallContext]()
    for line in _records(workspace):
        found = _contexts(line, tool, failure)
        about.extend(context for context in found if context.tool == tool)
        controls.extend(context for context in found if context.tool != tool and context.reference)
        if len(about) >= 10 * n_about and len(controls) >= 10 * n_controls:
            break
    about.sort(key=lambda context: (not context.was_against, context.key))
    controls.sort(key=lambda context: context.key)
    return CallContexts(_few_per_case(about, n_about), _few_per_case(controls, n_controls))


def _records(workspace: Workspace) -> Iterator[RecordLine]:
    replayed = workspace.replayed()
    for path in reversed(day_files(workspace.records_dir)):
        for line in read_lines(path):
            if not isinstance(line, RecordLine) or line.fields.origin == "replay":
                continue
            if line.fields.question and line.fields.request_id not in replayed:
                yield line


def _contexts(line: RecordLine, tool: str, failure: NamedFailure) -> list[CallContext]:
    """The first context of the tool, the one that is against the line if any is, and one of another tool."""
    calls = [Call(call.name, "" if is_ok(call) else "failed", call, {}) for call in line.calls]
    request = _request(calls)
    places = [Place(request, index, ()) for index in range(len(calls))]
    own = [place for place in places if place.call.tool == tool]
    against = [place for place in own if failure.is_against(place)]
    other = [place for place in places if place.call.tool != tool and place.call.ok]
    chosen = [*(against or own)[:1], *other[:1]]
    return [_context(line, place, was_against=place in against) for place in chosen]


def _context(line: RecordLine, place: Place, *, was_against: bool) -> CallContext:
    fields, index = line.fields, place.index
    worked = (call for call in place.request.calls[index:] if call.tool == place.call.tool and call.ok)
    reference = next(worked, None)
    identity = f"{fields.request_id or line.offset}\n{fields.question}\n{index}"
    return CallContext(
        key=sha256(identity.encode("utf-8", "replace")).hexdigest()[:16],
        case=fields.session_hash or fields.question_hash or fields.question or "",
        question=(fields.question or "")[:_MAX_QUESTION_CHARS],
        earlier=tuple((_next_call(call), call.error_class or "ok") for call in place.earlier[-_MAX_EARLIER:]),
        tool=place.call.tool,
        reference=_next_call(reference) if reference is not None else None,
        was_against=was_against,
    )


def _next_call(call: Call) -> NextCall:
    return NextCall(call.tool, dict(call.arguments))


def _few_per_case(contexts: Sequence[CallContext], most: int) -> tuple[CallContext, ...]:
    seen = Counter[str]()
    chosen = list[CallContext]()
    for context in contexts:
        seen[context.case] += 1
        if seen[context.case] <= MAX_PER_CASE:
            chosen.append(context)
        if len(chosen) == most:
            break
    return tuple(chosen)


def called(call: NextCall, earlier: Sequence[tuple[NextCall, str]]) -> Place:
    """A model's call as a place in its request, for `NamedFailure.is_against`."""
    calls = [*(_call(before, "" if how == "ok" else how) for before, how in earlier), _call(call, "")]
    return Place(_request(calls), len(calls) - 1, ())


def _request(calls: Sequence[Call]) -> Request:
    """Calls as a request of which nothing else matters here."""
    return Request(0, 0, "", "", "", None, None, "", calls)


def _call(call: NextCall, error_class: str) -> Call:
    args = {name: msgspec.Raw(msgspec.json.encode(value)) for name, value in call.arguments.items()}
    return Call(call.tool, error_class, CallFields(call.tool, args), {})
