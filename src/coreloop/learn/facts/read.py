"""Lines -> facts. A year has millions of lines, so the loop over them is kept short."""

import gc
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Final

import msgspec

from coreloop.base.categories import Categories
from coreloop.base.records import UNSPECIFIED, hash_question, is_category
from coreloop.learn.facts.columns import Columns, Group, to_facts
from coreloop.learn.facts.oddities import Oddities
from coreloop.learn.facts.schema import Facts, merge_facts
from coreloop.learn.facts.shapes import CallColumns
from coreloop.observe.reading.decode import NOT_PLAIN, Skipped, decode_line, decode_plain, microseconds
from coreloop.observe.reading.fields import CallFields, CountedFields
from coreloop.observe.reading.outcome import decide, is_judged
from coreloop.observe.reading.signals import signals

_CASE: Final = re.compile(r"(?:[0-9a-f]{8}){1,8}").fullmatch
_LINES_AT_ONCE: Final = 16_384
"""About 20 MB of lines: their arguments are kept until the batch is converted."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Settings on which facts depend: they are read again when one of these changes."""

    categories: Categories = field(default_factory=Categories)
    selectors: Mapping[str, Sequence[str]] = field(default_factory=dict)
    case_key: bytes = field(default=b"", kw_only=True)
    """Of the identifiers' hashes in records that have no ``case``, see `coreloop.observe.case`."""


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
            batch = chain([line], islice(rest, _LINES_AT_ONCE - 1))
            parts.append(to_facts(_columns(batch, reading, oddities), case_key=reading.case_key))
    return merge_facts(parts).collected(), oddities


def _columns(lines: Iterable[tuple[int, bytes]], reading: Reading, oddities: Oddities) -> Columns:
    """The columns of a batch; work that can be done for many rows at once is in `to_facts`."""
    calls_of = CallColumns(reading.selectors)
    groups: dict[Group, int] = {}
    columns = Columns(groups, calls_of)
    add_record = columns.records.extend
    labels: set[str] = set()
    for offset, raw in lines:
        try:
            plain = decode_plain(raw)
            ts_us = microseconds(plain.ts)
            fields: CountedFields = plain
            calls: Sequence[CallFields] = plain.tool_calls or ()
            is_plain = True
        except NOT_PLAIN:
            ts_us = None
        if ts_us is None:
            line = decode_line(raw, offset)
            if isinstance(line, Skipped):
                oddities.skip(line.reason, offset)
                continue
            fields, calls, ts_us, is_plain = line.fields, line.calls, line.ts_us, False
            oddities.read_as_absent(line.absent, offset)
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
                offset,
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
            )
        )
    return columns


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
