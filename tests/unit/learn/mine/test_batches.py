"""Files that are read together, or each alone: the same requests, calls and counts."""

from pathlib import Path
from typing import Any

from polars.testing import assert_frame_equal

from coreloop.learn.facts.read_lines import MineSettings, facts_of_lines, read_files
from coreloop.learn.facts.schema import NAMES
from coreloop.learn.mine.window import Window, count_calls, count_sources, merge
from logs import call, failed, line
from samples import ALWAYS, asked

SETTINGS = MineSettings(replayed=frozenset({"r2"}), handoff=frozenset({"transfer"}))
BUY = call("buy", {"id": "A1"}, args_from={"id": ["find.items[].id"]})
FILES = [
    [asked(0, call("transfer")), asked(3, call("find"), BUY)],
    [asked(1, call("find")), asked(4, failed("buy", {"id": "x"}), BUY)],
    [asked(2, call("find")), asked(5, call("transfer"))],
]
"""The first line of each has offset 0: one was handed over, one counts, one is a replay."""


def _lines(records: list[Any]) -> list[tuple[int, bytes]]:
    return [(number, line(one)) for number, one in enumerate(records)]


def _window(*, together: bool = True) -> Window:
    files = [(Path(f"{number}.jsonl"), _lines(records)) for number, records in enumerate(FILES)]
    if together:
        return merge(read_files(files, SETTINGS), ALWAYS)
    return merge([facts_of_lines(lines, SETTINGS, path=path) for path, lines in files], ALWAYS)


def test_files_that_are_read_together_count_as_each_alone():
    together, apart = _window(), _window(together=False)
    for name in NAMES:
        frame, other = (getattr(window.facts, name).collect() for window in (together, apart))
        assert_frame_equal(frame, other, check_row_order=False)
    for count in (count_calls, count_sources):
        assert_frame_equal(count(together), count(apart))


def test_a_request_of_one_file_says_nothing_about_that_at_the_same_offset_of_another():
    rows = _window().all_requests().sort("file", "offset").collect()
    assert rows.select("file", "outcome").rows() == [(0, -1), (0, 1), (1, 1), (1, 1), (2, -1)]
