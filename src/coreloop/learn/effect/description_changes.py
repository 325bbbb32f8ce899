"""The ledger: every change of a tool's description in the base branch, by us or by a human, from git."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Final

from coreloop.base.git.promotions import History, read_history
from coreloop.base.git.repository import Commit, FileChange, Repository
from coreloop.base.project.tools import bare_name, is_skipped, is_tool_name
from coreloop.descriptions.other_places import DOCUMENTS, Arguments, described_tools
from coreloop.descriptions.own_lines import docstring_bullets, symbol_of
from coreloop.descriptions.source import UnprovenError, definitions, docstring_node, is_shadowed, read_source

_PULL_REQUEST: Final = re.compile(r"\AMerge pull request #(\d{1,9})\b|\A[^\n]*\(#(\d{1,9})\)\s*(?:\n|\Z)")
"""GitHub's subjects: ``Merge pull request #12 from a/b``, and ``Fix it (#12)`` of a squash."""
_REVERTS: Final = re.compile(r"^This reverts commit ([0-9a-f]{7,64})", re.MULTILINE)


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
    subject: str
    place: int
    merged_at: datetime
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
    """

    changes: tuple[Change, ...]
    _places: Mapping[str, int]

    def place_of(self, version: str) -> int | None:
        """The newest commit of the base branch that a version has, as its place; None if unknown here."""
        return self._places.get(version)


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
        ``path.py::qualname`` by tool, below ``folder``, or from `find_documented`. Those of promotions are
        added, so that a promotion is a row even if its tool is never called.
    folder : PurePosixPath
        The project's folder below the repository's root.
    """
    commits = list(repository.log(base))
    history = read_history(repository, commits)
    line = _first_parents(commits)
    by_file: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for tool, target in _with_promoted(targets, history).items():
        by_file[(folder / target.partition("::")[0]).as_posix()].append((tool, target))
    changes = [
        _change(change, history, prefix=f"{folder}/".removeprefix("./"), now=now)
        for change in _text_changes(repository, base, by_file, line)
    ]
    ordered = sorted(changes, key=lambda change: (change.place, change.tool))
    return Ledger(tuple(ordered), _places(commits, line))


@dataclass(frozen=True, slots=True)
class _TextChange:
    """A changed text of a tool: the file before and after, and the commit with its place in the line."""

    tool: str
    target: str
    path: str
    before: bytes
    after: bytes
    commit: Commit
    place: int


def _text_changes(
    repository: Repository,
    base: str,
    by_file: Mapping[str, Sequence[tuple[str, str]]],
    line: Sequence[Commit],
) -> Iterator[_TextChange]:
    """The changed descriptions; a new file or definition is no change."""
    places = {commit.sha: (commit, place) for place, commit in enumerate(line)}
    read_blob = lru_cache(maxsize=64)(repository.blob)
    read_texts = lru_cache(maxsize=64)(lambda blob, path: _descriptions(path, read_blob(blob)))
    for file, tools in _file_changes(repository, base, by_file):
        if file.sha not in places or not (file.blobs[0] and file.blobs[1]):
            continue
        old, new = (read_texts(blob, file.path) for blob in file.blobs)
        for tool, target in tools:
            name = symbol_of(target)[1]
            if name in old and name in new and old[name] != new[name]:
                before, after = map(read_blob, file.blobs)
                yield _TextChange(tool, target, file.path, before, after, *places[file.sha])


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


