"""Lines -> a rollup's tables. A year has millions of lines, so the loop over them is kept short."""

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from itertools import chain, islice
from typing import Final

import polars as pl

from coreloop.base.categories import Categories
from coreloop.base.failures import MAX_ERROR_CHARS
from coreloop.base.project.settings import Settings
from coreloop.base.records import UNSPECIFIED, hash_question, is_category
from coreloop.learn.mine.calls import CallShapes
from coreloop.learn.mine.oddities import Oddities
from coreloop.learn.mine.rows import Group, Rows, as_int, to_tables
from coreloop.learn.mine.sampling import SampledLine, Sampler, sample_number
from coreloop.learn.mine.tables import Tables, merge_tables
from coreloop.observe.reading.decode import (
    NOT_PLAIN,
    Skipped,
    decode_line,
    decode_plain,
    microseconds,
)
from coreloop.observe.reading.fields import CallFields, CountedFields
from coreloop.observe.reading.outcome import RequestOutcome, is_handed_over, outcome
from coreloop.observe.reading.question import Question
from coreloop.observe.reading.remote import LogFile
from coreloop.observe.reading.signals import signals

EPOCH_DAY: Final = date(1970, 1, 1)
_ROWS_AT_ONCE: Final = 65_536


@dataclass(frozen=True, slots=True)
class MineSettings:
    """Settings that change how a record counts; a rollup is valid for one value of them."""

    categories: Categories = field(default_factory=Categories)
    selectors: Mapping[str, Sequence[str]] = field(default_factory=dict)
    min_chunk_len: int | None = None
    replayed: frozenset[str] = frozenset()
    """Ids of requests that coreloop made itself, for servers that do not record their origin."""
    handoff: frozenset[str] = frozenset()
    """Tools that hand a request over to a human, which makes it neutral."""
    verdicts: Mapping[str, str] = field(default_factory=dict)
    """Request id -> a human's newest verdict, which overrides the record."""


def mine_settings(
    settings: Settings,
    min_chunk_len: int | None,
    *,
    replayed: frozenset[str] = frozenset(),
    verdicts: Mapping[str, str] | None = None,
) -> MineSettings:
    """Collect the settings of coreloop.yaml and the workspace that change how a record counts."""
    rules = Categories((rule.label, rule.any) for rule in settings.categories)
    handoff = frozenset(settings.handoff)
    return MineSettings(rules, settings.selectors(), min_chunk_len, replayed, handoff, verdicts or {})


@dataclass(frozen=True, slots=True)
class Rollup:
    """The counts of a file.

    Attributes
    ----------
    path : Path or RemoteFile
        The file.
    tables : Tables
        Its tables.
    oddities : Oddities
        Lines that were not mined, and fields that were read as absent.
    days : dict of int to int
        Records by day (days since 1970).
    n_bytes_read : int or None
        Bytes that this run counted; None if the rollup was cached.
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
        Each with its offset, in the file's order; see `coreloop.observe.reading.decode.raw_lines`.
    settings : MineSettings
        Decides how records count.

    Returns
    -------
    Tables, Oddities
        The tables in memory, and the oddities of the lines.
    """
    oddities = Oddities()
    parts = []
    rest = iter(lines)
    with _no_garbage_collection():
        for line in rest:
            batch = chain([line], islice(rest, _ROWS_AT_ONCE - 1))
            parts.append(to_tables(_rows(batch, settings, oddities)))  # a tenth of the rows' memory
        return merge_tables(parts).collected(), oddities


def question_hash(fields: CountedFields | Question) -> int:
    """A record's question as 64 bits."""
    return as_int(fields.question_hash or hash_question(fields.question or ""))


def _rows(lines: Iterable[tuple[int, bytes]], settings: MineSettings, oddities: Oddities) -> Rows:
    """A row per record and per failed call; work that can be done for many rows at once is in `to_tables`."""
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
        result = _outcome(fields, calls, settings, verdict)
        bits = 0
        if result == RequestOutcome.FAILURE:
            bits = signals(fields, calls, min_chunk_len=settings.min_chunk_len)
        recorded = (fields.tool_sequence_hash or None) if fields.tool_calls_omitted else None
        group = (label, ok, recorded, provider, result, bits)
        number = groups.setdefault(group, len(groups))
        question = fields.question_hash or hash_question(fields.question or "")
        session = fields.session_hash or None
        add_record((ts_us, offset, number, fields.chunk_len, question, session, request_id))
        order = sample_number(ts_us, offset)
        if order <= sampler.limit:  # rare in a busy file
            sampled = SampledLine(ts_us, label, provider, result, question, calls, raw)
            sampler.offer(order, offset, sampled)
    rows.sampled.extend(sampler.rows())
    return rows


def _outcome(
    fields: CountedFields, calls: Sequence[CallFields], settings: MineSettings, verdict: str | None
) -> RequestOutcome:
    """A record's outcome; neutral if it was handed over to a human, unless there is a verdict."""
    if settings.handoff and verdict is None and is_handed_over(fields, calls, settings.handoff):
        return RequestOutcome.NEUTRAL
    return outcome(fields, calls, min_chunk_len=settings.min_chunk_len, verdict=verdict)


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
