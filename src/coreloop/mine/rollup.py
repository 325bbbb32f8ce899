"""Lines -> a rollup's tables. A year has millions of lines, so what happens for each is kept short."""

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from itertools import chain, islice
from typing import BinaryIO, Final

import polars as pl

from coreloop.categories import Categories
from coreloop.failures import MAX_ERROR_CHARS
from coreloop.mine.calls import CallShapes
from coreloop.mine.decode import (
    BYTE_ORDER_MARK,
    NOT_PLAIN,
    RecordLine,
    Skipped,
    decode_line,
    decode_plain,
    microseconds,
)
from coreloop.mine.fields import CallFields, CountedFields
from coreloop.mine.oddities import Oddities
from coreloop.mine.outcome import RequestOutcome, is_handed_over, outcome
from coreloop.mine.remote import LogFile
from coreloop.mine.rows import Group, Rows, as_int, to_tables
from coreloop.mine.sampling import SampledLine, Sampler, sample_number
from coreloop.mine.signals import signals
from coreloop.mine.tables import Tables, merged
from coreloop.project.settings import Settings
from coreloop.records import UNSPECIFIED, hash_question, is_category

EPOCH_DAY: Final = date(1970, 1, 1)
_ROWS_AT_ONCE: Final = 65_536


@dataclass(frozen=True, slots=True)
class MineSettings:
    """What changes how a record counts; a rollup is valid for one value of it."""

    categories: Categories = field(default_factory=Categories)
    selectors: Mapping[str, Sequence[str]] = field(default_factory=dict)
    min_chunk_len: int | None = None
    replayed: frozenset[str] = frozenset()
    """Ids of requests that coreloop made itself, for servers that do not pass the mark on."""
    handoff: frozenset[str] = frozenset()
    """Tools that hand a request over to a human: it counts neither way."""
    verdicts: Mapping[str, str] = field(default_factory=dict)
    """Request id -> a human's newest verdict, which outweighs what the record says of itself."""


def mine_settings(
    settings: Settings,
    min_chunk_len: int | None,
    *,
    replayed: frozenset[str] = frozenset(),
    verdicts: Mapping[str, str] | None = None,
) -> MineSettings:
    """The part of coreloop.yaml, and of the workspace, that changes how a record counts."""
    rules = Categories((rule.label, rule.any) for rule in settings.categories)
    handoff = frozenset(settings.handoff)
    return MineSettings(rules, settings.selectors(), min_chunk_len, replayed, handoff, verdicts or {})


@dataclass(frozen=True, slots=True)
class Rollup:
    """What one file says.

    Attributes
    ----------
    path : Path or RemoteFile
        The file.
    tables : Tables
        Its counts.
    oddities : Oddities
        Lines that were not mined, and fields that were read as absent.
    days : dict of int to int
        Records by day (days since 1970).
    n_bytes_read : int or None
        Of the file, by this run; None when the rollup was there.
    """

    path: LogFile
    tables: Tables
    oddities: Oddities
    days: Mapping[int, int]
    n_bytes_read: int | None

    @property
    def skipped(self) -> dict[str, int]:
        """Lines that were not mined, by reason."""
        return {reason: oddity.n for reason, oddity in self.oddities.skipped.items()}


def roll_up(
    lines: Iterable[tuple[int, bytes]], settings: MineSettings, *, path: LogFile, n_bytes: int = 0
) -> Rollup:
    """Roll up lines in memory."""
    tables, oddities = count_lines(lines, settings)
    return Rollup(path, tables, oddities, count_days(tables), n_bytes)


def count_days(tables: Tables) -> dict[int, int]:
    """Records by day (days since 1970), in order."""
    counts = tables.groups.group_by("day").agg(pl.col("n").sum()).sort("day").collect()
    return dict(counts.iter_rows())


def count_lines(lines: Iterable[tuple[int, bytes]], settings: MineSettings) -> tuple[Tables, Oddities]:
    """Count lines.

    Parameters
    ----------
    lines : iterable of (int, bytes)
        Each with its offset, in the file's order; see `coreloop.mine.decode.raw_lines`.
    settings : MineSettings
        What counts as what.

    Returns
    -------
    Tables, Oddities
        The tables in memory, and what was odd in the lines.
    """
    oddities = Oddities()
    parts = []
    rest = iter(lines)
    with _no_garbage_collection():
        for line in rest:
            some = chain([line], islice(rest, _ROWS_AT_ONCE - 1))
            parts.append(
                to_tables(_rows(some, settings, oddities))
            )  # tables need a tenth of the rows' memory
        return merged(parts).collected(), oddities


