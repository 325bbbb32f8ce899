"""Keeps what models were sent for tools, each set once, named by its hash: which one was in force."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
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
    named = sorted(tools, key=lambda tool: tool.name)
    listed = [{"hash": sha256(_dump(tool._asdict())).hexdigest()[:16], **tool._asdict()} for tool in named]
    content = _dump({"tools": listed, **({"framework": framework} if framework else {})}) + b"\n"
    number = sha256(content).hexdigest()[:16]
    place = (str(audit_dir), number)
    if place not in _kept and len(_kept) >= MAX_SETS:
        drops.drop("descriptions_full")
    elif place not in _kept:
        try:
            write_new(audit_dir / FOLDER / f"{number}.json", content)
            _kept.add(place)
        except OSError as error:
            drops.drop_error(error)
    return f"desc:{number}"


def recorded_frameworks(audit_dir: Path) -> set[str]:
    """Return the frameworks that sent the sets which were kept; an unreadable file is passed over."""
    found = set[str]()
    for path in sorted(audit_dir.joinpath(FOLDER).glob("*.json"))[:100]:  # enough to see what recorded
        with suppress(OSError, ValueError, RecursionError, AttributeError, TypeError):
            found.add(orjson.loads(path.read_bytes()).get("framework"))
    return found


def _dump(value: object) -> bytes:
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        return orjson.dumps(to_plain(value), option=orjson.OPT_SORT_KEYS)


def sent_tools(audit_dir: Path, sets: Iterable[str]) -> Iterator[tuple[str, str, SentTool]]:
    """The tools that models were sent, each with its set and its own hash.

    ``sets`` are as recorded, ``desc:HASH``. A set whose file is gone or damaged has no tools.
    """
    for name in sets:
        path = audit_dir / FOLDER / f"{name.removeprefix('desc:')}.json"
        if path.parent.name == FOLDER:  # a record may name any path
            with suppress(OSError, ValueError, LookupError, TypeError, AttributeError):
                for tool in orjson.loads(path.read_bytes())["tools"]:
                    sent = SentTool(str(tool["name"]), str(tool.get("description", "")), tool.get("schema"))
                    yield name, str(tool["hash"]), sent


def last_sent(audit_dir: Path, sets: Iterable[str]) -> dict[str, list[str]]:
    """The description of each tool as models were last sent it, then those of its arguments.

    ``sets`` are the newest first.
    """
    texts: dict[str, list[str]] = {}
    for _, _, tool in sent_tools(audit_dir, sets):
        texts.setdefault(tool.name, [tool.description, *_described_texts([tool.schema])])
    return texts


def _described_texts(value: Any) -> Iterator[str]:
    """The descriptions in an object, at any depth."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        if key == "description" and isinstance(item, str):
            yield item
        elif isinstance(item, dict | list):
            yield from _described_texts(item)
