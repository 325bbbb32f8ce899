"""coreloop's miner with two processes: everything that `pattern` and `refine` find.

A second folder is used as the cache.
"""

import json
import resource
import sys
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory


def main(logs: Path, cache: Path) -> None:
    # Imported like in the commands: the worker processes import this file too and need none of these.
    from findings import GATE, MIN_FAILURES, from_coreloop

    from coreloop.base.date_range import Days
    from coreloop.learn.facts.read_lines import MineSettings
    from coreloop.learn.failures import find_counterexamples
    from coreloop.learn.mine.folder import read_folder
    from coreloop.learn.mine.window import merge
    from coreloop.learn.sequences import find_candidates

    files = read_folder(logs, MineSettings(min_chunk_len=400), cache=cache, executor="processes")
    window = merge(files, Days(date(1970, 1, 1), date(2100, 1, 1)))
    candidates = find_candidates(window, GATE).entries
    counterexamples = find_counterexamples(window, min_failures=MIN_FAILURES).entries
    counts = {"records": window.n_records(), **from_coreloop(candidates, counterexamples)}
    children_mb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    print(json.dumps({**counts, "children_mb": children_mb}))


if __name__ == "__main__":
    with TemporaryDirectory() as scratch:
        main(*map(Path, [*sys.argv[1:], scratch][:2]))
