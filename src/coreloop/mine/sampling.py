"""Which requests of a file are kept call by call, and what is kept of them: enough to tell why calls fail.

The smallest numbers of a mixing function make the sample, so that the parts of a file, in any order, have the
same sample as the whole, and a busy day costs no more than `MOST_SAMPLED`.
"""

import unicodedata
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import lru_cache
from heapq import heappush, heappushpop
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from coreloop.categories import Categories
from coreloop.failures import MAX_ERROR_CHARS, error_class
from coreloop.mine.fields import CallFields, CountedFields
from coreloop.mine.outcome import is_ok
from coreloop.mine.rows import as_int
from coreloop.mine.tables import MOST_SAMPLED
from coreloop.records import digest64

_64_BITS: Final = (1 << 64) - 1
_MIX: Final = 0x9E3779B97F4A7C15
_MOST_PATHS: Final = 4
_MOST_CALLS: Final = 100
_MOST_ARGUMENTS: Final = 100
_MOST_NAME_CHARS: Final = 64
"""Of an argument's name; one that is longer cannot be said."""
_STEPS: Final = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)
EDGES: Final = tuple(step * 10.0**power for power in range(-3, 13) for step in _STEPS)
"""Upper ends of the buckets of positive numbers, ten a decade; bucket 0 is what is not above 0.001."""
_Places = Mapping[str, tuple[str, ...]]
_T = TypeVar("_T")
_EMPTY: Final = (b"null", b'""', b"[]", b"{}")


class SampledArgument(msgspec.Struct, array_like=True, gc=False, frozen=True):
    """An argument that was given.

    Attributes
    ----------
    value : int
        64 bits of the value: of a text in NFC and trimmed; of a number, true and false as JSON has them.
    bucket : int or None
        Of a number, into `EDGES`.
    sources : tuple of str or None
        Where the value had stood before, up to four places; None where that was not recorded.
    """

    value: int
    bucket: int | None = None
    sources: tuple[str, ...] | None = None


class SampledCall(msgspec.Struct, array_like=True, gc=False, frozen=True):
    """A call; ``error_class`` is empty where it was ok. Arguments that are null or empty count as absent."""

    tool: str
    error_class: str
    arguments: dict[str, SampledArgument]

    @property
    def ok(self) -> bool:
        """Whether it did what it was asked for."""
        return not self.error_class


class SampledLine(NamedTuple):
    """A record as the counting of lines has read it: what of it is kept, should it stay in the sample."""

    ts_us: int
    category: str
    provider: str | None
    outcome: int
    asked: str
    fields: CountedFields
    calls: Sequence[CallFields]
    raw: bytes


class _CallExtras(msgspec.Struct, gc=False):
    args_from: dict[str, tuple[str, ...]] | None = None


class _Extras(msgspec.Struct, gc=False):
    """What the sample alone needs of a line."""

    model: str | None = None
    tool_calls: list[_CallExtras] | None = None


class _LooseCall(msgspec.Struct, gc=False):
    args_from: msgspec.Raw = msgspec.Raw(b"null")


class _LooseExtras(msgspec.Struct, gc=False):
    model: msgspec.Raw = msgspec.Raw(b"null")
    tool_calls: list[msgspec.Raw] | None = None


_decode_extras = msgspec.json.Decoder(_Extras).decode
_decode_value = msgspec.json.Decoder().decode
_digest: Final = lru_cache(maxsize=16_384)(digest64)


def sample_number(ts_us: int, offset: int) -> int:
    """A record's number in the draw, 64 bits."""
    mixed = ((ts_us ^ (offset << 20)) * _MIX) & _64_BITS
    return ((mixed ^ (mixed >> 29)) * _MIX) & _64_BITS


