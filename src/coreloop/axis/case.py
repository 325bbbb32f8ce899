"""The history of an engine, or of one of its axes, weighed against the gates."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath

from coreloop.axis.evidence import Evidence, first_merge, known_engines, plain_axis, read_evidence
from coreloop.errors import UsageError
from coreloop.history.repository import Repository, github_repo
from coreloop.project.tools import is_tool_name
from coreloop.project.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """What a history must reach; all of it."""

    phase_r_merges: int = 3
    phase_f_caveats: int = 2
    age_days: int = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisRequest:
    """What ``propose-axis`` is asked for.

    Attributes
    ----------
    engine : str
        A tool's name.
    axis : str or None
        A selector's value; None weighs the whole engine.
    thresholds : Thresholds
        What is needed.
    """

    engine: str
    axis: str | None = None
    thresholds: Thresholds = field(default_factory=Thresholds)


@dataclass(frozen=True, slots=True)
class AxisGate:
    """One threshold with the figure that it met."""

    name: str
    figure: int
    needed: int

    @property
    def passed(self) -> bool:
        """Whether the figure is enough."""
        return self.figure >= self.needed


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What speaks for a proposal.

    Attributes
    ----------
    axis : str or None
        None is the whole engine.
    base, base_sha : str
        The branch that was read, and its commit.
    evidence : tuple of Evidence
        Of this axis, in the order of the merges; reverted ones are in it and do not count.
    axes : mapping of str to int
        Promotions in effect by the selector values that they name, of the whole engine.
    n_without_axis : int
        Promotions in effect that name no declared value: they count for the whole engine only.
    engines : tuple of str
        Every engine with a promotion, when this one has none.
    repo : str or None
        ``owner/name`` when the remote is on GitHub.
    """

    engine: str
    axis: str | None
    base: str
    base_sha: str
    evidence: tuple[Evidence, ...]
    gates: tuple[AxisGate, ...]
    first_merge: datetime | None
    axes: Mapping[str, int]
    n_without_axis: int
    engines: tuple[str, ...]
    repo: str | None

    @property
    def passed(self) -> bool:
        """Whether every gate is."""
        return all(gate.passed for gate in self.gates)

    @property
    def counted(self) -> tuple[Evidence, ...]:
        """The evidence that is in effect."""
        return tuple(one for one in self.evidence if not one.promotion.reverted)


def make_case(repository: Repository, workspace: Workspace, request: AxisRequest, *, now: datetime) -> Case:
    """Read and weigh the history of the base branch; fetches and writes nothing.

    Parameters
    ----------
    repository : Repository
        The project's.
    workspace : Workspace
        Base branch, tools, the folder that targets are below.
    request : AxisRequest
        What is weighed, and what is needed.
    now : datetime
        Aware.

    Raises
    ------
    UsageError
        The engine is no tool's name, or the axis is empty.
    GitError
        The clone is shallow or has no base branch.
    """
    engine, axis = request.engine, _plain(request)
    repository.require_history()
    settings = workspace.settings
    base_sha = repository.base(settings.forge.base)
    commits = list(repository.log(base_sha))
    folder = PurePosixPath(workspace.root.resolve().relative_to(repository.root.resolve()).as_posix())
    found = read_evidence(repository, commits, engine=engine, folder=folder, tools=settings.tools)
    evidence = tuple(one for one in found if one.is_about(axis))
    first = first_merge(evidence, repository, now=now)
    standing = [one for one in found if not one.promotion.reverted]
    return Case(
        engine=engine,
        axis=axis,
        base=settings.forge.base,
        base_sha=base_sha,
        evidence=evidence,
        gates=weigh_axis(evidence, first, request.thresholds, now=now),
        first_merge=first,
        axes=dict(Counter(axis for one in standing for axis in one.axes).most_common()),
        n_without_axis=sum(not one.axes for one in standing),
        engines=() if found else tuple(known_engines(commits, settings.tools)),
        repo=github_repo(repository),
    )


def _plain(request: AxisRequest) -> str | None:
    """The axis as it is compared, of a request that can be meant."""
    if not is_tool_name(request.engine):
        raise UsageError(f"--engine {request.engine!r} is no tool's name")
    if request.axis is None:
        return None
    axis = plain_axis(request.axis)
    if not axis:
        raise UsageError("--axis is empty; leave it out to weigh the whole engine")
    return axis


def weigh_axis(
    evidence: Iterable[Evidence], first: datetime | None, thresholds: Thresholds, *, now: datetime
) -> tuple[AxisGate, ...]:
    """The gates with their figures; a first merge that lies in the future is 0 days old."""
    phases = Counter(one.promotion.phase for one in evidence if not one.promotion.reverted)
    age_days = max(0, (now - first).days) if first is not None else 0
    return (
        AxisGate("Phase R merges", phases["R"], thresholds.phase_r_merges),
        AxisGate("Phase F caveats", phases["F"], thresholds.phase_f_caveats),
        AxisGate("days since the first merge", age_days, thresholds.age_days),
    )
