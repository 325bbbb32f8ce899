"""The state of a proposal: one of eleven, decided by one function for every screen."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Final, NamedTuple

from coreloop.base.errors import GitError, NoRepositoryError
from coreloop.base.git.promotions import Promotion, open_branches, read_history
from coreloop.base.git.repository import Repository
from coreloop.base.project.workspace import Workspace
from coreloop.learn.effect.effect import Effect
from coreloop.learn.effect.run import read_kept
from coreloop.learn.proposals.proposal_files import CandidatesFile, Proposed, read_proposed
from coreloop.observe.judgments import HumanVerdict, HumanVerdicts


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


_MEASURED: Final = frozenset({ProposalState.HELPS, ProposalState.NO_EFFECT, ProposalState.HURTS})
"""States that are an effect's verdict."""
IN_FORCE: Final = _MEASURED | {ProposalState.MERGED, ProposalState.STALE}
"""States of a line that stands in the base branch."""
UNDECIDED: Final = frozenset({ProposalState.FOUND, ProposalState.WAITING})
ACCEPTED: Final = "accepted"
"""How screens count an undecided proposal with a verdict of P or T: it waits for its promotion alone."""


class Standpoint(NamedTuple):
    """A proposal with its state; a merged one with its effect, if that is known.

    Attributes
    ----------
    first, last : Proposed or None
        As it was first and last proposed; None if its files are gone.
    judgment : HumanVerdict or None
        The verdict that counts.
    is_judged : bool
        Whether a maintainer judged it.
    """

    key: str
    state: ProposalState
    first: Proposed | None = None
    last: Proposed | None = None
    judgment: HumanVerdict | None = None
    is_judged: bool = False
    promotion: Promotion | None = None
    effect: Effect | None = None

    @property
    def id(self) -> str:
        """Its newest id; of a promotion whose file is gone, the id in its commit."""
        if self.last is not None:
            return self.last.id
        if self.promotion is not None:
            return self.promotion.candidate_id
        return self.judgment.id if self.judgment is not None else ""

    @property
    def text(self) -> str:
        """Its line or its steps, as far as they are known."""
        merged = " ".join(self.effect.change.added) if self.effect is not None else ""
        entry = self.last.entry if self.last is not None else None
        return merged or (entry.text if entry is not None else "")

    def is_about(self, tool: str) -> bool:
        """Whether it is of a tool: by its entry, or as a promotion by the name of its target."""
        symbol = self.promotion.target.partition("::")[2] if self.promotion is not None else ""
        entry = self.last.entry if self.last is not None else None
        return tool in (symbol.partition("[")[0].rpartition(".")[2], entry.tool if entry is not None else "")

    @property
    def since(self) -> date:
        """The day of its state: first proposed, judged, merged, or measured."""
        if self.effect is not None:  # of several merges the newest
            decided_on = self.effect.decided_on if self.state in _MEASURED else None
            return decided_on or self.effect.change.merged_at.date()
        if self.promotion is not None:
            return self.promotion.merged_at.date()
        if self.judgment is not None and self.state is ProposalState.REJECTED:
            return self.judgment.judged_at.date()
        return self.first.day if self.first is not None else date.min


@dataclass(frozen=True, slots=True)
class GitPromotions:
    """What git says: the promotions of the base branch, and the keys that are merged or on a branch.

    Attributes
    ----------
    requested : frozenset of str
        Keys of open pull requests, as far as the forge was asked.
    """

    promotions: tuple[Promotion, ...] = ()
    known: frozenset[str] = frozenset()
    requested: frozenset[str] = frozenset()


def read_promoted(workspace: Workspace, repository: Repository | None = None) -> GitPromotions:
    """Read the promotions of a project; none outside a repository or without the base branch.

    Parameters
    ----------
    repository : Repository, optional
        The project's, where the caller has opened it.

    Raises
    ------
    GitError
        The clone is shallow, or git is missing.
    """
    base = workspace.settings.forge.base
    try:
        repository = repository or Repository(workspace.root)
    except NoRepositoryError:
        return GitPromotions()
    repository.require_history()
    known = known_keys(repository, base=base)
    try:
        history = read_history(repository, repository.base(base))
    except GitError:
        return GitPromotions(known=known)
    return GitPromotions(tuple(history.promotions()), known)


def kept_states(workspace: Workspace, judgments: HumanVerdicts) -> tuple[Standpoint, ...]:
    """Read the state of every proposal, by the effects that the last ``effect`` or ``status`` kept.

    Raises
    ------
    GitError
        As `read_promoted` does.
    """
    promoted = read_promoted(workspace)
    effects = read_kept(workspace).effects if promoted.promotions else ()
    return read_states(read_proposed(workspace), judgments, promoted, effects)


