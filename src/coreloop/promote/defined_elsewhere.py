"""Descriptions that do not come from the docstring: where they are defined, and the lines to paste there."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from coreloop.descriptions.edit import Edited
from coreloop.descriptions.other_places import described_calls, describes
from coreloop.descriptions.source import find_definition, parse, read_source


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A tool's description that an edit of its docstring cannot change.

    Attributes
    ----------
    tool : str
        Its name.
    place : str or None
        The source of the description, if the tool's file shows it.
    lines : tuple of str
        New lines that it does not have yet.
    """

    tool: str
    place: str | None
    lines: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The finding and what to do; the lines to paste follow on separate lines."""
        why = f"but set by {self.place}" if self.place else "so no edit of it reaches the model"
        finding = f"the description of {self.tool} does not come from its docstring, {why}"
        if not self.lines:
            return f"{finding}; it has the lines already"
        where = "there" if self.place else "where it is defined"
        return f"{finding}; paste {where}:" + "".join(f"\n    {line}" for line in self.lines)


def find_elsewhere(
    edited: Edited, description: str, *, tool: str, missing: tuple[str, ...]
) -> Elsewhere | None:
    """Find out whether an unchanged description lacks the docstring's first line of text.

    Parameters
    ----------
    edited : Edited
        The edit.
    description : str
        What the model receives.
    tool : str
        Name of the tool.
    missing : tuple of str
        New lines that are not in the description.

    Returns
    -------
    Elsewhere or None
        None if the docstring has no text, or its first line is in the description.
    """
    first = next((" ".join(line.split()) for line in edited.before.splitlines() if line.strip()), "")
    if not first or first in " ".join(description.split()):
        return None
    end = edited.offset + len(edited.inserted)
    tree = parse(edited.source[: edited.offset] + edited.source[end:])
    return Elsewhere(tool, next(_places(tree, edited.line), None), missing)


def described_by(source: bytes, symbol: str, line: int | None) -> str | None:
    """Return what sets the description of a definition without a docstring, or None.

    Parameters
    ----------
    source : bytes
        Its file.
    symbol : str
        Its qualname.
    line : int, optional
        A line of its head, if the name is defined more than once.
    """
    tree = read_source(source).tree
    definition = find_definition(tree, symbol, line)
    return next(_places(tree, definition.line), None)


def _places(tree: ast.Module, line: int) -> Iterator[str]:
    """Calls with a description: decorators of the definition at a line, or calls that take it by name."""
    definitions = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    nodes = ast.walk(tree)
    definition = next((node for node in nodes if isinstance(node, definitions) and node.lineno == line), None)
    if definition is None:
        return
    found = [(call, keyword) for call, keyword in described_calls(tree) if describes(call, definition)]
    for call, keyword in sorted(found, key=lambda pair: pair[0] not in definition.decorator_list):
        yield f"{keyword.arg}= of {ast.unparse(call.func)}(…), line {keyword.value.lineno}"
