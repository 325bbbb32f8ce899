"""Keeps what models were sent for tools, each set once, named by its hash: which one was in force."""

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from coreloop.base.record_lines import to_plain
from coreloop.observe import drops
from coreloop.observe.journal import write_new

FOLDER: Final = "descriptions"
# A process: descriptions that are made for each request would fill the disk. Their hash is recorded.
MAX_SETS: Final = 1000
_kept: set[tuple[str, str]] = set()


class SentTool(NamedTuple):
    """A tool as the model was sent it."""

    name: str
    description: str
    schema: Any


def keep_descriptions(tools: Iterable[SentTool], audit_dir: Path, framework: str = "") -> str:
    """Write a set of tools to ``descriptions/HASH.json`` unless this process has; return ``desc:HASH``.

    The hash is 16 hex digits of SHA-256 of the file's content: tools sorted by name, each with ``hash``
    (of its own name, description and schema), ``name``, ``description`` and ``schema``; and the ``framework``
    that sent them, as in ``reach:``. A fault of the disk is counted, and the hash returned nevertheless.
    """
    content = _content(tools, framework)
    number = sha256(content).hexdigest()[:16]
    place = (str(audit_dir), number)
    if place not in _kept and len(_kept) >= MAX_SETS:
        drops.drop("descriptions_full")
    elif place not in _kept:
        try:
            path = audit_dir / FOLDER / f"{number}.json"
            if not path.exists():
                write_new(path, content)
            _kept.add(place)
        except OSError as error:
            drops.drop_error(error)
    return f"desc:{number}"


def _content(tools: Iterable[SentTool], framework: str) -> bytes:
    named = sorted(tools, key=lambda tool: tool.name)
    listed = [{"hash": sha256(_dump(tool._asdict())).hexdigest()[:16], **tool._asdict()} for tool in named]
    return _dump({"tools": listed, **({"framework": framework} if framework else {})}) + b"\n"


def _dump(value: object) -> bytes:
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        return orjson.dumps(to_plain(value), option=orjson.OPT_SORT_KEYS)