class Sampler:
    """The records with the smallest numbers, as they come.

    Attributes
    ----------
    limit : int
        A record of a greater number is not in the sample any more.
    """

    __slots__ = ("_heap", "limit")

    def __init__(self) -> None:
        self.limit = _64_BITS
        self._heap: list[tuple[int, int, SampledLine]] = []

    def offer(self, number: int, offset: int, line: SampledLine) -> None:
        """Take a record in; the one of the greatest number goes where there are too many."""
        entry = (-number, -offset, line)
        if len(self._heap) < MOST_SAMPLED:
            heappush(self._heap, entry)
            return
        heappushpop(self._heap, entry)
        self.limit = -self._heap[0][0]

    def rows(self, rules: Categories) -> list[tuple[Any, ...]]:
        """Rows of `coreloop.mine.tables.SAMPLE`; the keywords are those of ``rules``."""
        return [_row(-number, -offset, line, rules) for number, offset, line in self._heap]


def _row(number: int, offset: int, line: SampledLine, rules: Categories) -> tuple[Any, ...]:
    calls = line.calls[:_MOST_CALLS]
    model, sources = _extras(line.raw, len(line.calls))
    packed = [_call(call, places) for call, places in zip(calls, sources, strict=False)]
    keywords = rules.keywords(line.fields.question or "")
    return (
        number,
        line.ts_us,
        offset,
        line.category,
        model,
        line.provider or "",
        line.outcome,
        as_int(line.asked),
        "\n".join(keywords),
        msgspec.json.encode(packed).decode(),
    )


def _extras(raw: bytes, n_calls: int) -> tuple[str, Sequence[_Places | None]]:
    """The model, and where each call's arguments had stood; what has another shape counts as not recorded."""
    try:
        extras = _decode_extras(raw)
        model = extras.model or ""
        places: list[_Places | None] = [one.args_from for one in extras.tool_calls or ()]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        model, places = _loose_extras(raw)
    return model, places if len(places) == n_calls else [None] * n_calls


def _loose_extras(raw: bytes) -> tuple[str, list[_Places | None]]:
    """The same, value by value, of a line in which one has another shape."""
    loose = _read(raw, _LooseExtras) or _LooseExtras()
    calls = (_read(one, _LooseCall) or _LooseCall() for one in loose.tool_calls or ())
    return _read(loose.model, str) or "", [_loose_places(one.args_from) for one in calls]


def _loose_places(raw: msgspec.Raw) -> _Places | None:
    read = {
        name: _read(one, tuple[str, ...]) for name, one in (_read(raw, dict[str, msgspec.Raw]) or {}).items()
    }
    return {name: paths for name, paths in read.items() if paths is not None} or None


def _read(raw: bytes, kind: type[_T]) -> _T | None:
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _call(call: CallFields, places: _Places | None) -> SampledCall:
    failed = "" if is_ok(call) else error_class(str(call.error)[:MAX_ERROR_CHARS])
    args = call.args if isinstance(call.args, dict) else {}
    return SampledCall(
        call.name,
        failed,
        {
            name: _argument(raw, None if places is None else places.get(name))
            for name, raw in islice(args.items(), _MOST_ARGUMENTS)
            if bytes(raw) not in _EMPTY and len(name) <= _MOST_NAME_CHARS
        },
    )


def _argument(raw: msgspec.Raw, sources: tuple[str, ...] | None) -> SampledArgument:
    kept = None if sources is None else sources[:_MOST_PATHS]
    try:
        value = _decode_value(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return SampledArgument(digest64(bytes(raw).decode("utf-8", "replace")), None, kept)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return SampledArgument(value_hash(value, raw), bucket_of(value) if is_number else None, kept)


def value_hash(value: object, raw: bytes = b"") -> int:
    """An argument's value as 64 bits; ``raw`` is its JSON, which a list or an object is known by."""
    if isinstance(value, str):
        return _digest(unicodedata.normalize("NFC", value).strip())
    if isinstance(value, bool):
        return _digest("true" if value else "false")
    if isinstance(value, float) and value.is_integer():
        return _digest(str(int(value)))
    if isinstance(value, int | float):
        return _digest(str(value))
    return digest64(bytes(raw).decode("utf-8", "replace"))


def bucket_of(number: float) -> int:
    """The bucket of a number: fixed logarithmic ones, ten a decade, those of negative numbers below 0."""
    return bisect_left(EDGES, number) if number >= 0 else -1 - bisect_left(EDGES, -number)
