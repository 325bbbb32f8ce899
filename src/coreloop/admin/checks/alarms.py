"""The alarms of a status: what needs a human and what to do."""

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from coreloop.admin.checks.diagnosis import Alarm
from coreloop.base.messages import number_of
from coreloop.base.text import printable
from coreloop.observe.drops import OUTSIDE_REQUEST, OUTSIDE_TODO

if TYPE_CHECKING:
    from coreloop.admin.status.log_figures import Log, Sieved
    from coreloop.admin.status.status import Standing, Status

SILENT_DAYS: Final = 7
"""Days without a record that are an alarm in any log; in a busy log, twice its longest gap are enough."""
PENDING_DAYS: Final = 30  # chosen: a month of nightly runs in which nobody decided
UNMERGED_DAYS: Final = 14  # chosen: two weeks, as long as a review may take
ENOUGH_CHECKED: Final = 2
"""Fewest reach checks for an alarm when all of them refuse."""


_MAX_NAMED: Final = 3


def n_stale(status: "Status") -> int:
    """Count the open promotions older than `UNMERGED_DAYS`."""
    limit = status.generated_at - timedelta(days=UNMERGED_DAYS)
    if status.promotions is None:
        return 0
    return sum(promotion.since < limit for promotion in status.promotions.open)


def no_record(status: "Status") -> Alarm | None:
    newest = status.log.newest if status.log is not None else None
    days = (status.generated_at.date() - newest).days if newest is not None else 0
    gap = status.log.longest_gap if status.log is not None else None
    if days < (SILENT_DAYS if gap is None else min(SILENT_DAYS, 2 * gap)):
        return None
    return Alarm(
        "no_record",
        f"no record for {number_of(days, 'day')}: the newest is of {newest}",
        "check that the server runs, CORELOOP_AUDIT_DISABLE is unset and data_dir is where it records",
    )


def future(status: "Status") -> Alarm | None:
    log = status.log
    if log is None or not log.n_future:
        return None
    return Alarm(
        "future",
        f"records are dated in the future: {log.n_future:,}, up to {log.last}",
        "set the clock of the recording machine; these records are mined when their dates arrive",
    )


def outside_window(status: "Status") -> Alarm | None:
    log = status.log
    if log is None or log.n_in_window or log.newest is None:
        return None
    return Alarm(
        "outside_window",
        (
            f"no record in the window: {log.n_records - log.n_future:,} in the log, {log.first} "
            f"to {log.newest}"
        ),
        f"mine them with dartlab-coreloop pattern --since {log.first}",
    )


def torn_lines(status: "Status") -> Alarm | None:
    log = status.log
    if log is None or not log.skipped:
        return None
    places = {reason: f" from {place}" for reason, place in log.skipped_first.items()}
    counts = [f"{reason} {n:,}{places.get(reason, '')}" for reason, n in log.skipped.items()]
    return Alarm(
        "torn_lines",
        f"torn lines: {sum(log.skipped.values()):,} ({', '.join(counts)})",
        "one torn line after a crash is normal; many mean that another program writes to the files",
    )


def dropped(status: "Status") -> Alarm | None:
    if not status.dropped:
        return None
    todo = "check disk space and write permission for data_dir; the server's log has details under coreloop"
    if status.dropped.get(OUTSIDE_REQUEST):
        todo = OUTSIDE_TODO if len(status.dropped) == 1 else f"{todo}; {OUTSIDE_REQUEST}: {OUTSIDE_TODO}"
    return Alarm("dropped", f"records were dropped: {_totalled(status.dropped)}", todo)


def failing(status: "Status") -> Alarm | None:
    failing = status.log.failing if status.log is not None else ()
    if not failing:
        return None
    shares = ", ".join(
        [
            (
                f"{printable(tool.tool)} {tool.n_failed:,} of {tool.n:,} calls on {tool.day}, before "
                f"{tool.past_failed:,} of {tool.past_n:,}"
            )
            for tool in failing[:_MAX_NAMED]
        ]
    )
    return Alarm(
        "failing",
        f"tools fail more than ever before: {shares}",
        f"the errors stand in: dartlab-coreloop refine --since {failing[0].day}",
    )


