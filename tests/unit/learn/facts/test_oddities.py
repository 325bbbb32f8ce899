"""Oddities of a log: their counts, their first places, and that every part of a file counts."""

from pathlib import Path

from coreloop.learn.facts.read_lines import MineSettings
from coreloop.learn.facts.schema import Absent, LogOddities, find_oddities, place_of
from coreloop.learn.mine.folder import read_folder
from logs import call, line, record

ODD = line(record(question=True))


def _found(folder: Path) -> LogOddities:
    files = read_folder(folder, MineSettings())
    return find_oddities((file.path, part) for file in files for part in file.parts)


def test_the_first_place_is_a_line_of_the_first_file(tmp_path: Path):
    (tmp_path / "a.jsonl").write_bytes(line(record()) + b"\n" + b"torn\n" + ODD)
    (tmp_path / "b.jsonl").write_bytes(ODD + b"torn\n" * 2 + line(record(tool_calls=[call(), 7])))
    assert _found(tmp_path) == LogOddities(
        {"torn or not JSON": 3},
        {"torn or not JSON": "a.jsonl line 3"},
        {"question": Absent(2, "a.jsonl line 4"), "tool_calls entry": Absent(1, "b.jsonl line 4")},
    )


def test_a_place_whose_line_cannot_be_counted_is_a_byte(tmp_path: Path):
    assert place_of(tmp_path / "gone.jsonl", 5120) == "gone.jsonl byte 5,120"
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\n" * 9)
    assert place_of(path, 5) == "a.jsonl line 6"
