"""The calls of a batch of records: as rows of their tables, and as the sequences of the records."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any, Final, NamedTuple

import msgspec
import orjson
import polars as pl

from coreloop.base.error_classes import MAX_ERROR_CHARS, error_class
from coreloop.base.records import (
    DEFAULT_SELECTORS,
    digest64,
    hash_sequence,
    join_steps,
    selector_value,
    step,
)
from coreloop.learn.facts.schema import ARGUMENTS, CALLS, KEY, SAW, as_int, frame_of, typed
from coreloop.learn.facts.values import read_values
from coreloop.observe.reading.error_texts import general
from coreloop.observe.reading.fields import CallFields, cut_name
from coreloop.observe.reading.outcome import why_unknown, worked
from coreloop.observe.reading.own_values import without_own_values

_MAX_PATHS: Final = 4
"""Places of a value that are kept, the nearest first."""
_MAX_US: Final = 10**12
_OF_TOOL: Final = (*KEY, "tool")
_ALIKE: Final = str.maketrans("123456789", "000000000")
"""Errors that differ only in their digits are classified once, unless they may hold status 429."""
_NO_ARGS: Final[dict[str, msgspec.Raw]] = {}
_digest: Final = lru_cache(maxsize=16_384)(digest64)  # the same few thousand texts recur every day
_CALL: Final = {
    **{name: CALLS[name] for name in ("file", "offset", "ts_us", "call")},
    "part": pl.UInt32,
    "error_class": pl.String,
    "template": pl.UInt64,
    "unknown": pl.String,
    "flagged": pl.Boolean,
    "overrides": pl.Boolean,
    "duration_us": pl.Float64,
    "result_bytes": pl.Float64,
}
"""`CALLS` with the number of a `_Shape`, before numbers are checked."""


class _Shape(NamedTuple):
    """What calls with the same tool, selectors and argument names have in common.

    ``step`` is its step in a sequence, ``json`` the same with the names of its arguments.
    """

    step: str
    json: str
    tool: str
    shape: int
    arguments: tuple[str, ...]


class Calls:
    """The calls of records, in order."""

    def __init__(self, selectors: Mapping[str, Sequence[str]]) -> None:
        self.texts: set[tuple[str, int, str]] = set()
        self._selectors = selectors
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._shapes: list[_Shape] = []
        self._rows: list[tuple[Any, ...]] = []
        self._distinct: dict[bytes, int] = {}
        self._values: list[int] = []
        self._sources: list[int | None] = []
        self._saw: list[tuple[Any, ...]] = []
        self._sequences: dict[tuple[int, ...], tuple[int, int]] = {}

    def add(self, place: tuple[int, int, int], calls: Iterable[CallFields]) -> tuple[int, ...]:
        """Add the calls of a record (file, offset and time); return the numbers of the successful shapes."""
        ok = []
        distinct = self._distinct
        for index, call in enumerate(calls):
            args = call.args if type(call.args) is dict else _NO_ARGS
            chosen = self._selectors.get(call.name, DEFAULT_SELECTORS)
            key = (call.name, *args, *[b"" + args[name] for name in chosen if name in args])
            number = self._numbers.get(key)
            if number is None:
                number = self._numbers[key] = self._learn(call, args, chosen)
            how: tuple[str, int, str | None] = ("", 0, None)
            if call.ok or worked(call):
                ok.append(number)
            else:
                how = self._failure(call, args)
            self._rows.append(
                (
                    *place,
                    index,
                    number,
                    *how,
                    bool(call.extreme_flags),
                    bool(call.overrides_used),
                    call.duration_ms,
                    call.result_size_bytes,
                )
            )
            self._values += [distinct.setdefault(b"" + raw, len(distinct)) for raw in args.values()]
            sources = _read_sources(bytes(call.args_from)) if call.args_from else {}
            self.texts.update(sources.values())
            self._sources += [sources[name][1] if name in sources else None for name in args]
            if call.saw:
                seen = _read_saw(bytes(call.saw))
                self._saw += [(*place[:2], index, *row) for row in seen]
        return tuple(ok)

    def _failure(self, call: CallFields, args: Mapping[str, msgspec.Raw]) -> tuple[str, int, str | None]:
        """The error's class and template, and `why_unknown`."""
        why = why_unknown(call)
        if worked(call) is None:
            return "", 0, why
        masked = without_own_values(str(call.error)[:MAX_ERROR_CHARS], args)
        name, text = _classify(masked.text if "429" in masked.text else masked.text.translate(_ALIKE))
        return name, self._add_text("template", masked.filled(text)), why

    def _learn(self, call: CallFields, args: Mapping[str, Any], chosen: Sequence[str]) -> int:
        values = call.selected(chosen)
        selectors = {key: selector_value(value) for key, value in values.items() if value is not None}
        names = tuple(map(cut_name, args))
        nameless = {"selectors": selectors, "arg_keys": sorted(names)}
        shape = self._add_text("call", orjson.dumps(nameless).decode())
        self._add_text("names", _json(names))
        named = orjson.dumps({"name": call.name, **nameless}).decode()
        text = step(call.name, values, chosen)
        self._shapes.append(_Shape(text, named, call.name, shape, names))
        return len(self._shapes) - 1

    def _add_text(self, kind: str, text: str) -> int:
        number = _digest(text)
        self.texts.add((kind, number, text))
        return number

    def sequence_of(self, ok: tuple[int, ...], recorded: str | None) -> tuple[int, int]:
        """Hashes of the sequence of successful calls and of its shape.

        ``recorded`` is the recorded hash if calls were omitted: then nothing else is known.
        """
        if recorded is not None:
            return as_int(recorded), 0
        if ok not in self._sequences:
            self._sequences[ok] = self._hashes(ok)
        return self._sequences[ok]

    def _hashes(self, ok: tuple[int, ...]) -> tuple[int, int]:
        steps = [next(same) for _, same in groupby(map(self._shapes.__getitem__, ok), lambda it: it.step)]
        sequence = join_steps(shape.step for shape in steps)
        number = as_int(hash_sequence(sequence))
        self.texts.add(("sequence", number, sequence))
        return number, self._add_text("shape", f"[{','.join(shape.json for shape in steps)}]")

    def tables(self) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
        """`CALLS`, `ARGUMENTS` and `SAW`."""
        rows = frame_of(self._rows, _CALL)
        part = rows["part"]
        of_shape = {name: CALLS[name] for name in ("tool", "shape")}
        shapes = frame_of([shape[2:4] for shape in self._shapes], of_shape)
        retry, recovered = retries(_OF_TOOL)
        failed = pl.col("error_class") != ""
        calls = (
            pl.concat([rows, shapes[part]], how="horizontal")
            .with_columns(failed=failed, ok=~failed & pl.col("unknown").is_null())
            .with_columns(
                retry=retry & (failed | pl.col("unknown").is_null()),
                recovered=recovered,
                duration_us=(pl.col("duration_us") * 1000).clip(0, _MAX_US).round(),
            )
        )
        names = pl.Series([shape.arguments for shape in self._shapes], dtype=pl.List(pl.String))
        arguments = rows.select("file", "offset", "call", name=names.gather(part))
        arguments = arguments.explode("name", empty_as_null=False).with_columns(
            read_values(self._distinct)[pl.Series(self._values, dtype=pl.UInt32)],
            sources=pl.Series(self._sources, dtype=pl.UInt64),
        )
        return calls.select(typed(CALLS)), arguments.select(typed(ARGUMENTS)), frame_of(self._saw, SAW)


