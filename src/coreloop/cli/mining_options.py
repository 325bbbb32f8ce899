"""Options and stderr messages of the commands that mine records."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from datetime import UTC, date, datetime, timedelta
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from coreloop.base.messages import number_of
from coreloop.base.text import printable
from coreloop.base.validation import fields_of
from coreloop.cli.options import FOLDER, DayType, FolderType, days_between, options
from coreloop.cli.output import ProgressBar, say

if TYPE_CHECKING:
    from coreloop.learn.facts.schema import Absent, LogOddities
    from coreloop.learn.mine.window import Window
    from coreloop.learn.propose import Night, PatternResult, RefineResult
    from coreloop.observe.reading.outcome import Unseen


_IN_DIR: Final = "Records: a folder, or s3://bucket/folder.  [default: data/audit/ai-ask]"


def mining_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Which records to read and how; the command gets the options as ``mining``."""

    @click.option("--in-dir", type=FolderType(), metavar="FOLDER", help=_IN_DIR)
    @click.option("--no-cache", is_flag=True, help="Ignore the stored facts and write none.")
    @wraps(command)
    def with_mining(*args: Any, in_dir: "Path | None", no_cache: bool, **options: Any) -> Any:
        from coreloop.learn.mine.folder import MiningOptions

        bar = ProgressBar("reading records")
        mining = MiningOptions(in_dir=in_dir, no_cache=no_cache, progress=bar.update, not_kept=_not_kept)
        return command(*args, mining=mining, **options)

    return with_mining


def night_options(folder: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Options of `pattern` and `refine`; they get ``now``, ``days``, ``gates`` (``min_…``), ``mining``."""
    sharing = "Write files to share: no questions, no groups of fewer than 5 requests."
    shortest = "Shortest complete answer, in characters.  [default: 1]"
    first = "First UTC day: 2026-04-25 or 30d."
    given = options(
        click.option("--since", type=DayType(), default="30d", show_default=True, help=first),
        click.option("--until", type=DayType(), default="0d", help="Last UTC day.  [default: today]"),
        click.option("--min-chunk-len", type=click.IntRange(0), help=shortest),
        click.option("--out", type=FOLDER, help=f"Output folder.  [default: data/audit/{folder}]"),
        click.option("--sanitize", "sanitized", is_flag=True, help=sharing),
        click.option("--dry-run", is_flag=True, expose_value=False, hidden=True, help="No effect."),
    )

    def with_night(command: Callable[..., Any]) -> Callable[..., Any]:
        @given
        @mining_options
        @wraps(command)
        def with_days(*args: Any, since: date | timedelta, until: date | timedelta, **options: Any) -> Any:
            from coreloop.base.date_range import Days

            now = datetime.now(UTC)
            days = Days(*days_between(now.date(), since, until))
            mining = replace(options.pop("mining"), min_chunk_len=options.pop("min_chunk_len"))
            gates = {name: options.pop(name) for name in [*options] if name.startswith("min_")}
            return command(*args, now=now, days=days, mining=mining, gates=gates, **options)

        return with_days

    return with_night


def _not_kept(reason: str) -> None:
    say(f"aggregates are not cached: {reason}", err=True)


MAX_SHOWN = 10


def window_text(window: "Window") -> str:
    """``300 records in 3 files, 2026-04-01 to 2026-04-30``."""
    days = window.recorded()
    files = number_of(len(window.files), "file")
    return f"{number_of(window.n_records(), 'record')} in {files}, {days.since} to {days.until}"


def mined_facts(result: "PatternResult | RefineResult") -> dict[str, object]:
    """Return what `pattern` and `refine` both have as JSON has it."""
    return {
        **fields_of(result.document, "window", "n_folded"),
        "n_records": result.window.n_records(),
        "n_files": len(result.window.files),
        "fell": result.search.dropped,
        **asdict(result.oddities),
        "unseen": result.window.unseen(),
        "files": result.paths,
    }


def written_notes(night: "Night") -> Iterator[str]:
    """Say which files a run wrote, or why none."""
    yield from (f"wrote {path}" for path in night.paths)
    if night.stays is not None:
        since = f"today's file has the proposals since {night.stays.since}"
        yield f"only shown: {since}; --out FOLDER writes these elsewhere"
    elif not night.paths:
        yield "no record in these days, so nothing was written"


def more_lines(number: int, noun: str, n_shown: int = MAX_SHOWN) -> Iterator[str]:
    """Say how many of a table only the draft shows."""
    if number > n_shown:
        yield f"… and {number_of(number - n_shown, noun)} more, in the draft"


def oddity_lines(oddities: "LogOddities", unseen: "Unseen | None" = None) -> Iterator[str]:
    """Yield what records do not say, then skipped lines and unusable fields, each with its first location."""
    yield from (f"  {line}" for line in (unseen.lines() if unseen is not None else ()))
    for reason, count in sorted(oddities.skipped.items()):
        first = printable(oddities.skipped_first[reason])
        yield f"  {number_of(count, 'line')} skipped: {reason}, first in {first}"
    yield from (f"  {line}" for line in absent_lines(oddities.read_as_absent))


def absent_lines(absent: "Mapping[str, Absent]") -> Iterator[str]:
    """``3 records have an unusable overrides_used, first in 2026-04-25.jsonl line 12: read as absent``."""
    for name, field in absent.items():
        verb = "has" if field.n == 1 else "have"
        first = printable(field.first)
        yield f"{number_of(field.n, 'record')} {verb} an unusable {name}, first in {first}: read as absent"
