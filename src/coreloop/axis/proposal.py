"""Phase A's document: what the history says, and what a human must do. It is all that Phase A writes."""

from collections import Counter
from collections.abc import Mapping
from datetime import date
from pathlib import Path, PurePosixPath
from typing import Final

from coreloop.axis.case import Case
from coreloop.files import read_file, write_public
from coreloop.history.slug import to_slug
from coreloop.project.settings import Settings
from coreloop.project.workspace import Workspace
from coreloop.text import escape_markdown, printable

PROPOSALS_FOLDER: Final = PurePosixPath("docs/phase-a-proposals")
_MOST: Final = 10


def proposal_path(engine: str, axis: str | None, axis_slugs: Mapping[str, str]) -> PurePosixPath:
    """Where the document is, below the project's folder."""
    return PROPOSALS_FOLDER / f"{to_slug(engine)}-{to_slug(axis, axis_slugs)}.md"


def write_proposal(case: Case, workspace: Workspace, *, today: date) -> tuple[Path, bool]:
    """Write the document, or add a section to the one that is there.

    Parameters
    ----------
    case : Case
        One that passed.
    workspace : Workspace
        Its root, and the names of slugs and docstring sections.
    today : date
        Names the section; a document that has it already stays as it is.

    Returns
    -------
    tuple of Path and bool
        The document, and whether it was written.

    Raises
    ------
    WorkspaceError
        The document cannot be read or written.
    """
    settings = workspace.settings
    path = workspace.root / proposal_path(case.engine, case.axis, settings.axis_slugs)
    old = read_file(path) if path.exists() else None
    heading = _heading(case, today)
    if old is not None and heading.encode() in (line.rstrip() for line in old.splitlines()):
        return path, False
    new = _joined(old if old is not None else introduction(case, settings).encode(), section(case, heading))
    write_public(path, new)
    return path, True


def introduction(case: Case, settings: Settings) -> str:
    """What leads the document: what it is, and what a human must do."""
    subject = _subject(case)
    engine = escape_markdown(case.engine)
    key = "its own override key" if case.axis is None else f"the override key of {escape_markdown(case.axis)}"
    sections = settings.docstring.sections
    file = next((one.promotion.target.partition("::")[0] for one in case.counted), "FILE")
    return (
        f"# Proposal: {subject}\n\n"
        f"`dartlab-coreloop propose-axis` wrote this from the history of `{case.base}`, and nothing else: no "
        "code, no branch, no pull request. Each dated section below is what the history said on that day.\n\n"
        "## What a human must do\n\n"
        f"- [ ] Decide whether {engine} should do this itself. The evidence says what agents keep asking for "
        "and where they keep failing, not that a feature is right.\n"
        f"- [ ] Override key: choose {key}, so that a caller can correct what was assumed.\n"
        f"- [ ] Axis: {_axis_task(case)}\n"
        f"- [ ] Docstring: write its {len(sections)} sections ({', '.join(sections)}); "
        f"`dartlab-coreloop docstring check {file}` names what is missing.\n"
        "- [ ] Tests: one for each selector value below, one for each caveat.\n"
        "- [ ] Pull request: an ordinary one, without coreloop's marks: no `[CORELOOP-…]` title, no `skill/` "
        "branch, no `coreloop` label, no trailers. With one, the guard lets nothing but a docstring pass.\n"
    )


def section(case: Case, heading: str) -> str:
    """What the history says on a day."""
    gates = [f"| {gate.name} | {gate.figure} | {gate.needed} |" for gate in case.gates]
    parts = (
        heading,
        f"Read from `{case.base}` at {_commit(case.base_sha, case.repo)}.",
        "\n".join(("| gate | figure | needed |", "|---|---|---|", *gates)),
        f"### Evidence\n\n{_evidence(case)}",
        f"### Timeline\n\n{_timeline(case)}",
        f"### Selector values\n\n{_counts(_selector_values(case), 'no line names one')}",
        f"### Companion tools\n\n{_counts(_companions(case), 'no line names one')}",
    )
    return "\n\n".join(parts) + "\n"


def _joined(old: bytes, new: str) -> bytes:
    """The old bytes as they are, a blank line, the new text with the old one's line ends."""
    text = f"\n{new}" if old.endswith(b"\n") or not old else f"\n\n{new}"
    return old + (text.replace("\n", "\r\n") if b"\r\n" in old else text).encode()


def _subject(case: Case) -> str:
    what = "the whole engine" if case.axis is None else f"axis {escape_markdown(case.axis)}"
    return f"{escape_markdown(case.engine)}, {what}"


def _heading(case: Case, today: date) -> str:
    return f"## {today.isoformat()}: {_subject(case)}"


def _axis_task(case: Case) -> str:
    if case.axis is None:
        return "choose from the selector values below what becomes a function or an axis of its own."
    return f"make {escape_markdown(case.axis)} a documented axis of {escape_markdown(case.engine)}."


def _commit(sha: str, repo: str | None) -> str:
    short = f"`{sha[:12]}`"
    return short if repo is None else f"[{short}](https://github.com/{repo}/commit/{sha})"


def _evidence(case: Case) -> str:
    rows = [
        f"| {_commit(one.promotion.sha, case.repo)} | {one.promotion.phase} | "
        f"{escape_markdown(one.promotion.candidate_id)} | {escape_markdown(one.promotion.target)} | "
        f"{escape_markdown(one.said)} |"
        for one in case.counted
    ]
    head = ("| commit | phase | candidate | docstring | evidence |", "|---|---|---|---|---|")
    texts = (
        f"{_commit(one.promotion.sha, case.repo)} wrote:\n\n"
        + "\n".join(f"    {printable(line)}" for line in one.lines)
        for one in case.counted
        if one.lines
    )
    return "\n\n".join(("\n".join((*head, *rows)), *texts))


def _timeline(case: Case) -> str:
    rows = []
    for one in case.evidence:
        promotion = one.promotion
        gone = ", reverted: does not count" if promotion.reverted else ""
        rows.append(
            f"- {promotion.merged_at:%Y-%m-%d} Phase {promotion.phase} "
            f"{_commit(promotion.sha, case.repo)}{gone}"
        )
    return "\n".join(rows)


def _selector_values(case: Case) -> Counter[str]:
    """How many promotions name each value."""
    named = (
        {
            f"{name}={f'<{name}>' if value is None else value}"
            for call in one.calls
            if call.tool == case.engine
            for name, value in call.selectors
        }
        for one in case.counted
    )
    return Counter(value for values in named for value in sorted(values))


def _companions(case: Case) -> Counter[str]:
    """How many promotions name each other tool."""
    named = ({call.tool for call in one.calls if call.tool != case.engine} for one in case.counted)
    return Counter(tool for tools in named for tool in sorted(tools))


def _counts(counts: Counter[str], none: str) -> str:
    rows = [f"- {escape_markdown(name)}: {count}" for name, count in counts.most_common(_MOST)]
    return "\n".join(rows) or f"None: {none}."