def no_candidate(status: "Status") -> Alarm | None:
    log, sieved = status.log, status.sieved
    if log is None or sieved is None or sieved.fell.get("known"):
        return None
    return Alarm(
        "no_candidate",
        (
            f"no proposals so far despite enough records: {log.n_in_window:,} in the window, "
            f"{number_of(log.n_patterns, 'sequence')}"
        ),
        _explain_no_candidate(log, sieved),
    )


def _explain_no_candidate(log: "Log", sieved: "Sieved") -> str:
    if sieved.n_candidates:
        return f"{sieved.n_candidates:,} would be proposed: dartlab-coreloop pattern writes them to a file"
    if not log.n_patterns:
        return "no record has a successful tool call: check that the tools are observed"
    counts = ", ".join(f"{gate} {n:,}" for gate, n in sieved.fell.items() if n)
    return f"refused by the gates {counts}; dartlab-coreloop pattern --help has each gate"


def pending(status: "Status") -> Alarm | None:
    limit = status.generated_at.date() - timedelta(days=PENDING_DAYS)
    waiting = {"from pattern": status.candidates, "from refine": status.counterexamples}
    late = {
        name: standing
        for name, standing in waiting.items()
        if standing.oldest is not None and standing.oldest < limit
    }
    if not late:
        return None
    return Alarm(
        "pending",
        f"proposals pending for more than {PENDING_DAYS} days: {_oldest(late)}",
        "promote them or give them a verdict; dartlab-coreloop judge lists them",
    )


def _oldest(late: "Mapping[str, Standing]") -> str:
    return ", ".join([f"{name} since {standing.oldest}" for name, standing in late.items()])


def unmerged(status: "Status") -> Alarm | None:
    number = n_stale(status)
    if status.promotions is None or not number:
        return None
    oldest = status.promotions.open[0]
    name = oldest.url or f"branch {oldest.branch}"
    return Alarm(
        "unmerged",
        f"promotions unmerged for more than {UNMERGED_DAYS} days: {number:,}",
        f"merge or close them, starting with {name}: they block new promotions",
    )


def hurts(status: "Status") -> Alarm | None:
    harmful = [effect for effect in status.effects if effect.verdict == "hurts" and effect.todo]
    if not harmful:
        return None
    names = ", ".join(
        [
            (
                f"{printable(effect.change.tool)} since {effect.decided_on} ("
                f"{printable(effect.change.sha[:10])})"
            )
            for effect in harmful[:_MAX_NAMED]
        ]
    )
    return Alarm(
        "hurts",
        f"changes of descriptions make tools fail more: {names}",
        f"{harmful[0].todo} prepares a draft; dartlab-coreloop effect has the figures",
    )


def reach(status: "Status") -> Alarm | None:
    checked = len(status.reached)
    if checked < ENOUGH_CHECKED or any(status.reached.values()):
        return None
    return Alarm(
        "reach",
        f"the reach check refuses every proposal: all {checked:,} that were checked",
        "a dry run of promote shows what reaches the model, and what to do if that is unknown",
    )


def stability(status: "Status") -> Alarm | None:
    from coreloop.admin.status.stability import QUIET_DAYS  # with GitPython, without which doctor works

    if status.promotions is None:
        return None
    gates, flaws = status.promotions.stability.gates, status.promotions.stability.flaws
    since = status.generated_at - timedelta(days=QUIET_DAYS)
    flawed = sum(flaw.merged_at >= since for flaw in flaws)
    metrics: dict[str, int] = {f"unclean merges in {QUIET_DAYS} days": flawed}
    # No young project passes the first gate; that is not a loss of stability.
    metrics |= {gate.name: gate.figure for gate in gates[1:]}
    lost = ", ".join([f"{name} {n:,}" for name, n in metrics.items() if n])
    if not lost:
        return None
    return Alarm(
        "stability",
        f"stability is lost: {lost}",
        "go back a step until dartlab-coreloop status --stability passes; it lists the merges concerned",
    )


def _totalled(counts: Mapping[str, int]) -> str:
    return f"{sum(counts.values()):,} ({', '.join(f'{name} {n:,}' for name, n in counts.items())})"
