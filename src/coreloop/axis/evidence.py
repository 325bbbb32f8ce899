"""What the promotions of an engine say: the lines that each put into the docstring, and the calls in them.

A commit's trailers name the docstring, not the axis; the axis is what the commit wrote there.
"""

import ast
import re
import unicodedata
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Final

from coreloop.history.promotions import Promotion, promotions
from coreloop.history.repository import Commit, Repository
from coreloop.history.trailers import read_promoted
from coreloop.project.settings import ToolSettings

_TARGET: Final = re.compile(r"(?P<file>[^:]+\.py)::(?P<symbol>[^\W\d]\w*(?:\.[^\W\d]\w*)*)(?::[0-9]+)?")
_CALL: Final = re.compile(r'\b([^\W\d][\w.:/-]{0,99})\(((?:"[^"]*"|[^()"])*)\)')
_SELECTOR: Final = re.compile(r'\b(\w{1,40})=(?:"([^"]*)"|<\1>)')
# A keyword such as 이익(순) in these would look like a call.
_NO_CALLS: Final = ("- When:", "- Evidence:")
_CALLS: Final = "- Call:"
_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_UNREADABLE: Final = (SyntaxError, ValueError, RecursionError, MemoryError)


@dataclass(frozen=True, slots=True)
class Target:
    """The docstring that a promotion changed: a file below the project's folder, and a qualname."""

    file: str
    symbol: str


