"""The promotions of an engine: the lines that each added to the docstring, and the calls in them.

A commit's trailers name the docstring, not the axis; the axis is read from the lines.
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

from coreloop.base.git.promotions import Promotion, promotions
from coreloop.base.git.repository import Commit, Repository
from coreloop.base.git.trailers import read_promoted
from coreloop.base.project.settings import ToolSettings

_TARGET: Final = re.compile(r"(?P<file>[^:]+\.py)::(?P<symbol>[^\W\d]\w*(?:\.[^\W\d]\w*)*)(?::[0-9]+)?")
_CALL: Final = re.compile(r'\b([^\W\d][\w.:/-]{0,99})\(((?:"[^"]*"|[^()"])*)\)')
_SELECTOR: Final = re.compile(r'\b(\w{1,40})=(?:"([^"]*)"|<\1>)')
# Keywords in these lines, such as 이익(순), would look like calls.
_NO_CALLS: Final = ("- When:", "- 쓸 때:", "- Evidence:")
_CALLS: Final = ("- Call:", "- 호출:")
_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_UNREADABLE: Final = (SyntaxError, ValueError, RecursionError, MemoryError)


@dataclass(frozen=True, slots=True)
class PromotionTarget:
    """The docstring that a promotion changed: a file below the project's folder, and a qualname."""

    file: str
    symbol: str


@dataclass(frozen=True, slots=True)
class DisplayedCall:
    """A call in the text; a selector with an undeclared value (``axis=<axis>``) has None."""

    tool: str
    selectors: tuple[tuple[str, str | None], ...]


@dataclass(frozen=True, slots=True)
class PromotionEvidence:
    """A promotion of an engine, with its text.

    Attributes
    ----------
    metrics : str
        Its ``Evidence`` trailer.
    lines : tuple of str
        Lines that it added to the docstring; empty if a version of the file is unreadable.
    calls : tuple of DisplayedCall
        The calls in the lines.
    axes : tuple of str
        Selector values of the engine's last call with a selector, which is the call that a pattern documents.
        Empty if the text has no declared value.
    """

    promotion: Promotion
    metrics: str
    lines: tuple[str, ...]
    calls: tuple[DisplayedCall, ...]
    axes: tuple[str, ...]

    def is_about(self, axis: str | None) -> bool:
        """Whether it counts for an axis; for the whole engine (None), always."""
        return axis is None or plain_axis(axis) in self.axes


def plain_axis(axis: str) -> str:
    """Normalise a name to NFC, since macOS decomposes Korean syllables."""
    return unicodedata.normalize("NFC", axis).strip()


def read_evidence(
    repository: Repository,
    commits: Sequence[Commit],
    *,
    engine: str,
    folder: PurePosixPath,
    tools: Mapping[str, ToolSettings],
) -> list[PromotionEvidence]:
    """Read the promotions of an engine, also reverted promotions, in the order of merges.

    Parameters
    ----------
    repository : Repository
        Has the files.
    commits : sequence of Commit
        The base branch's, newest first.
    engine : str
        A tool's name.
    folder : PurePosixPath
        The project's folder in the repository; targets are relative to it.
    tools : mapping of tool name to ToolSettings
        Tools with a configured target; for all others the target's last name is the tool.
    """
    by_sha = {commit.sha: commit for commit in commits}
    evidence = []
    for promotion in promotions(repository, commits):
        target = read_target(promotion.target)
        if target is not None and engine in engines_of(target, tools):
            commit = by_sha[promotion.sha]
            versions = _versions(repository, commit, (folder / target.file).as_posix(), target.symbol)
            evidence.append(_evidence(promotion, commit, versions, engine))
    return evidence


def read_target(trailer: str) -> PromotionTarget | None:
    """Parse a ``Target`` trailer; None if it is not a docstring below the project's folder."""
    match = _TARGET.fullmatch(trailer)
    if match is None:
        return None
    file = PurePosixPath(match["file"])
    inside = not file.is_absolute() and ".." not in file.parts
    return PromotionTarget(file.as_posix(), match["symbol"]) if inside else None


def engines_of(target: PromotionTarget, tools: Mapping[str, ToolSettings]) -> frozenset[str]:
    """Names of the tools that a docstring belongs to."""
    owners = {name for name, tool in tools.items() if tool.target and read_target(tool.target) == target}
    return frozenset(owners or {target.symbol.rpartition(".")[2]})


def known_engines(commits: Sequence[Commit], tools: Mapping[str, ToolSettings]) -> list[str]:
    """Every engine with a promotion."""
    groups = (group for commit in commits for group in read_promoted(commit.message))
    targets = (read_target(group.get("Target", "")) for group in groups)
    return sorted({name for target in targets if target is not None for name in engines_of(target, tools)})