def read_states(
    proposed: Sequence[Proposed],
    judgments: HumanVerdicts,
    promoted: GitPromotions = GitPromotions(),
    effects: Sequence[Effect] = (),
) -> tuple[Standpoint, ...]:
    """Decide the state of every proposal and promotion.

    Parameters
    ----------
    proposed : sequence of Proposed
        By day; the newest entry of a key counts.
    judgments : HumanVerdicts
        All verdicts.
    promoted : GitPromotions
        What is merged or open.
    effects : sequence of Effect
        By time; also of changes by hand, which may remove a line.

    Returns
    -------
    tuple of Standpoint
        One for each key; those that were proposed by the day of their first proposal.
    """
    first = {entry.key: entry for entry in reversed(proposed) if entry.key}
    last = {entry.key: entry for entry in proposed if entry.key}
    merged = {promotion.key: promotion for promotion in promoted.promotions}
    verdicts = {one.key: one for one in judgments.newest().values() if one.key is not None}
    by_key = {key: effect for effect in effects if not effect.change.is_revert for key in effect.change.keys}
    gone, is_open = _retired(effects), promoted.known - merged.keys()
    judged = judgments.decided()
    by_age = sorted(first, key=lambda key: (first[key].day, first[key].id))
    standpoints = []
    for key in dict.fromkeys((*by_age, *merged, *is_open, *verdicts)):
        promotion, effect, judgment = merged.get(key), by_key.get(key), verdicts.get(key)
        if promotion is not None:
            state = _of_promotion(promotion, effect, is_retired=key in gone)
        elif key in promoted.requested:
            state = ProposalState.OPEN
        elif judgment is not None and not judgment.verdict.passes:
            state = ProposalState.REJECTED
        elif key in is_open:  # a rejected one's branch was left behind: its request was closed
            state = ProposalState.OPEN
        else:
            entry = last[key].entry if key in last else None
            has_text = entry is not None and entry.suggested_append is not None
            state = ProposalState.WAITING if has_text else ProposalState.FOUND
        standpoints.append(
            Standpoint(key, state, first.get(key), last.get(key), judgment, key in judged, promotion, effect)
        )
    return tuple(standpoints)


def count_states(standpoints: Iterable[Standpoint]) -> dict[str, int]:
    """How many proposals are in each state, in the order of the states; without those that are empty.

    ``waiting`` are those that `pending` lists; undecided ones that a maintainer accepted are ``accepted``.
    """
    counts = Counter(ACCEPTED if it.state in UNDECIDED and it.is_judged else it.state for it in standpoints)
    names = (ProposalState.FOUND, ProposalState.WAITING, ACCEPTED, *ProposalState)
    return {str(name): counts[name] for name in dict.fromkeys(names) if counts[name]}


def settled_keys(standpoints: Iterable[Standpoint]) -> frozenset[str]:
    """Keys that are not proposed again: open, merged, rejected, retired or reverted, and not reopened."""
    return frozenset(one.key for one in standpoints if one.state not in UNDECIDED)


def pending(standpoints: Iterable[Standpoint]) -> list[Standpoint]:
    """The proposals that wait for a verdict or a promotion, statements first: what the screens count."""
    waiting = (one for one in standpoints if one.state is ProposalState.WAITING and not one.is_judged)
    return sorted(waiting, key=lambda one: one.id.startswith(CandidatesFile.prefix))


def _of_promotion(promotion: Promotion, effect: Effect | None, *, is_retired: bool) -> ProposalState:
    if promotion.reverted:
        return ProposalState.REVERTED
    if is_retired:
        return ProposalState.RETIRED
    if effect is None:
        return ProposalState.MERGED
    if effect.is_stale:
        return ProposalState.STALE
    verdict = effect.verdict.value
    return ProposalState(verdict) if verdict in _MEASURED else ProposalState.MERGED


def _retired(effects: Sequence[Effect]) -> frozenset[str]:
    """Keys of promotions all of whose lines later changes removed."""
    standing = set[tuple[str, str]]()
    for change in (effect.change for effect in effects):
        standing.difference_update((change.tool, line) for line in change.removed)
        standing.update((change.tool, line) for line in change.added)
    ours = [effect.change for effect in effects if effect.change.is_ours]
    kept = [change for change in ours if any((change.tool, line) in standing for line in change.added)]
    return frozenset(key for its in ours for key in its.keys).difference(*(its.keys for its in kept))


def known_keys(repository: Repository, *, base: str) -> frozenset[str]:
    """Keys that are not proposed again: on the base branch, reverted there, or on an open branch.

    Parameters
    ----------
    repository : Repository
        Only this clone is read; nothing is fetched.
    base : str
        Name of the base branch; its remote-tracking branches of every remote count, too.
    """
    names = (f"refs/heads/{base}", *(f"refs/remotes/{remote}/{base}" for remote in repository.remotes()))
    bases = {sha for name in names if (sha := repository.resolve(name)) is not None}
    merged = (read_history(repository, sha).keys for sha in bases)
    return frozenset(branch.key for branch in open_branches(repository)).union(*merged)