@dataclass(frozen=True, slots=True)
class ShownCall:
    """A call as the text shows it; a selector whose value nobody declared (``axis=<axis>``) has None."""

    tool: str
    selectors: tuple[tuple[str, str | None], ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """One promotion of an engine.

    Attributes
    ----------
    said : str
        Its ``Evidence`` trailer.
    lines : tuple of str
        What it put into the docstring; none when a version of the file cannot be read.
    calls : tuple of ShownCall
        Those in the lines.
    axes : tuple of str
        Selector values of the engine's last call that has a selector, which is the call that a pattern
        documents. None when the text names no value, or none that is declared.
    """

    promotion: Promotion
    said: str
    lines: tuple[str, ...]
    calls: tuple[ShownCall, ...]
    axes: tuple[str, ...]

    def is_about(self, axis: str | None) -> bool:
        """Whether it counts for an axis; for the whole engine (None) each does."""
        return axis is None or plain_axis(axis) in self.axes


def plain_axis(axis: str) -> str:
    """One form of a name, however it was typed: macOS splits Korean syllables."""
    return unicodedata.normalize("NFC", axis).strip()


def read_evidence(
    repository: Repository,
    commits: Sequence[Commit],
    *,
    engine: str,
    folder: PurePosixPath,
    tools: Mapping[str, ToolSettings],
) -> list[Evidence]:
    """The promotions of an engine, reverted ones too, in the order in which they were merged.

    Parameters
    ----------
    repository : Repository
        Holds the files.
    commits : sequence of Commit
        The base branch's, newest first.
    engine : str
        A tool's name.
    folder : PurePosixPath
        The project's folder below the repository's; targets are below it.
    tools : mapping of tool name to ToolSettings
        A target there tells whose docstring it is; for others the symbol's last name does.
    """
    by_sha = {commit.sha: commit for commit in commits}
    found = []
    for promotion in promotions(commits):
        target = read_target(promotion.target)
        if target is not None and engine in engines_of(target, tools):
            commit = by_sha[promotion.sha]
            versions = _versions(repository, commit, (folder / target.file).as_posix(), target.symbol)
            found.append(_evidence(promotion, commit, versions, engine))
    return found


def read_target(trailer: str) -> Target | None:
    """A ``Target`` trailer; None when it names no docstring below the project's folder."""
    match = _TARGET.fullmatch(trailer)
    if match is None:
        return None
    file = PurePosixPath(match["file"])
    inside = not file.is_absolute() and ".." not in file.parts
    return Target(file.as_posix(), match["symbol"]) if inside else None


def engines_of(target: Target, tools: Mapping[str, ToolSettings]) -> frozenset[str]:
    """Names of the tools that a docstring belongs to."""
    owners = {name for name, tool in tools.items() if tool.target and read_target(tool.target) == target}
    return frozenset(owners or {target.symbol.rpartition(".")[2]})


def known_engines(commits: Sequence[Commit], tools: Mapping[str, ToolSettings]) -> list[str]:
    """Every engine with a promotion."""
    targets = (read_target(one.target) for one in promotions(commits))
    return sorted({name for target in targets if target is not None for name in engines_of(target, tools)})


def first_merge(evidence: Iterable[Evidence], repository: Repository, *, now: datetime) -> datetime | None:
    """When the first of Phase R came to the branch and was not taken back; None when none did.

    The order is that of history. A machine whose clock was behind cannot make its merge older than the
    commits that it stands on.
    """
    first = next(
        (one.promotion for one in evidence if one.promotion.phase == "R" and not one.promotion.reverted), None
    )
    if first is None or first.merged_at > now:
        return first.merged_at if first is not None else None
    below = (commit.committed_s for commit in repository.log(first.sha))
    newest = max((at_s for at_s in below if at_s <= now.timestamp()), default=0)
    return max(first.merged_at, datetime.fromtimestamp(newest, UTC))


def calls_in(lines: Iterable[str], *, owner: str) -> Iterator[ShownCall]:
    """The calls that lines show; selectors outside of any call are said of the docstring's owner."""
    for line in lines:
        if line.startswith(_NO_CALLS):
            continue
        for match in _CALL.finditer(line):
            yield ShownCall(match[1], _selectors(match[2]))
        outside = _selectors(_CALL.sub(" ", line))
        if outside:
            yield ShownCall(owner, outside)


def _selectors(text: str) -> tuple[tuple[str, str | None], ...]:
    pairs = ((match[1], match[2]) for match in _SELECTOR.finditer(text))
    return tuple((name, None if value is None else plain_axis(value)) for name, value in pairs)


@dataclass(frozen=True, slots=True)
class _Versions:
    """The docstring's lines without and with the commit."""

    before: list[str]
    after: list[str]

    def appended(self) -> tuple[str, ...]:
        """Lines that were not there before, in their order."""
        left = Counter(self.before)
        appended = []
        for line in self.after:
            if left[line]:
                left[line] -= 1
            else:
                appended.append(line)
        return tuple(appended)


def _evidence(promotion: Promotion, commit: Commit, versions: _Versions, engine: str) -> Evidence:
    lines = versions.appended()
    calls = tuple(calls_in(lines, owner=engine))
    axes = _axes(calls, engine)
    of_sequence = any(line.startswith(_NO_CALLS) for line in lines)  # a statement repeats no call
    if promotion.phase == "R" and of_sequence and not any(line.startswith(_CALLS) for line in lines):
        axes = _standing_axes(versions.before, engine)
    groups = {group.get("Candidate-Key"): group for group in read_promoted(commit.message)}
    said = groups.get(promotion.key, {}).get("Evidence", "")
    return Evidence(promotion, said, lines, calls, axes)


def _axes(calls: Iterable[ShownCall], engine: str) -> tuple[str, ...]:
    own = [call.selectors for call in calls if call.tool == engine and call.selectors]
    return tuple(dict.fromkeys(value for _, value in own[-1] if value is not None)) if own else ()


def _standing_axes(before: Iterable[str], engine: str) -> tuple[str, ...]:
    """Axes of a promotion whose call stood there for another category already, so that it was not repeated.

    Known only while all the calls that stood there are of the same axes.
    """
    stood = {_axes(calls_in([line], owner=engine), engine) for line in before if line.startswith(_CALLS)}
    return stood.pop() if len(stood) == 1 else ()


def _versions(repository: Repository, commit: Commit, path: str, symbol: str) -> _Versions:
    old = repository.read(commit.parents[0], path) if commit.parents else None
    new = repository.read(commit.sha, path)
    return _Versions(_docstring_lines(old, symbol), _docstring_lines(new, symbol))


def _docstring_lines(source: bytes | None, symbol: str) -> list[str]:
    """Lines with text of the docstrings of a name, each stripped.

    Of the parsed docstring, not of git's diff: a squash may change more, and a source file may be in any
    encoding and end its lines in any way.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # a doubtful escape in somebody's source is not this command's talk
            tree = ast.parse(source or b"")
    except _UNREADABLE:
        return []
    texts = (ast.get_docstring(node, clean=False) or "" for node in _definitions(tree, symbol))
    return [line.strip() for text in texts for line in text.splitlines() if line.strip()]


def _definitions(tree: ast.Module, symbol: str) -> Iterator[_Scope]:
    left: list[tuple[ast.AST, tuple[str, ...]]] = [(tree, tuple(symbol.split(".")))]
    while left:
        node, names = left.pop()
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, _Scope):
                if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
                    left.append((child, names))
            elif child.name == names[0]:
                if len(names) == 1:
                    yield child
                else:
                    left.append((child, names[1:]))
