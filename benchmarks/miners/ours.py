"""coreloop's miner: everything that `pattern` and `refine` find. The second folder is the cache.

Imports and collects garbage as the commands do: polars after the records are read, which forks processes.
"""

import gc
import json
import sys
from datetime import date, datetime
from pathlib import Path
from typing import Any

from miners.findings import MIN_CHUNK_LEN, MIN_FAILURES, digests

from coreloop.base.date_range import Days
from coreloop.learn.facts.read_lines import MineSettings
from coreloop.learn.mine.folder import read_folder
from coreloop.learn.mine.window import merge


def mine(logs: Path, cache: Path) -> dict[str, Any]:
    gc.set_threshold(50_000)
    files = read_folder(logs, MineSettings(min_chunk_len=MIN_CHUNK_LEN), cache=cache)
    from coreloop.learn.failures import find_counterexamples
    from coreloop.learn.sequences import find_candidates

    window = merge(files, Days(date(1, 1, 1), date(9999, 12, 31)))
    candidates = [_candidate(entry) for entry in find_candidates(window).entries]
    found = find_counterexamples(window, min_failures=MIN_FAILURES).entries
    sequences = [_sequence(entry) for entry in found if entry.steps]
    calls = [_call(entry) for entry in found if not entry.steps]
    return {"records": window.n_records(), **digests(candidates, sequences, calls)}


def _candidate(entry: Any) -> list[Any]:
    return [
        *(entry.cat_hash, entry.seq_hash, [_shape(step, step.name) for step in entry.tool_pattern]),
        *(entry.n_observed, entry.n_unique_questions, entry.n_sessions),
        *(round(entry.success_rate, 9), round(entry.base_rate, 9)),
        *(_us(entry.first_seen), _us(entry.last_seen), entry.example_questions),
    ]


def _sequence(entry: Any) -> list[Any]:
    return [
        *(_shape(entry, entry.tool), [_shape(step, step.name) for step in entry.steps], entry.cat_hash),
        *(sorted(entry.labels), entry.error_class, entry.n_failures, entry.n_calls),
        *(_us(entry.first_seen), _us(entry.last_seen), list(entry.example_questions)),
    ]


def _call(entry: Any) -> list[Any]:
    return [
        *(_shape(entry, entry.tool), entry.error_class, entry.error_template, entry.n_failures),
        *(entry.n_calls, entry.n_other_calls, round(100 * entry.wasted_ms)),
        *(_us(entry.first_seen), _us(entry.last_seen), entry.example_questions[0]),
    ]


def _shape(entry: Any, tool: str) -> list[Any]:
    return [tool, list(entry.selectors.items()), entry.arg_keys]


def _us(moment: datetime) -> int:
    return round(moment.timestamp() * 1_000_000)


if __name__ == "__main__":
    print(json.dumps(mine(Path(sys.argv[1]), Path(sys.argv[2]))))
