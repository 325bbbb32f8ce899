"""The use cases of promotion: choose proposals, plan, or open the draft pull request."""

import difflib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import chain
from pathlib import Path

from coreloop.base.errors import HumanDecidesError, RefusedError, UsageError, WorkspaceError
from coreloop.base.files import locked, write_private
from coreloop.base.git.promotions import open_branches
from coreloop.base.git.repository import Repository
from coreloop.base.github.connect import Connect, connect_forge
from coreloop.base.project.tools import logged_names
from coreloop.base.project.workspace import Workspace
from coreloop.base.text import printable
from coreloop.descriptions.find_tools import find_tools, why_undefined
from coreloop.learn.line import parse_advice
from coreloop.learn.proposals.entry import Candidate, Counterexample, Entry, Statement
from coreloop.learn.proposals.proposal_files import ProposalsFile, read_proposals
from coreloop.learn.verdicts.judge import reopened_keys
from coreloop.learn.verdicts.proposal_state import (
    UNDECIDED,
    ProposalState,
    Standpoint,
    kept_states,
)
from coreloop.observe.judgments import read_verdicts
from coreloop.promote.commits import WritableRepository
from coreloop.promote.draft_pull_request import Done, preview, promote
from coreloop.promote.plan import Plan, Promoting
from coreloop.promote.proposal_entry import Proposal, checked_proposal, read_proposal
from coreloop.promote.reach import Measured, ReachOutcome, append_reach
from coreloop.promote.replay import ask_again, ask_nobody


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
    overrides : collection of str
        Failed checks that are allowed.
    extend : bool
        Whether to add to an open promotion of the same docstring.
    ask : bool
        For a plan: whether to replay the questions, in which case the agent's tools really run.
    """

    path: Path | None = None
    wanted: str | None = None
    tool: str | None = None
    overrides: Collection[str] = ()
    extend: bool = False
    ask: bool = False


Selection = tuple[tuple[Proposal, ...], tuple[str, ...]]
"""The proposals to promote, and the omitted entries with reasons."""


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


def select_tool(workspace: Workspace, tool: str, path: Path | None) -> Selection:
    """Read the statements about a tool that may be promoted: the best of each subject, best first.

    Parameters
    ----------
    workspace : Workspace
        Its newest candidates and counterexamples files are read.
    tool : str
        Name of the tool.
    path : Path, optional
        Read only this file.

    Raises
    ------
    UsageError
        There is no proposals file, or it has no entry about the tool.
    RefusedError
        A statement is not coreloop's, no statement may be promoted, or all were promoted or rejected before.
    """
    folders = (workspace.candidates_dir, workspace.counterexamples_dir)
    newest = (sorted(folder.glob(f"????-??-??-{folder.name}.json"))[-1:] for folder in folders)
    files = [path] if path is not None else [*chain.from_iterable(newest)]
    if not files:
        raise UsageError("there are no proposals yet; run pattern and refine first, or name --candidate FILE")
    proposals, left_out = list[Proposal](), list[str]()
    standpoints = kept_states(workspace, read_verdicts(workspace.judgments_dir))
    # what is not promoted again; an open one is finished or extended
    settled = (one for one in standpoints if one.state not in UNDECIDED | {ProposalState.OPEN})
    decided, documents = {one.key: _reason(one) for one in settled}, [read_proposals(file) for file in files]
    of_entries = {entry.tool for document in documents for entry in document.entries}
    if tool not in of_entries:  # as clients log it, or as a server is mounted
        tool = logged_names({tool}, workspace).get(tool, tool)
    for document in documents:
        for entry in _about(tool, document.entries):
            reason = _unfit(entry, proposals, decided)
            if reason is None:
                proposal = checked_proposal(entry, document, workspace.settings)
                reason = _conflict(proposal, proposals[0], workspace) if proposals else None
            if reason is None:
                proposals.append(proposal)
            else:
                left_out.append(f"{entry.id}: {printable(reason)}")
    if not proposals:
        known = _decided_before(workspace, tool, standpoints)
        if tool not in of_entries and not known:
            close = difflib.get_close_matches(tool, sorted(of_entries), n=1)
            hint = f"did you mean {printable(close[0])}?" if close else "pattern and refine print the tools"
            raise UsageError(f"no proposal about {printable(tool)}; {hint}")
        left_out = [*dict.fromkeys([*known, *left_out, *_unproposed(tool, documents, workspace)])]
        name, reasons = printable(tool), "; ".join(left_out[:3]) or "run refine when more is recorded"
        then = f". dartlab-coreloop effect --tool {name} shows what it did" if "merged on" in reasons else ""
        raise RefusedError(f"no line about {name} waits: {reasons}{then}")
    return tuple(proposals), tuple(left_out)


def select_entry(workspace: Workspace, path: Path, wanted: str) -> Selection:
    """Read an entry, unless a person rejected it after its file was written.

    Raises
    ------
    WorkspaceError, UsageError, RefusedError
        As `read_proposal` does; or it was rejected.
    """
    proposal = read_proposal(path, wanted, workspace.settings)
    states = kept_states(workspace, read_verdicts(workspace.judgments_dir))
    rejected = {one.key: _reason(one) for one in states if one.state is ProposalState.REJECTED}
    if (reason := rejected.get(proposal.key)) is not None:
        raise HumanDecidesError(f"{proposal.id} was {reason}; judge it P (pass) or T (tolerable) first")
    return (proposal,), ()


def _about(tool: str, entries: Collection[Entry]) -> list[Statement | Candidate]:
    """The statements about a tool, followed by its sequences with a text."""
    own = [entry for entry in entries if entry.tool == tool and not isinstance(entry, Counterexample)]
    with_text = [entry for entry in own if entry.suggested_append or isinstance(entry, Statement)]
    return sorted(with_text, key=lambda entry: isinstance(entry, Candidate))


def _unproposed(tool: str, documents: list[ProposalsFile], workspace: Workspace) -> Iterator[str]:
    """Why lines about a tool that were found are not proposed."""
    yield from why_undefined(find_tools({tool}, workspace, only_places=True), workspace)
    for entry in (entry for document in documents for entry in document.entries if entry.tool == tool):
        if isinstance(entry, Candidate) and not entry.suggested_append:
            yield f"{entry.id}: {printable(entry.refused or 'it has no text')}"


def _decided_before(workspace: Workspace, tool: str, standpoints: Collection[Standpoint]) -> list[str]:
    """What became of the statements about a tool, which newer files leave out."""
    own = [one for one in standpoints if one.is_about(tool) and one.state is not ProposalState.FOUND]
    opened = {one.key for one in own if one.state is ProposalState.OPEN}
    branches = {its.key: its.name for its in open_branches(Repository(workspace.root)) if its.key in opened}
    waits = {key: f"waits on branch {printable(name)}" for key, name in branches.items()}
    return [f"{one.id}: {waits.get(one.key) or _reason(one)}" for one in own]


def _reason(standpoint: Standpoint) -> str:
    judgment, state, its = standpoint.judgment, standpoint.state, standpoint.promotion
    if state is ProposalState.WAITING and standpoint.last is not None:
        return f"promote it alone, with --candidate {standpoint.last.path} --id {standpoint.id}"
    if state is ProposalState.REJECTED and judgment is not None:
        return f"rejected by {printable(judgment.judged_by)}: {judgment.verdict.named}"
    if state is ProposalState.REVERTED:
        return "already reverted"
    where = f": commit {its.sha[:12]}, merged on {its.merged_at:%Y-%m-%d}" if its is not None else ""
    return "already promoted" + ("" if state is ProposalState.MERGED else f" ({state})") + where


def _unfit(entry: Statement | Candidate, proposals: list[Proposal], decided: dict[str, str]) -> str | None:
    if isinstance(entry, Candidate):
        return "a sequence is replayed, so it is promoted alone, with --id"
    if entry.suggested_append is None:
        return entry.refused or "it has no text"
    if entry.key in decided:
        return decided[entry.key]
    advice = parse_advice(entry.line)
    is_known = advice is not None and advice.subject() in {proposal.subject for proposal in proposals}
    return "another line says the same or more" if is_known else None


def _conflict(proposal: Proposal, lead: Proposal, workspace: Workspace) -> str | None:
    """Why a proposal cannot be in the same pull request as the first."""
    if proposal.target != lead.target:
        return f"its text is {proposal.target}"
    in_sections = workspace.settings.docstring.placement == "section"
    if in_sections and proposal.section != lead.section:
        return f"it is for {proposal.section}: run again after this is merged"
    return None


@dataclass(frozen=True, slots=True)
class PromoteResult:
    """The result of a promotion.

    Attributes
    ----------
    plan : Plan or None
        None if there was nothing to do.
    done : Done
        The branch and the pull request.
    body, patch : Path or None
        Files with the pull request's text, and with the commit for ``git am``, if there is no forge.
    left_out : tuple of str
        The entries about the tool that are not promoted, with the reason.
    """

    plan: Plan | None
    done: Done
    body: Path | None
    patch: Path | None
    left_out: tuple[str, ...] = ()


def plan_promotion(workspace: Workspace, request: PromoteRequest) -> tuple[Plan, tuple[str, ...]]:
    """Plan a promotion without changing anything; the agent is asked only if the request says so.

    Returns
    -------
    tuple of Plan and tuple of str
        The plan, and the entries about the tool that are not promoted, with the reason.

    Raises
    ------
    WorkspaceError, UsageError, RefusedError
        As `select_proposals` does.
    RefusedError, GitError, ReachError
        As `coreloop.promote.plan.make_plan` does.
    """
    proposals, left_out = select_proposals(workspace, request)
    repository = WritableRepository(workspace.root)
    promoting = prepare_promotion(workspace, proposals, repository, request, confirmed=False)
    plan = preview(promoting if request.ask else replace(promoting, ask=ask_nobody))
    return plan, left_out


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
    proposals, left_out = select_proposals(workspace, request)

    def record(reach: Measured | None) -> None:  # for status, which detects a check that refuses everything
        ok = reach is not None and reach.ok
        try:
            for proposal in proposals:
                append_reach(workspace.reach_file, ReachOutcome(now, proposal.key, ok))
        except WorkspaceError as error:
            warn(f"{error}; status will not count this reach check")

    # One run at a time: two runs of the same candidate would each create a branch.
    repository = WritableRepository(workspace.root)
    with locked(workspace.candidates_dir):
        forge = connect(repository, workspace.settings.forge, environ)
        promoting = prepare_promotion(workspace, proposals, repository, request, confirmed=True)
        plan, done = promote(replace(promoting, on_reach=record), forge)
    folder = request.path.parent if request.path is not None else workspace.candidates_dir
    body = patch = None
    if plan is not None and done.pull_request is None:
        body, patch = keep_body(plan, folder), folder / f"{plan.proposal.id}.patch"
        write_private(patch, repository.mail(done.sha))
    return PromoteResult(plan, done, body, patch, left_out)


def keep_body(plan: Plan, folder: Path) -> Path:
    """Write the pull request's text beside the proposals."""
    path = folder / f"{plan.proposal.id}-pull-request.md"
    write_private(path, plan.body.encode())
    return path


def prepare_promotion(
    workspace: Workspace,
    proposals: tuple[Proposal, ...],
    repository: WritableRepository,
    request: PromoteRequest,
    *,
    confirmed: bool,
) -> Promoting:
    """What a promotion needs, from the project's files; with ``confirmed``, any endpoint may be asked."""
    return Promoting(
        workspace=workspace,
        repository=repository,
        proposals=proposals,
        ask=partial(ask_again, workspace=workspace, runs=None, confirmed=confirmed),
        overrides=request.overrides,
        extend=request.extend,
        reopened=reopened_keys(read_verdicts(workspace.judgments_dir)),
    )
