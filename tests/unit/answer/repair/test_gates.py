"""When the coverage of a project has fallen."""

from datetime import date

from coreloop.answer.repair.jobs import has_fallen
from coreloop.answer.repair.store import Snapshot
from rows import each_row

TODAY = date(2026, 11, 23)


def snapshot(good: int, total: int) -> Snapshot:
    return Snapshot(TODAY, "coverage", good, total)


@each_row(
    ("before", "now", "falls"),
    [
        (snapshot(100, 100), snapshot(97, 100), True),
        (snapshot(100, 100), snapshot(98, 100), False),  # two items
        (snapshot(1000, 1000), snapshot(997, 1000), False),  # a third of a point
        (snapshot(100, 100), snapshot(100, 103), True),  # three new files that are not indexed
        (snapshot(90, 100), snapshot(100, 110), False),
        (snapshot(0, 0), snapshot(0, 0), False),
    ],
)
def test_a_fall_is_one_point_and_three_items(before: Snapshot, now: Snapshot, falls: bool):
    assert has_fallen(now, before) is falls
