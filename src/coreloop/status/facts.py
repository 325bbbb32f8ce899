"""The `Status` of a project, and the state of its proposals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

from coreloop.judgments import Judgments
from coreloop.status.log import Log, Sieved
from coreloop.status.promotions import Promotions
from coreloop.verdicts.judge import Proposed


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The state of all candidates, or of all counterexamples.

    Attributes
    ----------
    pending : int
        Proposed, but neither on a branch nor rejected.
    oldest : date or None
        The day on which the oldest pending proposal was first made.
    promoted, rejected : int
        Merged and in effect; blocked by a verdict.
    waiting : mapping of str to str
        Key -> newest id of each pending proposal.
    """

    pending: int
    oldest: date | None
    promoted: int
    rejected: int
    waiting: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was ever proposed."""
        return not (self.pending or self.promoted or self.rejected)


@dataclass(frozen=True, slots=True)
class Alarm:
    """A condition that needs a human: its kind, what happened, and what to do."""

    kind: str
    text: str
    todo: str


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
    dropped : mapping of str to int
        Reason -> records of the window that could not be written.
    reached : mapping of str to bool
        Candidate key -> whether its text reached the model when it was last checked in the window.
    """

    generated_at: datetime
    log: Log | None
    sieved: Sieved | None
    candidates: Standing
    counterexamples: Standing
    promotions: Promotions | None
    dropped: Mapping[str, int] = field(default_factory=dict)
    reached: Mapping[str, bool] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    alarms: tuple[Alarm, ...] = ()


def count_standing(
    proposed: Sequence[Proposed], judgments: Judgments, *, prefix: str, known: frozenset[str], promoted: int
) -> Standing:
    """Count candidates or counterexamples by state.

    Parameters
    ----------
    proposed : sequence of Proposed
        Proposals of all days, oldest first.
    judgments : Judgments
        The newest verdict on a proposal counts.
    prefix : str
        Of the ids: ``cand-`` for candidates, ``ce-`` for counterexamples.
    known : frozenset of str
        Keys that are promoted or on a branch.
    promoted : int
        Promotions in effect.
    """
    settled = known | judgments.rejected()
    first: dict[str, date] = {}
    waiting: dict[str, str] = {}
    for proposal in proposed:
        if proposal.id.startswith(prefix) and proposal.key and proposal.key not in settled:
            first.setdefault(proposal.key, proposal.day)
            waiting[proposal.key] = proposal.id
    rejected = sum(
        judgment.key is not None and judgment.id.startswith(prefix) and not judgment.verdict.passes
        for judgment in judgments.newest().values()
    )
    oldest = min(first.values(), default=None)
    return Standing(pending=len(first), oldest=oldest, promoted=promoted, rejected=rejected, waiting=waiting)
