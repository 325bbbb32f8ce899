"""Lines are appended completely; any bytes are read, as values or as counts of skipped lines."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from coreloop.observe import jsonl

NOON = datetime(2026, 4, 25, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Note:
    at: datetime
    text: str
    n: int = 1


def read(path):
    return jsonl.read(path, Note, other="not a note")


def test_appended_values_are_read_in_order(tmp_path):
    path = tmp_path / "audit" / "notes.jsonl"
    notes = tuple(Note(NOON, text) for text in ("가격", "a\nb", "\u2028", ""))
    for note in notes:
        jsonl.append(path, note)
    assert path.read_bytes().count(b"\n") == len(notes)
    assert read(path) == jsonl.Lines(notes, {})
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        pytest.param(b'{"at": "2026-04-25T12:00', "torn or not JSON", id="torn"),
        pytest.param(b"\0\0", "torn or not JSON", id="NUL bytes"),
        pytest.param(b'{"x": ' + b"[" * 100_000, "torn or not JSON", id="nested without end"),
        pytest.param(b'{"at": "2026-04-25T12:00:00Z", "text": "\xff"}', "not UTF-8", id="not UTF-8"),
        pytest.param(b"[]", "not a note", id="a list"),
        pytest.param(b'{"at": "2026-04-25T12:00:00Z"}', "not a note", id="a field is missing"),
        pytest.param(b'{"at": "noon", "text": ""}', "not a note", id="no time"),
    ],
)
def test_an_unreadable_line_is_skipped_and_counted_by_reason(tmp_path, line, reason):
    path = tmp_path / "x.jsonl"
    sound = b'{"at": "2026-04-25T12:00:00Z", "text": "", "more": 1}'
    path.write_bytes(b"\n".join([sound, b" ", line, sound]) + b"\r\n\r\n")
    assert read(path) == jsonl.Lines((Note(NOON, ""),) * 2, {reason: 1})


@given(st.binary(max_size=300))
@example(b"\xef\xbb\xbf{}")
def test_any_bytes_are_read_and_every_line_counts_once(content):
    with TemporaryDirectory() as folder:
        path = Path(folder, "x.jsonl")
        path.write_bytes(content)
        lines = read(path)
    n_lines = sum(bool(line.strip()) for line in content.splitlines())
    assert len(lines.values) + sum(lines.skipped.values()) == n_lines
