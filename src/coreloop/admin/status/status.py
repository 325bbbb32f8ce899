"""The `Status` of a project, and the state of its proposals."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING

from coreloop.admin.checks.diagnosis import Alarm
from coreloop.admin.status.log_figures import Log, Sieved
from coreloop.admin.status.promotions import Promotions
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