def _change(text: _TextChange, history: History, *, prefix: str, now: datetime) -> Change:
    had, has = (docstring_bullets(side, text.target) for side in (text.before, text.after))
    message, symbols = text.commit.message, {symbol_of(text.target)}
    symbols.add((text.path.removeprefix(prefix), symbol_of(text.target)[1]))
    merged = [
        merge.promotion
        for merge in history.merges
        if merge.landing == text.commit.sha and symbol_of(merge.promotion.target) in symbols
    ]
    number = _PULL_REQUEST.search(message)
    return Change(
        tool=text.tool,
        target=text.target,
        sha=text.commit.sha,
        subject=message.partition("\n")[0].strip(),
        place=text.place,
        merged_at=history.timestamp(text.place, now=now),
        ids=tuple(promotion.candidate_id for promotion in merged),
        keys=tuple(promotion.key for promotion in merged),
        added=tuple(has - had),
        removed=tuple(had - has),
        pull_request=int(number[1] or number[2]) if number is not None else None,
        is_revert=text.place in history.revert_places or (not merged and bool(_REVERTS.search(message))),
        reverted=bool(merged) and all(promotion.reverted for promotion in merged),
    )


def _with_promoted(targets: Mapping[str, str], history: History) -> dict[str, str]:
    known = {symbol_of(target) for target in targets.values()}
    promoted = {
        symbol_of(merge.promotion.target): merge.promotion.target
        for merge in history.merges
        if merge.promotion.target.partition("::")[2] and symbol_of(merge.promotion.target) not in known
    }
    # a name of the log keeps its own target
    return {symbol[1].rpartition(".")[2]: target for symbol, target in promoted.items()} | dict(targets)


def find_documented(
    repository: Repository, base: str, tools: Collection[str], *, folder: PurePosixPath
) -> dict[str, str]:
    """Where tools are defined outside Python, if in one place only, as ``path::name`` below ``folder``."""
    servers = Counter(map(bare_name, tools))
    bare = {bare_name(tool): tool for tool in tools if servers[bare_name(tool)] == 1}
    names = {
        name: tool for name, tool in (bare | {tool: tool for tool in tools}).items() if is_tool_name(name)
    }
    if not names:
        return {}
    below = [(folder / f"*{suffix}").as_posix() for suffix in DOCUMENTS]
    places: defaultdict[str, set[str]] = defaultdict(set)
    for path in repository.files_with(base, "|".join(map(re.escape, sorted(names))), below):
        file = PurePosixPath(path).relative_to(folder)
        if not any(map(is_skipped, file.parts[:-1])):
            for name in names.keys() & described_tools(path, repository.read(base, path) or b"").keys():
                places[names[name]].add(f"{file}::{name}")
    return {tool: next(iter(found)) for tool, found in places.items() if len(found) == 1}


def _descriptions(path: str, source: bytes) -> dict[str, str]:
    """What models read of a file's definitions, by name; without names that are defined twice.

    The docstring, or an empty text, and the descriptions that are arguments.
    """
    if not path.endswith(".py"):
        return described_tools(path, source)
    try:
        tree = read_source(source).tree
    except UnprovenError:
        return {}
    texts: dict[str, str] = {}
    arguments = Arguments(tree)
    twice = set[str]()
    for definition in definitions(tree):
        if is_shadowed(definition):
            continue
        if definition.qualname in texts:
            twice.add(definition.qualname)
        try:
            node = docstring_node(definition)
        except UnprovenError:  # an f-string, which no model reads
            node = None
        docstring = str(node.value) if node is not None else ""
        texts[definition.qualname] = "\n".join((docstring, *arguments.of(definition.node)))
    return {name: text for name, text in texts.items() if name not in twice}


def _first_parents(commits: Sequence[Commit]) -> list[Commit]:
    """The line of first parents, oldest first; ``commits`` newest first."""
    by_sha = {commit.sha: commit for commit in commits}
    line, step = [], commits[0] if commits else None
    while step is not None:
        line.append(step)
        step = by_sha.get(step.parents[0]) if step.parents else None
    return line[::-1]


def _places(commits: Sequence[Commit], line: Sequence[Commit]) -> dict[str, int]:
    """For every commit, the place of the newest commit of the line that is it or its ancestor."""
    places = {commit.sha: at for at, commit in enumerate(line)}
    for commit in reversed(commits):  # parents before children
        if commit.sha not in places:
            places[commit.sha] = max(
                (places[parent] for parent in commit.parents if parent in places), default=-1
            )
    return places
