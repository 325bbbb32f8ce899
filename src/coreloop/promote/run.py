"""Promotion as use cases: what a candidate would become, and the candidate made a draft pull request."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from coreloop.errors import RefusedError, UsageError, WorkspaceError
from coreloop.files import locked, write_private
from coreloop.forge.connect import connect_forge
from coreloop.judgments import read_judgments
from coreloop.project.workspace import Workspace
from coreloop.promote.asking import ask_again, ask_nobody
from coreloop.promote.commits import WritableRepository
from coreloop.promote.plan import Leave, Plan, Promoting
from coreloop.promote.promotion import Done, preview, promote
from coreloop.promote.proposal import Proposal, read_proposal
from coreloop.promote.reach import Reach
from coreloop.promote.reach_log import ReachOutcome, append_reach
from coreloop.promote.selection import Selection, select_tool
from coreloop.text import printable


@dataclass(frozen=True, slots=True, kw_only=True)
class PromoteRequest:
    """What to promote, and what is allowed.

    Attributes
    ----------
    path : Path or None
        A proposals file; for a tool, the newest files by default.
    wanted : str or None
        An id in it.
    tool : str or None
        Instead of an id: all statements about this tool.
    leave : Leave
        What is allowed.
    extend : bool
        Whether an open promotion of the same docstring may grow.
    ask : bool
        For a plan alone: whether the agent is asked, whose tools then really run.
    """

    path: Path | None = None
    wanted: str | None = None
    tool: str | None = None
    leave: Leave = field(default_factory=Leave)
    extend: bool = False
    ask: bool = False


@dataclass(frozen=True, slots=True)
class PlanResult:
    """What a promotion would do.

    Attributes
    ----------
    plan : Plan
        All of it.
    n_replayed : int
        How many requests its replay made: they are never mined.
    left_out : tuple of str
        What is known about the tool and not promoted, with the reason.
    """

    plan: Plan
    n_replayed: int
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PromoteResult:
    """What a promotion did.

    Attributes
    ----------
    plan : Plan or None
        None where the pull request was open already.
    done : Done
        The branch and the pull request.
    body : Path or None
        The pull request's text, where no forge took it.
    left_out : tuple of str
        As in `PlanResult`.
    """

    plan: Plan | None
    done: Done
    body: Path | None
    left_out: tuple[str, ...] = ()


def plan_promotion(workspace: Workspace, request: PromoteRequest) -> PlanResult:
    """Work out a promotion without changing anything; an agent is asked only if the request says so.

    Raises
    ------
    WorkspaceError, UsageError, RefusedError
        As `coreloop.promote.proposal.read_proposal` does.
    RefusedError, GitError, ReachError
        As `coreloop.promote.promotion.make_plan` does.
    """
    selection = _select(workspace, request)
    replayed = workspace.replayed()
    with WritableRepository(workspace.root) as repository:
        promoting = _promoting(workspace, selection.proposals, repository, request, confirmed=False)
        if not request.ask:
            promoting = replace(promoting, ask=ask_nobody)
        plan = preview(promoting)
    return PlanResult(plan, len(workspace.replayed() - replayed), selection.left_out)


def confirm_promotion(
    workspace: Workspace,
    request: PromoteRequest,
    *,
    environ: Mapping[str, str],
    now: datetime,
    warn: Callable[[str], None],
) -> PromoteResult:
    """Push the branch and open the draft pull request, or finish what an earlier run began.

    Parameters
    ----------
    workspace : Workspace
        The project.
    request : PromoteRequest
        What to promote.
    environ : mapping
        May hold a token, see `coreloop.forge.connect.connect_forge`.
    now : datetime
        Aware.
    warn : callable
        Called with what did not stop the promotion and should be known.

    Raises
    ------
    CoreloopError
        As `plan_promotion` does, and where git or GitHub says no.
    """
    selection = _select(workspace, request)
    # One at a time: two runs of one candidate would each find no branch and make one.
    with (
        WritableRepository(workspace.root) as repository,
        locked(workspace.candidates_dir),
        connect_forge(repository, workspace.settings.forge, environ) as forge,
    ):
        promoting = _promoting(workspace, selection.proposals, repository, request, confirmed=True)
        keys = [proposal.key for proposal in selection.proposals]
        keep = partial(_keep_reach, workspace.reach_file, keys, now=now, warn=warn)
        plan, done = promote(replace(promoting, reached=keep), forge)
    folder = request.path.parent if request.path is not None else workspace.candidates_dir
    kept = keep_body(plan, folder) if plan is not None and done.pull_request is None else None
    return PromoteResult(plan, done, kept, selection.left_out)


def _select(workspace: Workspace, request: PromoteRequest) -> Selection:
    if request.tool is not None:
        return select_tool(workspace, request.tool, request.path)
    if request.path is None or request.wanted is None:
        raise UsageError("say what to promote: --tool NAME, or --candidate FILE with --id ID")
    return Selection((_read_promotable(workspace, request.path, request.wanted),))


def _read_promotable(workspace: Workspace, path: Path, wanted: str) -> Proposal:
    """The entry, unless a person has rejected it since its file was written."""
    proposal = read_proposal(path, wanted, workspace.settings, is_configured=workspace.is_configured)
    newest = read_judgments(workspace.judgments_dir).newest().get(proposal.key)
    if newest is not None and not newest.verdict.passes:
        said = f"{printable(newest.judged_by)} said {newest.verdict} on {newest.judged_at:%Y-%m-%d}"
        raise RefusedError(f"{proposal.id} was rejected: {said}; give it a P or a T with judge first")
    return proposal


def keep_body(plan: Plan, folder: Path) -> Path:
    """Write the pull request's text beside the proposals."""
    path = folder / f"{plan.proposal.id}-pull-request.md"
    write_private(path, plan.body.encode())
    return path


def _promoting(
    workspace: Workspace,
    proposals: tuple[Proposal, ...],
    repository: WritableRepository,
    request: PromoteRequest,
    *,
    confirmed: bool,
) -> Promoting:
    return Promoting(
        proposals=proposals,
        repository=repository,
        project=workspace.root,
        settings=workspace.settings,
        ask=partial(ask_again, workspace=workspace, runs=None, confirmed=confirmed),
        leave=request.leave,
        extend=request.extend,
    )


def _keep_reach(
    path: Path, keys: Sequence[str], reach: Reach, *, now: datetime, warn: Callable[[str], None]
) -> None:
    """Leave the outcome for ``status``, which tells a check that refuses everything."""
    try:
        for key in keys:
            append_reach(path, ReachOutcome(now, key, reach.ok))
    except WorkspaceError as error:
        warn(f"{error}; status will not know of this reach check")
