"""Questions, rejections and changing files at once: memory over time, and whether the queue drains.

    uv run python benchmarks/repair_load.py --minutes 10

Two threads ask about a project of 400 pages, and reject a tenth of the answers; one changes pages; one is a
worker. Exits with 1 if memory grows by more than 1 MB a minute after the first quarter of the time, or
a job is left or dead.
"""

import argparse
import random
import sys
import tempfile
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread

import numpy as np

from coreloop.answer.deps import Deps, open_deps
from coreloop.answer.repair.feedback import give_feedback
from coreloop.answer.repair.jobs import all_handlers
from coreloop.answer.research.run import answer
from coreloop.answer.search.index.run import index_paths
from coreloop.base.project.workspace import open_workspace
from coreloop.runs.jobs.work import work
from coreloop.runs.stores.store import open_store

PAGES = 400
SETTINGS = "repair: {max_per_hour: 1000000}\n"
MOST_MB_A_MINUTE = 1.0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=10.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        root = Path(folder)
        (root / "coreloop.yaml").write_text(SETTINGS)
        for number in range(PAGES):
            write_page(root, number, 1)
        workspace = open_workspace(root)
        index_paths(workspace, [root / "docs"], now=datetime.now(UTC))
        store = stack.enter_context(open_store(workspace, environ={}))
        deps = stack.enter_context(open_deps(workspace, store, {}))
        return load(deps, root, options.minutes)


def load(deps: Deps, root: Path, minutes: float) -> int:
    stop, counts = Event(), {"asked": 0, "answered": 0, "rejected": 0}
    threads = [Thread(target=ask, args=(deps, stop, counts, seed)) for seed in (1, 2)]
    threads.append(Thread(target=change, args=(root, stop)))
    worker = Thread(target=work, args=(deps.queue, all_handlers(deps)), kwargs={"stop": stop})
    began, used = time.monotonic(), list[tuple[float, float]]()
    for thread in (*threads, worker):
        thread.start()
    while (passed := time.monotonic() - began) < 60 * minutes:
        used.append((passed / 60, memory_mb()))
        time.sleep(min(5.0, 6 * minutes))
    stop.set()
    for thread in (*threads, worker):
        thread.join()
    work(deps.queue, all_handlers(deps), until_idle=True)
    figures = deps.queue.metrics()
    late = np.array([row for row in used if row[0] > minutes / 4])
    slope = float(np.polyfit(late[:, 0], late[:, 1], 1)[0])
    left = sum(figures.by_status.get(status, 0) for status in ("queued", "running", "dead"))
    print(f"{counts} in {minutes:g} minutes; jobs {figures.by_status}")
    grown = f"{used[0][1]:.0f} to {used[-1][1]:.0f} MB"
    print(f"memory {grown}; {slope:+.2f} MB a minute in the last three quarters")
    return 0 if slope <= MOST_MB_A_MINUTE and not left else 1


def ask(deps: Deps, stop: Event, counts: dict[str, int], seed: int) -> None:
    chance = random.Random(seed)
    while not stop.is_set():
        number = chance.randrange(PAGES + 20)  # the last 20 do not exist
        found = answer(
            f"How many grams does machine {number} weigh?", deps=deps, repair=chance.random() < 0.5
        )
        counts["asked"] += 1
        counts["answered"] += found.supported
        if chance.random() < 0.1:
            counts["rejected"] += 1
            give_feedback(deps, found.run_id, "down")


def change(root: Path, stop: Event) -> None:
    chance, version = random.Random(3), 1
    while not stop.wait(0.5):
        version += 1
        write_page(root, chance.randrange(PAGES), version)


def write_page(root: Path, number: int, version: int) -> None:
    path = root / "docs" / f"machine-{number}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"# Machine {number}\n\nMachine {number} weighs {number + 1000 * version} grams.\n")


def memory_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


if __name__ == "__main__":
    sys.exit(main())
