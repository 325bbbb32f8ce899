"""Whether the loop is steady enough to run by itself: clean merges in a row, reverts, docstrings harmed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile
from pathlib import PurePosixPath
from typing import Final

from coreloop.docstrings.edit import Refused
from coreloop.docstrings.insertion import refuse_change
from coreloop.docstrings.shape import Loss, lost_sections
from coreloop.docstrings.source import UnprovenError
from coreloop.guard.insertion import changed_lines
from coreloop.history.promotions import History, Merge
from coreloop.history.repository import Replaced, Repository
from coreloop.history.trailers import SECTIONS
from coreloop.proposals.lines import is_form

CLEAN_MERGES: Final = 30
QUIET_DAYS: Final = 90


@dataclass(frozen=True, slots=True)
class StabilityGate:
    """A threshold and the figure that it met; ``needed`` is the least of merges, the most of the others."""

    name: str
    figure: int
    needed: int
    passed: bool


@dataclass(frozen=True, slots=True)
class Flaw:
    """A merge that is not clean, and why."""

    sha: str
    candidate_id: str
    merged_at: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class Weighed:
    """A merge that was looked at: what is wrong with it, and the sections that docstrings lost by it."""

    merge: Merge
    reason: str | None
    losses: tuple[Loss, ...] = ()


@dataclass(frozen=True, slots=True)
class Stability:
    """The gates, and the flaws of the newest `CLEAN_MERGES` merges, the newest first."""

    gates: tuple[StabilityGate, ...]
    flaws: tuple[Flaw, ...]

    @property
    def holds(self) -> bool:
        """Whether every gate is passed."""
        return all(gate.passed for gate in self.gates)


def read_stability(
    repository: Repository, history: History, *, folder: PurePosixPath, now: datetime
) -> Stability:
    """Weigh the newest merges of the base branch.

    Parameters
    ----------
    repository : Repository
        Holds what was merged.
    history : History
        Of the base branch.
    folder : PurePosixPath
        The project's folder below the repository's; targets are below it.
    now : datetime
        Aware.
    """
    landed = {merge.landing: merge for merge in history.merges}  # one that brought several candidates is one
    newest = list(landed.values())[: -CLEAN_MERGES - 1 : -1]
    return weigh_history(history, [_read(repository, merge, folder) for merge in newest], now=now)


def _read(repository: Repository, merge: Merge, folder: PurePosixPath) -> Weighed:
    if not merge.parent:
        return Weighed(merge, "nothing stands below it")
    file = PurePosixPath(merge.promotion.target.partition("::")[0])
    if file.is_absolute() or ".." in file.parts or file.suffix != ".py":
        return Weighed(merge, "it names no file of the project as its target")
    alone = repository.replaced_file(merge.parent, merge.landing)
    path = (folder / file).as_posix()
    if alone is not None and alone.path == path:
        return weigh_merge(merge, alone, alone=True)
    before, after = (repository.read(sha, path) for sha in (merge.parent, merge.landing))
    if before is None or after is None:
        return Weighed(merge, "its target was no file before or is none after it")
    return weigh_merge(merge, Replaced(path, before, after), alone=False)


def weigh_merge(merge: Merge, target: Replaced, *, alone: bool) -> Weighed:
    """Tell whether a merge is clean: all that it brought is in the docstring that it names.

    That is one insertion, or lines of coreloop's that gave way to others.

    It must still be in effect too. What a reviewer added to the pull request counts as brought by it: where
    that was needed, the proposal was not good enough to be merged as it was.

    Parameters
    ----------
    merge : Merge
        What to look at.
    target : Replaced
        The file of its target, before and after.
    alone : bool
        Whether nothing else changed with it, not even its mode.
    """
    if merge.promotion.reverted:
        return Weighed(merge, "it was reverted")
    lost = lost_sections(target.before, target.after)
    symbol = merge.promotion.target.partition("::")[2]
    other = None if alone else "it changed more than the content of its target"
    reason = other or refuse_change(target.before, target.after, symbol)
    if reason is not None and other is None and _gave_way(target, symbol):
        reason = None
    return Weighed(merge, reason, () if isinstance(lost, Refused) else lost)


def _gave_way(target: Replaced, symbol: str) -> bool:
    """Whether only lines of coreloop's forms went, and others came in their place."""
    qualname, _, line = symbol.partition(":")
    at = int(line) if line.isdecimal() else None
    for section in SECTIONS.values():
        try:
            found = changed_lines(
                target.before, target.after, qualname=qualname, line=at, sections=(section,)
            )
        except UnprovenError:
            continue
        return all(map(is_form, (*found.removed, *found.added)))
    return False


def weigh_history(history: History, newest: Sequence[Weighed], *, now: datetime) -> Stability:
    """Weigh the gates.

    Parameters
    ----------
    history : History
        Its reverts count by when they came to the branch.
    newest : sequence of Weighed
        The newest `CLEAN_MERGES` merges, the newest first.
    now : datetime
        Aware.
    """
    in_a_row = sum(1 for _ in takewhile(lambda one: one.reason is None, newest))
    since = now - timedelta(days=QUIET_DAYS)
    reverts = sum(history.moment(place, now=now) >= since for place in history.revert_places)
    losses = sum(len(one.losses) for one in newest)
    gates = (
        StabilityGate("clean merges in a row", in_a_row, CLEAN_MERGES, in_a_row >= CLEAN_MERGES),
        StabilityGate(f"reverts in {QUIET_DAYS} days", reverts, 0, reverts == 0),
        StabilityGate("docstrings that lost a section", losses, 0, losses == 0),
    )
    return Stability(gates, tuple(_flaws(history, newest, now)))


def _flaws(history: History, newest: Sequence[Weighed], now: datetime) -> Iterator[Flaw]:
    for one in newest:
        lost = ", ".join(f"{loss.qualname} lost {', '.join(loss.sections)}" for loss in one.losses)
        if one.reason or lost:
            promotion = one.merge.promotion
            merged_at = history.moment(one.merge.place, now=now)
            reasons = "; ".join(filter(None, [one.reason, lost]))
            yield Flaw(promotion.sha, promotion.candidate_id, merged_at, reasons)
