"""The calls of some records, counted by tool, shape of the arguments and error: what refining needs.

Calls of one shape get one number, so that the same call is taken apart once and not a million times.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
import orjson
import polars as pl

from coreloop.mine.decode import CallFields, Line
from coreloop.mine.outcome import error_class, is_ok
from coreloop.mine.signals import template
from coreloop.mine.tables import CALLS
from coreloop.records import DEFAULT_SELECTORS, digest64, selector_value, step

_MOST_REMEMBERED: Final = 100_000
_LONGEST_VALUE_BYTES: Final = 400
_NO_ARGS: Final[dict[str, msgspec.Raw]] = {}
_MOST_US: Final = 10**12


class CallShapes:
    """Numbers of the shapes of calls.

    Attributes
    ----------
    steps : list of str
        By number: the step in a sequence.
    parts : list of dict
        By number: ``{"name", "selectors", "arg_keys"}``, as in a candidate's ``tool_pattern``.
    """

    def __init__(self, selectors: Mapping[str, Sequence[str]]) -> None:
        self._selectors = selectors
        self._numbers: dict[tuple[str, bytes], int] = {}
        self._known: dict[tuple[Any, ...], int | tuple[str, ...]] = {}
        self.steps: list[str] = []
        self.parts: list[dict[str, Any]] = []

    def number(self, call: CallFields) -> int:
        """The number of a call's shape: its tool, selector values and argument names."""
        args = call.args if isinstance(call.args, dict) else _NO_ARGS
        key = (call.name, *args)
        known = self._known.get(key)
        if known is None:
            known = self._learn(call, key)
        if isinstance(known, int):
            return known
        values = [bytes(args[name]) for name in known]
        full = (*key, *values)
        found = self._known.get(full)
        if isinstance(found, int):
            return found
        number = self._shape(call)
        if sum(map(len, values)) <= _LONGEST_VALUE_BYTES:
            self._remember(full, number)
        return number

    def _learn(self, call: CallFields, key: tuple[str, ...]) -> int | tuple[str, ...]:
        """The selectors that a call with these arguments has; without any, its number."""
        chosen = self._selectors.get(call.name, DEFAULT_SELECTORS)
        present = tuple(name for name in chosen if name in key[1:])
        known = present or self._shape(call)
        self._remember(key, known)
        return known

    def _shape(self, call: CallFields) -> int:
        chosen = self._selectors.get(call.name, DEFAULT_SELECTORS)
        values = call.selected(chosen)
        selectors = {key: selector_value(value) for key, value in values.items() if value is not None}
        arg_keys = sorted(call.args) if isinstance(call.args, dict) else []
        text = step(call.name, values, chosen)
        part = {"name": call.name, "selectors": selectors, "arg_keys": arg_keys}
        number = self._numbers.setdefault((text, orjson.dumps(part)), len(self.steps))
        if number == len(self.steps):
            self.steps.append(text)
            self.parts.append(part)
        return number

    def _remember(self, key: tuple[Any, ...], known: int | tuple[str, ...]) -> None:
        if len(self._known) >= _MOST_REMEMBERED:  # values that never recur need no memory
            self._known.clear()
        self._known[key] = known


class CallCounter:
    """Counts calls; memory grows with the distinct shapes and errors, not with the calls."""

    def __init__(self, shapes: CallShapes) -> None:
        self._shapes = shapes
        self._ok: dict[tuple[int, str, tuple[int, ...]], int] = {}
        self._failed: dict[tuple[int, str, int, str, str], list[int]] = {}

    def add(self, line: Line, day: int, ok: tuple[int, ...]) -> None:
        """Count the calls of a record; ``ok`` has the numbers of those that were."""
        provider = line.fields.provider or ""
        if ok:
            key = (day, provider, ok)
            self._ok[key] = self._ok.get(key, 0) + 1
        if len(ok) < len(line.calls):
            for call in line.calls:
                if not is_ok(call):
                    self._fail(call, line, day, provider)

    def _fail(self, call: CallFields, line: Line, day: int, provider: str) -> None:
        text = str(call.error)
        general = template(text)
        key = (day, provider, self._shapes.number(call), error_class(text), general)
        counts = self._failed.setdefault(key, [0, 0, line.ts_us, line.ts_us, line.offset])
        counts[0] += 1
        counts[1] += min(max(0, round((call.duration_ms or 0) * 1000)), _MOST_US)
        if line.ts_us < counts[2]:
            counts[2], counts[4] = line.ts_us, line.offset
        counts[3] = max(counts[3], line.ts_us)

    def frame(self) -> pl.DataFrame:
        """The counts so far, by `coreloop.mine.tables.CALLS`."""
        rows = [*self._ok_rows(), *self._failed_rows()]
        return pl.DataFrame(rows, schema=CALLS, orient="row")

    def texts(self) -> Iterator[tuple[str, int, str]]:
        """Kind, hash and text of what the hashes in the frame stand for."""
        for text in map(self._text, range(len(self._shapes.parts))):
            yield "call", digest64(text), text
        for text in {key[-1] for key in self._failed}:
            yield "template", digest64(text), text

    def _ok_rows(self) -> Iterator[tuple[Any, ...]]:
        counts: Counter[tuple[int, str, int]] = Counter()
        for (day, provider, numbers), n in self._ok.items():
            for number in numbers:
                counts[day, provider, number] += n
        for (day, provider, number), n in counts.items():
            yield day, provider, *self._tool(number), "", 0, n, 0, None, None, None

    def _failed_rows(self) -> Iterator[tuple[Any, ...]]:
        for (day, provider, number, error, general), counts in self._failed.items():
            yield day, provider, *self._tool(number), error, digest64(general), *counts

    def _tool(self, number: int) -> tuple[str, int]:
        return self._shapes.parts[number]["name"], digest64(self._text(number))

    def _text(self, number: int) -> str:
        part = self._shapes.parts[number]
        return orjson.dumps({"selectors": part["selectors"], "arg_keys": part["arg_keys"]}).decode()
