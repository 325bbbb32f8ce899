"""Whether anything is recorded, and how old the newest record is: from the ends of the newest files."""

import os
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final

from coreloop.doctor.diagnosis import Diagnosis, Setup
from coreloop.files import open_regular
from coreloop.mine.decode import RecordLine, decode_line
from coreloop.text import counted

STALE: Final = timedelta(days=2)
_FILES: Final = 3
_TAILS_BYTES: Final = (256 << 10, 16 << 20)
"""The second for a file whose last line is longer than the first."""
_DAY: Final = re.compile(r"(\d{4}-\d\d-\d\d)\.jsonl")


def check_log(setup: Setup) -> Iterator[Diagnosis]:
    """Whether anything is recorded, and how old the newest record is."""
    folder = setup.workspace.records_dir
    files = log_files(folder)
    if not files:
        todo = (
            "record requests with AuditCollector (docs/how-to/record.md) or import traces "
            "(dartlab-coreloop import), and check data_dir"
        )
        yield Diagnosis("records", "fault", f"nothing is recorded in {folder}", todo)
        return
    lines = recent_lines(files)
    if not lines:
        said = f"no line can be read as a record at the end of the newest of {counted(len(files), 'file')}"
        yield Diagnosis(
            "records", "fault", f"{said} in {folder}", "see dartlab-coreloop mine for the reasons"
        )
        return
    yield Diagnosis("records", "ok", f"{counted(len(files), 'file')} in {folder}")
    yield _aged(max(line.ts_us for line in lines), setup.now)


def log_files(folder: Path) -> list[Path]:
    """Files of records, empty ones aside, the newest first: by the day of the name, else of the change."""
    if not folder.is_dir():
        return []
    with os.scandir(folder) as entries:
        found = [
            (_day(entry.name, entry.stat().st_mtime), entry.name)
            for entry in entries
            if entry.name.endswith(".jsonl") and entry.is_file() and entry.stat().st_size
        ]
    return [folder / name for _, name in sorted(found, reverse=True)]


def recent_lines(files: Sequence[Path]) -> list[RecordLine]:
    """The readable records at the ends of the three newest files."""
    return [line for path in files[:_FILES] for line in _last_lines(path)]


def _last_lines(path: Path) -> list[RecordLine]:
    found: list[RecordLine] = []
    for most in _TAILS_BYTES:
        with open_regular(path) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - most))
            raw = file.read(most).split(b"\n")
        decoded = (decode_line(one) for one in (raw[1:] if size > most else raw) if one.strip())
        found = [line for line in decoded if isinstance(line, RecordLine)]
        if found or size <= most:
            break
    return found


def _day(name: str, changed_s: float) -> date:
    named = _DAY.fullmatch(name)
    try:
        return date.fromisoformat(named[1]) if named else datetime.fromtimestamp(changed_s, UTC).date()
    except ValueError:
        return date.min


def _aged(ts_us: int, now: datetime) -> Diagnosis:
    newest = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=ts_us)
    age, at = now - newest, f"{newest:%Y-%m-%d %H:%M} UTC"
    if age < -timedelta(days=1):
        return Diagnosis(
            "newest",
            "warning",
            f"the newest record is dated in the future: {at}",
            "set the clock of the machine that records",
        )
    if age > STALE:
        todo = "check that the agent runs, that CORELOOP_AUDIT_DISABLE is not set, and data_dir"
        return Diagnosis(
            "newest", "warning", f"the newest record is {counted(age.days, 'day')} old: {at}", todo
        )
    return Diagnosis("newest", "ok", f"the newest record is of {at}")
