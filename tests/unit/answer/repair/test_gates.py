"""Coverage and documentation of a project, day by day."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from coreloop.answer.repair.jobs import all_handlers, has_fallen, read_gates
from coreloop.answer.repair.tables import Snapshot
from coreloop.answer.search.index.run import index_paths
from coreloop.runs.jobs.work import work
from coreloop.runs.load import load_run
from repairing import limit_paths, shop, shop_deps
from researching import MOMENT
from rows import each_row

DAY = timedelta(days=1)
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


def test_files_and_functions_are_counted(tmp_path: Path):
    limit_paths(tmp_path, ".")
    with shop_deps(shop(tmp_path, indexed=("docs/returns.md", "rates.py"))) as deps:
        coverage, io = read_gates(deps, now=MOMENT)
    assert (coverage.now.good, coverage.now.total) == (2, 3)
    assert coverage.worst == (("docs/shipping.md", 1),)
    assert (io.now.good, io.now.total) == (1, 1)


def test_a_fall_is_a_signal_and_jobs_that_mend_it(tmp_path: Path):
    limit_paths(tmp_path, ".")
    workspace = shop(tmp_path)
    index_paths(workspace, [tmp_path], now=datetime.now(UTC))
    with shop_deps(workspace) as deps:
        assert [reading.signal for reading in read_gates(deps, now=MOMENT)] == [None, None]
        for number in range(3):
            (tmp_path / "docs" / f"new{number}.md").write_text("# New\n\nNew text.\n", encoding="utf-8")
        coverage, _ = read_gates(deps, now=MOMENT + DAY)
        assert (coverage.signal, coverage.jobs) == ("coverage_drop", 3)
        (run,) = deps.store.runs(kind="gate")
        assert load_run(deps.store, run.run_id)[0].state.status == "completed"
        work(deps.queue, all_handlers(deps), until_idle=True)
        coverage, _ = read_gates(deps, now=MOMENT + DAY)
        assert (coverage.now.good, coverage.now.total) == (6, 6)
