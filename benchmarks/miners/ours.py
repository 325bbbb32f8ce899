"""coreloop's miner with two processes: everything that `pattern` and `refine` find.

With a second folder, the rollups are kept there.
"""

import resource
import sys
from datetime import date
from pathlib import Path

import orjson
import polars as pl

from coreloop.mine.folder import roll_up_folder
from coreloop.mine.rollup import MineSettings
from coreloop.mine.shelf import open_shelf
from coreloop.mine.window import Days, count_patterns, merge
from coreloop.mine.workers import Workers
from coreloop.pattern.candidates import find_candidates
from coreloop.pattern.success import Gate
from coreloop.refine.counterexamples import find_counterexamples


def main(logs: Path, kept: Path | None = None) -> None:
    settings = MineSettings()
    with open_shelf(kept, settings) as shelf:
        rollups = roll_up_folder(logs, settings, shelf=shelf, workers=Workers(jobs=2))
        window = merge(rollups, Days(date(1970, 1, 1), date(2100, 1, 1)))
        find_candidates(window, Gate())
        find_counterexamples(window, min_failures=2)
        patterns = count_patterns(window)
        failed = window.calls.filter(pl.col("error_class") != "")
        groups = failed.group_by("tool", "shape", "error_class", "template").agg(
            pl.col("n", "wasted_us").sum()
        )
        failing = groups.collect()
        n_records = window.n_records()
        shelf.sweep(logs)
    counts = {
        "records": n_records,
        "patterns": patterns.height,
        "successes": patterns["n_success"].sum(),
        "perfect": patterns.filter(pl.col("success_rate") == 1, pl.col("n_observed") >= 3).height,
        "failing": failing.height,
        "failures": failing["n"].sum(),
    }
    used = {
        "read": sum(rollup.n_bytes_read or 0 for rollup in rollups),
        "children_mb": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024,
    }
    print(orjson.dumps({**counts, **used}).decode())


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
