"""One day file -> one rollup: counts that merge with any other rollup's by plain addition."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, Final

import orjson
import polars as pl

from coreloop.categories import Categories
from coreloop.mine.calls import CallCounter
from coreloop.mine.decode import (
    BYTE_ORDER_MARK,
    CallFields,
    Line,
    RecordFields,
    Skipped,
    decode_line,
    read_lines,
)
from coreloop.mine.outcome import Outcome, is_ok, outcome
from coreloop.mine.signals import signals
from coreloop.records import (
    DEFAULT_SELECTORS,
    UNSPECIFIED,
    hash_question,
    hash_sequence,
    is_category,
    join_steps,
    selector_value,
    step,
)
from coreloop.settings import Settings

GROUP_KEYS: Final = ("day", "category", "sequence", "shape", "question", "session", "provider", "signals")
COLUMNS: Final[Mapping[str, Any]] = {
    "day": pl.Int32,  # days since 1970, UTC
    "category": pl.String,
    "sequence": pl.UInt64,
    "shape": pl.UInt64,
    "question": pl.UInt64,
    "session": pl.UInt64,  # 0: none recorded
    "provider": pl.String,
    "signals": pl.UInt16,  # of failures, see `coreloop.mine.signals`; else 0
    "outcome": pl.Int8,
    "chunk_len": pl.Float64,
    "ts_us": pl.Int64,
    "offset": pl.UInt64,
}
GROUP_SCHEMA: Final[Mapping[str, Any]] = {
    **{key: COLUMNS[key] for key in GROUP_KEYS},
    "n_success": pl.UInt32,
    "n_failure": pl.UInt32,
    "n_neutral": pl.UInt32,
    "chunk_len_sum": pl.Float64,
    "first_us": pl.Int64,
    "last_us": pl.Int64,
    "offset": pl.UInt64,
}
EPOCH_DAY: Final = date(1970, 1, 1)
_DAY_US: Final = 86_400_000_000


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
    groups : polars.DataFrame
        `GROUP_SCHEMA`: a row per `GROUP_KEYS` with the counts and, of the records that are no neutral ones,
        chunk_len_sum (characters), first_us and last_us (microseconds since 1970) and offset (bytes, of the
        earliest one's line); these three are null where all are neutral.
    shapes : dict of int to str
        Shape hash -> JSON of the steps with their argument names, as a candidate's ``tool_pattern``.
    sequences : dict of int to str
        Sequence hash -> text; a sequence of which only the hash was recorded is missing.
    calls : polars.DataFrame
        `coreloop.mine.calls.CALL_SCHEMA`: a row per day, provider, tool, shape of the arguments and error.
    call_shapes, templates : dict of int to str
        What the hashes in ``calls`` stand for.
    skipped : dict of str to int
        Lines that were not mined, by reason.
    """

    path: Path
    groups: pl.DataFrame
    shapes: Mapping[int, str]
    sequences: Mapping[int, str]
    calls: pl.DataFrame
    call_shapes: Mapping[int, str]
    templates: Mapping[int, str]
    skipped: Mapping[str, int]


def roll_up(path: Path, settings: MineSettings) -> Rollup:
    """Read one file into its rollup; memory grows with a few numbers a line."""
    return roll_up_lines(read_lines(path), settings, path=path)