def first_merge(
    evidence: Iterable[PromotionEvidence], repository: Repository, *, now: datetime
) -> datetime | None:
    """When the first promotion of Phase R that is in effect was merged; None if there is no such promotion.

    First in the order of history. With a wrong clock, the time is at least that of the commit's ancestors.
    """
    ordered = (item.promotion for item in evidence)
    first = next((item for item in ordered if item.phase == "R" and not item.reverted), None)
    if first is None or first.merged_at > now:
        return first.merged_at if first is not None else None
    times_s = (commit.committed_s for commit in repository.log(first.sha))
    newest = max((at_s for at_s in times_s if at_s <= now.timestamp()), default=0)
    return max(first.merged_at, datetime.fromtimestamp(newest, UTC))


def calls_in(lines: Iterable[str], *, owner: str) -> Iterator[DisplayedCall]:
    """The calls in lines; selectors outside a call belong to the docstring's own tool."""
    for line in lines:
        if line.startswith(_NO_CALLS):
            continue
        for match in _CALL.finditer(line):
            yield DisplayedCall(match[1], _selectors(match[2]))
        outside = _selectors(_CALL.sub(" ", line))
        if outside:
            yield DisplayedCall(owner, outside)


def _selectors(text: str) -> tuple[tuple[str, str | None], ...]:
    pairs = ((match[1], match[2]) for match in _SELECTOR.finditer(text))
    return tuple((name, None if value is None else plain_axis(value)) for name, value in pairs)


@dataclass(frozen=True, slots=True)
class _Versions:
    """The docstring's lines before and after the commit."""

    before: list[str]
    after: list[str]

    def appended(self) -> tuple[str, ...]:
        """New lines, in order."""
        existing = Counter(self.before)
        appended = []
        for line in self.after:
            if existing[line]:
                existing[line] -= 1
            else:
                appended.append(line)
        return tuple(appended)


def _evidence(promotion: Promotion, commit: Commit, versions: _Versions, engine: str) -> PromotionEvidence:
    lines = versions.appended()
    calls = tuple(calls_in(lines, owner=engine))
    axes = _axes(calls, engine)
    of_sequence = any(line.startswith(_NO_CALLS) for line in lines)  # a statement has no calls
    if promotion.phase == "R" and of_sequence and not any(line.startswith(_CALLS) for line in lines):
        axes = _existing_axes(versions.before, engine)
    groups = {group["Candidate-Key"]: group for group in read_promoted(commit.message)}
    metrics = groups.get(promotion.key, {}).get("Evidence", "")
    return PromotionEvidence(promotion, metrics, lines, calls, axes)


def _axes(calls: Iterable[DisplayedCall], engine: str) -> tuple[str, ...]:
    own = [call.selectors for call in calls if call.tool == engine and call.selectors]
    return tuple(dict.fromkeys(value for _, value in own[-1] if value is not None)) if own else ()


def _existing_axes(before: Iterable[str], engine: str) -> tuple[str, ...]:
    """Axes of a promotion whose call was not repeated, since the docstring had it for another category.

    Known only if all existing calls have the same axes.
    """
    existing = {_axes(calls_in([line], owner=engine), engine) for line in before if line.startswith(_CALLS)}
    return existing.pop() if len(existing) == 1 else ()


def _versions(repository: Repository, commit: Commit, path: str, symbol: str) -> _Versions:
    old = repository.read(commit.parents[0], path) if commit.parents else None
    new = repository.read(commit.sha, path)
    return _Versions(_docstring_lines(old, symbol), _docstring_lines(new, symbol))


def _docstring_lines(source: bytes | None, symbol: str) -> list[str]:
    """Lines with text of the docstrings of a name, each stripped.

    Read from the parsed docstring, not from git's diff: a squash may change more, and a source file may have
    any encoding and line ends.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as invalid escapes in the source
            tree = ast.parse(source or b"")
    except _UNREADABLE:
        return []
    texts = (ast.get_docstring(node, clean=False) or "" for node in _definitions(tree, symbol))
    return [line.strip() for text in texts for line in text.splitlines() if line.strip()]


def _definitions(tree: ast.Module, symbol: str) -> Iterator[_Scope]:
    pending: list[tuple[ast.AST, tuple[str, ...]]] = [(tree, tuple(symbol.split(".")))]
    while pending:
        node, names = pending.pop()
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, _Scope):
                if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
                    pending.append((child, names))
            elif child.name == names[0]:
                if len(names) == 1:
                    yield child
                else:
                    pending.append((child, names[1:]))
