"""The calls of one file, counted by tool, shape of the arguments and error: what refining needs."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Final

import orjson
import polars as pl

from coreloop.mine.decode import CallFields, Line
from coreloop.mine.outcome import error_class, is_ok
from coreloop.mine.signals import template
from coreloop.records import DEFAULT_SELECTORS, selector_value

CALL_SCHEMA: Final[Mapping[str, Any]] = {
    "day": pl.Int32,
    "provider": pl.String,
    "tool": pl.String,
    "shape": pl.UInt64,
    "error_class": pl.String,  # empty: the call was ok
    "template": pl.UInt64,  # 0: the call was ok
    "n": pl.UInt32,
    "wasted_ms": pl.Float64,
    "first_us": pl.Int64,
    "last_us": pl.Int64,
    "offset": pl.UInt64,
}
_Key = tuple[int, str, str, int, str, int]


class CallCounter:
    """Counts calls line by line; memory grows with the distinct shapes and errors, not with the calls.

    Attributes
    ----------
    shapes : dict of int to str
        Shape hash -> JSON of ``{"selectors", "arg_keys"}``.
    templates : dict of int to str
        Template hash -> the error's text as a template.
    """

    def __init__(self, selectors: Mapping[str, Sequence[str]]) -> None:
        self._selectors = selectors
        self._counts: dict[_Key, list[float]] = {}
        self.shapes: dict[int, str] = {}
        self.templates: dict[int, str] = {}

    def add(self, line: Line, day: int) -> None:
        """Count the calls of one record."""
        for call in line.calls:
            failed = not is_ok(call)
            text = str(call.error) if failed else ""
            key = (
                day,
                line.fields.provider or "",
                call.name,
                self._shape(call),
                error_class(text) if failed else "",
                self._template(failed, text),
            )
            counts = self._counts.setdefault(key, [0, 0.0, line.ts_us, line.ts_us, line.offset])
            if line.ts_us < counts[2]:
                counts[2], counts[4] = line.ts_us, line.offset
            counts[0] += 1
            counts[1] += call.duration_ms or 0 if failed else 0
            counts[3] = max(counts[3], line.ts_us)

    def frame(self) -> pl.DataFrame:
        """The counts so far, by `CALL_SCHEMA`."""
        rows = [(*key, *counts) for key, counts in self._counts.items()]
        columns = zip(*rows, strict=True) if rows else ((),) * len(CALL_SCHEMA)
        return pl.DataFrame(dict(zip(CALL_SCHEMA, columns, strict=True)), schema=CALL_SCHEMA, strict=False)

    def _shape(self, call: CallFields) -> int:
        args = call.args if isinstance(call.args, dict) else {}
        values = call.selected(self._selectors.get(call.name, DEFAULT_SELECTORS))
        chosen = {key: selector_value(value) for key, value in values.items() if value is not None}
        text = orjson.dumps({"selectors": chosen, "arg_keys": sorted(args)}).decode()
        return _remember(self.shapes, text)

    def _template(self, failed: bool, text: str) -> int:
        return _remember(self.templates, template(text)) if failed else 0


def _remember(texts: dict[int, str], text: str) -> int:
    number = int.from_bytes(sha256(text.encode("utf-8", "replace")).digest()[:8], "big")
    texts.setdefault(number, text)
    return number
