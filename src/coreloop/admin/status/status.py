"""The `Status` of a project, the state of its proposals, and what to do next."""

import os
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING

from coreloop.admin.checks.diagnosis import Alarm
from coreloop.admin.status.log_figures import Log, Sieved
from coreloop.admin.status.promotions import Promotions
from coreloop.learn.proposals.entry import Statement
from coreloop.learn.proposals.proposal_files import Proposed
from coreloop.learn.verdicts.proposal_state import IN_FORCE, UNDECIDED, ProposalState, Standpoint, pending

if TYPE_CHECKING:
    from coreloop.learn.effect.effect import Effect
    from coreloop.promote.measure.measurement import Measurement


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The state of all candidates, or of all counterexamples.

    Attributes
    ----------
    pending : int
        Proposals that wait for a verdict or a promotion, see
        `coreloop.learn.verdicts.proposal_state.pending`.
    oldest : date or None
        The day on which the oldest pending proposal was first made.
    promoted, rejected, accepted : int
        Merged and in effect; blocked by a verdict; accepted by a verdict, and not on a branch yet.
    without_text : int
        Listed in the newest file, but no text can be proposed.
    """

    pending: int
    oldest: date | None
    promoted: int
    rejected: int
    accepted: int = 0
    without_text: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The state of the whole loop.

    Attributes
    ----------
    log : Log or None
        None if nothing was recorded.
    sieved : Sieved or None
        Only if enough records have produced no candidate so far, else None.
    promotions : Promotions or None
        None if there is no git history to read; ``notes`` say why.
    promoted_keys : frozenset of str
        Keys of the proposals that are promoted, reverted or on a branch.
    dropped : mapping of str to int
        Reason -> records of the window that could not be written.
    states : tuple of Standpoint
        Every proposal with its state.
    effects : tuple of Effect
        Every change of a tool's description in the base branch, oldest first.
    measured : tuple of Measurement
        The newest measurement of each proposal that waits or is open, oldest first.
    reached : mapping of str to bool
        Candidate key -> whether its text reached the model when it was last checked in the window.
    how_to_record : str
        What brings the first records, or newer ones.
    """

    generated_at: datetime
    log: Log | None
    sieved: Sieved | None
    candidates: Standing
    counterexamples: Standing
    promotions: Promotions | None
    promoted_keys: frozenset[str] = field(default_factory=frozenset, compare=False)
    dropped: Mapping[str, int] = field(default_factory=dict)
    reached: Mapping[str, bool] = field(default_factory=dict)
    states: tuple[Standpoint, ...] = ()
    effects: "tuple[Effect, ...]" = ()
    measured: "tuple[Measurement, ...]" = ()
    notes: tuple[str, ...] = ()
    alarms: tuple[Alarm, ...] = ()
    how_to_record: str = ""


def count_standing(states: Iterable[Standpoint], *, prefix: str) -> Standing:
    """Count candidates (``cand-``) or counterexamples (``ce-``) by state."""
    mine = [one for one in states if one.id.startswith(prefix)]
    waiting, found = pending(mine), (one.last for one in mine if one.state is ProposalState.FOUND)
    return Standing(
        pending=len(waiting),
        oldest=min((one.since for one in waiting), default=None),
        promoted=sum(one.state in IN_FORCE for one in mine),
        rejected=sum(one.state is ProposalState.REJECTED for one in mine),
        accepted=sum(one.state in UNDECIDED and one.is_judged for one in mine),
        without_text=sum(last is not None and last.is_listed for last in found),
    )


def next_step(status: Status) -> str:
    """Return what to do next: what an alarm says of what there is, else the next step of the loop."""
    if status.log is None or not status.log.n_records:
        return status.how_to_record
    if urgent := [alarm.todo for alarm in status.alarms if alarm.kind != "no_record"]:
        return urgent[0]
    if lines := [one for one in waiting(status.states) if isinstance(one.entry, Statement)]:
        return command_for("promote", lines[0])
    if status.candidates.pending or status.counterexamples.pending:
        return "dartlab-coreloop judge"
    opened = status.promotions.open if status.promotions is not None else ()
    if opened:
        return f"review and merge {opened[0].url or f'branch {opened[0].branch}'}"
    read = max((one.last.day for one in status.states if one.last), default=date.min)
    if status.log.newest is not None and status.log.newest > read:
        return "dartlab-coreloop refine"
    if status.alarms:
        return status.alarms[0].todo
    return "record or import more; dartlab-coreloop then says what is next"


def waiting(states: Iterable[Standpoint]) -> list[Proposed]:
    """List the proposals with a text that can be promoted: statements first, the newest, those judged."""
    listed = [
        (isinstance(one.last.entry, Statement), one.last.day, one.is_judged, one.last)
        for one in states
        if one.state is ProposalState.WAITING and one.last is not None
    ]
    return [proposed for *_, proposed in sorted(listed, key=lambda row: row[:3], reverse=True)]


def command_for(verb: str, proposed: Proposed) -> str:
    """The command that promotes or measures all lines about a tool, or a sequence or an older line alone."""
    if isinstance(proposed.entry, Statement) and proposed.is_listed:
        return f"dartlab-coreloop {verb} --tool {shlex.quote(proposed.entry.tool)}"
    path = shlex.quote(os.path.relpath(proposed.path or ""))
    return f"dartlab-coreloop {verb} --candidate {path} --id {proposed.id}"
