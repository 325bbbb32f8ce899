"""Lines -> facts. A year has millions of lines, so the loop over them is kept short."""

import gc
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

import polars as pl

from coreloop.base.categories import Categories
from coreloop.base.project.settings import Settings
from coreloop.base.records import UNSPECIFIED, hash_question, is_category
from coreloop.learn.facts import schema
from coreloop.learn.facts.calls import Calls, decoded
from coreloop.learn.facts.oddities import Oddities
from coreloop.observe.case_keys import RequestIdentifiers
from coreloop.observe.reading import decode
from coreloop.observe.reading.fields import CallFields, CountedFields
from coreloop.observe.reading.outcome import decide, is_judged, signals

EPOCH_DAY: Final = date(1970, 1, 1)
Lines = Iterable[tuple[int, int, bytes]]
"""The number of its file, its offset and its bytes, of each line."""
_CASE: Final = re.compile(r"(?:[0-9a-f]{8}){1,8}").fullmatch
_DIGIT: Final = re.compile(rb"\d").search
_VARIABLE: Final = r"""["“][^"”]*["”]|'[^']*'|\S*[\d@/\\]\S*"""
"""Quoted parts, and words with a digit, @, / or backslash: ``"a b"``, ``#w12``; not ``refund``."""
_LINES_AT_ONCE: Final = 16_384
"""About 20 MB of lines: their arguments are kept until the batch is converted."""
_MEASURED: Final = dict.fromkeys(("chunk_len", "omitted", "rounds"), pl.Float64)
_RECORD: Final = {**schema.REQUESTS, "template": pl.String, **_MEASURED}
"""`REQUESTS` with the question for its template, before numbers are checked."""


@dataclass(frozen=True, slots=True)
class MineSettings:
    """How a request counts; facts depend on ``categories``, ``selectors`` and ``case_key`` alone.

    Attributes
    ----------
    replayed : frozenset of str
        Ids of requests that coreloop made itself, for servers that do not record their origin.
    handoff : frozenset of str
        Tools that hand a request over to a human, which makes it neutral.
    verdicts : mapping of str to str
        Request id -> a human's newest verdict, which overrides the record.
    case_key : bytes
        Of the identifiers' hashes in records that have neither a case nor a session.
    """

    categories: Categories = field(default_factory=Categories)
    selectors: Mapping[str, Sequence[str]] = field(default_factory=dict)
    min_chunk_len: int | None = None
    replayed: frozenset[str] = frozenset()
    handoff: frozenset[str] = frozenset()
    verdicts: Mapping[str, str] = field(default_factory=dict)
    case_key: bytes = b""

    @classmethod
    def of(cls, settings: Settings, **changes: Any) -> "MineSettings":
        """The settings of coreloop.yaml that change how a request counts."""
        rules = Categories((rule.label, rule.any) for rule in settings.categories)
        changes = {"min_chunk_len": settings.gates.min_chunk_len, **changes}
        return cls(rules, settings.selectors(), handoff=frozenset(settings.handoff), **changes)


@dataclass(frozen=True, slots=True)
class FileFacts:
    """The facts of a file.

    Attributes
    ----------
    path : Path
        The file.
    facts : schema.Facts
        Tables that hold its rows.
    settings : MineSettings
        How its requests count.
    oddities : Oddities
        Lines that are not mined, and fields that were read as absent.
    days : dict of int to int
        Records by day (days since 1970), without replays.
    number : int
        Of the file, in the tables.
    """

    path: Path
    facts: schema.Facts
    settings: MineSettings
    oddities: Oddities
    days: Mapping[int, int]
    number: int = 0


def facts_of_lines(lines: Iterable[tuple[int, bytes]], settings: MineSettings, *, path: Path) -> FileFacts:
    """Read the lines of a file, each with its offset."""
    return read_files([(path, lines)], settings)[0]


def read_files(
    files: Iterable[tuple[Path, Iterable[tuple[int, bytes]]]], settings: MineSettings
) -> list[FileFacts]:
    """Read the lines of small files into the same tables: polars takes some 40 ms to make those of a file."""
    paths = []

    def lines() -> Iterator[tuple[int, int, bytes]]:
        for path, of_file in files:
            paths.append(path)
            yield from ((len(paths) - 1, offset, raw) for offset, raw in of_file)

    facts, oddities = read_facts(lines(), settings)
    days = count_days(facts.requests, settings.replayed)
    return [
        FileFacts(path, facts, settings, oddities[number], days[number], number)
        for number, path in enumerate(paths)
    ]


