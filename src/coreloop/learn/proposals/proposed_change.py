"""What a proposal would change: its tool's docstring in the working tree, before and after."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from inspect import cleandoc
from typing import Literal

from coreloop.base.errors import WorkspaceError
from coreloop.base.files import read_file
from coreloop.base.project.workspace import Workspace
from coreloop.descriptions.edit import Edited, Refused, Unchanged, put_lines
from coreloop.learn.proposals.allowed_lines import is_form
from coreloop.learn.proposals.entry import SuggestedAppend


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a docstring: whether it stays, is new or goes."""

    kind: Literal["same", "added", "taken"]
    text: str


@dataclass(frozen=True, slots=True)
class DocstringChange:
    """A docstring before and after; ``problem`` says why there is none.

    Attributes
    ----------
    target : str
        ``path.py::qualname``.
    lines : sequence of Line
        The whole docstring.
    """

    target: str = ""
    lines: Sequence[Line] = ()
    problem: str = ""


def change_of(
    workspace: Workspace, suggested: SuggestedAppend | None, refused: str | None
) -> DocstringChange:
    """Edit the docstring in the working tree, in memory.

    Parameters
    ----------
    workspace : Workspace
        The project.
    suggested : SuggestedAppend or None
        The proposed text and its target.
    refused : str or None
        Why there is no text.
    """
    if suggested is None:
        return DocstringChange(problem=refused or "no text was drafted")
    if suggested.target_file is None or suggested.target_symbol is None:
        return DocstringChange(
            problem="the tool's definition is not known; name it under tools: in coreloop.yaml"
        )
    target = f"{suggested.target_file}::{suggested.target_symbol}"
    path = workspace.root / suggested.target_file
    if not path.resolve().is_relative_to(workspace.root.resolve()):
        return DocstringChange(target, problem="the target is outside of the project")
    try:
        source = read_file(path)
    except WorkspaceError as error:
        return DocstringChange(target, problem=str(error))
    outcome = _edited(workspace, source, suggested, suggested.target_symbol)
    if isinstance(outcome, Refused):
        return DocstringChange(target, problem=outcome.reason)
    if isinstance(outcome, Unchanged):
        return DocstringChange(target, _compared(outcome.docstring, outcome.docstring))
    return DocstringChange(target, _compared(outcome.before, outcome.after))


def _edited(
    workspace: Workspace, source: bytes, suggested: SuggestedAppend, target: str
) -> Edited | Unchanged | Refused:
    symbol, _, line = target.partition(":")
    settings = workspace.settings.docstring
    return put_lines(
        source,
        symbol,
        suggested.body.splitlines(),
        section=suggested.section if settings.placement == "section" else None,
        style=settings.style,
        is_ours=is_form,
        line=int(line) if line.isdecimal() else None,
    )


def _compared(before: str, after: str) -> list[Line]:
    old, new = cleandoc(before).splitlines(), cleandoc(after).splitlines()
    lines: list[Line] = []
    for kind, old_from, old_to, new_from, new_to in difflib.SequenceMatcher(
        None, old, new, False
    ).get_opcodes():
        if kind == "equal":
            lines += [Line("same", text) for text in old[old_from:old_to]]
            continue
        lines += [Line("taken", text) for text in old[old_from:old_to]]
        lines += [Line("added", text) for text in new[new_from:new_to]]
    return lines
