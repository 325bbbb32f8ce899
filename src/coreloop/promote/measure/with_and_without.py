"""The tools as a model is sent them, without and with an edit."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import orjson

from coreloop.base.project.tools import bare_name
from coreloop.base.tempfiles import temporary_folder
from coreloop.promote.measure.measured_lines import LineEdit

_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class ToolText:
    """A tool as a model is sent it; ``parameters`` is a JSON Schema, empty if there is none."""

    name: str
    description: str
    parameters: Mapping[str, Any]

    @property
    def digest(self) -> str:
        """A hash of what a model is sent."""
        return sha256(orjson.dumps([self.description, self.parameters])).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class WordedTools:
    """A wording of a line, and the tools as a model is sent them with it."""

    line: str
    tools: tuple[ToolText, ...]


@dataclass(frozen=True, slots=True)
class Arms:
    """All tools without and with the edit, which differ by exactly the edit.

    Attributes
    ----------
    wordings : tuple of WordedTools
        Among which one is chosen first, the edit's own first; empty if there is no choice.
    """

    base: tuple[ToolText, ...]
    edited: tuple[ToolText, ...]
    wordings: tuple[WordedTools, ...] = ()


@dataclass(frozen=True, slots=True)
class NoArms:
    """Why the two descriptions cannot be compared."""

    reason: str


@contextmanager
def two_copies(export: Callable[[Path], None], edit: LineEdit) -> Iterator[tuple[Path, Path]]:
    """Copies of the project's folder, without and with the lines; removed after the block.

    Parameters
    ----------
    export : callable
        Writes the repository's files into a folder.
    edit : LineEdit
        The lines and their file.
    """
    with temporary_folder("coreloop-measure-") as scratch:
        folders = list[Path]()
        for name, content in (("without", edit.without), ("with", edit.with_lines)):
            root = scratch / name
            root.mkdir()
            export(root)
            folders.append(root / edit.path.removesuffix(edit.file))
            (folders[-1] / edit.file).write_bytes(content)
        yield folders[0], folders[1]


def arms_of(base: tuple[ToolText, ...], edited: tuple[ToolText, ...], edit: LineEdit) -> Arms | NoArms:
    """The arms, if the tools that two copies serve differ by exactly the edit."""
    reason = _difference(base, edited, edit)
    return NoArms(reason) if reason is not None else Arms(base, edited)


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


def _difference(before: Sequence[ToolText], after: Sequence[ToolText], edit: LineEdit) -> str | None:
    """Why two lists of tools do not differ by exactly the edit; None if they do."""
    if [(item.name, item.parameters) for item in before] != [(item.name, item.parameters) for item in after]:
        return "the two copies of the project have different tools or parameters"
    changed = [
        (old, new) for old, new in zip(before, after, strict=True) if old.description != new.description
    ]
    if not changed:
        return "the edit does not change what the model is sent"
    if len(changed) > 1 or changed[0][0].name not in {edit.tool, bare_name(edit.tool)}:
        names = ", ".join(old.name for old, _ in changed)
        return f"the edit also changes what the model is sent for {names}"
    old, new = changed[0]
    files = [content.decode("utf-8", "replace") for content in (edit.without, edit.with_lines)]
    is_exact = _added(old.description, new.description) == _added(*files)
    is_exact = is_exact and _added(new.description, old.description) == _added(*reversed(files))
    return None if is_exact else "the two descriptions differ by more than the edit"


def _added(old: str, new: str) -> Counter[str]:
    """The words that a text has more than another; frameworks wrap lines and drop dashes, but no words."""
    return Counter(_WORD.findall(new)) - Counter(_WORD.findall(old))
