"""Runs: events per second that survive a power loss or a kill, and a fold against reading the same JSON.

    uv run python benchmarks/runs.py [--folder DIR]

Both kinds of events are appended in turns, one per transaction, so that both see the same disk. The newest
Postgres that is installed is measured.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson

from coreloop.runs import events as happened
from coreloop.runs.active_run import Run, work_on
from coreloop.runs.amounts import Amount
from coreloop.runs.clock import SystemClock
from coreloop.runs.events import Event, decode_event, encode_event
from coreloop.runs.fold import fold
from coreloop.runs.manage import create_run
from coreloop.runs.stores.store import Store, store_at

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from postgres_servers import newest, running_server

ROUNDS, EVENTS, FOLDED = 5, 400, 10_000
RESULT = {"text": "영업이익률은 업종 중앙값보다 높고 현금흐름이 순이익을 따라온다. " * 20}
NOW = SystemClock().now()


def committed(number: int) -> Event:
    """A step's event; it survives a power loss."""
    return happened.StepCommitted(at=NOW, name="ask", key=f"k{number}", result=RESULT, microusd=5)


def noted(number: int) -> Event:
    """An event of the same size, which need not."""
    return happened.Noted(at=NOW, name=f"k{number}", data=RESULT)


def append_round(store: Store, event: Callable[[int], Event]) -> list[float]:
    """Return the seconds of each append to a new run."""
    run_id = create_run(store, "why?", kind="research")
    seconds = []
    for number in range(1, EVENTS + 1):
        appended = [event(number)]
        begun = time.perf_counter()
        store.append(run_id, appended, after=number)
        seconds.append(time.perf_counter() - begun)
    return seconds


def step_round(store: Store) -> list[float]:
    """Return the seconds of each step, from its reservation to its commit."""
    with work_on(store, create_run(store, "why?", kind="research")) as run:
        return [step(run, number) for number in range(EVENTS)]


def step(run: Run, number: int) -> float:
    begun = time.perf_counter()
    run.step("ask", f"k{number}", lambda _key: (RESULT, Amount(5, 5)), at_most=Amount(9, 9))
    return time.perf_counter() - begun


def show_store(name: str, store: Store) -> None:
    """Show the best round's rate, and the latency of all rounds."""
    measured: dict[str, list[list[float]]] = {"committed steps": [], "notes": [], "run.step": []}
    for _ in range(ROUNDS):
        measured["committed steps"].append(append_round(store, committed))
        measured["notes"].append(append_round(store, noted))
        measured["run.step"].append(step_round(store))
    for what, rounds in measured.items():
        rate = max(len(seconds) / sum(seconds) for seconds in rounds)
        every = [second * 1000 for seconds in rounds for second in seconds]
        middle, late = statistics.median(every), statistics.quantiles(every, n=20)[-1]
        print(f"{name:9} {what:16} {rate:8,.0f}/s   median {middle:.2f} ms   95 % {late:.2f} ms")


def some_events() -> Iterator[Event]:
    """Events as a research makes them: of ten, four are steps' and their reservations'."""
    yield happened.Created(at=NOW, run_id="01ARZ3NDEKTSV4RRFFQ69G5FAV", kind="research", question="why?")
    for number in range(FOLDED // 10):
        yield happened.Reserved(at=NOW, reservation=f"r{number}", microusd=9, tokens=9)
        yield happened.StepCommitted(
            at=NOW, name="ask", key=f"k{number}", result={"text": "x" * 100}, reservation=f"r{number}"
        )
        yield happened.ActionTaken(at=NOW, tool="web", strategy=("recent", "English"))
        yield happened.Searched(at=NOW, query=f"q{number}", outcome="found", results_count=5)
        for source in range(3):
            yield happened.SourceRead(at=NOW, source=f"https://example.org/{number}/{source}")
        yield happened.FindingRecorded(at=NOW, sub_question="q1", text="x" * 80, source=f"s{number}")
        yield happened.Reflected(at=NOW, sufficient=False, confidence=0.5)
        yield happened.IterationCommitted(at=NOW, iteration=number + 1)


def best_s(work: Callable[[], object]) -> float:
    seconds = []
    for _ in range(15):
        begun = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begun)
    return min(seconds)


def show_fold(store: Store) -> None:
    events = list(some_events())
    lines = [encode_event(event) for event in events]
    run_id = create_run(store, "why?", kind="research")
    for first in range(1, len(events), 1000):
        store.append(run_id, events[first : first + 1000], after=first)
    parsed = best_s(lambda: [orjson.loads(line) for line in lines])
    folded = best_s(lambda: fold(decode_event(line) for line in lines))
    loaded = best_s(lambda: fold(event for _seq, event in store.read(run_id)))
    print(
        f"{len(lines):,} events: orjson.loads {parsed * 1000:.1f} ms, decode and fold {folded * 1000:.1f} ms "
        f"({folded / parsed:.1f} times), read from SQLite too {loaded * 1000:.1f} ms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, help="on the disk to measure; default: a temporary folder")
    with (
        tempfile.TemporaryDirectory(dir=parser.parse_args().folder) as folder,
        store_at(Path(folder, "runs.db")) as store,
    ):
        show_store("SQLite", store)
        show_fold(store)
    with running_server(newest(), is_durable=True) as server, store_at(server.address) as store:
        show_store("Postgres", store)


if __name__ == "__main__":
    main()
