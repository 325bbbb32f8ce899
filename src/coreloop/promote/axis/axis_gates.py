"""The merged promotions of an engine, or of one of its axes, weighed against the gates.

A commit's trailers name the docstring, not the axis; the axis is read from the lines that it added.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath
from typing import Final

from coreloop.base.errors import UsageError
from coreloop.base.git.promotions import History, Promotion, read_history
from coreloop.base.git.repository import Commit, Repository, github_repo
from coreloop.base.git.trailers import read_promoted
from coreloop.base.project.settings import ToolSettings
from coreloop.base.project.tools import is_tool_name
from coreloop.base.project.workspace import Workspace
from coreloop.descriptions.own_lines import docstring_bullets, symbol_of

_CALL: Final = re.compile(r'\b([^\W\d][\w.:/-]{0,99})\(((?:"[^"]*"|[^()"])*)\)')
_SELECTOR: Final = re.compile(r'\b(\w{1,40})=(?:"([^"]*)"|<\1>)')
_NO_CALLS: Final = ("- When:", "- 쓸 때:")
"""Keywords in these lines, such as 이익(순), would look like calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Minimum figures of a history; all must be reached."""

    phase_r_merges: int = 3
    phase_f_caveats: int = 2
    age_days: int = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisRequest:
    """The request to ``propose-axis``.

    Attributes
    ----------
    engine : str
        A tool's name.
    axis : str or None
        A selector's value; None for the whole engine.
    thresholds : Thresholds
        The thresholds of the gates.
    """

    engine: str
    axis: str | None = None
    thresholds: Thresholds = field(default_factory=Thresholds)


@dataclass(frozen=True, slots=True)
class AxisGate:
    """A threshold and the actual figure."""

    name: str
    figure: int
    needed: int

    @property
    def passed(self) -> bool:
        """Whether the figure reaches the threshold."""
        return self.figure >= self.needed


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
    """

    promotion: Promotion
    metrics: str
    lines: tuple[str, ...]
    calls: tuple[DisplayedCall, ...]
    axes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisCase:
    """The evidence for a proposal.

    Attributes
    ----------
    axis : str or None
        None for the whole engine.
    base, base_sha : str
        The branch that was read, and its commit.
    evidence : tuple of PromotionEvidence
        The evidence of this axis, in the order of merges; reverted promotions are included and do not count.
    first_merge : datetime or None
        When the first promotion of Phase R that is in effect was merged.
    axes : mapping of str to int
        Number of the whole engine's promotions in effect, by the selector values that they name.
    n_without_axis : int
        Promotions in effect without a declared value; they count for the whole engine only.
    engines : tuple of str
        Every engine with a promotion; empty if this engine has promotions.
    repo : str or None
        ``owner/name`` if the remote is on GitHub.
    """

    engine: str
    axis: str | None
    base: str
    base_sha: str
    evidence: tuple[PromotionEvidence, ...]
    gates: tuple[AxisGate, ...]
    first_merge: datetime | None
    axes: Mapping[str, int]
    n_without_axis: int
    engines: tuple[str, ...]
    repo: str | None

    @property
    def passed(self) -> bool:
        """Whether every gate is passed."""
        return all(gate.passed for gate in self.gates)

    @property
    def counted(self) -> tuple[PromotionEvidence, ...]:
        """The evidence of promotions in effect."""
        return tuple(item for item in self.evidence if not item.promotion.reverted)


