"""Many rollups -> the groups of a window of days."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final

import polars as pl

from coreloop.mine.calls import CALL_SCHEMA
from coreloop.mine.decode import BYTE_ORDER_MARK, Line, decode_line
from coreloop.mine.rollup import EPOCH_DAY, GROUP_SCHEMA, NO_SEQUENCE, Rollup

PATTERN_KEYS: Final = ("category", "sequence")


@dataclass(frozen=True, slots=True)
class Days:
    """Whole UTC days, both ends included."""

    since: date
    until: date


@dataclass(frozen=True, slots=True)
class Window:
    """The rollups of some days, side by side.

    Attributes
    ----------
    rows : polars.LazyFrame
        The rollups' groups and ``file``, the index into ``paths``.
    paths : tuple of Path
        The files that were mined.
    calls : polars.LazyFrame
        The rollups' calls and ``file``.
    shapes, sequences, call_shapes, templates : dict
        As in `Rollup`, of all files.
    skipped : dict of str to int
        Lines that were not mined, by reason, in all of the files.
    """

    rows: pl.LazyFrame
    paths: tuple[Path, ...]
    shapes: Mapping[int, str]
    sequences: Mapping[int, str]
    calls: pl.LazyFrame
    call_shapes: Mapping[int, str]
    templates: Mapping[int, str]
    skipped: Mapping[str, int]

    def n_records(self) -> int:
        """Records in the window, those that count neither way included."""
        return self._sum("n_success", "n_failure", "n_neutral")

    def n_neutral(self) -> int:
        """Records in the window that count neither way."""
        return self._sum("n_neutral")

    def _sum(self, *columns: str) -> int:
        return int(self.rows.select(pl.col(columns).sum()).collect().sum_horizontal().item())

    def question(self, file: int, offset: int) -> str:
        """The question in a line, or nothing where the file is no longer what was mined."""
        try:
            with self.paths[file].open("rb") as lines:
                lines.seek(offset)
                line = decode_line(lines.readline().removeprefix(BYTE_ORDER_MARK), offset)
        except OSError:
            return ""
        return line.fields.question or "" if isinstance(line, Line) else ""


def moment(microseconds: int) -> datetime:
    """Microseconds since 1970 as a time, UTC."""
    seconds, rest = divmod(microseconds, 1_000_000)
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest)


def merge(rollups: Sequence[Rollup], days: Days) -> Window:
    """Put the rollups of different files side by side; rows of other days are left out."""
    since, until = ((day - EPOCH_DAY).days for day in (days.since, days.until))
    skipped: Counter[str] = Counter()
    for rollup in rollups:
        skipped.update(rollup.skipped)
    in_window = pl.col("day").is_between(since, until)
    return Window(
        rows=_side_by_side([rollup.groups for rollup in rollups], GROUP_SCHEMA).filter(in_window),
        paths=tuple(rollup.path for rollup in rollups),
        shapes=_joined(rollup.shapes for rollup in rollups),
        sequences=_joined(rollup.sequences for rollup in rollups),
        calls=_side_by_side([rollup.calls for rollup in rollups], CALL_SCHEMA).filter(in_window),
        call_shapes=_joined(rollup.call_shapes for rollup in rollups),
        templates=_joined(rollup.templates for rollup in rollups),
        skipped=dict(skipped),
    )


def _side_by_side(frames: Sequence[pl.DataFrame], schema: Mapping[str, Any]) -> pl.LazyFrame:
    nothing = pl.LazyFrame(schema={**schema, "file": pl.UInt32})
    numbered = (
        frame.lazy().with_columns(file=pl.lit(index, pl.UInt32)) for index, frame in enumerate(frames)
    )
    return pl.concat([nothing, *numbered])


def _joined(texts: Iterable[Mapping[int, str]]) -> dict[int, str]:
    return {key: text for one in texts for key, text in one.items()}


def count_patterns(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Sum a window's rows to one row per pattern.

    Parameters
    ----------
    rows : polars.LazyFrame
        `Window.rows`.

    Returns
    -------
    polars.LazyFrame
        A row per category and sequence with at least one counted record: n_observed (successes and
        failures), n_success, n_sessions, n_question_hashes, success_rate, base_rate (of all counted records
        of the category, those without a sequence included), avg_chunk_len (characters), first_us, last_us
        (microseconds since 1970).
    """
    counted = rows.with_columns(n=pl.col("n_success") + pl.col("n_failure")).filter(pl.col("n") > 0)
    rates = counted.group_by("category").agg(base_rate=pl.col("n_success").sum() / pl.col("n").sum())
    patterns = (
        counted.filter(pl.col("sequence") != NO_SEQUENCE)
        .group_by(PATTERN_KEYS)
        .agg(
            n_observed=pl.col("n").sum(),
            n_success=pl.col("n_success").sum(),
            n_sessions=pl.col("session").filter(pl.col("session") != 0).n_unique(),
            n_question_hashes=pl.col("question").n_unique(),
            avg_chunk_len=pl.col("chunk_len_sum").sum() / pl.col("n").sum(),
            first_us=pl.col("first_us").min(),
            last_us=pl.col("last_us").max(),
        )
    )
    success_rate = pl.col("n_success") / pl.col("n_observed")
    return patterns.join(rates, on="category").with_columns(success_rate=success_rate)


def count_questions(rows: pl.LazyFrame, patterns: pl.LazyFrame) -> pl.LazyFrame:
    """The distinct questions of some patterns.

    Returns
    -------
    polars.LazyFrame
        A row per category, sequence and question (hash): n (counted records), first_us, and file and offset
        of the earliest line that asked it; in the order of first_us.
    """
    return (
        rows.join(patterns, on=PATTERN_KEYS, how="semi")
        .with_columns(n=pl.col("n_success") + pl.col("n_failure"))
        .filter(pl.col("n") > 0)
        .sort("first_us", "file", "offset")
        .group_by(*PATTERN_KEYS, "question", maintain_order=True)
        .agg(pl.col("n").sum(), pl.col("first_us", "file", "offset").first())
    )


def count_values(rows: pl.LazyFrame, patterns: pl.LazyFrame, column: str) -> pl.LazyFrame:
    """How often each value of ``shape`` or ``provider`` occurs in some patterns, most often first."""
    return (
        rows.join(patterns, on=PATTERN_KEYS, how="semi")
        .group_by(*PATTERN_KEYS, column)
        .agg(n=(pl.col("n_success") + pl.col("n_failure")).sum())
        .filter(pl.col("n") > 0)
        .sort("n", column, descending=[True, False])
    )
