"""Runs for tests: stores in other processes, a clock to set, and a run of steps whose calls a file counts."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from coreloop.runs.active_run import Run
from coreloop.runs.agent import agent_runs
from coreloop.runs.agent.agent_report import AgentReport, answered_parts
from coreloop.runs.amounts import Amount
from coreloop.runs.events import FindingRecorded, Planned, Reported, Searched, SourceRead
from coreloop.runs.limits import Limits
from coreloop.runs.manage import create_run
from coreloop.runs.state import State, state_json
from coreloop.runs.stores import store as stores
from coreloop.runs.stores.store import Store

MOMENT = datetime(2026, 4, 25, 12, tzinfo=UTC)
AT_MOST = Amount(300, 30)
COST = Amount(100, 10)


class SetClock:
    """A clock that a test sets: the wall may jump, the monotonic clock cannot."""

    def __init__(self, now: datetime = MOMENT) -> None:
        self.wall = now
        self.seconds = 0.0

    def now(self) -> datetime:
        return self.wall

    def monotonic(self) -> float:
        return self.seconds

    def pass_(self, seconds: float) -> None:
        self.wall += timedelta(seconds=seconds)
        self.seconds += seconds


@contextmanager
def store_at(place: str) -> Iterator[Store]:
    """Open the store at a path or an address of Postgres."""
    with stores.store_at(place if place.startswith("postgresql:") else Path(place)) as store:
        yield store


def new_run(store: Store, **fields: Any) -> str:
    limits = fields.pop("limits", Limits())
    return create_run(store, fields.pop("question", "why?"), kind="research", limits=limits, **fields)


def python(code: str, *words: str, **more: Any) -> subprocess.Popen[str]:
    """Start a process that can import this module."""
    path = os.pathsep.join([str(Path(__file__).parent), *os.environ.get("PYTHONPATH", "").split(os.pathsep)])
    return subprocess.Popen(
        [sys.executable, "-c", code, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
        **more,
    )


def kill_each(work: str, words: Sequence[Sequence[Any]]) -> None:
    """Call the function ``work`` of some code in a process each, which kills itself."""
    process = python(f"{work}\n{_IN_PROCESSES}")
    out, errors = process.communicate(json.dumps(words))
    assert (errors, set(out.split()), len(out.split())) == ("", {"-9"}, len(words))


_IN_PROCESSES = """
import json, os, sys
for words in json.loads(sys.stdin.read()):
    child = os.fork()
    if not child:
        try:
            work(*words)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status))
"""


def counted_call(calls: Path, result: Any, cost: Amount = COST) -> Callable[[str], tuple[Any, Amount]]:
    """A call that adds its key to a file."""

    def call(key: str) -> tuple[Any, Amount]:
        with calls.open("a") as file:
            file.write(f"{key}\n")
        return result, cost

    return call


def calls_in(calls: Path) -> Counter[str]:
    return Counter(calls.read_text().splitlines() if calls.exists() else [])


def count_appends(store: Store) -> list[object]:
    """A list that grows with each append to a store."""
    append, made = store.append, list[object]()

    def count(*words: Any, **more: Any) -> Any:
        made.append(words)
        return append(*words, **more)

    store.append = count  # type: ignore[method-assign]
    return made


def research(calls: Path) -> Callable[[Run], None]:
    """An iteration of a small research: a search and a question to a model, and what they found."""

    def iterate(run: Run) -> None:
        number = run.state.iteration
        if number == 0:
            run.record(Planned, sub_questions=("one?", "two?"))
        found = run.step(
            "search", f"search-{number}", counted_call(calls, [f"s{number}"], Amount()), at_most=Amount()
        )
        run.record(Searched, query=f"q{number}", outcome="found", results_count=len(found))
        run.record(SourceRead, source=found[0])
        text = run.step("read", f"read-{number}", counted_call(calls, f"text {number}"), at_most=AT_MOST)
        run.record(FindingRecorded, sub_question="q1", text=text, source=found[0])

    return iterate


def comparable(state: State) -> dict[str, Any]:
    """A state without what a restart may change: times, and what a dead process's call is assumed to cost."""
    shown = state_json(state)
    for name in ("elapsed_s", "cost_estimate_usd", "tokens"):
        del shown["metrics"][name]
    return {name: value for name, value in shown.items() if name not in {"run_id", "error_log"}}


class Failpoint:
    """A store whose process kills itself before or after an append.

    Parameters
    ----------
    store : Store
        The real one.
    number : int
        The append, from 1; 0 never.
    is_before : bool
        Whether the append is not done.
    """

    def __init__(self, store: Store, number: int, *, is_before: bool) -> None:
        self._store = store
        self._left = number
        self._is_before = is_before

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def append(self, *words: Any, **more: Any) -> Any:
        self._left -= 1
        if self._left == 0 and self._is_before:
            os.kill(os.getpid(), signal.SIGKILL)
        done = self._store.append(*words, **more)
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return done


def claims(state: State, report: AgentReport, ids: Mapping[str, str], at: datetime) -> Iterator[Reported]:
    """Take the findings of a report as what the agent says: nothing of it was checked."""
    for place, finding in enumerate(report.findings):
        for part in answered_parts(finding, place, ids) or ("",):
            for source in finding.places or ("",):
                yield FindingRecorded(at=at, sub_question=part, text=finding.text, source=source)


record_report = partial(agent_runs.record_report, believe=claims)
