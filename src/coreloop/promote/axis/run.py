"""The use case of Phase A: read a project's history, write a document for a human."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path, PurePosixPath
from typing import Final

from coreloop.base.files import read_file, write_public
from coreloop.base.git.repository import Repository
from coreloop.base.git.slug import to_slug
from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import Workspace
from coreloop.base.text import escape_markdown, printable
from coreloop.promote.axis.axis_gates import AxisCase, AxisRequest, make_case


@dataclass(frozen=True, slots=True)
class AxisResult:
    """The result of ``propose-axis``.

    Attributes
    ----------
    path : Path or None
        The document; None if a gate is not passed.
    written : bool
        Whether it was written; False if it already has the section of the day.
    """

    case: AxisCase
    path: Path | None = None
    written: bool = False


def run_propose_axis(workspace: Workspace, request: AxisRequest, *, now: datetime) -> AxisResult:
    """Weigh the history of an axis and, if every gate is passed, write the document.

    Parameters
    ----------
    workspace : Workspace
        The project.
    request : AxisRequest
        Engine, axis and thresholds.
    now : datetime
        Aware; its day names the section.

    Raises
    ------
    UsageError
        The engine is not a tool name, or the axis is empty.
    GitError
        The repository is absent, the clone is shallow, or the base branch does not exist.
    WorkspaceError
        The document cannot be read or written.
    """
    with Repository(workspace.root) as repository:
        case = make_case(repository, workspace, request, now=now)
    if not case.passed:
        return AxisResult(case)
    return AxisResult(case, *write_proposal(case, workspace, today=now.date()))


PROPOSALS_FOLDER: Final = PurePosixPath("docs/phase-a-proposals")
_MOST: Final = 10


def proposal_path(engine: str, axis: str | None, axis_slugs: Mapping[str, str]) -> PurePosixPath:
    """Path of the document below the project's folder."""
    return PROPOSALS_FOLDER / f"{to_slug(engine)}-{to_slug(axis, axis_slugs)}.md"


def write_proposal(case: AxisCase, workspace: Workspace, *, today: date) -> tuple[Path, bool]:
    """Write the document, or add a section to an existing document.

    Parameters
    ----------
    case : AxisCase
        A case that passed every gate.
    workspace : Workspace
        Has the root, the slugs and the docstring sections.
    today : date
        Names the section; a document that has it is not changed.

    Returns
    -------
    tuple of Path and bool
        The document, and whether it was written.

    Raises
    ------
    WorkspaceError
        The document cannot be read or written.
    """
    path = workspace.root / proposal_path(case.engine, case.axis, workspace.settings.axis_slugs)
    heading = f"## {today.isoformat()}: {_subject(case)}"
    old = read_file(path) if path.exists() else introduction(case, workspace.settings).encode()
    if heading.encode() in (line.rstrip() for line in old.splitlines()):
        return path, False
    gap = "\n" if old.endswith(b"\n") else "\n\n"
    write_public(path, old + f"{gap}{section(case, heading)}".encode())
    return path, True


def introduction(case: AxisCase, settings: Settings) -> str:
    """The head of the document: what it is, and what a human must do."""
    engine, sections = escape_markdown(case.engine), settings.docstring.sections
    override_key, task = (
        "its own override key",
        "choose which of the selector values below become functions or axes",
    )
    if case.axis is not None:
        axis = escape_markdown(case.axis)
        override_key, task = f"the override key of {axis}", f"make {axis} a documented axis of {engine}"
    file = next((item.promotion.target.partition("::")[0] for item in case.counted), "FILE")
    return (
        f"# Proposal: {_subject(case)}\n\n"
        f"`dartlab-coreloop propose-axis` wrote this document from the history of `{case.base}`. It made no "
        "code, branch or pull request. Each section below shows the history on the day in its heading.\n\n"
        "## What a human must do\n\n"
        f"- [ ] Decide whether {engine} should do this itself. The evidence shows what agents keep asking "
        "for and where calls keep failing, not that a feature is right.\n"
        f"- [ ] Override key: choose {override_key}, so that a caller can correct a wrong assumption.\n"
        f"- [ ] Axis: {task}.\n"
        f"- [ ] Docstring: write its {len(sections)} sections ({', '.join(sections)}); "
        f"`dartlab-coreloop docstring check {file}` lists missing sections.\n"
        "- [ ] Tests: one for each selector value below, one for each caveat.\n"
        "- [ ] Pull request: open it without coreloop's marks: no `[CORELOOP-…]` title, no `skill/` branch, "
        "no `coreloop` label, no trailers. With such a mark, the guard accepts docstring changes only.\n"
    )


