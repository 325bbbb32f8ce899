"""The ledger: every change of a tool's description in the base branch, by us or by a human, from git.

And which days of a tool had which of its descriptions.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from coreloop.base.git.promotions import REVERTS, History, Promotion, read_history
from coreloop.base.git.repository import Repository
from coreloop.learn.effect.estimate import HORIZON_DAYS
from coreloop.learn.facts.read_lines import EPOCH_DAY
from coreloop.observe.reading.decode import EPOCH

_PULL_REQUEST: Final = re.compile(r"\AMerge pull request #(\d{1,9})\b|\A[^\n]*\(#(\d{1,9})\)\s*(?:\n|\Z)")
"""GitHub's subjects: ``Merge pull request #12 from a/b``, and ``Fix it (#12)`` of a squash."""


@dataclass(frozen=True, slots=True)
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

    def is_named(self, id: str) -> bool:
        """Whether an id is a proposal's, or the beginning of the commit's hash."""
        return id in self.ids or (len(id) >= 7 and self.sha.startswith(id))

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
    former : mapping of str to str
        Names that tools had -> their names.
    """

    changes: tuple[Change, ...]
    places: Mapping[str, int]
    former: Mapping[str, str] = field(default_factory=dict)


def read_ledger(
    repository: Repository, base: str, targets: Mapping[str, str], *, folder: PurePosixPath, now: datetime
) -> Ledger:
    """Read every change of some tools' descriptions, also under the names and in the files that they had.

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
    known = _with_promoted(targets, history)
    names: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for tool, target in known.items():
        file, name = symbol_of(target)
        names[(folder / file).as_posix()][tool] = name
    changes, former = list[Change](), dict[str, str]()
    for tool, sha, old, new in _edits(repository, base, names):
        target, place = known[tool], places.get(sha, -1)
        if old.tool != new.tool:
            former[tool.removesuffix(new.tool) + old.tool] = tool
        if old.text == new.text or place < 0:
            continue
        had, has = bullets_in(old.text), bullets_in(new.text)
        merged_at = history.timestamp(place, now=now)
        change = Change(tool, target, sha, place, merged_at, added=tuple(has - had), removed=tuple(had - has))
        symbols = {symbol_of(target), (old.path.removeprefix(f"{folder}/".removeprefix("./")), old.name)}
        merged = (its.promotion for its in history.merges if its.landing == sha)
        ours = [its for its in merged if symbol_of(its.target) in symbols]
        changes.append(_with_message(change, ours, history))
    former = {earlier: tool for earlier, tool in former.items() if earlier not in targets}
    ordered = sorted(changes, key=lambda change: (change.place, change.tool))
    rows = tuple(change for change in ordered if change.tool not in former)
    return Ledger(rows, history.newest_places(), former)


class _Described(NamedTuple):
    """A tool in a version of a file: where it is, what models read of it, and what its definition does."""

    path: str
    name: str
    tool: str
    text: str
    body: str

    def is_same(self, other: "_Described") -> bool:
        """Whether two have the same description, or do the same."""
        is_same_body = self.body == other.body and self.body not in {"", "...", "pass"}
        return is_same_body or (self.text == other.text and bool(self.text.strip()))


def _edits(
    repository: Repository, revision: str, names: Mapping[str, dict[str, str]]
) -> Iterator[tuple[str, str, _Described, _Described]]:
    """The commits that changed files of tools, with the tool's definition before and after, newest first.

    ``names`` are the names of definitions, by file and tool.
    """
    read_blob = lru_cache(maxsize=64)(repository.blob)
    for file in repository.file_changes(revision, list(names)):
        old, new = (_descriptions(file.path, read_blob(blob) if blob else b"") for blob in file.blobs)
        for tool, name in (its for its in list(names[file.path].items()) if its[1] in new):
            before = old.get(name) or _moved(repository, file.sha, new[name])
            if before is None:  # a new one is no change
                continue
            yield tool, file.sha, before, new[name]
            names[file.path][tool] = before.name
            if before.path != file.path:
                del names[file.path][tool]
                yield from _edits(repository, f"{file.sha}^1", {before.path: {tool: before.name}})


def _moved(repository: Repository, sha: str, new: _Described) -> _Described | None:
    """The only definition that a commit took away, with the same body or description: it was renamed."""
    from coreloop.descriptions.texts import SUFFIXES

    parent, gone = f"{sha}^1", dict[tuple[str, str], _Described]()
    for path in repository.changed_files(parent, sha) if repository.resolve(parent) else ():
        was = _descriptions(path, repository.read(parent, path) or b"") if path.endswith(SUFFIXES) else {}
        same = {name: old for name, old in was.items() if old.is_same(new)}
        has = _descriptions(path, repository.read(sha, path) or b"") if same else {}
        for old in (old for name, old in same.items() if name not in has):
            gone.setdefault((path, old.tool), old)
    fitting = [old for old in gone.values() if old.name == new.name] or [*gone.values()]
    return fitting[0] if len(fitting) == 1 else None


def _with_message(change: Change, merged: Sequence[Promotion], history: History) -> Change:
    """The change with what its commit says, and the promotions that it merged."""
    message = history.line[change.place].message
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

    known = set(map(symbol_of, targets.values()))
    promoted = (merge.promotion.target for merge in history.merges)
    new = (target for target in promoted if symbol_of(target)[1] and symbol_of(target) not in known)
    # a name of the log keeps its own target
    return {symbol_of(target)[1].rpartition(".")[2]: target for target in new} | dict(targets)


