"""The descriptions that models were sent -> the hash of each tool's, to be joined with ``descriptions``."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import msgspec
import polars as pl

from coreloop.learn.facts.schema import frame_of
from coreloop.observe.descriptions_in_force import FOLDER

_PREFIX: Final = "desc:"
SENT: Final[dict[str, Any]] = {"descriptions": pl.String, "tool": pl.String, "description": pl.String}


class _Tool(msgspec.Struct):
    name: str
    hash: str
    description: str = ""


class _Tools(msgspec.Struct):
    tools: list[_Tool]


def sent_tools(audit_dir: Path, descriptions: Iterable[str]) -> pl.DataFrame:
    """The tools that models were sent.

    Parameters
    ----------
    audit_dir : Path
        Contains the folder of descriptions.
    descriptions : iterable of str
        As recorded: ``desc:HASH``.

    Returns
    -------
    polars.DataFrame
        `SENT`: a row per set and tool, with the hash of its name, description and schema. Sets whose file is
        gone or damaged have no rows.
    """
    rows = [
        (name, tool.name, tool.hash)
        for name in sorted(set(descriptions))
        for tool in _read(audit_dir / FOLDER / f"{name.removeprefix(_PREFIX)}.json")
    ]
    return frame_of(rows, SENT)


def last_sent(audit_dir: Path, descriptions: Iterable[str]) -> dict[str, str]:
    """The description of each tool as models were last sent it; ``descriptions`` are the newest first."""
    texts: dict[str, str] = {}
    for name in descriptions:
        for tool in _read(audit_dir / FOLDER / f"{name.removeprefix(_PREFIX)}.json"):
            texts.setdefault(tool.name, tool.description)
    return texts


def _read(path: Path) -> list[_Tool]:
    if path.parent.name != FOLDER:  # a record may name any path
        return []
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Tools).tools
    except (OSError, ValueError, msgspec.DecodeError):
        return []
