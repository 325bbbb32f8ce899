"""Lines -> a rollup's tables. A year has millions of lines, so what happens for each is kept short."""

import gc
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO, Final

import orjson
import polars as pl

from coreloop.categories import Categories
from coreloop.mine.calls import CallCounter, CallShapes
from coreloop.mine.decode import BYTE_ORDER_MARK, Line, RecordFields, Skipped, decode_line
from coreloop.mine.outcome import Outcome, outcome
from coreloop.mine.signals import signals
from coreloop.mine.tables import GROUP_KEYS, GROUPS, IDS, REQUESTS, TEXTS, Tables, merged
from coreloop.records import UNSPECIFIED, digest64, hash_question, hash_sequence, is_category, join_steps
from coreloop.settings import Settings

EPOCH_DAY: Final = date(1970, 1, 1)
DAY_US: Final = 86_400_000_000
_MOST_CHARS: Final = 1 << 31
_MOST_REMEMBERED: Final = 100_000


@dataclass(frozen=True, slots=True)
class MineSettings:
    """What changes how a record counts; a rollup is valid for one value of it."""

    categories: Categories = field(default_factory=Categories)
    selectors: Mapping[str, Sequence[str]] = field(default_factory=dict)
    min_chunk_len: int = 400
    replayed: frozenset[str] = frozenset()
    """Ids of requests that coreloop made itself, for servers that do not pass the mark on."""
    verdicts: Mapping[str, str] = field(default_factory=dict)
    """Request id -> a human's newest verdict, which outweighs what the record says of itself."""


def mine_settings(
    settings: Settings,
    min_chunk_len: int,
    *,
    replayed: frozenset[str] = frozenset(),
    verdicts: Mapping[str, str] | None = None,
) -> MineSettings:
    """The part of coreloop.yaml, and of the workspace, that changes how a record counts."""
    rules = Categories((rule.label, rule.any) for rule in settings.categories)
    return MineSettings(rules, settings.selectors(), min_chunk_len, replayed, verdicts or {})


@dataclass(frozen=True, slots=True)
class Rollup:
    """What one file says.

    Attributes
    ----------
    path : Path
        The file.
    tables : Tables
        Its counts.
    skipped : dict of str to int
        Lines that were not mined, by reason.
    oldest_day, newest_day : int or None
        Days since 1970 of its records.
    n_bytes_read : int or None
        Of the file, by this run; None when the rollup was there.
    """

    path: Path
    tables: Tables
    skipped: Mapping[str, int]
    oldest_day: int | None
    newest_day: int | None
    n_bytes_read: int | None


def roll_up(
    lines: Iterable[Line | Skipped], settings: MineSettings, *, path: Path, n_bytes: int = 0
) -> Rollup:
    """Roll up lines in memory."""
    tables, skipped = count_lines(lines, settings)
    oldest, newest = day_range(tables)
    return Rollup(path, tables, skipped, oldest, newest, n_bytes)


def day_range(tables: Tables) -> tuple[int | None, int | None]:
    """Days since 1970 of the oldest and the newest record."""
    days = tables.groups.select(oldest=pl.col("day").min(), newest=pl.col("day").max()).collect()
    return days["oldest"].item(), days["newest"].item()


def count_lines(lines: Iterable[Line | Skipped], settings: MineSettings) -> tuple[Tables, dict[str, int]]:
    """Count lines.

    Returns
    -------
    Tables, dict of str to int
        The tables in memory, and the lines that were not mined, by reason. Memory grows with some 60 bytes
        a line.
    """
    counter = _LineCounter(settings)
    with _no_garbage_collection():
        for line in lines:
            counter.add(line)
    return merged([counter.tables()]).collected(), dict(counter.skipped)


def line_at(lines: BinaryIO, offset: int) -> Line | Skipped:
    """The line at a byte offset."""
    lines.seek(offset)
    return decode_line(lines.readline().removeprefix(BYTE_ORDER_MARK), offset)


def question_hash(fields: RecordFields) -> int:
    """A record's question as 64 bits."""
    return _as_int(fields.question_hash or hash_question(fields.question or ""))


