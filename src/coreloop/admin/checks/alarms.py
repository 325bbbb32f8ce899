"""What needs a human in a status: each function returns a text and what to do, or None.

Its name is the kind of the alarm.
"""

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from coreloop.admin.checks.diagnosis import Alarm
from coreloop.admin.status.stability import QUIET_DAYS
from coreloop.base.messages import number_of
from coreloop.base.text import printable

if TYPE_CHECKING:
    from coreloop.admin.status.status import Status

Raised = tuple[str, str] | None
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
    return sum(one.since < limit for one in status.promotions.open) if status.promotions is not None else 0


def no_record(status: "Status") -> Raised:
    newest = status.log.newest if status.log is not None else None
    days = (status.generated_at.date() - newest).days if newest is not None else 0
    gap = status.log.longest_gap if status.log is not None else None
    if days < (SILENT_DAYS if gap is None else min(SILENT_DAYS, 2 * gap)):
        return None
    return f"no record for {number_of(days, 'day')}: the newest is of {newest}", status.how_to_record


def future(status: "Status") -> Raised:
    log = status.log
    if log is None or not log.n_future:
        return None
    text = f"records are dated in the future: {log.n_future:,}, up to {log.last}"
    return text, "set the clock of the recording machine; these records are mined when their dates arrive"


def outside_window(status: "Status") -> Raised:
    log = status.log
    if log is None or log.n_in_window or log.newest is None:
        return None
    found = f"{log.n_records - log.n_future:,} in the log, {log.first} to {log.newest}"
    todo = f"mine them with dartlab-coreloop pattern --since {log.first}"
    return f"no record in the window: {found}", todo


def torn_lines(status: "Status") -> Raised:
    log = status.log
    if log is None or not log.skipped:
        return None
    places = {reason: f" from {place}" for reason, place in log.skipped_first.items()}
    counts = ", ".join(f"{reason} {n:,}{places.get(reason, '')}" for reason, n in log.skipped.items())
    text = f"torn lines: {sum(log.skipped.values()):,} ({counts})"
    return text, "one torn line after a crash is normal; many mean that another program writes to the files"


def dropped(status: "Status") -> Raised:
    if not status.dropped:
        return None
    todo = "check disk space and write permission for data_dir; the server's log has details under coreloop"
    counts = ", ".join(f"{name} {n:,}" for name, n in status.dropped.items())
    return f"records were dropped: {sum(status.dropped.values()):,} ({counts})", todo


def failing(status: "Status") -> Raised:
    failing = status.log.failing if status.log is not None else ()
    if not failing:
        return None
    shares = ", ".join(
        f"{printable(tool.tool)} {tool.n_failed:,} of {tool.n:,} calls on {tool.day}, before "
        f"{tool.past_failed:,} of {tool.past_n:,}"
        for tool in failing[:_MAX_NAMED]
    )
    todo = f"the errors stand in: dartlab-coreloop refine --since {failing[0].day}"
    return f"tools fail more than ever before: {shares}", todo


def no_candidate(status: "Status") -> Raised:
    log, sieved = status.log, status.sieved
    if log is None or sieved is None or sieved.fell.get("known"):
        return None
    if sieved.n_candidates:
        todo = f"{sieved.n_candidates:,} would be proposed: dartlab-coreloop pattern writes them to a file"
    elif not log.n_patterns:
        todo = "no record has a successful tool call: check that the tools are observed"
    else:
        counts = ", ".join(f"{gate} {n:,}" for gate, n in sieved.fell.items() if n)
        todo = f"record more; refused so far: {counts}; dartlab-coreloop pattern --help has each gate"
    found = f"{log.n_in_window:,} in the window, {number_of(log.n_patterns, 'sequence')}"
    return f"no proposals so far despite enough records: {found}", todo


def pending(status: "Status") -> Raised:
    limit = status.generated_at.date() - timedelta(days=PENDING_DAYS)
    waiting = {"from pattern": status.candidates.oldest, "from refine": status.counterexamples.oldest}
    late = [f"{name} since {oldest}" for name, oldest in waiting.items() if oldest and oldest < limit]
    if not late:
        return None
    text = f"proposals pending for more than {PENDING_DAYS} days: {', '.join(late)}"
    return text, "promote them or give them a verdict; dartlab-coreloop judge lists them"


def unmerged(status: "Status") -> Raised:
    number = n_stale(status)
    if status.promotions is None or not number:
        return None
    oldest = status.promotions.open[0]
    todo = f"merge or close them, starting with {oldest.url or f'branch {oldest.branch}'}"
    text = f"promotions unmerged for more than {UNMERGED_DAYS} days: {number:,}"
    return text, f"{todo}: they block new promotions"


def hurts(status: "Status") -> Raised:
    harmful = [effect for effect in status.effects if effect.is_alarm and effect.todo]
    if not harmful:
        return None
    names = ", ".join(
        f"{printable(its.change.tool)} {its.verdict} since {its.decided_on} ({its.change.sha[:10]})"
        for its in harmful
    )
    todo = f"{harmful[0].todo}; dartlab-coreloop effect has the figures"
    return f"changes of descriptions make tools fail more, or otherwise: {names}", todo


def reach(status: "Status") -> Raised:
    checked = len(status.reached)
    if checked < ENOUGH_CHECKED or any(status.reached.values()):
        return None
    text = f"the reach check refuses every proposal: all {checked:,} that were checked"
    return text, "a dry run of promote shows what reaches the model, and what to do if that is unknown"


def stability(status: "Status") -> Raised:
    if status.promotions is None:
        return None
    gates, flaws = status.promotions.stability.gates, status.promotions.stability.flaws
    since = status.generated_at - timedelta(days=QUIET_DAYS)
    metrics = {f"unclean merges in {QUIET_DAYS} days": sum(flaw.merged_at >= since for flaw in flaws)}
    # No young project passes the first gate; that is not a loss of stability.
    metrics |= {gate.name: gate.figure for gate in gates[1:]}
    lost = ", ".join(f"{name} {n:,}" for name, n in metrics.items() if n)
    todo = "go back a step until dartlab-coreloop status --stability passes; it lists the merges concerned"
    return (f"stability is lost: {lost}", todo) if lost else None


_ALARMS: Final = (
    *(no_record, future, outside_window, torn_lines, dropped, failing),
    *(no_candidate, pending, unmerged, hurts, reach, stability),
)
"""In the order in which ``status`` prints them."""


def find_alarms(status: "Status") -> tuple[Alarm, ...]:
    """List the alarms that a status raises; ``status.alarms`` is ignored."""
    found = ((find.__name__, find(status)) for find in _ALARMS)
    return tuple(Alarm(kind, *raised) for kind, raised in found if raised is not None)
