"""The history of an engine, or of one of its axes, weighed against the gates."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath

from coreloop.base.errors import UsageError
from coreloop.base.git.repository import Repository, github_repo
from coreloop.base.project.tools import is_tool_name
from coreloop.base.project.workspace import Workspace
from coreloop.promote.axis.engine_history import (
    PromotionEvidence,
    first_merge,
    known_engines,
    plain_axis,
    read_evidence,
)


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
    engine, axis = request.engine, _checked_axis(request)
    repository.require_history()
    settings = workspace.settings
    base_sha = repository.base(settings.forge.base)
    commits = list(repository.log(base_sha))
    folder = PurePosixPath(workspace.root.resolve().relative_to(repository.root.resolve()).as_posix())
    of_engine = read_evidence(repository, commits, engine=engine, folder=folder, tools=settings.tools)
    evidence = tuple(item for item in of_engine if item.is_about(axis))
    first = first_merge(evidence, repository, now=now)
    in_effect = [item for item in of_engine if not item.promotion.reverted]
    return AxisCase(
        engine=engine,
        axis=axis,
        base=settings.forge.base,
        base_sha=base_sha,
        evidence=evidence,
        gates=weigh_axis(evidence, first, request.thresholds, now=now),
        first_merge=first,
        axes=dict(Counter(axis for item in in_effect for axis in item.axes).most_common()),
        n_without_axis=sum(not item.axes for item in in_effect),
        engines=() if of_engine else tuple(known_engines(commits, settings.tools)),
        repo=github_repo(repository),
    )


def _checked_axis(request: AxisRequest) -> str | None:
    """The normalised axis of a valid request."""
    if not is_tool_name(request.engine):
        raise UsageError(f"--engine {request.engine!r} is not a tool name")
    if request.axis is None:
        return None
    axis = plain_axis(request.axis)
    if not axis:
        raise UsageError("--axis is empty; omit it to weigh the whole engine")
    return axis


def weigh_axis(
    evidence: Iterable[PromotionEvidence], first: datetime | None, thresholds: Thresholds, *, now: datetime
) -> tuple[AxisGate, ...]:
    """The gates with their figures; a first merge in the future is 0 days old."""
    phases = Counter(item.promotion.phase for item in evidence if not item.promotion.reverted)
    age_days = max(0, (now - first).days) if first is not None else 0
    return (
        AxisGate("Phase R merges", phases["R"], thresholds.phase_r_merges),
        AxisGate("Phase F caveats", phases["F"], thresholds.phase_f_caveats),
        AxisGate("days since the first merge", age_days, thresholds.age_days),
    )
