"""Many rollups -> the groups of a window of days."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, groupby
from operator import itemgetter
from typing import Any, Final

import polars as pl

from coreloop.base.date_range import Days
from coreloop.base.records import UNSPECIFIED
from coreloop.learn.mine.rollup import EPOCH_DAY, Rollup
from coreloop.learn.mine.rows import DAY_US, NO_SEQUENCE
from coreloop.learn.mine.tables import CALLS, GROUPS, REQUESTS, SAMPLE, TEXTS, concatenate
from coreloop.observe.reading.decode import BYTE_ORDER_MARK, RecordLine, decode_line
from coreloop.observe.reading.outcome import RequestOutcome
from coreloop.observe.reading.question import Question, decode_question
from coreloop.observe.reading.remote import LogFile, map_files

PATTERN_KEYS: Final = ("category", "sequence")
MAX_QUESTIONS: Final = 200
"""Questions of a pattern that are read and compared, earliest first: enough for any gate."""
_ROWS_AT_ONCE: Final = 1_000_000
IS_COUNTED: Final = pl.col("outcome") != int(RequestOutcome.NEUTRAL)
IS_SUCCESS: Final = pl.col("outcome") == int(RequestOutcome.SUCCESS)
IS_FAILURE: Final = pl.col("outcome") == int(RequestOutcome.FAILURE)


@dataclass(frozen=True, slots=True)
class Window:
    """The combined rollups of some days.

    Attributes
    ----------
    groups : polars.LazyFrame
        `coreloop.learn.mine.tables.GROUPS` of the days.
    requests, calls : polars.LazyFrame
        `REQUESTS` and `CALLS` of the days, and ``file``, the index into ``paths``.
    sample : polars.LazyFrame
        `SAMPLE` of the days, and ``file``.
    texts : polars.LazyFrame
        `TEXTS`; `texts_of` looks them up.
    paths : tuple of Path or RemoteFile
        The files that were mined.
    skipped : dict of str to int
        Lines that were not mined, by reason, in all of the files.
    """

    groups: pl.LazyFrame
    requests: pl.LazyFrame
    calls: pl.LazyFrame
    sample: pl.LazyFrame
    texts: pl.LazyFrame
    paths: tuple[LogFile, ...]
    skipped: Mapping[str, int]

    def n_records(self) -> int:
        """Records in the window, including neutral records."""
        return int(self.groups.select(pl.col("n").sum()).collect().item())

    def n_neutral(self) -> int:
        """Records in the window that count neither as success nor as failure."""
        return int(self.groups.filter(~IS_COUNTED).select(pl.col("n").sum()).collect().item())

    def texts_of(self, kind: str, hashes: Iterable[int]) -> dict[int, str]:
        """Texts of one kind by their hash; unknown hashes are left out."""
        wanted = pl.Series(sorted(set(hashes)), dtype=pl.UInt64)
        texts = self.texts.filter(pl.col("kind") == kind, pl.col("hash").is_in(wanted.implode()))
        return dict(texts.select("hash", "text").collect().iter_rows())

    def lines(self, places: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int, RecordLine]]:
        """Read single lines again, by file and offset; lines that no longer exist are left out."""
        for lines in map_files(self._lines_of, self._by_file(places), self.paths):
            yield from lines

    def question_texts(self, places: Iterable[tuple[int, int]]) -> dict[tuple[int, int], str]:
        """Texts of the questions of some lines; lines that no longer exist are left out."""
        return {place: question.question or "" for place, question in self.questions(places).items()}

    def questions(self, places: Iterable[tuple[int, int]]) -> dict[tuple[int, int], Question]:
        """The questions of some lines, read without the rest of the line; see `question_texts`."""
        wanted = self._by_file(places)
        read = chain.from_iterable(map_files(self._questions_of, wanted, self.paths))
        return {(file, offset): question for file, offset, question in read}

    def _lines_of(self, wanted: tuple[int, Sequence[int]]) -> list[tuple[int, int, RecordLine]]:
        read = ((file, offset, decode_line(raw, offset)) for file, offset, raw in self._raw_lines(wanted))
        return [(file, offset, line) for file, offset, line in read if isinstance(line, RecordLine)]

    def _questions_of(self, wanted: tuple[int, Sequence[int]]) -> list[tuple[int, int, Question]]:
        read = ((file, offset, decode_question(raw)) for file, offset, raw in self._raw_lines(wanted))
        return [(file, offset, question) for file, offset, question in read if question is not None]

    def _raw_lines(self, wanted: tuple[int, Sequence[int]]) -> Iterator[tuple[int, int, bytes]]:
        file, offsets = wanted
        with suppress(OSError), self.paths[file].open("rb") as opened:
            for offset in offsets:
                opened.seek(offset)
                yield file, offset, opened.readline().removeprefix(BYTE_ORDER_MARK)

    @staticmethod
    def _by_file(places: Iterable[tuple[int, int]]) -> list[tuple[int, list[int]]]:
        """Offsets in ascending order, by file."""
        by_file = groupby(sorted(set(places)), key=itemgetter(0))
        return [(file, [offset for _, offset in group]) for file, group in by_file]


def moment(microseconds: int) -> datetime:
    """Microseconds since 1970 as a time, UTC."""
    seconds, rest = divmod(microseconds, 1_000_000)
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest)


def merge(rollups: Sequence[Rollup], days: Days) -> Window:
    """Combine the rollups of different files, without the records of other days."""
    since, until = ((day - EPOCH_DAY).days for day in (days.since, days.until))
    skipped: Counter[str] = Counter()
    for rollup in rollups:
        skipped.update(rollup.skipped)
    numbered = [
        (index, rollup.tables)
        for index, rollup in enumerate(rollups)
        if any(since <= day <= until for day in rollup.days)
    ]
    of_days = pl.col("day").is_between(since, until)
    in_days = pl.col("ts_us").is_between(since * DAY_US, (until + 1) * DAY_US, closed="left")
    return Window(
        groups=concatenate((tables.groups for _, tables in numbered), GROUPS).filter(of_days),
        requests=_with_file(((index, tables.requests) for index, tables in numbered), REQUESTS).filter(
            in_days
        ),
        calls=_with_file(((index, tables.calls) for index, tables in numbered), CALLS).filter(of_days),
        sample=_with_file(((index, tables.sample) for index, tables in numbered), SAMPLE).filter(in_days),
        texts=concatenate((tables.texts for _, tables in numbered), TEXTS),
        paths=tuple(rollup.path for rollup in rollups),
        skipped=dict(skipped),
    )


def _with_file(frames: Iterable[tuple[int, pl.LazyFrame]], schema: Mapping[str, Any]) -> pl.LazyFrame:
    numbered = (frame.with_columns(file=pl.lit(index, pl.UInt32)) for index, frame in frames)
    return concatenate(numbered, {**schema, "file": pl.UInt32})


def count_patterns(window: Window) -> pl.DataFrame:
    """Sum a window's groups to one row per pattern.

    Returns
    -------
    polars.DataFrame
        A row per category and sequence with at least one counted record: pattern, category, sequence,
        n_observed (successes and failures), n_success, success_rate, n_peers and n_peers_success (all counted
        records of the category, those without a sequence included), base_rate (their rate), avg_chunk_len
        (characters; 0.0 if unknown), is_complete (some record has no omitted calls), first_us, last_us
        (microseconds since 1970).
    """
    counted = window.groups.filter(IS_COUNTED)
    n_success = pl.col("n").filter(IS_SUCCESS).sum()
    peers = counted.group_by("category").agg(n_peers=pl.col("n").sum(), n_peers_success=n_success)
    patterns = (
        counted.filter(pl.col("sequence") != NO_SEQUENCE)
        .group_by("pattern", *PATTERN_KEYS)
        .agg(
            n_observed=pl.col("n").sum(),
            n_success=n_success,
            avg_chunk_len=pl.col("chunk_len").sum() / pl.col("n_chunk_len").sum().clip(1),
            is_complete=(pl.col("shape") != 0).any(),
            first_us=pl.col("first_us").min(),
            last_us=pl.col("last_us").max(),
        )
    )
    return patterns.join(peers, on="category").with_columns(**_RATES).collect()


def group_by_first_tool(window: Window, patterns: pl.DataFrame) -> pl.DataFrame:
    """Compare each pattern without a category with the patterns that begin with the same tool.

    Parameters
    ----------
    window : Window
        Of the patterns.
    patterns : polars.DataFrame
        From `count_patterns`.

    Returns
    -------
    polars.DataFrame
        ``patterns`` with n_peers, n_peers_success and base_rate of that group; patterns with a category are
        unchanged.
    """
    unlabelled = patterns.filter(pl.col("category") == UNSPECIFIED)
    texts = window.texts_of("sequence", unlabelled["sequence"])
    first = [texts.get(sequence, "").partition("(")[0] for sequence in unlabelled["sequence"]]
    compared = unlabelled.with_columns(first=pl.Series(first, dtype=pl.String)).with_columns(
        n_peers=pl.col("n_observed").sum().over("first"),
        n_peers_success=pl.col("n_success").sum().over("first"),
    )
    labelled = patterns.filter(pl.col("category") != UNSPECIFIED)
    return pl.concat([labelled, compared.drop("first").with_columns(**_RATES).select(labelled.columns)])


_RATES: Final = {
    "success_rate": pl.col("n_success") / pl.col("n_observed"),
    "base_rate": pl.col("n_peers_success") / pl.col("n_peers"),
}


def count_distinct(window: Window, patterns: pl.DataFrame) -> pl.DataFrame:
    """Count the different questions (by their hash) and sessions of some patterns.

    Returns
    -------
    polars.DataFrame
        ``patterns`` with n_question_hashes and n_sessions.
    """
    counts = [
        rows.group_by("pattern").agg(
            n_question_hashes=pl.col("question").n_unique(),
            n_sessions=pl.col("session").filter(pl.col("session") != 0).n_unique(),
        )
        for rows in _counted_requests(window, patterns)
    ]
    schema = {"pattern": pl.UInt64, "n_question_hashes": pl.UInt32, "n_sessions": pl.UInt32}
    counted = pl.concat([pl.DataFrame(schema=schema), *(part.collect() for part in counts)])
    return patterns.join(counted, on="pattern", maintain_order="left")


def find_questions(window: Window, patterns: pl.DataFrame) -> pl.DataFrame:
    """Find the different questions of some patterns: of each, the `MAX_QUESTIONS` earliest.

    Returns
    -------
    polars.DataFrame
        A row per pattern and question (hash): n (counted records), first_us, and file and offset of the
        earliest line that asked it; in the order of first_us.
    """
    questions = [
        rows.rename({"ts_us": "first_us"})
        .sort("first_us", "file", "offset")
        .group_by("pattern", "question", maintain_order=True)
        .agg(pl.len().alias("n"), pl.col("first_us", "file", "offset").first())
        .group_by("pattern", maintain_order=True)
        .head(MAX_QUESTIONS)
        .collect()
        for rows in _counted_requests(window, patterns)
    ]
    schema = {"pattern": pl.UInt64, "question": pl.UInt64, "n": pl.UInt32, "first_us": pl.Int64}
    schema |= {"file": pl.UInt32, "offset": pl.UInt64}
    return pl.concat([pl.DataFrame(schema=schema), *questions])


def _counted_requests(window: Window, patterns: pl.DataFrame) -> Iterator[pl.LazyFrame]:
    """The counted requests of some patterns, in batches of patterns to limit memory.

    Rollups are sorted by the patterns' hashes, so a range of hashes reads only its part of each file.
    """
    ordered = patterns.sort("pattern").with_columns(
        part=((pl.col("n_observed").cum_sum() - pl.col("n_observed")) // _ROWS_AT_ONCE)
    )
    for part in ordered.partition_by("part"):
        of_range = pl.col("pattern").is_between(part["pattern"][0], part["pattern"][-1])
        of_part = pl.col("pattern").is_in(part["pattern"].implode())
        yield window.requests.filter(IS_COUNTED, of_range, of_part)


def count_values(window: Window, patterns: pl.DataFrame, column: str) -> pl.DataFrame:
    """Count each value of ``shape`` or ``provider`` in some patterns, most frequent first."""
    return (
        window.groups.filter(IS_COUNTED, pl.col("pattern").is_in(patterns["pattern"].implode()))
        .group_by("pattern", column)
        .agg(n=pl.col("n").sum())
        .sort("n", column, descending=[True, False])
        .collect()
    )
