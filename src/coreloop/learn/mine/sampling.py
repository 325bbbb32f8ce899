"""Sampling of a file's requests, which are stored call by call to find out why calls fail.

The sample is the `MAX_SAMPLED` requests with the smallest hashes, so that the parts of a file, merged in any
order, have the same sample as the whole file.
"""

from collections.abc import Mapping, Sequence
from heapq import heappush, heappushpop
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from coreloop.base.encoding import ELIDED
from coreloop.base.failures import MAX_ERROR_CHARS, error_class
from coreloop.learn.mine.rows import as_int
from coreloop.learn.mine.tables import MAX_SAMPLED
from coreloop.learn.mine.values import bucket_of, value_hash
from coreloop.observe.reading.fields import CallFields
from coreloop.observe.reading.outcome import is_ok

_64_BITS: Final = (1 << 64) - 1
_MIX: Final = 0x9E3779B97F4A7C15
_MAX_CALLS: Final = 100
_MAX_PATHS: Final = 4
_MAX_ARGUMENTS: Final = 100
_MAX_NAME_CHARS: Final = 64
"""Longest argument name that can be written in a docstring."""
_EMPTY: Final[tuple[Any, ...]] = (None, "", [], {})
_Sources = Mapping[str, tuple[str, ...]]
_T = TypeVar("_T")


class SampledArgument(msgspec.Struct, array_like=True, gc=False, frozen=True):
    """An argument of a call.

    Attributes
    ----------
    value : int
        64-bit hash of the value: of a text in NFC and trimmed; of a number or boolean as JSON. 0 if the value
        was too long to be recorded.
    bucket : int or None
        Bucket of a number, see `coreloop.learn.mine.values.EDGES`.
    sources : tuple of str or None
        Earlier places of the same value, up to four; None if not recorded.
    """

    value: int
    bucket: int | None = None
    sources: tuple[str, ...] | None = None


class SampledCall(msgspec.Struct, array_like=True, gc=False, frozen=True):
    """A call; ``error_class`` is empty if it succeeded.

    ``empty`` names arguments that are an empty text, list or object; null counts as absent.
    """

    tool: str
    error_class: str
    arguments: dict[str, SampledArgument]
    empty: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether it succeeded."""
        return not self.error_class


class SampledLine(NamedTuple):
    """A record in the draw, with what its row needs if it stays in the sample."""

    ts_us: int
    category: str
    provider: str | None
    outcome: int
    question: str
    calls: Sequence[CallFields]
    raw: bytes


class _CallExtras(msgspec.Struct, gc=False):
    args: Any = None
    args_from: dict[str, tuple[str, ...]] | None = None


class _Extras(msgspec.Struct, gc=False):
    """Fields of a line that only the sample needs."""

    model: str | None = None
    tool_calls: list[_CallExtras] | None = None


class _LooseCall(msgspec.Struct, gc=False):
    args_from: msgspec.Raw = msgspec.Raw(b"null")


class _LooseExtras(msgspec.Struct, gc=False):
    model: msgspec.Raw = msgspec.Raw(b"null")
    tool_calls: list[msgspec.Raw] | None = None


_decode_extras = msgspec.json.Decoder(_Extras).decode


def sample_number(ts_us: int, offset: int) -> int:
    """A record's number in the draw, 64 bits."""
    return ((ts_us ^ (offset << 20)) * _MIX) & _64_BITS


class Sampler:
    """Collects the records with the smallest numbers.

    Attributes
    ----------
    limit : int
        Records with greater numbers are not in the sample.
    """

    __slots__ = ("_heap", "_n_offered", "limit")

    def __init__(self) -> None:
        self.limit = _64_BITS
        self._heap: list[tuple[int, int, int, SampledLine]] = []
        self._n_offered = 0

    def offer(self, number: int, offset: int, line: SampledLine) -> None:
        """Add a record; if the sample is full, drop the record with the greatest number."""
        self._n_offered += 1  # breaks ties, so that lines are never compared
        entry = (-number, -offset, self._n_offered, line)
        if len(self._heap) < MAX_SAMPLED:
            heappush(self._heap, entry)
            return
        heappushpop(self._heap, entry)
        self.limit = -self._heap[0][0]

    def rows(self) -> list[tuple[Any, ...]]:
        """Rows of `coreloop.learn.mine.tables.SAMPLE`."""
        return [_row(-number, -offset, line) for number, offset, _, line in self._heap]


def _row(number: int, offset: int, line: SampledLine) -> tuple[Any, ...]:
    model, extras = _extras(line)
    calls = [
        _call(call, extra.args, extra.args_from)
        for call, extra in zip(line.calls[:_MAX_CALLS], extras, strict=False)
    ]
    return (
        number,
        line.ts_us,
        offset,
        line.category,
        model,
        line.provider or "",
        line.outcome,
        as_int(line.question),
        msgspec.json.encode(calls).decode(),
    )


def _extras(line: SampledLine) -> tuple[str, Sequence[_CallExtras]]:
    """The model, and the arguments of each call with their sources."""
    try:
        extras = _decode_extras(line.raw)
        if len(extras.tool_calls or ()) == len(line.calls):
            return extras.model or "", extras.tool_calls or ()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    return _loose_extras(line)


def _loose_extras(line: SampledLine) -> tuple[str, Sequence[_CallExtras]]:
    """`_extras` of a malformed line, value by value; malformed values count as not recorded."""
    loose = _read(line.raw, _LooseExtras) or _LooseExtras()
    raws = loose.tool_calls or []
    sources: list[dict[str, tuple[str, ...]] | None] = [None] * len(line.calls)
    if len(raws) == len(line.calls):
        sources = [_loose_sources((_read(raw, _LooseCall) or _LooseCall()).args_from) for raw in raws]
    extras = [
        _CallExtras(_decode_args(call.args), paths) for call, paths in zip(line.calls, sources, strict=True)
    ]
    return _read(loose.model, str) or "", extras


def _loose_sources(raw: msgspec.Raw) -> dict[str, tuple[str, ...]] | None:
    raws = _read(raw, dict[str, msgspec.Raw]) or {}
    read = {name: _read(paths, tuple[str, ...]) for name, paths in raws.items()}
    return {name: paths for name, paths in read.items() if paths is not None} or None


def _decode_args(args: object) -> dict[str, Any]:
    """Decode each argument; `ELIDED` if it is unreadable."""
    raws = args.items() if isinstance(args, dict) else ()
    return {name: _decode_value(raw) for name, raw in raws}


def _decode_value(raw: msgspec.Raw) -> Any:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ELIDED


def _read(raw: bytes, kind: type[_T]) -> _T | None:
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _call(call: CallFields, args: Any, sources: _Sources | None) -> SampledCall:
    class_ = "" if is_ok(call) else error_class(str(call.error)[:MAX_ERROR_CHARS])
    named = args if type(args) is dict else {}
    known = sources or {}
    return SampledCall(
        call.name,
        class_,
        {
            name: SampledArgument(
                value_hash(value),
                bucket_of(value) if type(value) is int or type(value) is float else None,
                known[name][:_MAX_PATHS] if name in known else None,
            )
            for name, value in islice(named.items(), _MAX_ARGUMENTS)
            if value not in _EMPTY and len(name) <= _MAX_NAME_CHARS
        },
        tuple(
            name
            for name, value in islice(named.items(), _MAX_ARGUMENTS)
            if value in _EMPTY and value is not None and len(name) <= _MAX_NAME_CHARS
        ),
    )