def count_days(requests: pl.LazyFrame, replayed: Iterable[str] = ()) -> defaultdict[int, dict[int, int]]:
    """Records by file, then by day (days since 1970), without requests that coreloop made itself."""
    own = [*map(schema.as_int, replayed)]
    if own:
        requests = requests.filter(~pl.col("id").is_in(own).fill_null(False))
    day = pl.col("ts_us").floordiv(schema.DAY_US).cast(pl.Int32)
    counts: defaultdict[int, dict[int, int]] = defaultdict(dict)
    for file, of_day, n in requests.group_by("file", day=day).len().sort("day").collect().iter_rows():
        counts[file][of_day] = n
    return counts


def read_facts(lines: Lines, settings: MineSettings) -> tuple[schema.Facts, defaultdict[int, Oddities]]:
    """Read lines, in the order of their files: the tables, in memory, and the oddities by file."""
    oddities: defaultdict[int, Oddities] = defaultdict(Oddities)
    parts = []
    rest = iter(lines)
    with _no_garbage_collection():
        for line in rest:
            parts.append(_read_batch(chain([line], islice(rest, _LINES_AT_ONCE - 1)), settings, oddities))
    return schema.merge_facts(parts), oddities


def _read_batch(lines: Lines, settings: MineSettings, oddities: defaultdict[int, Oddities]) -> schema.Facts:
    calls, records = Calls(settings.selectors), list[tuple[Any, ...]]()
    for file, offset, fields, of_record, ts_us, is_plain in _decoded(lines, oddities):
        label = _category(fields, settings.categories)
        ok = calls.add((file, offset, ts_us), of_record)
        decided, judged, bits = None, False, 0
        if not is_plain or fields.error or len(ok) < len(of_record):
            decided = decide(fields, of_record)
            judged, bits = is_judged(fields), signals(fields, of_record)
        recorded = (fields.tool_sequence_hash or None) if fields.tool_calls_omitted else None
        sequence, shape = calls.sequence_of(ok, recorded)
        case = "".join(fields.case or ())
        if case and not _CASE(case):
            oddities[file].read_as_absent(("case",), offset)
            case = ""
        if not (case or fields.session_hash):
            case = _case_of(of_record, settings.case_key)
        records.append(
            (
                file,
                offset,
                ts_us,
                schema.as_int(fields.request_id) if fields.request_id is not None else None,
                schema.as_int(fields.session_hash) if fields.session_hash else 0,
                schema.as_int(fields.question_hash or hash_question(fields.question or "")),
                fields.question,
                label,
                (fields.model if is_plain else decoded(fields.model, str)) or "",
                fields.provider or "",
                schema.pattern_of(label, sequence),
                sequence,
                shape,
                fields.chunk_len,
                decided,
                judged,
                fields.tool_calls_omitted,
                bits,
                [int(case[at : at + 8], 16) for at in range(0, len(case), 8)] or None,
                fields.tools_version,
                fields.descriptions,
                fields.rounds,
                fields.undated,
            )
        )
    text = pl.col("template").str.to_lowercase().str.replace_all(_VARIABLE, "*").str.strip_chars()
    requests = schema.frame_of(records, _RECORD).with_columns(
        template=pl.when(text != "").then(text.hash() % (1 << 32)),
    )
    tables = (
        requests.select(schema.typed(schema.REQUESTS)),
        *calls.tables(),
        schema.frame_of(list(calls.texts), schema.TEXTS),
    )
    return schema.Facts(*(table.lazy() for table in tables))


def _decoded(
    lines: Lines, oddities: defaultdict[int, Oddities]
) -> Iterator[tuple[int, int, CountedFields, Sequence[CallFields], int, bool]]:
    """Yield file, offset, fields, calls and time of each record, and whether it is well-formed."""
    for file, offset, raw in lines:
        try:
            plain = decode.decode_plain(raw)
            ts_us = decode.microseconds(plain.ts)
        except decode.NOT_PLAIN:
            ts_us = None
        if ts_us is not None:
            yield file, offset, plain, plain.tool_calls or (), ts_us, True
            continue
        line = decode.decode_line(raw, offset)
        if isinstance(line, decode.Skipped):
            oddities[file].skip(line.reason, offset)
            continue
        oddities[file].read_as_absent(line.absent, offset)
        yield file, offset, line.fields, line.calls, line.ts_us, False


def _case_of(calls: Iterable[CallFields], key: bytes) -> str:
    """The hashes of the identifiers in a record's calls, as the collector chooses them."""
    identifiers = RequestIdentifiers()
    for call in calls:
        args = call.args.items() if isinstance(call.args, dict) else ()
        identifiers.add({name: decoded(raw, Any) for name, raw in args if _DIGIT(raw)})
    return "".join(identifiers.case(key))


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
