"""The gates for running the loop unattended: consecutive clean merges, reverts, lost docstring sections."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from coreloop.base.git.promotions import History, Merge
from coreloop.base.git.repository import Replaced, Repository
from coreloop.base.git.trailers import SECTIONS

if TYPE_CHECKING:
    from coreloop.descriptions.lost_sections import Loss

CLEAN_MERGES: Final = 30  # as the specification says
QUIET_DAYS: Final = 90  # chosen: a quarter, in which each of the 30 merges has been in use


@dataclass(frozen=True, slots=True)
class StabilityGate:
    """A figure and its threshold: ``needed`` is a minimum for clean merges, a maximum otherwise."""

    name: str
    figure: int
    needed: int
    passed: bool


@dataclass(frozen=True, slots=True)
class Flaw:
    """An unclean merge and the reason."""

    sha: str
    candidate_id: str
    merged_at: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class Weighed:
    """A checked merge: the reason why it is unclean, if any, and the docstring sections it removed."""

    merge: Merge
    reason: str | None
    losses: "tuple[Loss, ...]" = ()


@dataclass(frozen=True, slots=True)
class Stability:
    """The gates, and the flaws of the newest `CLEAN_MERGES` merges, newest first."""

    gates: tuple[StabilityGate, ...]
    flaws: tuple[Flaw, ...]

    @property
    def holds(self) -> bool:
        """Whether every gate passes."""
        return all(gate.passed for gate in self.gates)


def read_stability(
    repository: Repository, history: History, *, folder: PurePosixPath, now: datetime
) -> Stability:
    """Check the newest merges of the base branch.

    Parameters
    ----------
    repository : Repository
        Contains the merged commits.
    history : History
        The history of the base branch.
    folder : PurePosixPath
        The project's folder, relative to the repository; targets are relative to it.
    """
    # A commit with several candidates counts once.
    landed = {merge.landing: merge for merge in history.merges}
    newest = list(landed.values())[: -CLEAN_MERGES - 1 : -1]
    return weigh_history(history, [_read(repository, merge, folder) for merge in newest], now=now)


def _read(repository: Repository, merge: Merge, folder: PurePosixPath) -> Weighed:
    if not merge.parent:
        return Weighed(merge, "it has no parent commit")
    from coreloop.descriptions.texts import SUFFIXES

    file = PurePosixPath(merge.promotion.target.partition("::")[0])
    if file.is_absolute() or ".." in file.parts or file.suffix not in SUFFIXES:
        return Weighed(merge, "its target is no file of the project that has descriptions")
    replaced = repository.replaced_file(merge.parent, merge.landing)
    path = (folder / file).as_posix()
    if replaced is not None and replaced.path == path:
        return weigh_merge(merge, replaced, is_only_change=True)
    before, after = (repository.read(sha, path) for sha in (merge.parent, merge.landing))
    if before is None or after is None:
        return Weighed(merge, "its target does not exist before or after it")
    return weigh_merge(merge, Replaced(path, before, after), is_only_change=False)


def weigh_merge(merge: Merge, target: Replaced, *, is_only_change: bool) -> Weighed:
    """Check whether a merge is clean: it is in effect and changed nothing but the docstring that it names.

    The change adds lines as `promote` does, or replaces lines that coreloop wrote. A reviewer's additions to
    the pull request count as part of the merge: the proposal was not good enough to be merged unchanged.

    Parameters
    ----------
    merge : Merge
        The merge to check.
    target : Replaced
        Its target file, before and after.
    is_only_change : bool
        Whether the merge changed nothing else, not even the file's mode.
    """
    if merge.promotion.reverted:
        return Weighed(merge, "it was reverted")
    from coreloop.descriptions.lost_sections import lost_sections
    from coreloop.descriptions.source import UnprovenError

    lost: tuple[Loss, ...] = ()
    with suppress(UnprovenError):  # a file that Python cannot read has no sections to lose
        lost = lost_sections(target.before, target.after)
    other = None if is_only_change else "it changed more than the content of its target"
    return Weighed(merge, other or _refuse_lines(target, merge.promotion.target), lost)


def _refuse_lines(file: Replaced, target: str) -> str | None:
    """Why a change is not of lines of coreloop's forms alone, as `promote` writes them; None if it is."""
    from coreloop.descriptions.source import UnprovenError
    from coreloop.guard.proof import changed_lines
    from coreloop.learn.proposals.allowed_lines import is_form

    for section in SECTIONS.values():
        with suppress(UnprovenError):
            added, removed = changed_lines(file.before, file.after, target, sections=(section,))
            return None if all(map(is_form, (*removed, *added))) else "it changed lines of other forms"
    return "it is not as promote writes it"


def weigh_history(history: History, newest: Sequence[Weighed], *, now: datetime) -> Stability:
    """Compute the gates.

    Parameters
    ----------
    history : History
        Reverts are dated by when they reached the branch.
    newest : sequence of Weighed
        The newest `CLEAN_MERGES` merges, newest first.
    """
    in_a_row = sum(1 for _ in takewhile(lambda weighed: weighed.reason is None, newest))
    since = now - timedelta(days=QUIET_DAYS)
    reverts = sum(history.timestamp(place, now=now) >= since for place in history.revert_places)
    losses = sum(len(weighed.losses) for weighed in newest)
    gates = (
        StabilityGate("clean merges in a row", in_a_row, CLEAN_MERGES, in_a_row >= CLEAN_MERGES),
        StabilityGate(f"reverts in {QUIET_DAYS} days", reverts, 0, reverts == 0),
        StabilityGate("docstrings that lost a section", losses, 0, losses == 0),
    )
    return Stability(gates, tuple(_flaws(history, newest, now)))


def _flaws(history: History, newest: Sequence[Weighed], now: datetime) -> Iterator[Flaw]:
    for weighed in newest:
        lost = ", ".join(f"{loss.qualname} lost {', '.join(loss.sections)}" for loss in weighed.losses)
        if weighed.reason or lost:
            promotion = weighed.merge.promotion
            merged_at = history.timestamp(weighed.merge.place, now=now)
            reasons = "; ".join(filter(None, [weighed.reason, lost]))
            yield Flaw(promotion.sha, promotion.candidate_id, merged_at, reasons)
