"""What a proposal would change: its tool's docstring in the working tree, before and after."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from inspect import cleandoc
from typing import Final, Literal

from coreloop.base.errors import WorkspaceError
from coreloop.base.files import read_file
from coreloop.base.project.workspace import Workspace
from coreloop.descriptions.edit import put_lines
from coreloop.descriptions.source import UnprovenError
from coreloop.learn.proposals.allowed_lines import is_form
from coreloop.learn.proposals.entry import SuggestedAppend

LineKind = Literal["same", "added", "taken"]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a docstring: whether it stays, is new or goes."""

    kind: LineKind
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
    settings = workspace.settings.docstring
    try:
        edited = put_lines(
            source,
            suggested.target_symbol,
            suggested.body.splitlines(),
            section=suggested.section if settings.placement == "section" else None,
            style=settings.style,
            is_ours=is_form,
        )
    except UnprovenError as reason:
        return DocstringChange(target, problem=str(reason))
    return DocstringChange(target, _compared(edited.before, edited.after))


_KINDS: Final[dict[str, LineKind]] = {" ": "same", "-": "taken", "+": "added"}


def _compared(before: str, after: str) -> list[Line]:
    lines = difflib.ndiff(cleandoc(before).splitlines(), cleandoc(after).splitlines())
    return [Line(_KINDS[text[0]], text[2:]) for text in lines if text[0] in _KINDS]
