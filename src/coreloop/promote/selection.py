"""All that the newest proposals say about one tool, as what one pull request promotes."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from coreloop.errors import RefusedError, UsageError
from coreloop.history.promotions import promotions
from coreloop.history.repository import Repository
from coreloop.judgments import read_judgments
from coreloop.project.workspace import Workspace
from coreloop.promote.proposal import Proposal, read_proposal
from coreloop.proposals.advice import parse_advice
from coreloop.proposals.candidates import Candidate
from coreloop.proposals.night import read_proposals
from coreloop.proposals.statements import Statement
from coreloop.text import printable


@dataclass(frozen=True, slots=True)
class Selection:
    """What is promoted, and what is left out with the reason."""

    proposals: tuple[Proposal, ...]
    left_out: tuple[str, ...] = ()


def select_tool(workspace: Workspace, tool: str, path: Path | None) -> Selection:
    """Read the statements about a tool that may be promoted, one a subject, best first.

    Parameters
    ----------
    workspace : Workspace
        Its newest candidates and counterexamples files are read.
    tool : str
        Name of the tool.
    path : Path, optional
        Read this file alone.

    Raises
    ------
    UsageError
        There is no such file, or nothing in it about the tool.
    RefusedError
        A statement is not what coreloop writes, or none is left.
    """
    files = [path] if path is not None else list(_newest(workspace))
    if not files:
        raise UsageError("there are no proposals yet; run pattern and refine first, or name --candidate FILE")
    found, left_out = list[Proposal](), list[str]()
    decided = _decided(workspace)
    entries = [(file, entry) for file in files for entry in _entries(file, tool)]
    for file, entry in entries:
        reason = _unfit(entry, found, decided)
        if reason is not None:
            left_out.append(f"{entry.id}: {printable(reason)}")
            continue
        proposal = read_proposal(file, entry.id, workspace.settings, is_configured=workspace.is_configured)
        reason = _apart(proposal, found, workspace)
        if reason is None:
            found.append(proposal)
        else:
            left_out.append(f"{entry.id}: {reason}")
    if not found and not left_out:
        names = ", ".join(file.name for file in files)
        said = f"nothing is said about {printable(tool)}; pattern and refine print the tools"
        raise UsageError(f"{names}: {said}")
    if not found:
        raise RefusedError(f"nothing about {printable(tool)} can be promoted: {'; '.join(left_out[:3])}")
    return Selection(tuple(found), tuple(left_out))


def _newest(workspace: Workspace) -> Iterator[Path]:
    for folder, name in (
        (workspace.candidates_dir, "candidates"),
        (workspace.counterexamples_dir, "counterexamples"),
    ):
        yield from sorted(folder.glob(f"????-??-??-{name}.json"))[-1:]


def _entries(path: Path, tool: str) -> list[Statement | Candidate]:
    """The statements about a tool, then its sequences that have a text."""
    entries = read_proposals(path).entries
    statements = [one for one in entries if isinstance(one, Statement) and one.tool == tool]
    sequences = [one for one in entries if isinstance(one, Candidate) and one.engine == tool]
    return [*statements, *(one for one in sequences if one.suggested_append is not None)]


def _decided(workspace: Workspace) -> dict[str, str]:
    """Why keys are not proposed again."""
    rejected = read_judgments(workspace.judgments_dir).newest()
    with Repository(workspace.root) as repository:
        repository.require_history()
        merged = promotions(repository.log(repository.base(workspace.settings.forge.base)))
    return {
        **{one.key: "reverted once" if one.reverted else "promoted already" for one in merged},
        **{key: f"judged {one.verdict}" for key, one in rejected.items() if not one.verdict.passes},
    }


def _unfit(entry: Statement | Candidate, found: list[Proposal], decided: dict[str, str]) -> str | None:
    if isinstance(entry, Candidate):
        return "a sequence is replayed, so it is promoted alone, with --id"
    if entry.suggested_append is None:
        return entry.refused or "it has no text"
    if entry.key in decided:
        return decided[entry.key]
    said = parse_advice(entry.line)
    subjects = {one.subject() for proposal in found if (one := parse_advice(proposal.lines[0])) is not None}
    return "another line says the same, or more" if said and said.subject() in subjects else None


def _apart(proposal: Proposal, found: list[Proposal], workspace: Workspace) -> str | None:
    """Why a proposal cannot be one with the others."""
    if not found:
        return None
    if proposal.target != found[0].target:
        return f"its docstring is {proposal.target}"
    in_sections = workspace.settings.docstring.placement == "section"
    if in_sections and proposal.section != found[0].section:
        return f"it is for {proposal.section}: run again once this is merged"
    return None