def line_at(lines: BinaryIO, offset: int) -> RecordLine | Skipped:
    """The line at a byte offset."""
    lines.seek(offset)
    return decode_line(lines.readline().removeprefix(BYTE_ORDER_MARK), offset)


def question_hash(fields: CountedFields) -> int:
    """A record's question as 64 bits."""
    return as_int(fields.question_hash or hash_question(fields.question or ""))


def _rows(lines: Iterable[tuple[int, bytes]], settings: MineSettings, oddities: Oddities) -> Rows:
    """A row per record and per failed call; what can be done for many at once is done in `to_tables`."""
    shapes = CallShapes(settings.selectors)
    groups: dict[Group, int] = {}
    rows = Rows(groups, shapes)
    add_record, add_failed = rows.records.extend, rows.failed.extend
    replayed, verdicts = settings.replayed, settings.verdicts
    sampler = Sampler()
    labels: set[str] = set()
    for offset, raw in lines:
        try:
            plain = decode_plain(raw)
            ts_us = microseconds(plain.ts)
            fields: CountedFields = plain
            calls: Sequence[CallFields] = plain.tool_calls or ()
        except NOT_PLAIN:
            ts_us = None
        if ts_us is None:
            line = decode_line(raw, offset)
            if isinstance(line, Skipped):
                oddities.skip(line.reason, offset)
                continue
            fields, calls, ts_us = line.fields, line.calls, line.ts_us
            oddities.read_as_absent(line.absent, offset)
        request_id, provider, label = fields.request_id, fields.provider, fields.category_hash
        if replayed and request_id is not None and request_id in replayed:
            oddities.skip("replay", offset)
            rows.replayed.append(request_id)
            continue
        if label not in labels:
            label = _category(fields, settings.categories)
            if label == fields.category_hash and label != UNSPECIFIED:  # the next question may match a rule
                labels.add(label)
        ok, failed = shapes.numbers(calls)
        for number, call in failed:
            error = str(call.error)[:MAX_ERROR_CHARS]
            add_failed((ts_us, offset, number, provider, error, call.duration_ms))
        verdict = verdicts.get(request_id) if verdicts and request_id else None
        weighed = _weigh(fields, calls, settings, verdict)
        against = 0
        if weighed == RequestOutcome.FAILURE:
            against = signals(fields, calls, min_chunk_len=settings.min_chunk_len)
        recorded = (fields.tool_sequence_hash or None) if fields.tool_calls_omitted else None
        group = (label, ok, recorded, provider, weighed, against)
        number = groups.setdefault(group, len(groups))
        asked = fields.question_hash or hash_question(fields.question or "")
        add_record((ts_us, offset, number, fields.chunk_len, asked, fields.session_hash or None, request_id))
        drawn = sample_number(ts_us, offset)
        if drawn <= sampler.limit:  # of a busy file few are
            kept = SampledLine(ts_us, label, provider, weighed, asked, fields, calls, raw)
            sampler.offer(drawn, offset, kept)
    rows.sampled.extend(sampler.rows(settings.categories))
    return rows


def _weigh(
    fields: CountedFields, calls: Sequence[CallFields], settings: MineSettings, verdict: str | None
) -> RequestOutcome:
    """A record's outcome; one that was handed over to a human counts neither way, unless a verdict says."""
    if settings.handoff and verdict is None and is_handed_over(fields, calls, settings.handoff):
        return RequestOutcome.NEUTRAL
    return outcome(fields, calls, min_chunk_len=settings.min_chunk_len, verdict=verdict)


def _category(fields: CountedFields, rules: Categories) -> str:
    """The recorded label; by today's rules where there is none, so a rule added later counts too."""
    label = fields.category_hash
    if label is not None and label != UNSPECIFIED and is_category(label):
        return label
    return rules.label(fields.question or "")


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Millions of small objects, none in a cycle: looking for cycles would take a tenth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
