"""Kills of a service at random moments under load: what it had accepted ends once, with one record."""

import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random

from attack.case import Attack
from coreloop.base.project.workspace import open_workspace
from coreloop.runs.events import StepCommitted
from coreloop.runs.stores.store import open_store
from serving import UNBOUNDED, Served, asked, served, until
from weekly import WEEKLY

KILLS = 6 if WEEKLY else 3
_RUNS = 6
_LEASE_S = 1.0
_LATEST_S = 0.5
"""Within which the runs of a load have ended here, so that a kill meets them at any step."""


def attacks(folder: Path) -> Iterator[Attack]:
    for seed in range(KILLS):
        after_s = Random(seed).uniform(0, _LATEST_S)
        name = f"kill -9 {after_s * 1000:.0f} ms after {_RUNS} runs"
        yield Attack("kill", name, partial(_broken, folder, after_s))


def _broken(folder: Path, after_s: float) -> str:
    with served(folder, bounds=UNBOUNDED, lease_s=_LEASE_S) as service, service.client() as client:
        questions = [f"How long is river {after_s} {number}?" for number in range(_RUNS)]
        ids = [asked(client, task=question, **{"async": True}).json()["run_id"] for question in questions]
        time.sleep(after_s)
        service.process.kill()
    with served(folder, bounds=UNBOUNDED, lease_s=_LEASE_S) as service, service.client() as client:
        until(lambda: all(_is_over(client.get(f"/runs/{run_id}").json()) for run_id in ids), 60)
        until(lambda: min(records(service, run_id) for run_id in ids) > 0, 60)
        found = Counter(records(service, run_id) for run_id in ids)
    if set(found) != {1}:
        return f"records of a run: {sorted(found)}"
    with open_store(open_workspace(folder)) as store:
        for run_id in ids:
            steps = Counter(event.key for _, event in store.read(run_id) if isinstance(event, StepCommitted))
            if set(steps.values()) != {1}:
                return "a committed step was done again"
    return ""


def _is_over(run: dict) -> bool:
    return run["state"]["status"] in {"completed", "stopped", "failed"}


def records(service: Served, run_id: str) -> int:
    logs = (service.folder / "data" / "audit" / "own").glob("*.jsonl")
    return sum(run_id.encode() in line for log in logs for line in log.read_bytes().splitlines())
