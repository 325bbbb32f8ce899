"""Lines -> facts. A year has millions of lines, so the loop over them is kept short."""

import gc
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Final, TypeVar

import msgspec

from coreloop.base.categories import Categories
from coreloop.base.records import UNSPECIFIED, hash_question, is_category
from coreloop.learn.facts.columns import Columns, to_facts
from coreloop.learn.facts.oddities import Oddities
from coreloop.learn.facts.schema import OFFSET_BITS, Facts, merge_facts, split_facts
from coreloop.learn.facts.shapes import CallColumns
from coreloop.observe.reading.decode import NOT_PLAIN, Skipped, decode_line, decode_plain, microseconds
from coreloop.observe.reading.fields import CallFields, CountedFields
from coreloop.observe.reading.outcome import decide, is_judged, signals

_CASE: Final = re.compile(r"(?:[0-9a-f]{8}){1,8}").fullmatch
_LINES_AT_ONCE: Final = 16_384
"""About 20 MB of lines: their arguments are kept until the batch is converted."""
_BYTES_AT_ONCE: Final = 4 << 20
"""Of small files: 16 MB take 60 MB more memory and no less time."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Reading:
    """Settings on which facts depend: they are read again when one of these changes."""

    categories: Categories = field(default_factory=Categories)
    selectors: Mapping[str, Sequence[str]] = field(default_factory=dict)
    case_key: bytes = field(default=b"", kw_only=True)
    """Of the identifiers' hashes in records that have no ``case``, see `coreloop.observe.case_keys`."""


def read_facts(lines: Iterable[tuple[int, bytes]], reading: Reading) -> tuple[Facts, Oddities]:
    """Read lines.

    Parameters
    ----------
    lines : iterable of (int, bytes)
        Each with its offset, in the file's order; see `coreloop.observe.reading.decode.raw_lines`.
    reading : Reading
        Categories and selectors.

    Returns
    -------
    Facts, Oddities
        The tables in memory, and the oddities of the lines.
    """
    oddities = Oddities()
    parts = []
    rest = iter(lines)
    with _no_garbage_collection():
        for line in rest:
            columns = Columns({}, CallColumns(reading.selectors))
            _read_into(columns, chain([line], islice(rest, _LINES_AT_ONCE - 1)), reading, oddities)
            parts.append(to_facts(columns, case_key=reading.case_key))
    return merge_facts(parts).collected(), oddities


def read_files(
    files: Sequence[Iterable[tuple[int, bytes]]], reading: Reading
) -> list[tuple[Facts, Oddities]]:
    """Read the lines of each file as `read_facts` does; several at once, which must be small together.

    polars takes some 40 ms to convert a file, however few records it has.
    """
    if len(files) == 1:
        return [read_facts(files[0], reading)]
    columns = Columns({}, CallColumns(reading.selectors))
    oddities = [Oddities() for _ in files]
    with _no_garbage_collection():
        for number, (lines, found) in enumerate(zip(files, oddities, strict=True)):
            _read_into(columns, lines, reading, found, before=number << OFFSET_BITS)
        facts = to_facts(columns, case_key=reading.case_key)
    return list(zip(split_facts(facts, len(files)), oddities, strict=True))


def in_batches(files: Sequence[T], n_bytes: Sequence[int]) -> list[list[T]]:
    """Put neighbours together that `read_files` reads at once."""
    batches: list[list[T]] = []
    size = 0
    for file, n in zip(files, n_bytes, strict=True):
        if not batches or size + n > _BYTES_AT_ONCE:
            batches.append([])
            size = 0
        batches[-1].append(file)
        size += n
    return batches


def _read_into(
    columns: Columns,
    lines: Iterable[tuple[int, bytes]],
    reading: Reading,
    oddities: Oddities,
    *,
    before: int = 0,
) -> None:
    """Add lines, with ``before`` added to their offsets. What can be done for many is in `to_facts`."""
    calls_of, groups = columns.calls, columns.groups
    add_record = columns.records.extend
    labels: set[str] = set()
    for offset, fields, calls, ts_us, is_plain in _decoded(lines, oddities):
        label = fields.category_hash
        if label not in labels:
            label = _category(fields, reading.categories)
            if label == fields.category_hash and label != UNSPECIFIED:  # the next question may match a rule
                labels.add(label)
        ok = calls_of.add(calls)
        if calls_of.places.is_odd or calls_of.states.is_odd:
            oddities.read_as_absent(calls_of.take_odd(), offset)
        case = None
        if fields.case:
            case = "".join(fields.case)
            if not _CASE(case):
                oddities.read_as_absent(("case",), offset)
                case = None
        decided, judged, bits = None, False, 0
        if not is_plain or fields.error or len(ok) < len(calls):
            decided = decide(fields, calls)
            judged, bits = is_judged(fields), signals(fields, calls)
        recorded = (fields.tool_sequence_hash or None) if fields.tool_calls_omitted else None
        model = fields.model if is_plain else _text(fields.model)
        group = (label, ok, recorded, fields.provider, model, decided, judged, bits)
        number = groups.setdefault(group, len(groups))
        question = fields.question_hash or hash_question(fields.question or "")
        session = fields.session_hash or None
        add_record(
            (
                ts_us,
                before + offset,
                number,
                fields.chunk_len,
                question,
                session,
                fields.request_id,
                len(calls),
                fields.question,
                case,
                fields.tools_version,
                fields.descriptions,
                fields.rounds,
                fields.duration_total_ms,
                fields.input_tokens,
                fields.output_tokens,
                fields.cost_usd,
                fields.tool_calls_omitted,
            )
        )


def _decoded(
    lines: Iterable[tuple[int, bytes]], oddities: Oddities
) -> Iterator[tuple[int, CountedFields, Sequence[CallFields], int, bool]]:
    """Yield the offset, the fields, the calls and the time of each record, and whether it is well-formed."""
    for offset, raw in lines:
        try:
            plain = decode_plain(raw)
            ts_us = microseconds(plain.ts)
        except NOT_PLAIN:
            ts_us = None
        if ts_us is not None:
            yield offset, plain, plain.tool_calls or (), ts_us, True
            continue
        line = decode_line(raw, offset)
        if isinstance(line, Skipped):
            oddities.skip(line.reason, offset)
            continue
        oddities.read_as_absent(line.absent, offset)
        yield offset, line.fields, line.calls, line.ts_us, False


def _text(raw: msgspec.Raw) -> str | None:
    """A text, or None for any other JSON."""
    try:
        return msgspec.json.decode(raw, type=str) if raw else None
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _category(fields: CountedFields, rules: Categories) -> str:
    """The recorded label, else the label by the current rules, so that rules added later apply, too."""
    label = fields.category_hash
    if label is not None and label != UNSPECIFIED and is_category(label):
        return label
    return rules.label(fields.question or "")


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Disable garbage collection: millions of small objects without cycles would cost a tenth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
