"""Which entries of the proposals files are promoted together: the best of each subject of a tool."""

import difflib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from coreloop.base.errors import HumanDecidesError, RefusedError, UsageError
from coreloop.base.git.promotions import open_keys
from coreloop.base.git.repository import Repository
from coreloop.base.project.workspace import Workspace
from coreloop.base.text import printable
from coreloop.learn.proposals.entry import Candidate, Counterexample, Statement
from coreloop.learn.proposals.proposal_files import read_every_night, read_proposals
from coreloop.learn.proposals.statement_lines import parse_advice
from coreloop.learn.verdicts.proposal_state import (
    UNDECIDED,
    ProposalState,
    Standpoint,
    kept_states,
    states_by_key,
)
from coreloop.observe.judgments import read_verdicts
from coreloop.promote.proposal_entry import Proposal, checked_proposal, read_proposal


@dataclass(frozen=True, slots=True)
class Selection:
    """The proposals to promote, and the omitted entries with reasons."""

    proposals: tuple[Proposal, ...]
    left_out: tuple[str, ...] = ()


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
    files = [path] if path is not None else list(_newest(workspace))
    if not files:
        raise UsageError("there are no proposals yet; run pattern and refine first, or name --candidate FILE")
    proposals, left_out = list[Proposal](), list[str]()
    decided = _decided(workspace)
    for document in map(read_proposals, files):
        for entry in _about(tool, document.entries):
            reason = _unfit(entry, proposals, decided)
            if reason is None:
                proposal = checked_proposal(entry, document, workspace.settings)
                reason = _conflict(proposal, proposals, workspace)
            if reason is None:
                proposals.append(proposal)
            else:
                left_out.append(f"{entry.id}: {printable(reason)}")
    if not proposals:
        left_out = list(dict.fromkeys([*_decided_before(workspace, tool, decided), *left_out]))
        if not left_out:
            raise UsageError(_no_entry(tool, files))
        raise RefusedError(f"nothing about {printable(tool)} can be promoted: {'; '.join(left_out[:3])}")
    return Selection(tuple(proposals), tuple(left_out))


def select_entry(workspace: Workspace, path: Path, wanted: str) -> Selection:
    """Read an entry, unless a person rejected it after its file was written, and since its failure returned.

    Raises
    ------
    WorkspaceError, UsageError, RefusedError
        As `read_proposal` does; or it was rejected.
    """
    proposal = read_proposal(path, wanted, workspace.settings)
    judgments = read_verdicts(workspace.judgments_dir)
    newest = judgments.newest().get(proposal.key)
    if newest is not None and not newest.verdict.passes:
        standpoint = states_by_key(kept_states(workspace, judgments)).get(proposal.key)
        if standpoint is None or not standpoint.has_returned:
            verdict = f"{newest.verdict.named} on {newest.judged_at:%Y-%m-%d}"
            raise HumanDecidesError(
                f"{proposal.id} was rejected: {printable(newest.judged_by)} judged it {verdict}; "
                "judge it P (pass) or T (tolerable) first"
            )
    return Selection((proposal,))


def read_by_keys(workspace: Workspace, keys: Collection[str]) -> dict[str, Proposal]:
    """The proposals with some keys, as they were last proposed; those whose files are gone are left out.

    Raises
    ------
    RefusedError
        As `read_proposal` does.
    """
    if not keys:
        return {}
    nights = read_every_night(workspace.candidates_dir, workspace.counterexamples_dir).files.values()
    documents = sorted(nights, key=lambda document: document.generated_at)
    entries = {entry.key: (entry, night) for night in documents for entry in night.entries}
    settings = workspace.settings
    return {key: checked_proposal(*entries[key], settings) for key in keys if key in entries}


def _newest(workspace: Workspace) -> Iterator[Path]:
    for folder in (workspace.candidates_dir, workspace.counterexamples_dir):
        yield from sorted(folder.glob(f"????-??-??-{folder.name}.json"))[-1:]


def _about(
    tool: str, entries: Collection[Statement | Candidate] | Collection[Statement | Counterexample]
) -> list[Statement | Candidate]:
    """The statements about a tool, followed by its sequences with a text."""
    own = [entry for entry in entries if entry.tool == tool]
    sequences = (entry for entry in own if isinstance(entry, Candidate))
    return [
        *(entry for entry in own if isinstance(entry, Statement)),
        *(sequence for sequence in sequences if sequence.suggested_append is not None),
    ]


def _no_entry(tool: str, files: list[Path]) -> str:
    """Say that no entry is about a tool, and which tool may have been meant."""
    tools = sorted({entry.tool for file in files for entry in read_proposals(file).entries})
    names = ", ".join(file.name for file in files)
    if tool in tools:
        return f"{names}: no line about {printable(tool)} yet; run refine and pattern when more is recorded"
    close = difflib.get_close_matches(tool, tools, n=1)
    hint = f"did you mean {printable(close[0])}?" if close else "pattern and refine print the tools"
    return f"{names}: no entry about {printable(tool)}; {hint}"


def _decided_before(workspace: Workspace, tool: str, decided: dict[str, str]) -> list[str]:
    """What became of the statements about a tool, which newer files leave out."""
    with Repository(workspace.root) as repository:
        remotes = (None, *repository.remotes())
        branches = [open_keys(repository, remote=remote).items() for remote in remotes]
    waits = {key: f"waits on branch {printable(name)}" for its in branches for key, name in its}
    reasons = waits | decided
    nights = read_every_night(workspace.candidates_dir, workspace.counterexamples_dir).files.values()
    entries = {entry.key: entry for night in nights for entry in _about(tool, night.entries)}
    return [f"{entry.id}: {reasons[key]}" for key, entry in entries.items() if key in reasons]


def _decided(workspace: Workspace) -> dict[str, str]:
    """Keys that are not promoted again, with the reason; an open one is finished or extended."""
    standpoints = kept_states(workspace, read_verdicts(workspace.judgments_dir))
    settled = (one for one in standpoints if one.state not in UNDECIDED | {ProposalState.OPEN})
    return {one.key: _reason(one) for one in settled}


def _reason(standpoint: Standpoint) -> str:
    judgment, state = standpoint.judgment, standpoint.state
    if state is ProposalState.REJECTED and judgment is not None:
        return f"rejected by {printable(judgment.judged_by)}: {judgment.verdict.named}"
    if state is ProposalState.REVERTED:
        return "already reverted"
    return "already promoted" + ("" if state is ProposalState.MERGED else f" ({state})")


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


def _conflict(proposal: Proposal, proposals: list[Proposal], workspace: Workspace) -> str | None:
    """Why a proposal cannot be in the same pull request as the others."""
    if not proposals:
        return None
    if proposal.target != proposals[0].target:
        return f"its docstring is {proposal.target}"
    in_sections = workspace.settings.docstring.placement == "section"
    if in_sections and proposal.section != proposals[0].section:
        return f"it is for {proposal.section}: run again after this is merged"
    return None
