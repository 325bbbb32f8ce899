"""Files that are queried together, or each alone: the same requests, calls and counts."""

import pytest
from polars.testing import assert_frame_equal

from coreloop.learn.facts.counting import MineSettings
from coreloop.learn.mine import window as window_module
from coreloop.learn.mine.window import Window, count_calls, count_sources, merge
from coreloop.learn.sequences import count_patterns
from logs import call, failed
from rows import slow_after
from samples import ALWAYS, asked, rolled

SETTINGS = MineSettings(replayed=frozenset({"r2"}), handoff=frozenset({"transfer"}))
BUY = call("buy", {"id": "A1"}, args_from={"id": ["find.items[].id"]})
FILES = [
    [asked(0, call("transfer")), asked(3, call("find"), BUY)],
    [asked(1, call("find")), asked(4, failed("buy", {"id": "x"}), BUY)],
    [asked(2, call("find")), asked(5, call("transfer"))],
]
"""The first line of each has offset 0: one was handed over, one counts, one is a replay."""


def _window() -> Window:
    files = [rolled(records, f"2026-04-0{n + 1}", SETTINGS) for n, records in enumerate(FILES)]
    return merge(files, ALWAYS)


@pytest.mark.parametrize("rows", slow_after(1, [1, 2, 4]))
def test_batches_change_nothing(rows: int, monkeypatch: pytest.MonkeyPatch):
    together = _window()
    assert len(together.batches) == 1
    monkeypatch.setattr(window_module, "_BATCH_ROWS", rows)
    apart = _window()
    assert len(apart.batches) == {1: 3, 2: 3, 4: 2}[rows]
    for name in ("all_requests", "all_calls", "all_arguments", "all_saw"):
        frame, other = (getattr(window, name)().collect() for window in (together, apart))
        assert_frame_equal(frame, other)
    assert_frame_equal(together.calls.collect(), apart.calls.collect())
    for count in (count_calls, count_sources):
        assert_frame_equal(count(together), count(apart))
    patterns = [count_patterns(window).sort("pattern") for window in (together, apart)]
    assert_frame_equal(*patterns)


def test_a_request_of_one_file_says_nothing_about_that_at_the_same_offset_of_another():
    rows = _window().all_requests().sort("file", "offset").collect()
    assert rows.select("file", "outcome").rows() == [(0, -1), (0, 1), (1, 1), (1, 1), (2, -1)]
