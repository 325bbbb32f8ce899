"""The tools as a model is sent them, without and with an edit."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from coreloop.base.messages import Phrase
from coreloop.base.project.tools import bare_name
from coreloop.base.tempfiles import temporary_folder
from coreloop.promote.measure.edits import LineEdit
from coreloop.promote.schema import SchemaCommand, read_schema

_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class ToolText:
    """A tool as a model is sent it; ``parameters`` is a JSON Schema, empty if there is none."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Arms:
    """All tools without and with the edit, which differ by exactly the edit."""

    base: tuple[ToolText, ...]
    edited: tuple[ToolText, ...]
    source: str


@dataclass(frozen=True, slots=True)
class NoArms:
    """Why the two descriptions cannot be compared."""

    reason: Phrase


def read_arms(command: SchemaCommand, export: Callable[[Path], None], edit: LineEdit) -> Arms | NoArms:
    """Read the tools in a copy of the project, without and with lines.

    Parameters
    ----------
    command : SchemaCommand
        Prints the descriptions.
    export : callable
        Writes the repository's files into a folder.
    edit : LineEdit
        The lines and their file.

    Raises
    ------
    ReachError
        The command failed, took too long or printed no JSON.
    """
    with temporary_folder("coreloop-measure-") as scratch:
        root = Path(scratch, "tree")
        root.mkdir()
        export(root)
        folder = root / edit.path.removesuffix(edit.file)
        tools = list[tuple[ToolText, ...]]()
        for content in (edit.without, edit.with_lines):
            (folder / edit.file).write_bytes(content)
            tools.append(tools_of(read_schema(command, folder)))
    before, after = tools
    reason = _difference(before, after, edit)
    return NoArms(reason) if reason is not None else Arms(before, after, command.source)


def tools_of(schema: object) -> tuple[ToolText, ...]:
    """The tools of a schema in OpenAI's, Anthropic's or MCP's format; the first of each name."""
    found = dict[str, ToolText]()
    waiting = [schema]
    while waiting:
        item = waiting.pop(0)
        if isinstance(item, dict):
            name, text = item.get("name"), item.get("description")
            if isinstance(name, str) and isinstance(text, str):
                found.setdefault(name, ToolText(name, text, _parameters(item)))
                continue
            waiting[:0] = item.values()
        elif isinstance(item, list):
            waiting[:0] = item
    return tuple(found.values())


def _parameters(item: Mapping[str, Any]) -> Mapping[str, Any]:
    names = ("parameters", "input_schema", "inputSchema")
    return next((item[name] for name in names if isinstance(item.get(name), dict)), {})


def _difference(before: Sequence[ToolText], after: Sequence[ToolText], edit: LineEdit) -> Phrase | None:
    """Why two lists of tools do not differ by exactly the edit; None if they do."""
    if [(item.name, item.parameters) for item in before] != [(item.name, item.parameters) for item in after]:
        return Phrase("the two copies of the project have different tools or parameters")
    changed = [
        (old, new) for old, new in zip(before, after, strict=True) if old.description != new.description
    ]
    if not changed:
        return Phrase("the edit does not change what the model is sent")
    if len(changed) > 1 or changed[0][0].name not in {edit.tool, bare_name(edit.tool)}:
        names = ", ".join(old.name for old, _ in changed)
        return Phrase("the edit also changes what the model is sent for {names}", names=names)
    old, new = changed[0]
    files = [content.decode("utf-8", "replace") for content in (edit.without, edit.with_lines)]
    is_exact = _added(old.description, new.description) == _added(*files)
    is_exact = is_exact and _added(new.description, old.description) == _added(*reversed(files))
    return None if is_exact else Phrase("the two descriptions differ by more than the edit")


def _added(old: str, new: str) -> Counter[str]:
    """The words that a text has more than another; frameworks wrap lines and drop dashes, but no words."""
    return Counter(_WORD.findall(new)) - Counter(_WORD.findall(old))
