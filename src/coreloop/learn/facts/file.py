"""The facts of a file of records, with the settings by which its requests count."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Final

from coreloop.base.records import hash_question
from coreloop.learn.facts.columns import as_int
from coreloop.learn.facts.counting import MineSettings, count_days, replays
from coreloop.learn.facts.oddities import Oddities
from coreloop.learn.facts.read_lines import read_facts
from coreloop.learn.facts.schema import Facts
from coreloop.observe.reading.decode import Question
from coreloop.observe.reading.fields import CountedFields

EPOCH_DAY: Final = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class FileFacts:
    """The facts of a file.

    Attributes
    ----------
    path : Path
        The file.
    facts : Facts
        Its tables.
    settings : MineSettings
        How its requests count.
    oddities : Oddities
        Lines that are not mined, and fields that were read as absent.
    days : dict of int to int
        Records by day (days since 1970).
    n_bytes_read : int or None
        Bytes that this run read; None if an earlier run read them all.
    """

    path: Path
    facts: Facts
    settings: MineSettings
    oddities: Oddities
    days: Mapping[int, int]
    n_bytes_read: int | None

    @property
    def skipped(self) -> dict[str, int]:
        """Lines that are not mined, by reason."""
        return {reason: oddity.n for reason, oddity in self.oddities.skipped.items()}


def facts_of_lines(
    lines: Iterable[tuple[int, bytes]], settings: MineSettings, *, path: Path, n_bytes: int = 0
) -> FileFacts:
    """Read lines in memory."""
    return in_memory(read_facts(lines, settings), settings, path=path, n_bytes=n_bytes)


def in_memory(read: tuple[Facts, Oddities], settings: MineSettings, *, path: Path, n_bytes: int) -> FileFacts:
    """The facts of a file whose lines were just read."""
    facts, oddities = read
    return with_settings(FileFacts(path, facts, settings, oddities, count_days(facts.requests), n_bytes))


def with_settings(file: FileFacts) -> FileFacts:
    """The facts of a file without the requests that coreloop made itself, which count as skipped."""
    settings = file.settings
    own = replays(file.facts.requests, settings).select("ts_us", "offset") if settings.replayed else None
    if own is None or (found := own.collect()).is_empty():
        return file
    oddities = Oddities()
    oddities.add(file.oddities)
    for offset in found["offset"]:
        oddities.skip("replay", offset)
    days = dict(file.days)
    for day, n in count_days(found.lazy()).items():
        days[day] -= n
    days = {day: n for day, n in days.items() if n}
    return FileFacts(file.path, file.facts, settings, oddities, days, file.n_bytes_read)


def question_hash(fields: CountedFields | Question) -> int:
    """A record's question as 64 bits."""
    return as_int(fields.question_hash or hash_question(fields.question or ""))
