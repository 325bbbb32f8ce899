"""The ledger: every change of a tool's description in the base branch, by us or by a human, from git.

And which days of a tool had which of its descriptions.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from coreloop.base.git.promotions import REVERTS, History, read_history
from coreloop.base.git.repository import Commit, FileChange, Repository
from coreloop.learn.effect.verdict import HORIZON_DAYS
from coreloop.learn.facts.read_lines import EPOCH_DAY

if TYPE_CHECKING:
    from coreloop.learn.effect.tool_days import ToolLog

_PULL_REQUEST: Final = re.compile(r"\AMerge pull request #(\d{1,9})\b|\A[^\n]*\(#(\d{1,9})\)\s*(?:\n|\Z)")
"""GitHub's subjects: ``Merge pull request #12 from a/b``, and ``Fix it (#12)`` of a squash."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change of a tool's description.

    Attributes
    ----------
    tool, target : str
        The tool, and where its description is, ``path.py::qualname``; outside Python ``path::name``.
    sha, subject : str
        The commit on the base branch, and the first line of its message.
    place : int
        Index in the line of first parents, oldest first.
    merged_at : datetime
        When it came to the branch, corrected for wrong clocks.
    ids, keys : tuple of str
        Of the promoted proposals; empty for a human's change.
    added, removed : tuple of str
        Bullets of the description, each on one line.
    pull_request : int or None
        Its number, if the commit's message has it.
    is_revert : bool
        Whether it takes an earlier commit back.
    reverted : bool
        Whether a promotion is no longer in effect.
    """

    tool: str
    target: str
    sha: str
    place: int
    merged_at: datetime
    subject: str = ""
    ids: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    pull_request: int | None = None
    is_revert: bool = False
    reverted: bool = False

    @property
    def is_ours(self) -> bool:
        """Whether it is a promotion."""
        return bool(self.keys) and not self.is_revert

    @property
    def is_in_force(self) -> bool:
        """Whether it is a promotion that nobody reverted."""
        return self.is_ours and not self.reverted


@dataclass(frozen=True, slots=True)
class Ledger:
    """The changes, and which of them a commit has.

    Attributes
    ----------
    changes : tuple of Change
        By time.
    places : mapping of str to int
        By commit, the newest commit of the base branch that it has.
    """

    changes: tuple[Change, ...]
    places: Mapping[str, int]


def read_ledger(
    repository: Repository, base: str, targets: Mapping[str, str], *, folder: PurePosixPath, now: datetime
) -> Ledger:
    """Read every change of some tools' descriptions.

    Parameters
    ----------
    repository : Repository
        With its whole history.
    base : str
        The base branch's commit.
    targets : mapping of str to str
        ``path.py::qualname`` or ``path::tool`` by tool, below ``folder``. Those of promotions are added,
        so that a promotion is a row even if its tool is never called.
    folder : PurePosixPath
        The project's folder below the repository's root.
    """
    from coreloop.descriptions.own_lines import bullets_in, symbol_of

    history = read_history(repository, base)
    places = {commit.sha: place for place, commit in enumerate(history.line)}
    by_file: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for tool, target in _with_promoted(targets, history).items():
        by_file[(folder / target.partition("::")[0]).as_posix()].append((tool, target))
    read_blob = lru_cache(maxsize=64)(repository.blob)
    read_texts = lru_cache(maxsize=64)(lambda blob, *place: _descriptions(read_blob(blob), *place))
    changes = []
    for file, tools in _file_changes(repository, base, by_file):
        if file.sha not in places or not all(file.blobs):  # a new file is no change
            continue
        names = frozenset(symbol_of(target)[1] for _, target in tools)
        old, new = (read_texts(blob, file.path, names) for blob in file.blobs)
        for tool, target in tools:
            name = symbol_of(target)[1]
            if name in old and name in new and old[name] != new[name]:
                had, has = bullets_in(old[name]), bullets_in(new[name])
                change = Change(
                    tool=tool,
                    target=target,
                    sha=file.sha,
                    place=places[file.sha],
                    merged_at=history.timestamp(places[file.sha], now=now),
                    added=tuple(has - had),
                    removed=tuple(had - has),
                )
                former = file.path.removeprefix(f"{folder}/".removeprefix("./"))
                changes.append(_with_message(change, former, history))
    ordered = sorted(changes, key=lambda change: (change.place, change.tool))
    return Ledger(tuple(ordered), _places(history.commits, places))


def _file_changes(
    repository: Repository, revision: str, tools: Mapping[str, Sequence[tuple[str, str]]]
) -> Iterator[tuple[FileChange, Sequence[tuple[str, str]]]]:
    """The changes of files, each with its tools, also under the names that the files had before."""
    for file in repository.file_changes(revision, list(tools)):
        own = tools[file.path]
        renamed = repository.renamed(file.sha, file.path) if not file.blobs[0] else None
        yield renamed or file, own
        if renamed is not None:
            yield from _file_changes(repository, f"{file.sha}^1", {renamed.path: own})


def _with_message(change: Change, file: str, history: History) -> Change:
    """The change with what its commit says; ``file`` is the name that its file had then."""
    from coreloop.descriptions.own_lines import symbol_of

    message, symbols = history.line[change.place].message, {symbol_of(change.target)}
    symbols.add((file, symbol_of(change.target)[1]))
    merged = [
        merge.promotion
        for merge in history.merges
        if merge.landing == change.sha and symbol_of(merge.promotion.target) in symbols
    ]
    number = _PULL_REQUEST.search(message)
    return replace(
        change,
        subject=message.partition("\n")[0].strip(),
        ids=tuple(promotion.candidate_id for promotion in merged),
        keys=tuple(promotion.key for promotion in merged),
        pull_request=int(number[1] or number[2]) if number is not None else None,
        is_revert=change.place in history.revert_places or (not merged and bool(REVERTS.search(message))),
        reverted=bool(merged) and all(promotion.reverted for promotion in merged),
    )


def _with_promoted(targets: Mapping[str, str], history: History) -> dict[str, str]:
    from coreloop.descriptions.own_lines import symbol_of

    known = {symbol_of(target) for target in targets.values()}
    promoted = {
        symbol_of(merge.promotion.target): merge.promotion.target
        for merge in history.merges
        if merge.promotion.target.partition("::")[2] and symbol_of(merge.promotion.target) not in known
    }
    # a name of the log keeps its own target
    return {symbol[1].rpartition(".")[2]: target for symbol, target in promoted.items()} | dict(targets)


def _descriptions(source: bytes, path: str, known: frozenset[str]) -> dict[str, str]:
    """What models read of a file's tools, by name and by symbol; without those that are defined twice."""
    from coreloop.descriptions.source import UnprovenError
    from coreloop.descriptions.texts import ToolText, find_texts

    by_name = defaultdict[str, list[ToolText]](list)
    with suppress(UnprovenError):
        for text in find_texts(path, source, known):
            for name in {text.tool, text.symbol} - {""}:
                by_name[name].append(text)
    return {
        name: "\n".join(text.value for text in texts)
        for name, texts in by_name.items()
        if len({(text.tool, text.argument) for text in texts}) == len(texts)
    }


