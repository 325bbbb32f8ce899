"""The descriptions that models were sent."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from coreloop.observe.descriptions_in_force import FOLDER

_PREFIX: Final = "desc:"


class _Tool(msgspec.Struct):
    name: str
    hash: str
    description: str = ""


class _Tools(msgspec.Struct):
    tools: list[_Tool]


def sent_tools(audit_dir: Path, descriptions: Iterable[str]) -> dict[tuple[str, str], str]:
    """The hash of the name, description and schema that models were sent, by set of descriptions and tool.

    ``descriptions`` are as recorded, ``desc:HASH``; ``audit_dir`` contains their folder. A set whose file is
    gone or damaged has no tools.
    """
    return {(name, tool.name): tool.hash for name, tool in _read(audit_dir, sorted(set(descriptions)))}


def last_sent(audit_dir: Path, descriptions: Iterable[str]) -> dict[str, str]:
    """The description of each tool as models were last sent it; ``descriptions`` are the newest first."""
    texts: dict[str, str] = {}
    for _, tool in _read(audit_dir, descriptions):
        texts.setdefault(tool.name, tool.description)
    return texts


def _read(audit_dir: Path, names: Iterable[str]) -> Iterator[tuple[str, _Tool]]:
    for name in names:
        path = audit_dir / FOLDER / f"{name.removeprefix(_PREFIX)}.json"
        if path.parent.name == FOLDER:  # a record may name any path
            with suppress(OSError, ValueError, msgspec.DecodeError):
                sent = msgspec.json.decode(path.read_bytes(), type=_Tools)
                yield from ((name, tool) for tool in sent.tools)