def retries(same: Sequence[str]) -> tuple[pl.Expr, pl.Expr]:
    """Whether a call is a retry, and whether it was recovered, of rows with ``failed`` and ``ok``.

    ``same`` are the columns that calls of one tool in one request have in common.
    """
    retry = (pl.col("failed").cum_sum() - pl.col("failed")).over(same) > 0
    return retry, pl.when("failed").then(pl.col("ok").cum_sum(reverse=True).over(same) > 0)


@lru_cache(maxsize=8192)  # the same errors recur every day
def _classify(error: str) -> tuple[str, str]:
    return error_class(error), general(error)


@lru_cache(maxsize=8192)
def _read_sources(raw: bytes) -> dict[str, tuple[str, int, str]]:
    """The earlier places of each argument's value, as `TEXTS`."""
    texts = {name: _json(paths[:_MAX_PATHS]) for name, paths in _entries(raw, list[str])}
    return {name: ("sources", _digest(text), text) for name, text in texts.items()}


@lru_cache(maxsize=8192)
def _read_saw(raw: bytes) -> list[tuple[str, str, str | None]]:
    """The fields of the objects that arguments name: argument, field, and the literal that was shown."""
    return [
        (argument, field, literal if literal is None or isinstance(literal, str) else _json(literal))
        for argument, fields in _entries(raw, dict[str, str | int | float | bool | None])
        for field, literal in fields.items()
    ]


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _entries(raw: bytes | msgspec.Raw, kind: Any) -> Iterator[tuple[str, Any]]:
    """The entries of an object that have a type."""
    for name, value in (decoded(raw, dict[str, msgspec.Raw]) or {}).items():
        entry = decoded(value, kind)
        if entry is not None:
            yield name, entry


def decoded(raw: bytes | msgspec.Raw, kind: Any) -> Any:
    """A value of a type, or None for any other JSON."""
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
