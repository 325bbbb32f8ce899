"""Promotion as use cases: what a candidate would become, and the candidate made a draft pull request."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from coreloop.errors import RefusedError, WorkspaceError
from coreloop.files import locked, write_private
from coreloop.forge.connect import connect_forge
from coreloop.judgments import read_judgments
from coreloop.project.workspace import Workspace
from coreloop.promote.asking import ask_again, ask_nobody
from coreloop.promote.commits import WritableRepository
from coreloop.promote.promotion import Done, Leave, Plan, Promoting, base_commit, make_plan, promote
from coreloop.promote.proposal import Proposal, read_proposal
from coreloop.promote.reach import Reach
from coreloop.promote.reach_log import ReachOutcome, append_reach
from coreloop.text import printable


@dataclass(frozen=True, slots=True, kw_only=True)
class PromoteRequest:
    """Which entry of which proposals file to promote, and what is allowed.

    ``ask`` is for a plan alone: whether the agent is asked, whose tools then really run.
    """

    path: Path
    wanted: str
    leave: Leave = field(default_factory=Leave)
    ask: bool = False


@dataclass(frozen=True, slots=True)
class PlanResult:
    """What a promotion would do, and how many requests its replay made: they are never mined."""

    plan: Plan
    n_replayed: int


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
    """

    plan: Plan | None
    done: Done
    body: Path | None


def plan_promotion(workspace: Workspace, request: PromoteRequest) -> PlanResult:
    """Work out a promotion without changing anything; an agent is asked only if the request says so.

    Raises
    ------
    WorkspaceError, UsageError, RefusedError
        As `coreloop.promote.proposal.read_proposal` does.
    RefusedError, GitError, ReachError
        As `coreloop.promote.promotion.make_plan` does.
    """
    proposal = _read_promotable(workspace, request)
    replayed = workspace.replayed()
    with WritableRepository(workspace.root) as repository:
        promoting = _promoting(workspace, proposal, repository, request.leave, confirmed=False)
        if not request.ask:
            promoting = replace(promoting, ask=ask_nobody)
        base_sha = base_commit(repository, workspace.settings.forge.base, fetch=False)
        plan = make_plan(promoting, base_sha)
    return PlanResult(plan, len(workspace.replayed() - replayed))


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
    proposal = _read_promotable(workspace, request)
    # One at a time: two runs of one candidate would each find no branch and make one.
    with (
        WritableRepository(workspace.root) as repository,
        locked(workspace.candidates_dir),
        connect_forge(repository, workspace.settings.forge, environ) as forge,
    ):
        promoting = _promoting(workspace, proposal, repository, request.leave, confirmed=True)
        keep = partial(_keep_reach, workspace.reach_file, proposal.key, now=now, warn=warn)
        plan, done = promote(replace(promoting, reached=keep), forge)
    kept = keep_body(plan, request.path) if plan is not None and done.pull_request is None else None
    return PromoteResult(plan, done, kept)


def _read_promotable(workspace: Workspace, request: PromoteRequest) -> Proposal:
    """The entry, unless a person has rejected it since its file was written."""
    proposal = read_proposal(
        request.path, request.wanted, workspace.settings, is_configured=workspace.is_configured
    )
    newest = read_judgments(workspace.judgments_dir).newest().get(proposal.key)
    if newest is not None and not newest.verdict.passes:
        said = f"{printable(newest.judged_by)} said {newest.verdict} on {newest.judged_at:%Y-%m-%d}"
        raise RefusedError(f"{proposal.id} was rejected: {said}; give it a P or a T with judge first")
    return proposal


def keep_body(plan: Plan, candidates: Path) -> Path:
    """Write the pull request's text beside the candidates file."""
    path = candidates.parent / f"{plan.proposal.id}-pull-request.md"
    write_private(path, plan.body.encode())
    return path


def _promoting(
    workspace: Workspace,
    proposal: Proposal,
    repository: WritableRepository,
    leave: Leave,
    *,
    confirmed: bool,
) -> Promoting:
    return Promoting(
        proposal=proposal,
        repository=repository,
        project=workspace.root,
        settings=workspace.settings,
        ask=partial(ask_again, workspace=workspace, runs=None, confirmed=confirmed),
        leave=leave,
    )


def _keep_reach(path: Path, key: str, reach: Reach, *, now: datetime, warn: Callable[[str], None]) -> None:
    """Leave the outcome for ``status``, which tells a check that refuses everything."""
    try:
        append_reach(path, ReachOutcome(now, key, reach.ok))
    except WorkspaceError as error:
        warn(f"{error}; status will not know of this reach check")
