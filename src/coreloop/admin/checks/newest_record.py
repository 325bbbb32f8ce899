"""Check the age of the newest record, read from the ends of the newest files."""

import os
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final

from coreloop.admin.checks.diagnosis import Diagnosis, Setup
from coreloop.admin.init.new_settings import find_made
from coreloop.base.files import open_regular
from coreloop.base.messages import LONE, number_of
from coreloop.base.project.workspace import Workspace
from coreloop.observe.importers.traced_request import ID_PREFIX
from coreloop.observe.reading.decode import RecordLine, decode_line

_CHECK: Final = "check that the agent runs, CORELOOP_AUDIT_DISABLE is unset and data_dir is where it records"
STALE: Final = timedelta(days=2)
"""Chosen: a night without requests is no news; that a quiet weekend is told of is the price."""
_FILES: Final = 3  # chosen: the newest days say whether records are read today
_TAILS_BYTES: Final = (256 << 10, 16 << 20)
"""The second size is for a file whose last line is longer than the first size."""
_DAY: Final = re.compile(r"(\d{4}-\d\d-\d\d)\.jsonl")


def check_log(setup: Setup) -> Iterator[Diagnosis]:
    """Check that there are records and the age of the newest."""
    folder = setup.workspace.records_dir
    files = log_files(folder)
    if not files:
        message = f"nothing is recorded yet in {folder}"
        yield Diagnosis("records", "warning", message, how_to_record(setup.workspace))
        return
    lines = recent_lines(files)
    if not lines:
        message = f"nothing can be read as a record at the end of {number_of(len(files), 'file')} in {folder}"
        yield Diagnosis("records", "fault", message, "see dartlab-coreloop pattern for the reasons")
        return
    yield Diagnosis("records", "ok", f"{number_of(len(files), 'file')} in {folder}")
    yield from _check_sessions(lines)
    yield _check_age(max(line.ts_us for line in lines), setup)


def _check_sessions(lines: Sequence[RecordLine]) -> Iterator[Diagnosis]:
    """Check whether calls that are recorded one by one, as servers of tools see them, have a session."""
    fields = (line.fields for line in lines if len(line.calls) == 1)
    if 2 * sum(not (of_line.question or of_line.session_hash) for of_line in fields) > len(lines):
        message = f"most calls are recorded without a question and a session: {LONE}"
        yield Diagnosis("sessions", "warning", message, "record requests in the agent that calls this server")


def how_to_record(workspace: Workspace) -> str:
    """How to get newer records as the newest came; the first where the agent is made, else from traces."""
    if lines := recent_lines(log_files(workspace.records_dir)):
        is_imported = all((line.fields.request_id or "").startswith(ID_PREFIX) for line in lines)
        return "import newer traces: dartlab-coreloop import PATH" if is_imported else _CHECK
    made, chosen = find_made(workspace), workspace.settings.reach.tools
    one = max(made, key=lambda one: (one.tools == chosen, bool(one.variable)), default=None)
    if one is None or one.framework in {"anthropic", "llama-index"}:  # without an adapter
        return "dartlab-coreloop receive the agent's spans, import PATH of chats or traces, or record calls"
    place = f"in {one.tools.partition(':')[0]}" if one.variable else "where the agent is made"
    name = one.variable or "agent"
    return f"{place}: import coreloop; {name} = coreloop.attach({name})"


def log_files(folder: Path) -> list[Path]:
    """Return the non-empty record files, newest first: by the day in the name, else by modification time."""
    if not folder.is_dir():
        return []
    with os.scandir(folder) as entries:
        dated = [
            (_day(entry.name, entry.stat().st_mtime), entry.name)
            for entry in entries
            if entry.name.endswith(".jsonl") and entry.is_file() and entry.stat().st_size
        ]
    return [folder / name for _, name in sorted(dated, reverse=True)]


def recent_lines(files: Sequence[Path]) -> list[RecordLine]:
    """Return the readable records at the ends of the three newest files."""
    return [line for path in files[:_FILES] for line in _last_lines(path)]


def _last_lines(path: Path) -> list[RecordLine]:
    lines: list[RecordLine] = []
    for max_bytes in _TAILS_BYTES:
        with open_regular(path) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - max_bytes))
            raw = file.read(max_bytes).split(b"\n")
        decoded = (decode_line(line) for line in (raw[1:] if size > max_bytes else raw) if line.strip())
        lines = [line for line in decoded if isinstance(line, RecordLine)]
        if lines or size <= max_bytes:
            break
    return lines


def _day(name: str, changed_s: float) -> date:
    match = _DAY.fullmatch(name)
    try:
        return date.fromisoformat(match[1]) if match else datetime.fromtimestamp(changed_s, UTC).date()
    except ValueError:
        return date.min


def _check_age(ts_us: int, setup: Setup) -> Diagnosis:
    newest = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=ts_us)
    age, at = setup.now - newest, f"{newest:%Y-%m-%d %H:%M} UTC"
    if age > STALE:
        message = f"the newest record is {number_of(age.days, 'day')} old: {at}"
        return Diagnosis("newest", "warning", message, how_to_record(setup.workspace))
    return Diagnosis("newest", "ok", f"the newest record is from {at}")
