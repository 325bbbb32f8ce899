"""Many files combined: their days, their rows and their sums."""

from datetime import date
from typing import Any

import pytest

from coreloop.base.date_range import Days
from coreloop.learn.facts.read_lines import MineSettings
from coreloop.learn.mine.window import Window, merge
from logs import call, record
from samples import rolled

APRIL = Days(date(2026, 4, 1), date(2026, 4, 30))


def _window(*files: list[dict[str, Any]], **changes: Any) -> Window:
    return merge([rolled(rows, settings=MineSettings(**changes)) for rows in files], APRIL)


def test_the_recorded_days_are_those_of_the_records_in_the_window():
    rows = [record(ts=f"2026-{day}T09:00:00Z") for day in ("03-31", "04-12", "04-03", "04-07")]
    assert _window(rows[:2], rows[2:]).recorded() == Days(date(2026, 4, 3), date(2026, 4, 12))
    assert merge([], APRIL).recorded() == APRIL


@pytest.mark.parametrize(
    ("ts", "inside"),
    [
        ("2026-04-01T00:00:00Z", True),
        ("2026-03-31T23:59:59.999999Z", False),
        ("2026-04-30T23:59:59.999999Z", True),
        ("2026-05-01T00:00:00Z", False),
        ("2026-04-01T08:59:59+09:00", False),
        ("2026-05-01T08:59:59+09:00", True),
    ],
)
def test_a_window_is_whole_utc_days(ts: str, inside: bool):
    window = _window([record(ts=ts)])
    assert window.n_records() == inside


def test_a_request_of_one_file_says_nothing_about_that_at_the_same_place_of_another():
    asked = [("r0", "transfer"), ("r1", "find"), ("r2", "find")]
    files = [[record(request_id=id, tool_calls=[call(tool)]), record(tool_calls=[])] for id, tool in asked]
    window = _window(*files, replayed=frozenset({"r2"}), handoff=frozenset({"transfer"}))
    assert len(window.drawn(window.requests, 3)) == 3
    found = [(group.file, one.outcome) for group in window.requests for one in group.each()]
    assert sorted(found) == [(0, -1), (0, 1), (1, 1), (1, 1), (2, 1)]
