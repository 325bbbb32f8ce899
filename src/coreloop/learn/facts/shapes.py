"""The calls of many records as columns: each distinct call is analysed once, not a million times."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec
import orjson

from coreloop.base.error_classes import MAX_ERROR_CHARS
from coreloop.base.records import DEFAULT_SELECTORS, selector_value, step
from coreloop.observe.reading.fields import CallFields, cut_name
from coreloop.observe.reading.outcome import why_unknown, worked

_MAX_CACHED: Final = 100_000
_LONGEST_VALUE_BYTES: Final = 400
_NO_ARGS: Final[dict[str, msgspec.Raw]] = {}
Literal = str | int | float | bool | None
_Known = tuple[str | None, tuple[str, ...], dict[bytes, int]]


class Part(NamedTuple):
    """A shape as JSON, with its name as in a candidate's ``tool_pattern`` and, as ``text``, without.

    ``names`` are the names of its arguments as recorded.
    """

    name: str
    json: str
    text: str
    names: tuple[str, ...]


class CallColumns:
    """The calls of records, in order, and the shapes and sources that their numbers refer to.

    Attributes
    ----------
    steps, parts : list
        By number of the shape: the step in a sequence, and its `Part`.
    shapes, durations, sources : list
        Of each call: the number of its shape, its milliseconds or None, and the number of its sources.
    result_bytes : list
        Of each call: the size of its result or None.
    values : list
        Arguments as JSON, call after call.
    failed : list of tuple
        Index, error and arguments of each failed call.
    unknown : list of tuple
        Index of each call of which it is unknown whether it worked, and why.
    flagged, overridden : list of int
        Indexes of calls that reported an implausible value, and of calls with overrides.
    places : Objects
        Sources of arguments by name.
    saw : list of (int, int)
        Index of a call, and the number of its ``saw`` in ``states``.
    states : Objects
        Literals by field, by argument.
    """

    def __init__(self, selectors: Mapping[str, Sequence[str]]) -> None:
        self._selectors = selectors
        self._numbers: dict[tuple[str, str, tuple[str, ...]], int] = {}
        self._known: defaultdict[str, dict[tuple[str, ...], _Known]] = defaultdict(dict)
        self._n_known = 0
        self.steps: list[str] = []
        self.parts: list[Part] = []
        self.shapes: list[int] = []
        self.durations: list[float | None] = []
        self.sources: list[int] = []
        self.result_bytes: list[float | None] = []
        self.values: list[Any] = []
        self.failed: list[tuple[int, str, dict[str, msgspec.Raw]]] = []
        self.unknown: list[tuple[int, str]] = []
        self.flagged: list[int] = []
        self.overridden: list[int] = []
        self.places = Objects(tuple[str, ...])
        self.saw: list[tuple[int, int]] = []
        self.states = Objects(dict[str, Literal])

    def add(self, calls: Iterable[CallFields]) -> tuple[int, ...]:
        """Add a record's calls, and return the numbers of the successful ones."""
        ok = []
        known, shapes = self._known, self.shapes
        for call in calls:
            args = call.args
            if type(args) is not dict:
                args = _NO_ARGS
            names = tuple(args)
            try:
                selector, more, numbers = known[call.name][names]
            except KeyError:
                selector, more, numbers = self._learn(call.name, names)
            if selector is None:
                values = b""
            elif more:
                values = b",".join(map(args.__getitem__, (selector, *more)))
            else:
                values = b"" + args[selector]  # bytes() takes twice the time
            number = numbers.get(values)
            if number is None:
                number = self._learn_values(call, names, values, numbers)
            if call.ok or worked(call):
                ok.append(number)
            else:
                self._add_other(call, args)
            if call.extreme_flags:
                self.flagged.append(len(shapes))
            if call.overrides_used:
                self.overridden.append(len(shapes))
            if call.saw:
                self.saw.append((len(shapes), self.states.number_of(call.saw)))
            shapes.append(number)
            self.durations.append(call.duration_ms)
            self.result_bytes.append(call.result_size_bytes)
            self.values.extend(args.values())
            self.sources.append(self.places.number_of(call.args_from) if call.args_from else 0)
        return tuple(ok)

    def _add_other(self, call: CallFields, args: dict[str, msgspec.Raw]) -> None:
        """Note a call that did not work, or of which that is unknown."""
        if worked(call) is None:
            self.unknown.append((len(self.shapes), why_unknown(call)))
        else:
            self.failed.append((len(self.shapes), str(call.error)[:MAX_ERROR_CHARS], args))

    def take_odd(self) -> list[str]:
        """The names of fields with an unusable value since this was last called."""
        named = {"args_from": self.places, "saw": self.states}
        odd = [name for name, objects in named.items() if objects.is_odd]
        for name in odd:
            named[name].is_odd = False
        return odd

    def _learn(self, name: str, names: tuple[str, ...]) -> _Known:
        """The selectors among these arguments, and an empty cache for the numbers of their values."""
        self._n_known += 1
        if self._n_known > _MAX_CACHED:
            self._known.clear()
            self._n_known = 1
        chosen = self._selectors.get(name, DEFAULT_SELECTORS)
        present = tuple(selector for selector in chosen if selector in names)
        known = self._known[name][names] = (present[0], present[1:], {}) if present else (None, (), {})
        return known

    def _learn_values(
        self, call: CallFields, names: tuple[str, ...], values: bytes, numbers: dict[bytes, int]
    ) -> int:
        number = self._shape(call, names)
        if len(values) <= _LONGEST_VALUE_BYTES:
            if len(numbers) >= _MAX_CACHED:  # values that never recur would fill the memory
                numbers.clear()
            numbers[values] = number
        return number

    def _shape(self, call: CallFields, names: tuple[str, ...]) -> int:
        chosen = self._selectors.get(call.name, DEFAULT_SELECTORS)
        values = call.selected(chosen)
        selectors = {key: selector_value(value) for key, value in values.items() if value is not None}
        shown = tuple(map(cut_name, names))
        nameless = {"selectors": selectors, "arg_keys": sorted(shown)}
        named = orjson.dumps({"name": call.name, **nameless}).decode()
        text = step(call.name, values, chosen)
        number = self._numbers.setdefault((text, named, names), len(self.steps))
        if number == len(self.steps):
            self.steps.append(text)
            self.parts.append(Part(call.name, named, orjson.dumps(nameless).decode(), shown))
        return number


class Objects:
    """The distinct values of a field that is an object, such as ``args_from``, by number; 0 is the empty one.

    Attributes
    ----------
    values : list of dict
        By number; entries of another type than expected are left out.
    is_odd : bool
        Whether anything was left out since this was last cleared.
    """

    def __init__(self, kind: Any) -> None:
        self._kind = kind
        self._numbers: dict[bytes, int] = {b"{}": 0, b"null": 0}
        self.values: list[dict[str, Any]] = [{}]
        self.is_odd = False

    def number_of(self, raw: msgspec.Raw) -> int:
        """The number of a value."""
        number = self._numbers.get(key := bytes(raw))
        if number is None:
            raws = _read(raw, dict[str, msgspec.Raw])
            read = {name: _read(value, self._kind) for name, value in (raws or {}).items()}
            value = {name: entry for name, entry in read.items() if entry is not None}
            is_whole = raws is not None and len(value) == len(raws)
            self.is_odd |= not is_whole
            number = len(self.values)
            self.values.append(value)
            if is_whole and len(self._numbers) < _MAX_CACHED and len(key) <= _LONGEST_VALUE_BYTES:
                self._numbers[key] = number
        return number


def _read(raw: msgspec.Raw, kind: Any) -> Any:
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
