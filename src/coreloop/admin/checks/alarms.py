"""The alarms of a status: what needs a human and what to do."""

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from coreloop.admin.checks.diagnosis import Alarm
from coreloop.base.messages import Phrase, join, number_of
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
        Phrase("no record for {days}: the newest is of {newest}", days=number_of(days, "day"), newest=newest),
        "check that the server runs, CORELOOP_AUDIT_DISABLE is unset and data_dir is where it records",
    )


def future(status: "Status") -> Alarm | None:
    log = status.log
    if log is None or not log.n_future:
        return None
    return Alarm(
        "future",
        Phrase(
            "records are dated in the future: {n_future:,}, up to {last}",
            n_future=log.n_future,
            last=log.last,
        ),
        "set the clock of the recording machine; these records are mined when their dates arrive",
    )


def outside_window(status: "Status") -> Alarm | None:
    log = status.log
    if log is None or log.n_in_window or log.newest is None:
        return None
    return Alarm(
        "outside_window",
        Phrase(
            "no record in the window: {n_records:,} in the log, {first} to {newest}",
            n_records=log.n_records - log.n_future,
            first=log.first,
            newest=log.newest,
        ),
        Phrase("mine them with dartlab-coreloop pattern --since {first}", first=log.first),
    )


def torn_lines(status: "Status") -> Alarm | None:
    log = status.log
    if log is None or not log.skipped:
        return None
    places = {reason: Phrase(" from {place}", place=place) for reason, place in log.skipped_first.items()}
    counts = [
        Phrase("{reason} {n:,}{place}", reason=Phrase(reason), n=n, place=places.get(reason, ""))
        for reason, n in log.skipped.items()
    ]
    return Alarm(
        "torn_lines",
        Phrase("torn lines: {sum:,} ({counts})", sum=sum(log.skipped.values()), counts=join(counts)),
        "one torn line after a crash is normal; many mean that another program writes to the files",
    )


def dropped(status: "Status") -> Alarm | None:
    if not status.dropped:
        return None
    todo = "check disk space and write permission for data_dir; the server's log has details under coreloop"
    if status.dropped.get(OUTSIDE_REQUEST):
        todo = (
            OUTSIDE_TODO
            if len(status.dropped) == 1
            else Phrase(
                "{todo}; {outside_request}: {outside_todo}",
                todo=todo,
                outside_request=OUTSIDE_REQUEST,
                outside_todo=OUTSIDE_TODO,
            )
        )
    return Alarm(
        "dropped", Phrase("records were dropped: {totalled}", totalled=_totalled(status.dropped)), todo
    )


def failing(status: "Status") -> Alarm | None:
    failing = status.log.failing if status.log is not None else ()
    if not failing:
        return None
    shares = join(
        [
            Phrase(
                "{tool} {n_failed:,} of {n:,} calls on {day}, before {past_failed:,} of {past_n:,}",
                tool=printable(tool.tool),
                n_failed=tool.n_failed,
                n=tool.n,
                day=tool.day,
                past_failed=tool.past_failed,
                past_n=tool.past_n,
            )
            for tool in failing[:_MAX_NAMED]
        ]
    )
    return Alarm(
        "failing",
        Phrase("tools fail more than ever before: {shares}", shares=shares),
        Phrase("the errors stand in: dartlab-coreloop refine --since {day}", day=failing[0].day),
    )


def no_candidate(status: "Status") -> Alarm | None:
    log, sieved = status.log, status.sieved
    if log is None or sieved is None or sieved.fell.get("known"):
        return None
    return Alarm(
        "no_candidate",
        Phrase(
            "no proposals so far despite enough records: {n_in_window:,} in the window, {patterns}",
            n_in_window=log.n_in_window,
            patterns=number_of(log.n_patterns, "sequence"),
        ),
        _explain_no_candidate(log, sieved),
    )


