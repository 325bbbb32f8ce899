"""The calls that a model asked for, with their answers: of a framework under way, or of an imported trace."""

from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, cast

import orjson

from coreloop.base.record_lines import MAX_STRING_CHARS, bounded, dataclass_fields, shorten, to_plain
from coreloop.base.records import DEFAULT_SELECTORS, NO_RESULT, READS_FAILED, ToolCall, digest, step
from coreloop.observe import failure_texts
from coreloop.observe import record_parts as parts
from coreloop.observe.argument_sources import Lookup, Sources
from coreloop.observe.case_keys import texts_in

if TYPE_CHECKING:
    from coreloop.observe.log_settings import LogSettings


# orjson kills the process if a field of a dataclass with slots is not set.
_CANONICAL = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS
_SHORT_CHARS: Final = 120  # of arguments without a text, or a name, that is cut


class AskedCalls:
    """The calls of a request, in the order in which the model asked for them.

    An id may repeat: an answer belongs to the earliest call of its id that is open.
    """

    def __init__(self) -> None:
        self.all: list[parts.TracedCall] = []
        self.open: dict[Hashable, list[parts.TracedCall]] = {}
        self._n_answers = 0
        self._user_texts: list[str] = []

    def hear(self, text: str) -> None:
        """Add a message of the user, in which arguments of later calls may be found."""
        if text:
            self._user_texts.append(text)

    def ask(self, id: Hashable, name: str, args: Mapping[str, Any], *, at: datetime | None = None) -> None:
        """Add a call; until it is answered, it is unknown whether it worked."""
        texts, self._user_texts = tuple(self._user_texts), []
        call = parts.TracedCall(
            name=name, args=args, unknown=NO_RESULT, asked=self._n_answers, began=at, user_texts=texts
        )
        self.all.append(call)
        self.open.setdefault(id, []).append(call)

    def answer(
        self,
        id: Hashable,
        result: Any = ...,
        *,
        size_bytes: int | None = None,
        error: str | BaseException | None = None,
        unknown: str | None = None,
        at: datetime | None = None,
    ) -> parts.TracedCall | None:
        """Close the earliest open call of an id, and return it; None if there is none."""
        if not (waiting := self.open.get(id)):
            return None
        call = waiting.pop(0)
        if not waiting:
            del self.open[id]
        self._n_answers += 1
        call.answered, call.result, call.result_size_bytes = self._n_answers, result, size_bytes
        call.error, call.unknown = error, unknown
        call.duration_ms = call.duration_ms if at is None else milliseconds(call.began, at)
        return call


def milliseconds(began: datetime | None, ended: datetime | None) -> float | None:
    """Return the time between two moments; None if one is unknown or the clock went back."""
    if began is None or ended is None or ended < began:
        return None
    return round((ended - began).total_seconds() * 1000, 3)


def trace_calls(calls: Sequence[parts.RecordedCall], sources: Sources, settings: "LogSettings") -> None:
    """Add the sources of arguments to each call, from the results that had been received by then."""
    has_results = sources.has_results or any(call.traced.result is not ... for call in calls)
    running: list[tuple[parts.RecordedCall, Lookup | None]] = []
    for call in calls:
        for text in call.traced.user_texts:
            sources.add_question(text)
        _remember(sources, [other for other in running if not _overlaps(other[0], call)])
        running = [other for other in running if _overlaps(other[0], call)]
        lookup = sources.trace(call, settings.case_key) if has_results else None
        running.append((call, lookup))
    _remember(sources, running)


def _remember(sources: Sources, done: Sequence[tuple[parts.RecordedCall, Lookup | None]]) -> None:
    for recorded, lookup in done:
        if recorded.call["ok"] or recorded.traced.unknown == NO_RESULT:
            sources.remember(recorded.call["name"], recorded.traced.result, lookup)


def _overlaps(earlier: parts.RecordedCall, later: parts.RecordedCall) -> bool:
    answered, asked = earlier.traced.answered, later.traced.asked
    return answered is not None and asked is not None and answered > asked


def recorded_call(traced: parts.TracedCall, settings: "LogSettings", drop: parts.Drop) -> parts.RecordedCall:
    """Build a call of a record.

    Without ``ok`` and ``error``, a result that says so failed (`coreloop.observe.failure_texts`); if it does
    not, ``unknown`` is why nobody knows whether the call worked. A person's refusal is no error.
    """
    name, ok, error, unknown = parts.stored_text(traced.name, 200), traced.ok, traced.error, traced.unknown
    canonical = _canonical(traced.args, drop)
    plain = orjson.loads(canonical)
    recorded = plain if len(canonical) <= _SHORT_CHARS else shorten(plain)
    if ok is None:
        verdict = failure_texts.judge(traced.result, error, settings.failed_results)
        error, unknown = (error, unknown) if verdict is None else verdict
    error_message = parts.error_text(error)
    if error_message and recorded != plain:
        error_message = parts.error_without_values(error_message, plain)
    succeeded = error_message is None if ok is None else bool(ok)
    is_unknown = unknown is not None and ok is None and error_message is None
    new_step, overridden = None, traced.overrides_used
    if succeeded and not is_unknown:
        new_step = step(name, recorded, settings.selectors.get(name, DEFAULT_SELECTORS))
    call: ToolCall = {
        "name": name,
        "args": orjson.Fragment(canonical) if len(canonical) <= MAX_STRING_CHARS else recorded,
        "args_hash": digest(canonical),
        "ok": None if is_unknown else succeeded,
        "error": error_message,
        "duration_ms": parts.number(traced.duration_ms, drop=drop),
        "result_size_bytes": parts.number(traced.result_size_bytes, drop=drop),
        "overrides_used": None if overridden is None else parts.texts(overridden, drop=drop),
        "extreme_flags": parts.texts(traced.extreme_flags, drop=drop),
    }
    if unknown is not None and (is_unknown or unknown == READS_FAILED):
        call["unknown"] = unknown
    texts = {name: texts_in(value) for name, value in plain.items()}
    return parts.RecordedCall(traced, call, new_step, plain, texts)


def _canonical(args: Mapping[str, object] | None, drop: parts.Drop) -> bytes:
    try:
        named, is_all = bounded(_named(args))
        if not is_all:
            drop("large_arguments")
        return canonical_json(named)
    except Exception:  # TypeError, or any error of a user's own mapping
        drop("unserialisable")
    with suppress(Exception):
        return canonical_json(to_plain(_named(args)))
    return b"{}"  # an unreadable mapping


def _named(args: object) -> dict[str, Any]:
    named = args if isinstance(args, dict) else {} if args is None else to_plain(args)
    return named if isinstance(named, dict) else {"value": named}


def canonical_json(value: object) -> bytes:
    """Encode a value as compact UTF-8 JSON with sorted keys; a set becomes a sorted list.

    Raises
    ------
    TypeError
        The value has no JSON form; convert it with `to_plain`.
    """
    return orjson.dumps(value, default=_as_plain, option=_CANONICAL)


def _as_plain(value: object) -> Any:
    """A set as a sorted list; a dataclass as its fields."""
    kind = type(value)
    if issubclass(kind, set | frozenset):
        return sorted(cast("set[Any]", value), key=repr)
    if not hasattr(kind, "__dataclass_fields__"):
        raise TypeError
    return dataclass_fields(value)