def section(case: AxisCase, heading: str) -> str:
    """The section of a day."""
    gates = [f"| {gate.name} | {gate.figure} | {gate.needed} |" for gate in case.gates]
    parts = (
        heading,
        f"Read from `{case.base}` at {_commit(case.base_sha, case.repo)}.",
        "\n".join(("| gate | figure | needed |", "|---|---|---|", *gates)),
        f"### Evidence\n\n{_evidence(case)}",
        f"### Timeline\n\n{_timeline(case)}",
        f"### Selector values\n\n{_counts(_selector_values(case), 'no line names a selector value')}",
        f"### Companion tools\n\n{_counts(_companions(case), 'no line names another tool')}",
    )
    return "\n\n".join(parts) + "\n"


def _subject(case: AxisCase) -> str:
    scope = "the whole engine" if case.axis is None else f"axis {escape_markdown(case.axis)}"
    return f"{escape_markdown(case.engine)}, {scope}"


def _commit(sha: str, repo: str | None) -> str:
    short = f"`{sha[:12]}`"
    return short if repo is None else f"[{short}](https://github.com/{repo}/commit/{sha})"


def _evidence(case: AxisCase) -> str:
    rows = [
        f"| {_commit(item.promotion.sha, case.repo)} | {item.promotion.phase} | "
        f"{escape_markdown(item.promotion.candidate_id)} | {escape_markdown(item.promotion.target)} | "
        f"{escape_markdown(item.metrics)} |"
        for item in case.counted
    ]
    head = ("| commit | phase | proposal | docstring | evidence |", "|---|---|---|---|---|")
    texts = (
        f"{_commit(item.promotion.sha, case.repo)} added:\n\n"
        + "\n".join(f"    {printable(line)}" for line in item.lines)
        for item in case.counted
        if item.lines
    )
    return "\n\n".join(("\n".join((*head, *rows)), *texts))


def _timeline(case: AxisCase) -> str:
    rows = []
    for item in case.evidence:
        promotion = item.promotion
        reverted = ", reverted: does not count" if promotion.reverted else ""
        rows.append(
            f"- {promotion.merged_at:%Y-%m-%d} Phase {promotion.phase} "
            f"{_commit(promotion.sha, case.repo)}{reverted}"
        )
    return "\n".join(rows)


def _selector_values(case: AxisCase) -> Counter[str]:
    """How many promotions name each value."""
    named = (
        {
            f"{name}={f'<{name}>' if value is None else value}"
            for call in item.calls
            if call.tool == case.engine
            for name, value in call.selectors
        }
        for item in case.counted
    )
    return Counter(value for values in named for value in sorted(values))


def _companions(case: AxisCase) -> Counter[str]:
    """How many promotions name each other tool."""
    named = ({call.tool for call in item.calls if call.tool != case.engine} for item in case.counted)
    return Counter(tool for tools in named for tool in sorted(tools))


def _counts(counts: Counter[str], reason: str) -> str:
    rows = [f"- {escape_markdown(name)}: {count}" for name, count in counts.most_common(_MOST)]
    return "\n".join(rows) or f"None: {reason}."