class _LineCounter:
    """Columns of requests, and the groups that they belong to, by number."""

    def __init__(self, settings: MineSettings) -> None:
        self._settings = settings
        self._shapes = CallShapes(settings.selectors)
        self._calls = CallCounter(self._shapes)
        self._sequences: dict[tuple[int, ...], tuple[int, int]] = {}
        self._texts: dict[tuple[str, int], str] = {}
        self._groups: dict[tuple[Any, ...], int] = {}
        self._rows: list[tuple[int, int, int, int, int, int]] = []
        self._ids = array("Q")
        self.skipped: Counter[str] = Counter()

    def add(self, line: Line | Skipped) -> None:
        if isinstance(line, Skipped):
            self.skipped[line.reason] += 1
            return
        fields, settings = line.fields, self._settings
        request_id = fields.request_id
        verdict = None
        if request_id is not None:
            self._ids.append(id_hash(request_id))
            if request_id in settings.replayed:
                self.skipped["replay"] += 1
                return
            verdict = settings.verdicts.get(request_id) if request_id else None
        day, provider = line.ts_us // DAY_US, fields.provider or ""
        sequence, shape = self._sequence(line, day)
        weighed = outcome(fields, line.calls, min_chunk_len=settings.min_chunk_len, verdict=verdict)
        bits = signals(fields, line.calls) if weighed is Outcome.FAILURE else 0
        key = (day, self._category(fields), sequence, shape, provider, int(weighed), bits)
        group = self._groups.setdefault(key, len(self._groups))
        session = _as_int(fields.session_hash) if fields.session_hash else 0
        chunk_len = max(-_MOST_CHARS, min(_MOST_CHARS, int(fields.chunk_len or 0)))
        self._rows.append((group, question_hash(fields), session, chunk_len, line.ts_us, line.offset))

    def tables(self) -> Tables:
        """The tables, their rows neither merged nor sorted."""
        groups = [(key[0], _pattern(key[1], key[2]), *key[1:]) for key in self._groups]
        numbered = pl.DataFrame(
            groups, schema={name: GROUPS[name] for name in GROUP_KEYS}, orient="row"
        ).with_row_index("group")
        columns = zip(*self._rows, strict=True) if self._rows else ((),) * len(_ROW)
        rows = (
            pl.DataFrame(dict(zip(_ROW, columns, strict=True)), schema=_ROW)
            .lazy()
            .join(numbered.lazy(), on="group", maintain_order="left")
        )
        texts = [(kind, hashed, text) for (kind, hashed), text in self._texts.items()]
        return Tables(
            groups=rows.select(
                *GROUP_KEYS, pl.lit(1, pl.UInt32).alias("n"), "chunk_len", first_us="ts_us", last_us="ts_us"
            ),
            requests=rows.filter(pl.col("sequence") != NO_SEQUENCE).select(_typed(REQUESTS)),
            calls=self._calls.frame().lazy(),
            texts=pl.LazyFrame([*texts, *self._calls.texts()], schema=TEXTS, orient="row"),
            ids=pl.LazyFrame({"id": self._ids}, schema=IDS),
        )

    def _category(self, fields: RecordFields) -> str:
        """The recorded label; by today's rules where there is none, so a rule added later counts too."""
        label = fields.category_hash
        if label is not None and label != UNSPECIFIED and _is_category(label):
            return label
        return self._settings.categories.label(fields.question or "")

    def _sequence(self, line: Line, day: int) -> tuple[int, int]:
        """Hashes of the sequence and of its shape; the recorded one where calls were omitted."""
        number = self._shapes.number
        ok = tuple(
            [number(call) for call in line.calls if (call.error is None if call.ok is None else call.ok)]
        )
        self._calls.add(line, day, ok)
        fields = line.fields
        if fields.tool_calls_omitted and fields.tool_sequence_hash:
            return _as_int(fields.tool_sequence_hash), 0
        known = self._sequences.get(ok)
        if known is None:
            if len(self._sequences) >= _MOST_REMEMBERED:
                self._sequences.clear()
            known = self._sequences[ok] = self._learn(ok)
        return known

    def _learn(self, numbers: tuple[int, ...]) -> tuple[int, int]:
        """Immediate repeats count once; the first one's arguments stand for all."""
        steps = self._shapes.steps
        text = join_steps(steps[number] for number in numbers)
        firsts = (next(same) for _, same in groupby(numbers, key=steps.__getitem__))
        shape_text = orjson.dumps([self._shapes.parts[number] for number in firsts]).decode()
        sequence, shape = _as_int(hash_sequence(text)), digest64(shape_text)
        self._texts["sequence", sequence] = text
        self._texts["shape", shape] = shape_text
        return sequence, shape


_ROW: Final = {
    "group": pl.UInt32,
    "question": pl.UInt64,
    "session": pl.UInt64,
    "chunk_len": pl.Int64,
    "ts_us": pl.Int64,
    "offset": pl.UInt64,
}
_64_BITS: Final = (1 << 64) - 1
_is_category = lru_cache(maxsize=4096)(is_category)


def _typed(schema: Mapping[str, Any]) -> Iterator[pl.Expr]:
    return (pl.col(name).cast(kind) for name, kind in schema.items())


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


def _pattern(category: str, sequence: int) -> int:
    return digest64(f"{category}\n{sequence}")


def _as_int(recorded: str) -> int:
    """A recorded hash as 64 bits; one that is written otherwise is hashed itself."""
    try:
        digits = int(recorded[-16:], 16) if recorded[-17:-16] in {":", ""} else digest64(recorded)
        return digits & _64_BITS
    except ValueError:
        return digest64(recorded)


def id_hash(request_id: str) -> int:
    """A request's id as it stands in `coreloop.mine.tables.IDS`; a shared one only costs time."""
    try:
        return int(request_id[-16:], 16) & _64_BITS
    except ValueError:
        return digest64(request_id)


NO_SEQUENCE: Final = _as_int(hash_sequence(""))
"""Records without a successful call: they count for their category, and for no pattern."""