@lru_cache(maxsize=64)
def _descriptions(path: str, source: bytes) -> dict[str, _Described]:
    """What models read of a file's tools, by name and by symbol; without those that are defined twice."""
    from coreloop.base.project.python_source import UnprovenError
    from coreloop.descriptions.texts import ToolText, find_texts

    by_name = defaultdict[tuple[bool, str], list[ToolText]](list)
    bodies = _bodies(source) if path.endswith(".py") else {}
    with suppress(UnprovenError):
        for text in find_texts(path, source, bodies):
            by_name[False, text.symbol or text.tool].append(text)
            by_name[True, text.tool].append(text)
    described = dict[str, _Described]()
    for (_, name), texts in sorted(by_name.items(), key=lambda its: its[0]):
        if len({(text.tool, text.argument) for text in texts}) == len(texts):
            value, body = "\n".join(text.value for text in texts), bodies.get(texts[0].symbol, "")
            described[name] = _Described(path, name, texts[0].tool, value, body)
    return described


def _bodies(source: bytes) -> dict[str, str]:
    """What the definitions of a file do, by name."""
    from coreloop.base.project.definitions import docstring_node, visible
    from coreloop.base.project.python_source import UnprovenError, parse_source

    bodies = dict[str, str]()
    with suppress(UnprovenError):
        for name, node in visible(parse_source(source).tree):
            statements = node.body[docstring_node(node) is not None :]
            bodies[name] = "\n".join(map(ast.unparse, statements))
    return bodies


# --- Which days of a tool had which of its descriptions: by what models were sent, else by the merge's time.

SENT: Final = "text "
"""Before the hash of a description in a version."""
Sent = Collection[tuple[int, str, int]]
"""Days, what models were sent, and when it first was on that day, in microseconds since 1970."""
BEFORE_DAYS: Final = 56
"""Days before a change that are compared: two months have eight of each weekday."""
LEAST_BEFORE: Final = 14
"""Days that are a past: with fewer, a weekly rhythm looks like an effect."""


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
    old : frozenset of str
        The texts of before, if some sessions keep one on enough of the days, which are compared then.
    """

    before: frozenset[int] = frozenset()
    after: frozenset[int] = frozenset()
    first: int = 0
    n_mixed: int = 0
    is_ended: bool = False
    old: frozenset[str] = frozenset()


def find_windows(
    change: Change, sent: Sent, ledger: Ledger, rivals: Sequence[Change], *, deploy_lag: timedelta
) -> Windows:
    """Find the days before and after one of a tool's changes.

    Parameters
    ----------
    change : Change
        Of the ledger.
    sent : Sent
        What models were sent of the tool.
    ledger : Ledger
        Which changes a version has.
    rivals : sequence of Change
        Changes of the tool that end each other's days, this one among them.
    deploy_lag : timedelta
        From a merge until all models get the description, where records have no version.
    """
    at, states = rivals.index(change), defaultdict[int, dict[str, int | None]](dict)
    first_us = {version: us for _, version, us in sorted(sent, reverse=True)}
    for day, version, _ in sent:
        if version.startswith(SENT):  # a description has what was merged before it was first sent
            since = EPOCH + timedelta(microseconds=first_us[version])
            states[day][version] = sum(other.merged_at <= since for other in rivals)
        elif version in ledger.places:
            states[day][version] = sum(other.place <= ledger.places[version] for other in rivals)
        else:
            states[day][version] = _by_time(day, rivals, deploy_lag)
    days = {day: next(iter(n)) if len(n := {*its.values()}) == 1 else None for day, its in states.items()}
    is_ended = any(n is not None and n > at + 1 for n in days.values())
    texts = [(day, its, n) for day in states for its, n in states[day].items() if its.startswith(SENT)]
    old = frozenset(its for _, its, n in texts if n == at)
    both = sorted({day for day, _, n in texts if n == at} & {day for day, _, n in texts if n == at + 1})
    if len(both) >= LEAST_BEFORE:  # some sessions keep the old text
        return Windows(frozenset(both), frozenset(both[:HORIZON_DAYS]), both[0], 0, is_ended, old)
    after = [day for day, n_changes in days.items() if n_changes == at + 1]
    first = min(after, default=(change.merged_at.astimezone(UTC).date() - EPOCH_DAY).days + 1)
    earlier = sorted(day for day, n in days.items() if n == at and first - BEFORE_DAYS * 2 <= day < first)
    before = frozenset(earlier[-BEFORE_DAYS:])
    n_mixed = sum(n is None and max(before, default=first) < day < first for day, n in days.items())
    kept = frozenset(day for day in after if day < first + HORIZON_DAYS)
    return Windows(before, kept, first, n_mixed, is_ended)


def _by_time(day: int, changes: Sequence[Change], lag: timedelta) -> int | None:
    """How many changes were in force all day; None if one came on it."""
    start, end = EPOCH + timedelta(days=day), EPOCH + timedelta(days=day + 1)
    if any(change.merged_at < end and change.merged_at + lag > start for change in changes):
        return None
    return sum(change.merged_at + lag <= start for change in changes)
