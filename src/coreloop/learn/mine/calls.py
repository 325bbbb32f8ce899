"""The shapes of calls, by number: each distinct call is analysed once, not a million times."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec
import orjson

from coreloop.base.records import DEFAULT_SELECTORS, selector_value, step
from coreloop.observe.reading.fields import CallFields

_MAX_CACHED: Final = 100_000
_LONGEST_VALUE_BYTES: Final = 400
_NO_ARGS: Final[dict[str, msgspec.Raw]] = {}
_Known = tuple[str | None, tuple[str, ...], dict[bytes, int]]


class Part(NamedTuple):
    """A shape as JSON, with its name as in a candidate's ``tool_pattern`` and, as ``text``, without."""

    name: str
    json: str
    text: str


class CallShapes:
    """Numbers of the shapes of calls.

    Attributes
    ----------
    steps : list of str
        By number: the step in a sequence.
    parts : list of Part
        By number.
    """

    def __init__(self, selectors: Mapping[str, Sequence[str]]) -> None:
        self._selectors = selectors
        self._numbers: dict[tuple[str, str], int] = {}
        self._known: defaultdict[str, dict[tuple[str, ...], _Known]] = defaultdict(dict)
        self._n_known = 0
        self.steps: list[str] = []
        self.parts: list[Part] = []

    def numbers(self, calls: Iterable[CallFields]) -> tuple[tuple[int, ...], list[tuple[int, CallFields]]]:
        """The numbers of the successful calls, and each failed call with its number.

        The number identifies the call's shape: its tool, selector values and argument names.
        """
        ok, failed = [], []
        known = self._known
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
                number = self._learn_values(call, values, numbers)
            if call.ok or (call.ok is None and not call.error):
                ok.append(number)
            else:
                failed.append((number, call))
        return tuple(ok), failed

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

    def _learn_values(self, call: CallFields, values: bytes, numbers: dict[bytes, int]) -> int:
        number = self._shape(call)
        if len(values) <= _LONGEST_VALUE_BYTES:
            if len(numbers) >= _MAX_CACHED:  # values that never recur would fill the memory
                numbers.clear()
            numbers[values] = number
        return number

    def _shape(self, call: CallFields) -> int:
        chosen = self._selectors.get(call.name, DEFAULT_SELECTORS)
        values = call.selected(chosen)
        selectors = {key: selector_value(value) for key, value in values.items() if value is not None}
        arg_keys = sorted(call.args) if isinstance(call.args, dict) else []
        nameless = {"selectors": selectors, "arg_keys": arg_keys}
        named = orjson.dumps({"name": call.name, **nameless}).decode()
        text = step(call.name, values, chosen)
        number = self._numbers.setdefault((text, named), len(self.steps))
        if number == len(self.steps):
            self.steps.append(text)
            self.parts.append(Part(call.name, named, orjson.dumps(nameless).decode()))
        return number
