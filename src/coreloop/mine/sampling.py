"""Which requests of a file are kept call by call, and what is kept of them: enough to tell why calls fail.

The smallest numbers of a mixing function make the sample, so that the parts of a file, in any order, have the
same sample as the whole, and a busy day costs no more than `MOST_SAMPLED`.
"""

from collections.abc import Mapping, Sequence
from heapq import heappush, heappushpop
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from coreloop.categories import Categories
from coreloop.encoding import ELIDED
from coreloop.failures import MAX_ERROR_CHARS, error_class
from coreloop.mine.fields import CallFields, CountedFields
from coreloop.mine.outcome import is_ok
from coreloop.mine.rows import as_int
from coreloop.mine.tables import MOST_SAMPLED
from coreloop.mine.values import bucket_of, value_hash

_64_BITS: Final = (1 << 64) - 1
_MIX: Final = 0x9E3779B97F4A7C15
_MOST_CALLS: Final = 100
_MOST_PATHS: Final = 4
_MOST_ARGUMENTS: Final = 100
_MOST_NAME_CHARS: Final = 64
"""Of an argument's name; one that is longer cannot be said."""
_EMPTY: Final[tuple[Any, ...]] = (None, "", [], {})
_Places = Mapping[str, tuple[str, ...]]
_T = TypeVar("_T")


class SampledArgument(msgspec.Struct, array_like=True, gc=False, frozen=True):
    """An argument that was given.

    Attributes
    ----------
    value : int
        64 bits of the value: of a text in NFC and trimmed; of a number, true and false as JSON has them. 0
        where the line had no room for it.
    bucket : int or None
        Of a number, into `EDGES`.
    sources : tuple of str or None
        Where the value had stood before, up to four places; None where that was not recorded.
    """

    value: int
    bucket: int | None = None
    sources: tuple[str, ...] | None = None


class SampledCall(msgspec.Struct, array_like=True, gc=False, frozen=True):
    """A call; ``error_class`` is empty where it was ok.

    ``empty`` names arguments that are an empty text, list or object; one that is null counts as absent.
    """

    tool: str
    error_class: str
    arguments: dict[str, SampledArgument]
    empty: tuple[str, ...] = ()

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
    args: Any = None
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


def sample_number(ts_us: int, offset: int) -> int:
    """A record's number in the draw, 64 bits."""
    return ((ts_us ^ (offset << 20)) * _MIX) & _64_BITS


class Sampler:
    """The records with the smallest numbers, as they come.

    Attributes
    ----------
    limit : int
        A record of a greater number is not in the sample any more.
    """

    __slots__ = ("_heap", "_n_offered", "limit")

    def __init__(self) -> None:
        self.limit = _64_BITS
        self._heap: list[tuple[int, int, int, SampledLine]] = []
        self._n_offered = 0

    def offer(self, number: int, offset: int, line: SampledLine) -> None:
        """Take a record in; the one of the greatest number goes where there are too many."""
        self._n_offered += 1  # no two lines are alike, and lines are not compared
        entry = (-number, -offset, self._n_offered, line)
        if len(self._heap) < MOST_SAMPLED:
            heappush(self._heap, entry)
            return
        heappushpop(self._heap, entry)
        self.limit = -self._heap[0][0]

    def rows(self, rules: Categories) -> list[tuple[Any, ...]]:
        """Rows of `coreloop.mine.tables.SAMPLE`; the keywords are those of ``rules``."""
        return [_row(-number, -offset, line, rules) for number, offset, _, line in self._heap]


def _row(number: int, offset: int, line: SampledLine, rules: Categories) -> tuple[Any, ...]:
    model, extras = _extras(line)
    packed = [
        _call(call, one.args, one.args_from)
        for call, one in zip(line.calls[:_MOST_CALLS], extras, strict=False)
    ]
    return (
        number,
        line.ts_us,
        offset,
        line.category,
        model,
        line.provider or "",
        line.outcome,
        as_int(line.asked),
        "\n".join(rules.keywords(line.fields.question or "")),
        msgspec.json.encode(packed).decode(),
    )


def _extras(line: SampledLine) -> tuple[str, Sequence[_CallExtras]]:
    """The model and, of each call, arguments and where they had stood."""
    try:
        extras = _decode_extras(line.raw)
        if len(extras.tool_calls or ()) == len(line.calls):
            return extras.model or "", extras.tool_calls or ()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    return _loose_extras(line)


def _loose_extras(line: SampledLine) -> tuple[str, Sequence[_CallExtras]]:
    """The same, value by value; what has another shape counts as not recorded."""
    loose = _read(line.raw, _LooseExtras) or _LooseExtras()
    raws = loose.tool_calls or []
    places: list[dict[str, tuple[str, ...]] | None] = [None] * len(line.calls)
    if len(raws) == len(line.calls):
        places = [_loose_places((_read(one, _LooseCall) or _LooseCall()).args_from) for one in raws]
    extras = [_CallExtras(_decoded(call.args), found) for call, found in zip(line.calls, places, strict=True)]
    return _read(loose.model, str) or "", extras


def _loose_places(raw: msgspec.Raw) -> dict[str, tuple[str, ...]] | None:
    read = {
        name: _read(one, tuple[str, ...]) for name, one in (_read(raw, dict[str, msgspec.Raw]) or {}).items()
    }
    return {name: paths for name, paths in read.items() if paths is not None} or None


def _decoded(args: object) -> dict[str, Any]:
    """Arguments one by one; one that cannot be read is as one that is not known."""
    raws = args.items() if isinstance(args, dict) else ()
    return {name: _known(raw) for name, raw in raws}


def _known(raw: msgspec.Raw) -> Any:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ELIDED


def _read(raw: bytes, kind: type[_T]) -> _T | None:
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _call(call: CallFields, args: Any, places: _Places | None) -> SampledCall:
    failed = "" if is_ok(call) else error_class(str(call.error)[:MAX_ERROR_CHARS])
    named = args if type(args) is dict else {}
    known = places or {}
    return SampledCall(
        call.name,
        failed,
        {
            name: SampledArgument(
                value_hash(value),
                bucket_of(value) if type(value) is int or type(value) is float else None,
                known[name][:_MOST_PATHS] if name in known else None,
            )
            for name, value in islice(named.items(), _MOST_ARGUMENTS)
            if value not in _EMPTY and len(name) <= _MOST_NAME_CHARS
        },
        tuple(
            name
            for name, value in islice(named.items(), _MOST_ARGUMENTS)
            if value in _EMPTY and value is not None and len(name) <= _MOST_NAME_CHARS
        ),
    )