def roll_up_lines(lines: Iterable[Line | Skipped], settings: MineSettings, *, path: Path) -> Rollup:
    """Count lines that are already read."""
    skipped: Counter[str] = Counter()
    reader = _RowReader(settings)
    calls = CallCounter(settings.selectors)
    rows: list[tuple[Any, ...]] = []
    for line in lines:
        if isinstance(line, Skipped):
            skipped[line.reason] += 1
        elif line.fields.request_id in settings.replayed:
            skipped["replay"] += 1
        else:
            rows.append(reader.row(line))
            calls.add(line, line.ts_us // _DAY_US)
    columns = zip(*rows, strict=True) if rows else ((),) * len(COLUMNS)
    frame = pl.DataFrame(dict(zip(COLUMNS, columns, strict=True)), schema=COLUMNS)
    return Rollup(
        path=path,
        groups=_group(frame),
        shapes=reader.shapes,
        sequences=reader.sequences,
        calls=calls.frame(),
        call_shapes=calls.shapes,
        templates=calls.templates,
        skipped=dict(skipped),
    )


def read_rows(path: Path, settings: MineSettings) -> Iterator[tuple[Line, dict[str, Any]]]:
    """Every record of a file that is mined, with its `COLUMNS`: for who must name single requests."""
    reader = _RowReader(settings)
    for line in read_lines(path):
        if isinstance(line, Line) and line.fields.request_id not in settings.replayed:
            yield line, dict(zip(COLUMNS, reader.row(line), strict=True))


def question_at(lines: BinaryIO, offset: int, expected: int) -> str | None:
    """Text of the question in the line at ``offset``; None when that is no longer the ``expected`` one."""
    lines.seek(offset)
    line = decode_line(lines.readline().removeprefix(BYTE_ORDER_MARK), offset)
    if isinstance(line, Skipped) or _question(line.fields) != expected:
        return None
    return line.fields.question


def _question(fields: RecordFields) -> int:
    return _as_int(fields.question_hash or hash_question(fields.question or ""))


def _group(rows: pl.DataFrame) -> pl.DataFrame:
    counts = {f"n_{one.name.lower()}": (pl.col("outcome") == int(one)).sum() for one in Outcome}
    counted = pl.col("outcome") != int(Outcome.NEUTRAL)
    first_us = pl.col("ts_us").filter(counted).min()
    groups = rows.group_by(GROUP_KEYS, maintain_order=True).agg(
        **counts,
        chunk_len_sum=pl.col("chunk_len").filter(counted).sum(),
        first_us=first_us,
        last_us=pl.col("ts_us").filter(counted).max(),
        offset=pl.col("offset").filter(counted & (pl.col("ts_us") == first_us)).min(),
    )
    return groups.select(pl.col(name).cast(kind) for name, kind in GROUP_SCHEMA.items())


class _RowReader:
    """One record -> one row, and the dictionaries that its hashes point into."""

    def __init__(self, settings: MineSettings) -> None:
        self._settings = settings
        self.shapes: dict[int, str] = {}
        self.sequences: dict[int, str] = {}

    def row(self, line: Line) -> tuple[Any, ...]:
        fields = line.fields
        sequence, shape = self._sequence(fields, line.calls)
        weighed = self._outcome(line)
        return (
            line.ts_us // _DAY_US,
            self._category(fields),
            sequence,
            shape,
            _question(fields),
            _as_int(fields.session_hash) if fields.session_hash else 0,
            fields.provider or "",
            signals(fields, line.calls) if weighed is Outcome.FAILURE else 0,
            int(weighed),
            fields.chunk_len or 0,
            line.ts_us,
            line.offset,
        )

    def _outcome(self, line: Line) -> Outcome:
        request_id = line.fields.request_id
        verdict = self._settings.verdicts.get(request_id) if request_id else None
        return outcome(line.fields, line.calls, min_chunk_len=self._settings.min_chunk_len, verdict=verdict)

    def _category(self, fields: RecordFields) -> str:
        """The recorded label; by today's rules where there is none, so a rule added later counts too."""
        label = fields.category_hash
        if label is not None and label != UNSPECIFIED and is_category(label):
            return label
        return self._settings.categories.label(fields.question or "")

    def _sequence(self, fields: RecordFields, calls: list[CallFields]) -> tuple[int, int]:
        """Hashes of the sequence and of its shape; the recorded one where calls were omitted."""
        if fields.tool_calls_omitted and fields.tool_sequence_hash:
            return _as_int(fields.tool_sequence_hash), 0
        steps = [self._step(call) for call in calls if is_ok(call)]
        text = join_steps(text for text, _ in steps)
        sequence = _as_int(hash_sequence(text))
        self.sequences.setdefault(sequence, text)
        shape_text = orjson.dumps(_collapsed(steps)).decode()
        shape = _hash64(shape_text)
        self.shapes.setdefault(shape, shape_text)
        return sequence, shape

    def _step(self, call: CallFields) -> tuple[str, dict[str, Any]]:
        selectors = self._settings.selectors.get(call.name, DEFAULT_SELECTORS)
        values = call.selected(selectors)
        chosen = {key: selector_value(value) for key, value in values.items() if value is not None}
        arg_keys = sorted(call.args) if isinstance(call.args, dict) else []
        return step(call.name, values, selectors), {
            "name": call.name,
            "selectors": chosen,
            "arg_keys": arg_keys,
        }


def _collapsed(steps: Iterable[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    """Immediate repeats count once, as in `records.join_steps`; the first one's arguments stand for all."""
    kept: list[tuple[str, dict[str, Any]]] = []
    for one in steps:
        if not kept or kept[-1][0] != one[0]:
            kept.append(one)
    return [shape for _, shape in kept]


def _as_int(recorded: str) -> int:
    """A recorded hash as 64 bits; one that is written otherwise is hashed itself."""
    digits = recorded.rpartition(":")[2]
    try:
        return int(digits, 16) if len(digits) == 16 else _hash64(recorded)
    except ValueError:
        return _hash64(recorded)


def _hash64(text: str) -> int:
    return int.from_bytes(sha256(text.encode("utf-8", "replace")).digest()[:8], "big")


NO_SEQUENCE: Final = _as_int(hash_sequence(""))
"""Records without a successful call: they count for their category, and for no pattern."""
