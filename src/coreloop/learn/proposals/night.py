"""What `pattern` and `refine` share: their options, what the window's records say, and their results."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from coreloop.base.date_range import Days
from coreloop.learn.facts.file import FileFacts
from coreloop.learn.facts.oddities import LogOddities, find_oddities
from coreloop.learn.mine.folder import newest_day
from coreloop.learn.mine.run import Mined, MiningOptions
from coreloop.learn.mine.window import Window
from coreloop.learn.proposals.vocabulary import Vocabulary
from coreloop.observe.reading.outcome import Unseen


@dataclass(frozen=True, slots=True, kw_only=True)
class NightRequest:
    """Options of both commands; for a gate that is None, the project's setting applies.

    Attributes
    ----------
    days : Days
        Whole UTC days to mine.
    mining : MiningOptions
        Which records, and how.
    min_chunk_len : int, optional
        Characters of a complete answer.
    out : Path, optional
        Folder of the two files; the project's own by default.
    sanitized : bool
        Redact the files for sharing.
    """

    days: Days
    mining: MiningOptions = field(default_factory=MiningOptions)
    min_chunk_len: int | None = None
    out: Path | None = None
    sanitized: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NightRecords:
    """The records of a window.

    Attributes
    ----------
    days : Days
        The window.
    recorded : Days
        From the first to the last day that has a record.
    n_records, n_neutral, n_files : int
        Records in the window, how many of them are neutral, and files with such records.
    newest : date or None
        Day of the newest record, in the window or not.
    oddities : LogOddities
        Lines that were not mined, and fields that were read as absent, in all of the files.
    unseen : Unseen
        What the records of the window do not say.
    words : Vocabulary
        Definitions of the tools that are named.
    """

    days: Days
    recorded: Days
    n_records: int
    n_neutral: int
    n_files: int
    newest: date | None
    oddities: LogOddities
    unseen: Unseen
    words: Vocabulary


def records_of(window: Window, files: Sequence[FileFacts]) -> dict[str, Any]:
    """All but the words of `NightRecords`, as keyword arguments."""
    return {
        "days": window.days,
        "recorded": window.recorded(),
        "n_records": window.n_records(),
        "n_neutral": window.n_neutral(),
        "n_files": len(window.files),
        "newest": newest_day(files),
        "oddities": find_oddities((file.path, file.oddities) for file in files),
        "unseen": window.unseen(),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class NightResult:
    """What both commands give back.

    Attributes
    ----------
    paths : tuple of Path
        The file of proposals and the draft; empty if the window has no records and an older file is kept.
    mined : Mined
        Closed; its counts and verdicts can still be read.
    kept : Path or None
        That older file.
    """

    paths: tuple[Path, ...]
    mined: Mined
    kept: Path | None = None
