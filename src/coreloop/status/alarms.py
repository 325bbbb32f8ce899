"""What in a status needs a human, and what to do about it; docs/how-to/operate.md has a row for each."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Final

from coreloop.status.facts import Alarm, Standing, Status
from coreloop.status.log import Log, Sieved
from coreloop.status.stability import QUIET_DAYS
from coreloop.text import counted

SILENT_DAYS: Final = 7
PENDING_DAYS: Final = 30
UNMERGED_DAYS: Final = 14
ENOUGH_CHECKED: Final = 2
"""Candidates whose reach was checked, before all of them refused means anything."""


def find_alarms(status: Status) -> tuple[Alarm, ...]:
    """List what is wrong; the status' own alarms are not looked at."""
    found = (find(status) for find in _ALARMS)
    return tuple(alarm for alarm in found if alarm is not None)


def n_stale(status: Status) -> int:
    """How many open promotions have waited for too long."""
    limit = status.generated_at - timedelta(days=UNMERGED_DAYS)
    return sum(one.since < limit for one in status.promotions.open) if status.promotions is not None else 0


def _silent(status: Status) -> Alarm | None:
    newest = status.log.newest if status.log is not None else None
    days = (status.generated_at.date() - newest).days if newest is not None else 0
    if days < SILENT_DAYS:
        return None
    return Alarm(
        "no_record",
        f"no record for {counted(days, 'day')}: the newest is of {newest}",
        "is the server up, is CORELOOP_AUDIT_DISABLE set, does data_dir lead to where it records?",
    )


def _future(status: Status) -> Alarm | None:
    log = status.log
    if log is None or not log.n_future:
        return None
    return Alarm(
        "future",
        f"records are dated in the future: {log.n_future:,}, up to {log.last}",
        "set the clock of the machine that records; these are mined when their days come",
    )


def _outside(status: Status) -> Alarm | None:
    log = status.log
    if log is None or log.n_in_window or log.newest is None:
        return None
    return Alarm(
        "outside_window",
        f"no record in the window: {log.n_records - log.n_future:,} in the log, {log.first} to {log.newest}",
        f"they can still be mined: dartlab-coreloop pattern --since {log.first}",
    )


def _torn(status: Status) -> Alarm | None:
    log = status.log
    if log is None or not log.skipped:
        return None
    places = {reason: f" from {place}" for reason, place in log.skipped_first.items()}
    counts = [f"{reason} {n:,}{places.get(reason, '')}" for reason, n in log.skipped.items()]
    return Alarm(
        "torn_lines",
        f"torn lines: {sum(log.skipped.values()):,} ({', '.join(counts)})",
        "one after a crash is normal; many mean that something else writes to the files",
    )


def _dropped(status: Status) -> Alarm | None:
    if not status.dropped:
        return None
    return Alarm(
        "dropped",
        f"records were dropped: {_totalled(status.dropped)}",
        "has the disk room, may the server write to data_dir? its log says more, under coreloop",
    )


def _no_candidate(status: Status) -> Alarm | None:
    log, sieved = status.log, status.sieved
    if log is None or sieved is None or sieved.fell.get("known"):
        return None
    return Alarm(
        "no_candidate",
        "no candidate ever, although there are enough records: "
        f"{log.n_in_window:,} in the window, {counted(log.n_patterns, 'pattern')}",
        _why_none(log, sieved),
    )


def _why_none(log: Log, sieved: Sieved) -> str:
    if sieved.n_candidates:
        return f"{sieved.n_candidates:,} would be proposed: dartlab-coreloop pattern writes them to a file"
    if not log.n_patterns:
        return "none of them has a tool call that was ok: are the tools observed?"
    fell = ", ".join(f"{gate} {n:,}" for gate, n in sieved.fell.items() if n)
    return f"they fell at {fell}; docs/how-to/operate.md says what helps"


def _pending(status: Status) -> Alarm | None:
    limit = status.generated_at.date() - timedelta(days=PENDING_DAYS)
    waiting = {"candidates": status.candidates, "counterexamples": status.counterexamples}
    late = {what: one for what, one in waiting.items() if one.oldest is not None and one.oldest < limit}
    if not late:
        return None
    return Alarm(
        "pending",
        f"candidates pending for more than {PENDING_DAYS} days: {_oldest(late)}",
        "promote them, or give them a verdict; dartlab-coreloop judge shows them",
    )


def _oldest(late: Mapping[str, Standing]) -> str:
    return ", ".join(f"{what} since {one.oldest}" for what, one in late.items())


def _unmerged(status: Status) -> Alarm | None:
    number = n_stale(status)
    if status.promotions is None or not number:
        return None
    oldest = status.promotions.open[0]
    return Alarm(
        "unmerged",
        f"promotions without a merge for more than {UNMERGED_DAYS} days: {number:,} of them",
        f"merge or close them, first {oldest.url or f'branch {oldest.branch}'}: they block new ones",
    )


def _unreached(status: Status) -> Alarm | None:
    checked = len(status.reached)
    if checked < ENOUGH_CHECKED or any(status.reached.values()):
        return None
    return Alarm(
        "reach",
        f"the reach check refuses everything: all of the {checked:,} candidates that were tried",
        "a dry run of promote shows what reaches the model, and what to do where it is unmeasured",
    )


def _unstable(status: Status) -> Alarm | None:
    if status.promotions is None:
        return None
    stability = status.promotions.stability
    since = status.generated_at - timedelta(days=QUIET_DAYS)
    flawed = sum(one.merged_at >= since for one in stability.flaws)
    figures = {f"merges in {QUIET_DAYS} days that were not clean": flawed}
    # The first gate is not passed by any young project; that is no loss.
    figures |= {gate.name: gate.figure for gate in stability.gates[1:]}
    lost = ", ".join(f"{what} {n:,}" for what, n in figures.items() if n)
    if not lost:
        return None
    return Alarm(
        "stability",
        f"stability is lost: {lost}",
        "see which in dartlab-coreloop status --stability, and go back a step until it holds again",
    )


def _totalled(counts: Mapping[str, int]) -> str:
    return f"{sum(counts.values()):,} ({', '.join(f'{name} {n:,}' for name, n in counts.items())})"


_ALARMS: Final[tuple[Callable[[Status], Alarm | None], ...]] = (
    _silent,
    _future,
    _outside,
    _torn,
    _dropped,
    _no_candidate,
    _pending,
    _unmerged,
    _unreached,
    _unstable,
)