def make_case(
    repository: Repository, workspace: Workspace, request: AxisRequest, *, now: datetime
) -> AxisCase:
    """Read and weigh the history of the base branch; nothing is fetched or written.

    Parameters
    ----------
    repository : Repository
        The project's.
    workspace : Workspace
        Has the base branch, the tools and the folder of targets.
    request : AxisRequest
        Engine, axis and thresholds.
    now : datetime
        Aware.

    Raises
    ------
    UsageError
        The engine is not a tool name, or the axis is empty.
    GitError
        The clone is shallow or has no base branch.
    """
    engine, axis, settings = request.engine, _checked_axis(request), workspace.settings
    repository.require_history()
    base_sha = repository.base(settings.forge.base)
    commits = {commit.sha: commit for commit in repository.log(base_sha)}
    history = read_history(repository, commits.values())
    promotions = [its for its in history.promotions() if _is_inside(its.target)]
    folder = PurePosixPath(workspace.root.resolve().relative_to(repository.root.resolve()).as_posix())
    of_engine = [
        _evidence(repository, promotion, commits[promotion.sha], folder, engine)
        for promotion in promotions
        if engine in engines_of(promotion.target, settings.tools)
    ]
    evidence = tuple(item for item in of_engine if axis is None or axis in item.axes)
    first = _first_merge(evidence, history, now=now)
    in_effect = [item for item in of_engine if not item.promotion.reverted]
    every = {name for its in promotions for name in engines_of(its.target, settings.tools)}
    return AxisCase(
        engine=engine,
        axis=axis,
        base=settings.forge.base,
        base_sha=base_sha,
        evidence=evidence,
        gates=_weigh(evidence, first, request.thresholds, now=now),
        first_merge=first,
        axes=dict(Counter(axis for item in in_effect for axis in item.axes).most_common()),
        n_without_axis=sum(not item.axes for item in in_effect),
        engines=() if of_engine else tuple(sorted(every)),
        repo=github_repo(repository),
    )


def _checked_axis(request: AxisRequest) -> str | None:
    """The axis of a valid request in NFC, since macOS decomposes Korean syllables."""
    if not is_tool_name(request.engine):
        raise UsageError(f"--engine {request.engine!r} is not a tool name")
    axis = _plain(request.axis) if request.axis is not None else None
    if axis == "":
        raise UsageError("--axis is empty; omit it to weigh the whole engine")
    return axis


def _plain(axis: str) -> str:
    return unicodedata.normalize("NFC", axis).strip()


def _is_inside(target: str) -> bool:
    """Whether a trailer's target is a docstring below the project's folder."""
    file, symbol = symbol_of(target)
    path = PurePosixPath(file)
    return bool(symbol) and path.suffix == ".py" and not path.is_absolute() and ".." not in path.parts


def engines_of(target: str, tools: Mapping[str, ToolSettings]) -> set[str]:
    """Names of the tools that a docstring belongs to: those of coreloop.yaml, else its own name."""
    file, symbol = symbol_of(target)
    configured = {name: symbol_of(tool.target) for name, tool in tools.items() if tool.target}
    own = PurePosixPath(file), symbol
    owners = {name for name, (path, its) in configured.items() if (PurePosixPath(path), its) == own}
    return owners or {symbol.rpartition(".")[2]}


def _evidence(
    repository: Repository, promotion: Promotion, commit: Commit, folder: PurePosixPath, engine: str
) -> PromotionEvidence:
    path = (folder / promotion.target.partition("::")[0]).as_posix()
    old = repository.read(commit.parents[0], path) if commit.parents else None
    new = repository.read(commit.sha, path)
    lines = docstring_bullets(new, promotion.target) - docstring_bullets(old, promotion.target)
    calls = tuple(calls_in(lines.elements(), owner=engine))
    own = [call.selectors for call in calls if call.tool == engine and call.selectors]
    axes = dict.fromkeys(value for _, value in own[-1] if value is not None) if own else ()
    groups = {group["Candidate-Key"]: group for group in read_promoted(commit.message)}
    metrics = groups[promotion.key].get("Evidence", "")
    return PromotionEvidence(promotion, metrics, tuple(lines.elements()), calls, tuple(axes))


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
    return tuple((name, None if value is None else _plain(value)) for name, value in pairs)


def _first_merge(
    evidence: Iterable[PromotionEvidence], history: History, *, now: datetime
) -> datetime | None:
    """When the first promotion of Phase R that is in effect came to the branch, whatever clocks said."""
    in_effect = [item.promotion for item in evidence if not item.promotion.reverted]
    first = next((promotion for promotion in in_effect if promotion.phase == "R"), None)
    places = (merge.place for merge in history.merges if merge.promotion == first)
    return history.timestamp(next(places), now=now) if first is not None else None


def _weigh(
    evidence: Iterable[PromotionEvidence], first: datetime | None, thresholds: Thresholds, *, now: datetime
) -> tuple[AxisGate, ...]:
    phases = Counter(item.promotion.phase for item in evidence if not item.promotion.reverted)
    age_days = (now - first).days if first is not None else 0
    return (
        AxisGate("Phase R merges", phases["R"], thresholds.phase_r_merges),
        AxisGate("Phase F caveats", phases["F"], thresholds.phase_f_caveats),
        AxisGate("days since the first merge", age_days, thresholds.age_days),
    )
