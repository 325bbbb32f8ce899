"""The descriptions that models were sent -> the hash of each tool's, to be joined with ``descriptions``."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
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
    sent = _read(audit_dir, sorted(set(descriptions)))
    return frame_of([(name, tool.name, tool.hash) for name, tool in sent], SENT)


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
                yield from (
                    (name, tool) for tool in msgspec.json.decode(path.read_bytes(), type=_Tools).tools
                )