def _explain_no_candidate(log: "Log", sieved: "Sieved") -> str:
    if sieved.n_candidates:
        return Phrase(
            "{n_candidates:,} would be proposed: dartlab-coreloop pattern writes them to a file",
            n_candidates=sieved.n_candidates,
        )
    if not log.n_patterns:
        return "no record has a successful tool call: check that the tools are observed"
    counts = ", ".join(f"{gate} {n:,}" for gate, n in sieved.fell.items() if n)
    return Phrase(
        "refused by the gates {counts}; dartlab-coreloop pattern --help has each gate", counts=counts
    )


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
        Phrase(
            "proposals pending for more than {pending_days} days: {oldest}",
            pending_days=PENDING_DAYS,
            oldest=_oldest(late),
        ),
        "promote them or give them a verdict; dartlab-coreloop judge lists them",
    )


def _oldest(late: "Mapping[str, Standing]") -> str:
    return join(
        [
            Phrase("{name} since {oldest}", name=Phrase(name), oldest=standing.oldest)
            for name, standing in late.items()
        ]
    )


def unmerged(status: "Status") -> Alarm | None:
    number = n_stale(status)
    if status.promotions is None or not number:
        return None
    oldest = status.promotions.open[0]
    name = oldest.url or Phrase("branch {branch}", branch=oldest.branch)
    return Alarm(
        "unmerged",
        Phrase(
            "promotions unmerged for more than {unmerged_days} days: {number:,}",
            unmerged_days=UNMERGED_DAYS,
            number=number,
        ),
        Phrase("merge or close them, starting with {name}: they block new promotions", name=name),
    )


def hurts(status: "Status") -> Alarm | None:
    harmful = [effect for effect in status.effects if effect.verdict == "hurts" and effect.todo]
    if not harmful:
        return None
    names = join(
        [
            Phrase(
                "{tool} since {decided_on} ({sha})",
                tool=printable(effect.change.tool),
                decided_on=effect.decided_on,
                sha=printable(effect.change.sha[:10]),
            )
            for effect in harmful
        ]
    )
    return Alarm(
        "hurts",
        Phrase("changes of descriptions make tools fail more: {names}", names=names),
        Phrase("{todo} prepares a draft; dartlab-coreloop effect has the figures", todo=harmful[0].todo),
    )


def reach(status: "Status") -> Alarm | None:
    checked = len(status.reached)
    if checked < ENOUGH_CHECKED or any(status.reached.values()):
        return None
    return Alarm(
        "reach",
        Phrase("the reach check refuses every proposal: all {checked:,} that were checked", checked=checked),
        "a dry run of promote shows what reaches the model, and what to do if that is unknown",
    )


def stability(status: "Status") -> Alarm | None:
    from coreloop.admin.status.stability import QUIET_DAYS  # with GitPython, without which doctor works

    if status.promotions is None:
        return None
    gates, flaws = status.promotions.stability.gates, status.promotions.stability.flaws
    since = status.generated_at - timedelta(days=QUIET_DAYS)
    flawed = sum(flaw.merged_at >= since for flaw in flaws)
    metrics: dict[str, int] = {Phrase("unclean merges in {quiet_days} days", quiet_days=QUIET_DAYS): flawed}
    # No young project passes the first gate; that is not a loss of stability.
    metrics |= {gate.name: gate.figure for gate in gates[1:]}
    lost = join(
        [
            Phrase("{name} {n:,}", name=Phrase(name) if type(name) is str else name, n=n)
            for name, n in metrics.items()
            if n
        ]
    )
    if not lost:
        return None
    return Alarm(
        "stability",
        Phrase("stability is lost: {lost}", lost=lost),
        "go back a step until dartlab-coreloop status --stability passes; it lists the merges concerned",
    )


def _totalled(counts: Mapping[str, int]) -> str:
    return f"{sum(counts.values()):,} ({', '.join(f'{name} {n:,}' for name, n in counts.items())})"
