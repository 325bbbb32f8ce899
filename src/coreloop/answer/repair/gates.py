"""Gates: how much of what should be indexed is, and how many functions say what they take and return."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from coreloop.answer.deps import Deps
from coreloop.answer.repair.actions import Target, Targets, actions_for, jobs_for
from coreloop.answer.repair.signals import TYPE as SIGNALLED
from coreloop.answer.repair.signals import Context, Reason, Signal, envelope
from coreloop.answer.repair.tables import Gate, Snapshot
from coreloop.answer.search.index.find_symbols import read_functions
from coreloop.answer.search.index.pending import Coverage, read_coverage
from coreloop.runs.events import Ended, Noted
from coreloop.runs.load import load_run
from coreloop.runs.manage import begin_run

KIND: Final = "gate"
"""Of the runs that have the gates' signals."""
_DROPS: Final[dict[Gate, Reason]] = {"coverage": "coverage_drop", "io": "io_gate_drop"}
_LEAST_POINTS: Final = 0.01  # chosen, as the next: one file of a small project is no drop
_LEAST_ITEMS: Final = 3  # chosen: one or two are an edit, no drop
_WORST: Final = 10  # chosen: what a person reads of a drop
_MOST_JOBS: Final = 50  # of a drop: the next reading finds what is left


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReading:
    """A gate now, and on the last day before.

    Attributes
    ----------
    now : Snapshot
        What holds.
    before : Snapshot or None
        None if there is none.
    worst : tuple of (str, int)
        Files with the most that is not good, and how much that is.
    signal : str or None
        The reason of the signal that the fall raised.
    jobs : int
        Jobs that were put into the queue.
    """

    now: Snapshot
    before: Snapshot | None
    worst: tuple[tuple[str, int], ...]
    signal: Reason | None = None
    jobs: int = 0


def read_gates(deps: Deps, *, now: datetime) -> list[GateReading]:
    """Measure both gates, keep the day's snapshots, and let a fall become a signal and jobs.

    Raises
    ------
    WorkspaceError
        There is no index, or it cannot be read.
    """
    coverage = read_coverage(deps.workspace)
    measured: list[tuple[Snapshot, Sequence[str]]] = [
        _coverage(coverage, now),
        _io(deps, coverage, now),
    ]
    return [_compare(deps, snapshot, lacking, coverage, now=now) for snapshot, lacking in measured]


def has_fallen(now: Snapshot, before: Snapshot | None) -> bool:
    """Return whether a gate fell by at least one point and three items."""
    if before is None:
        return False
    lost = (now.total - now.good) - (before.total - before.good)
    return before.share - now.share >= _LEAST_POINTS and lost >= _LEAST_ITEMS


def _coverage(coverage: Coverage, now: datetime) -> tuple[Snapshot, Sequence[str]]:
    lacking = [file.location for file in coverage.pending]
    total = coverage.fresh + len(lacking)
    return Snapshot(now.date(), "coverage", coverage.fresh, total), lacking


def _io(deps: Deps, coverage: Coverage, now: datetime) -> tuple[Snapshot, Sequence[str]]:
    """Functions of files that are stale count as not good: what the index says of them may be wrong."""
    stale = {file.location for file in coverage.pending}
    functions = [function for function in read_functions(deps.workspace.index_file) if function.is_public]
    lacking = [
        function.location
        for function in functions
        if not function.is_documented or function.location in stale
    ]
    return Snapshot(now.date(), "io", len(functions) - len(lacking), len(functions)), lacking


def _compare(
    deps: Deps, snapshot: Snapshot, lacking: Sequence[str], coverage: Coverage, *, now: datetime
) -> GateReading:
    kept = deps.tables.snapshots(snapshot.gate)
    before = next((other for other in kept if other.day < snapshot.day), None)
    reason = _DROPS[snapshot.gate] if has_fallen(snapshot, before) else None
    deps.tables.put_snapshot(snapshot)
    worst = tuple(Counter(lacking).most_common(_WORST))
    jobs = _raise(deps, reason, worst, coverage, now) if reason else 0
    return GateReading(now=snapshot, before=before, worst=worst, signal=reason, jobs=jobs)


def _raise(
    deps: Deps,
    reason: Reason,
    worst: Sequence[tuple[str, int]],
    coverage: Coverage,
    now: datetime,
) -> int:
    """Store a signal in the event store, and put its jobs into the queue."""
    store = deps.store
    run_id = begin_run(deps.workspace, store, f"{reason} {now.date()}", kind=KIND, now=now)
    signal = Signal(source="gate", reason=reason, context=Context(file=worst[0][0] if worst else ""))
    folding, newest = load_run(store, run_id)
    message = envelope(signal, trace_id=folding.state.trace_id, now=now)
    store.append(
        run_id,
        [Noted(at=now, name=SIGNALLED, data=message), Ended(at=now, status="completed")],
        after=newest,
    )
    files = tuple(Target(path=file.location, version=file.version) for file in coverage.pending[:_MOST_JOBS])
    targets = Targets(run_id=run_id, question_key="", files=files)
    specs = list(jobs_for(actions_for([reason], 1), targets))
    for spec in specs:
        deps.queue.put(spec.name, spec.payload, key=spec.key, priority=spec.priority)
    return len(specs)
