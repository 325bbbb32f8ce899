"""The status as a whole, and what became of the proposals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

from coreloop.judgments import Judgments
from coreloop.status.log import Log, Sieved
from coreloop.status.promotions import Promotions
from coreloop.verdicts.judge import Proposed


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What became of the candidates, or of the counterexamples, of all days.

    Attributes
    ----------
    pending : int
        Proposed, neither on a branch nor rejected.
    oldest : date or None
        When the pending one that waits longest was first proposed.
    promoted, rejected : int
        Merged and in effect; kept from being proposed by a verdict.
    waiting : mapping of str to str
        Key -> newest id of the pending ones.
    """

    pending: int
    oldest: date | None
    promoted: int
    rejected: int
    waiting: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def never(self) -> bool:
        """Whether there was none, ever."""
        return not (self.pending or self.promoted or self.rejected)


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something that needs a human: its kind, what is the matter, and what to do."""

    kind: str
    text: str
    todo: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """Where everything stands.

    Attributes
    ----------
    log : Log or None
        None where nothing was ever recorded.
    sieved : Sieved or None
        Looked at only where no candidate ever came although there are enough records.
    promotions : Promotions or None
        None where there is no history to read; ``notes`` say why.
    dropped : mapping of str to int
        Records that could not be written in the window, by reason.
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
    """Count candidates (``prefix`` is ``cand-``) or counterexamples (``ce-``).

    Parameters
    ----------
    proposed : sequence of Proposed
        Of all days, the oldest first.
    judgments : Judgments
        The newest verdicts reject.
    prefix : str
        Of the ids.
    known : frozenset of str
        Keys that are promoted or on a branch.
    promoted : int
        Those in effect.
    """
    settled = known | judgments.rejected()
    first: dict[str, date] = {}
    waiting: dict[str, str] = {}
    for one in proposed:
        if one.id.startswith(prefix) and one.key and one.key not in settled:
            first.setdefault(one.key, one.day)
            waiting[one.key] = one.id
    newest = judgments.newest().values()
    rejected = sum(
        one.key is not None and one.id.startswith(prefix) and not one.verdict.passes for one in newest
    )
    oldest = min(first.values(), default=None)
    return Standing(pending=len(first), oldest=oldest, promoted=promoted, rejected=rejected, waiting=waiting)
