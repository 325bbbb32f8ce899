"""All promotable statements about a tool in the newest proposals, for a single pull request."""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from coreloop.base.errors import RefusedError, UsageError
from coreloop.base.git.promotions import open_keys, promotions
from coreloop.base.git.repository import Repository
from coreloop.base.project.workspace import Workspace
from coreloop.base.text import printable
from coreloop.learn.proposals.advice import parse_advice
from coreloop.learn.proposals.candidates import Candidate
from coreloop.learn.proposals.night import read_proposals
from coreloop.learn.proposals.statements import Statement
from coreloop.observe.verdicts import read_verdicts
from coreloop.promote.proposal import Proposal, read_proposal


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
    entries = [(file, entry) for file in files for entry in _entries(file, tool)]
    for file, entry in entries:
        reason = _unfit(entry, proposals, decided)
        if reason is not None:
            left_out.append(f"{entry.id}: {printable(reason)}")
            continue
        proposal = read_proposal(file, entry.id, workspace.settings, is_configured=workspace.is_configured)
        reason = _conflict(proposal, proposals, workspace)
        if reason is None:
            proposals.append(proposal)
        else:
            left_out.append(f"{entry.id}: {reason}")
    if not proposals:
        left_out = list(dict.fromkeys([*_decided_before(workspace, tool, decided), *left_out]))
    if not proposals and not left_out:
        raise UsageError(_no_entry(tool, files))
    if not proposals:
        raise RefusedError(f"nothing about {printable(tool)} can be promoted: {'; '.join(left_out[:3])}")
    return Selection(tuple(proposals), tuple(left_out))


def _no_entry(tool: str, files: list[Path]) -> str:
    """Say that no entry is about a tool, and which tool may have been meant."""
    entries = [entry for file in files for entry in read_proposals(file).entries]
    tools = sorted({entry.engine if isinstance(entry, Candidate) else entry.tool for entry in entries})
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
        branches = {
            key: name for remote in remotes for key, name in open_keys(repository, remote=remote).items()
        }
    reasons = {key: f"waits on branch {name}" for key, name in branches.items()} | decided
    folders = (workspace.candidates_dir, workspace.counterexamples_dir)
    files = sorted(path for folder in folders for path in folder.glob("????-??-??-*.json"))
    entries = {entry.key: entry for file in files for entry in _entries(file, tool)}
    return [f"{entry.id}: {printable(reasons[key])}" for key, entry in entries.items() if key in reasons]


def _newest(workspace: Workspace) -> Iterator[Path]:
    for folder, name in (
        (workspace.candidates_dir, "candidates"),
        (workspace.counterexamples_dir, "counterexamples"),
    ):
        yield from sorted(folder.glob(f"????-??-??-{name}.json"))[-1:]


def _entries(path: Path, tool: str) -> list[Statement | Candidate]:
    """The statements about a tool, followed by its sequences with a text."""
    entries = read_proposals(path).entries
    statements = [entry for entry in entries if isinstance(entry, Statement) and entry.tool == tool]
    sequences = [entry for entry in entries if isinstance(entry, Candidate) and entry.engine == tool]
    return [*statements, *(sequence for sequence in sequences if sequence.suggested_append is not None)]


def _decided(workspace: Workspace) -> dict[str, str]:
    """Keys that are not proposed again, with the reason."""
    judgments = read_verdicts(workspace.judgments_dir).newest()
    with Repository(workspace.root) as repository:
        repository.require_history()
        merged = promotions(repository.log(repository.base(workspace.settings.forge.base)))
    return {
        **{
            promotion.key: "already reverted" if promotion.reverted else "already promoted"
            for promotion in merged
        },
        **{
            key: f"rejected by {judgment.judged_by} ({judgment.verdict})"
            for key, judgment in judgments.items()
            if not judgment.verdict.passes
        },
    }


def _unfit(entry: Statement | Candidate, proposals: list[Proposal], decided: dict[str, str]) -> str | None:
    if isinstance(entry, Candidate):
        return "a sequence is replayed, so it is promoted alone, with --id"
    if entry.suggested_append is None:
        return entry.refused or "it has no text"
    if entry.key in decided:
        return decided[entry.key]
    advice = parse_advice(entry.line)
    parsed = (parse_advice(proposal.lines[0]) for proposal in proposals)
    subjects = {other.subject() for other in parsed if other is not None}
    return "another line says the same or more" if advice and advice.subject() in subjects else None


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
