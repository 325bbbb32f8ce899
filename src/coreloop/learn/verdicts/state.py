"""The state of a proposal: one of eleven, decided by one function for every screen."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from coreloop.base.git.promotions import Promotion
from coreloop.learn.effect.effect import Effect
from coreloop.learn.effect.verdict import EffectVerdict
from coreloop.learn.verdicts.judge import Proposed
from coreloop.observe.verdicts import HumanVerdicts


class ProposalState(StrEnum):
    """What became of a proposal so far."""

    FOUND = "found"
    WAITING = "waiting"
    OPEN = "open"
    MERGED = "merged"
    HELPS = "helps"
    NO_EFFECT = "no effect"
    HURTS = "hurts"
    STALE = "stale"
    REJECTED = "rejected"
    RETIRED = "retired"
    REVERTED = "reverted"


_OF_VERDICT = {
    EffectVerdict.HELPS: ProposalState.HELPS,
    EffectVerdict.NO_EFFECT: ProposalState.NO_EFFECT,
    EffectVerdict.HURTS: ProposalState.HURTS,
}


@dataclass(frozen=True, slots=True)
class Standpoint:
    """A proposal with its state; a merged one with its effect, if that is known.

    Attributes
    ----------
    id : str
        Its newest id; of a promotion whose file is gone, the id in its commit.
    """

    key: str
    id: str
    state: ProposalState
    merged_at: datetime | None = None
    effect: Effect | None = None


def read_states(
    proposed: Sequence[Proposed],
    judgments: HumanVerdicts,
    *,
    open_keys: Collection[str],
    promotions: Iterable[Promotion],
    effects: Sequence[Effect],
) -> tuple[Standpoint, ...]:
    """Decide the state of every proposal and promotion.

    Parameters
    ----------
    proposed : sequence of Proposed
        By day; the newest entry of a key counts.
    judgments : HumanVerdicts
        A verdict that rejects.
    open_keys : collection of str
        Keys on a branch or in an open pull request, and not merged.
    promotions : iterable of Promotion
        Of the base branch.
    effects : sequence of Effect
        By time; also of changes by hand, which may remove a line.

    Returns
    -------
    tuple of Standpoint
        One for each key.
    """
    newest = {entry.key: entry for entry in proposed if entry.key}
    merged = {promotion.key: promotion for promotion in promotions}
    by_key = {key: effect for effect in effects if not effect.change.is_revert for key in effect.change.keys}
    gone = set(_retired(effects))
    standpoints = []
    for key in dict.fromkeys((*newest, *merged)):
        entry, promotion = newest.get(key), merged.get(key)
        effect = by_key.get(key)
        if promotion is not None:
            state = _of_promotion(promotion, effect, is_retired=key in gone)
        else:
            state = _of_proposal(entry, judgments.rejected(), open_keys, key)
        id = entry.id if entry is not None else promotion.candidate_id if promotion is not None else ""
        at = promotion.merged_at if promotion is not None else None
        standpoints.append(Standpoint(key, id, state, at, effect))
    return tuple(standpoints)


def count_states(standpoints: Iterable[Standpoint]) -> dict[ProposalState, int]:
    """How many proposals are in each state, in the order of the states; without those that are empty."""
    counts = Counter(standpoint.state for standpoint in standpoints)
    return {state: counts[state] for state in ProposalState if counts[state]}


def _of_promotion(promotion: Promotion, effect: Effect | None, *, is_retired: bool) -> ProposalState:
    if promotion.reverted:
        return ProposalState.REVERTED
    if is_retired:
        return ProposalState.RETIRED
    if effect is None:
        return ProposalState.MERGED
    if effect.is_stale:
        return ProposalState.STALE
    return _OF_VERDICT.get(effect.verdict, ProposalState.MERGED)


def _of_proposal(
    entry: Proposed | None, rejected: Collection[str], open_keys: Collection[str], key: str
) -> ProposalState:
    if key in open_keys:
        return ProposalState.OPEN
    if key in rejected:
        return ProposalState.REJECTED
    return ProposalState.WAITING if entry is not None and entry.is_draft else ProposalState.FOUND


def _retired(effects: Sequence[Effect]) -> Iterator[str]:
    """Keys of promotions all of whose lines later changes removed."""
    in_force: dict[tuple[str, str], tuple[str, ...]] = {}
    left: Counter[str] = Counter()
    for change in (effect.change for effect in effects):
        for line in change.removed:
            for key in in_force.pop((change.tool, line), ()):
                left[key] -= 1
                if not left[key]:
                    yield key
        for line in change.added if change.is_ours else ():
            in_force[change.tool, line] = change.keys
            left.update(change.keys)


def decided(standpoints: Iterable[Standpoint]) -> Mapping[str, Standpoint]:
    """Proposals that came to the base branch, by key, the newest first."""
    merged = [standpoint for standpoint in standpoints if standpoint.merged_at is not None]
    ordered = sorted(merged, key=lambda standpoint: f"{standpoint.merged_at}", reverse=True)
    return {standpoint.key: standpoint for standpoint in ordered}
