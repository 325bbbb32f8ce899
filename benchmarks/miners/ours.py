"""coreloop's miner with two processes: everything that `pattern` and `refine` find.

A second folder is used as the cache.
"""

import json
import multiprocessing
import resource
import sys
from datetime import date
from pathlib import Path


def main(logs: Path, cache_folder: Path | None = None) -> None:
    # Imported like in the commands: the worker processes import this file too and need none of these.
    from coreloop.learn.facts.store import open_store
    from findings import GATE, MIN_FAILURES, from_coreloop

    from coreloop.base.date_range import Days
    from coreloop.learn.facts.read_lines import MineSettings
    from coreloop.learn.failures import find_counterexamples
    from coreloop.learn.mine.executors import Executor
    from coreloop.learn.mine.folder import read_folder
    from coreloop.learn.mine.window import merge
    from coreloop.learn.sequences import find_candidates

    settings = MineSettings(min_chunk_len=400)
    with open_store(cache_folder, settings) as store:
        files = read_folder(logs, settings, store=store, executor=Executor(jobs=2))
        window = merge(files, Days(date(1970, 1, 1), date(2100, 1, 1)))
        candidates = find_candidates(window, GATE).entries
        counterexamples = find_counterexamples(window, min_failures=MIN_FAILURES).entries
        n_records = window.n_records()
        store.sweep(logs)
    counts = {"records": n_records, **from_coreloop(candidates, counterexamples)}
    n_bytes_read = sum(file.n_bytes_read or 0 for file in files)
    for child in multiprocessing.active_children():
        child.join()  # the memory of a child is known after it ends
    children_mb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    print(json.dumps({**counts, "read": n_bytes_read, "children_mb": children_mb}))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
