"""The use cases of promotion: plan it, or open the draft pull request."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from coreloop.base.errors import UsageError, WorkspaceError
from coreloop.base.files import locked, write_private
from coreloop.base.github.connect import Connect, connect_forge, pull_request_repo
from coreloop.base.project.workspace import Workspace
from coreloop.learn.effect.kept_effects import read_kept
from coreloop.learn.verdicts.closed import reopened_keys
from coreloop.learn.verdicts.proposal_state import kept_states, returned_keys
from coreloop.observe.judgments import read_verdicts
from coreloop.promote.commits import WritableRepository
from coreloop.promote.docstring_edit import Worth, wasted_by_key
from coreloop.promote.draft_pull_request import Done, preview, promote
from coreloop.promote.plan import Overrides, Plan, Promoting
from coreloop.promote.reach import Measured
from coreloop.promote.reach_log import ReachOutcome, append_reach
from coreloop.promote.replay import ask_again, ask_nobody
from coreloop.promote.select import Selection, select_entry, select_tool


@dataclass(frozen=True, slots=True, kw_only=True)
class PromoteRequest:
    """What to promote, and the options.

    Attributes
    ----------
    path : Path or None
        A proposals file; for a tool, the newest files by default.
    wanted : str or None
        An id in it.
    tool : str or None
        Instead of an id: all statements about this tool.
    overrides : Overrides
        Failed checks that are allowed.
    extend : bool
        Whether to add to an open promotion of the same docstring.
    ask : bool
        For a plan: whether to replay the questions, in which case the agent's tools really run.
    """

    path: Path | None = None
    wanted: str | None = None
    tool: str | None = None
    overrides: Overrides = field(default_factory=Overrides)
    extend: bool = False
    ask: bool = False


@dataclass(frozen=True, slots=True)
class PlanResult:
    """A plan and the cost of making it.

    Attributes
    ----------
    plan : Plan
        The planned promotion.
    n_replayed : int
        Number of requests of its replay; these are never mined.
    left_out : tuple of str
        Entries about the tool that are not promoted, with the reason.
    """

    plan: Plan
    n_replayed: int
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PromoteResult:
    """The result of a promotion.

    Attributes
    ----------
    plan : Plan or None
        None if there was nothing to do.
    done : Done
        The branch and the pull request.
    body : Path or None
        File with the pull request's text, if there is no forge.
    left_out : tuple of str
        The same as in `PlanResult`.
    remote : str or None
        Where the branch was pushed; None if the repository has no remote, so that it is only here.
    on_github : bool
        Whether the repository on GitHub is known.
    """

    plan: Plan | None
    done: Done
    body: Path | None
    left_out: tuple[str, ...] = ()
    remote: str | None = None
    on_github: bool = False


def plan_promotion(workspace: Workspace, request: PromoteRequest) -> PlanResult:
    """Plan a promotion without changing anything; the agent is asked only if the request says so.

    Raises
    ------
    WorkspaceError, UsageError, RefusedError
        As `select_proposals` does.
    RefusedError, GitError, ReachError
        As `coreloop.promote.plan.make_plan` does.
    """
    selection = select_proposals(workspace, request)
    replayed = workspace.replayed()
    with WritableRepository(workspace.root) as repository:
        promoting = prepare_promotion(workspace, selection, repository, request, confirmed=False)
        plan = preview(promoting if request.ask else replace(promoting, ask=ask_nobody))
    return PlanResult(plan, len(workspace.replayed() - replayed), selection.left_out)


def confirm_promotion(
    workspace: Workspace,
    request: PromoteRequest,
    *,
    environ: Mapping[str, str],
    now: datetime,
    warn: Callable[[str], None],
    connect: Connect = connect_forge,
) -> PromoteResult:
    """Push the branch and open the draft pull request, or finish an earlier run.

    Parameters
    ----------
    request : PromoteRequest
        What to promote.
    environ : mapping
        May hold a token, see `coreloop.base.github.connect.connect_forge`.
    warn : callable
        Called with problems that do not stop the promotion.
    connect : callable, optional
        What connects to the forge.

    Raises
    ------
    CoreloopError
        As for `plan_promotion`; or git or GitHub failed.
    """
    selection = select_proposals(workspace, request)

    def record(reach: Measured | None) -> None:  # for status, which detects a check that refuses everything
        ok = reach is not None and reach.ok
        try:
            for proposal in selection.proposals:
                append_reach(workspace.reach_file, ReachOutcome(now, proposal.key, ok))
        except WorkspaceError as error:
            warn(f"{error}; status will not count this reach check")

    # One run at a time: two runs of the same candidate would each create a branch.
    with (
        WritableRepository(workspace.root) as repository,
        locked(workspace.candidates_dir),
        connect(repository, workspace.settings.forge, environ) as forge,
    ):
        promoting = prepare_promotion(workspace, selection, repository, request, confirmed=True)
        plan, done = promote(replace(promoting, on_reach=record), forge)
        remote = repository.remote()
        on_github = pull_request_repo(repository, workspace.settings.forge) is not None
    folder = request.path.parent if request.path is not None else workspace.candidates_dir
    body = keep_body(plan, folder) if plan is not None and done.pull_request is None else None
    return PromoteResult(plan, done, body, selection.left_out, remote, on_github)


def select_proposals(workspace: Workspace, request: PromoteRequest) -> Selection:
    """Read the proposals that a request chooses.

    Raises
    ------
    UsageError
        The request chooses nothing.
    WorkspaceError, UsageError, RefusedError
        As `select_tool` and `select_entry` do.
    """
    if request.tool is not None:
        return select_tool(workspace, request.tool, request.path)
    if request.path is None or request.wanted is None:
        raise UsageError("specify what to promote: --tool NAME, or --candidate FILE with --id ID")
    return select_entry(workspace, request.path, request.wanted)


def keep_body(plan: Plan, folder: Path) -> Path:
    """Write the pull request's text beside the proposals."""
    path = folder / f"{plan.proposal.id}-pull-request.md"
    write_private(path, plan.body.encode())
    return path


def prepare_promotion(
    workspace: Workspace,
    selection: Selection,
    repository: WritableRepository,
    request: PromoteRequest,
    *,
    confirmed: bool,
) -> Promoting:
    """What a promotion needs, from the project's files; with ``confirmed``, any endpoint may be asked."""
    judgments = read_verdicts(workspace.judgments_dir)
    return Promoting(
        workspace=workspace,
        repository=repository,
        proposals=selection.proposals,
        ask=partial(ask_again, workspace=workspace, runs=None, confirmed=confirmed),
        overrides=request.overrides,
        extend=request.extend,
        reopened=reopened_keys(judgments),
        returned=returned_keys(kept_states(workspace, judgments)),
        worth=Worth(read_kept(workspace).newest, partial(wasted_by_key, workspace)),
    )