def _places(commits: Sequence[Commit], line: Mapping[str, int]) -> dict[str, int]:
    """For every commit, the place of the newest commit of the line that is it or its ancestor."""
    places = dict(line)
    for commit in commits:  # parents before children
        if commit.sha not in places:
            known = (places[parent] for parent in commit.parents if parent in places)
            places[commit.sha] = max(known, default=-1)
    return places


# --- Which days of a tool had which of its descriptions: by what models were sent, else by the merge's time.

BEFORE_DAYS: Final = 56
"""Days before a change that are compared: two months have eight of each weekday."""
LEAST_BEFORE: Final = 14
"""Days that are a past: with fewer, a weekly rhythm looks like an effect."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Windows:
    """The days before and after a change.

    Attributes
    ----------
    before, after : frozenset of int
        Days since 1970, of records with the description before, and with that after.
    first : int
        The first day of after.
    n_mixed : int
        Days left out, since they have both.
    is_ended : bool
        Whether the tool's next change has come into force.
    """

    before: frozenset[int] = frozenset()
    after: frozenset[int] = frozenset()
    first: int = 0
    n_mixed: int = 0
    is_ended: bool = False


def find_windows(change: Change, tool: "ToolLog", ledger: Ledger, *, deploy_lag: timedelta) -> Windows:
    """Find the days before and after one of a tool's changes.

    Parameters
    ----------
    change : Change
        Of the ledger.
    tool : ToolLog
        Has what models were sent on each day.
    ledger : Ledger
        All changes, and which of them a version has.
    deploy_lag : timedelta
        From a merge until all models get the description, where records have no version.
    """
    changes = [other for other in ledger.changes if other.tool == change.tool]
    at = changes.index(change)
    states = {day: _state(day, tool, changes, ledger, deploy_lag) for day in sorted(tool.versions)}
    after = [day for day, n_changes in states.items() if n_changes == at + 1]
    first = min(after, default=_day(change.merged_at) + 1)
    kept = frozenset(day for day in after if day < first + HORIZON_DAYS)
    earlier = [
        day for day, n_changes in states.items() if n_changes == at and first - BEFORE_DAYS * 2 <= day < first
    ]
    before = frozenset(earlier[-BEFORE_DAYS:])
    last_before = max(before, default=first)
    return Windows(
        before=before,
        after=kept,
        first=first,
        n_mixed=sum(states[day] is None for day in states if last_before < day < first),
        is_ended=any(n is not None and n > at + 1 for n in states.values()),
    )


def _state(
    day: int, tool: "ToolLog", changes: Sequence[Change], ledger: Ledger, lag: timedelta
) -> int | None:
    """How many of the changes a day has; None if it has several descriptions."""
    found: set[int | None] = set()
    for version in tool.versions[day]:
        place = ledger.places.get(version) if version else None
        first_us = tool.first_us.get(version)
        if first_us is not None:  # a description has the changes that were merged before it was first sent
            first = _EPOCH + timedelta(microseconds=first_us)
            found.add(sum(change.merged_at <= first for change in changes))
        elif place is not None:
            found.add(sum(change.place <= place for change in changes))
        else:
            found.add(_by_time(day, changes, lag))
    return next(iter(found)) if len(found) == 1 else None


def _by_time(day: int, changes: Sequence[Change], lag: timedelta) -> int | None:
    """How many changes were in force all day; None if one came on it."""
    start = datetime.combine(EPOCH_DAY + timedelta(days=day), time(), UTC)
    end = start + timedelta(days=1)
    if any(change.merged_at < end and change.merged_at + lag > start for change in changes):
        return None
    return sum(change.merged_at + lag <= start for change in changes)


def _day(moment: datetime) -> int:
    return (moment.astimezone(UTC).date() - EPOCH_DAY).days
