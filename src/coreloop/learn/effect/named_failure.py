"""The failure that a line of a description names, and the descriptions that models were sent."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from coreloop.learn.line import Advice, parse_advice
from coreloop.learn.statements.kinds import is_against, kind_of
from coreloop.learn.statements.logged_calls import CallPlace, LoggedRequest, RecordReader
from coreloop.observe.descriptions_in_force import FOLDER
from coreloop.observe.reading.decode import RecordLine

NamedFailure = tuple[Advice, ...]
"""The clauses against one of which a call is counted, failed or not; without any, all failures are."""


def named_failure(lines: Iterable[str]) -> NamedFailure:
    """The failure that lines name together; all failures if one of them names none that a call shows."""
    advice = [parse_advice(line) for line in lines]
    clauses = tuple(clause for line in advice if line is not None for clause in line.clauses())
    is_complete = None not in advice and all(map(kind_of, clauses))
    return clauses if is_complete else ()


def places_against(
    failure: NamedFailure, tool: str, lines: Iterable[RecordLine]
) -> frozenset[tuple[int, int]]:
    """Where calls of a tool are against the lines: the offset of the request, and the call's place in it."""
    reader = RecordReader(b"", {}, {})
    requests = (
        LoggedRequest(line.ts_us, 0, line.offset, "", False, 0, 0, reader.read(line).calls) for line in lines
    )
    return frozenset(
        (request.offset, place.call.number)
        for request in requests
        for place in places_of(request, tool)
        if fails_as(failure, place)
    )


def places_of(request: LoggedRequest, tool: str) -> Iterator[CallPlace]:
    """The calls of a tool in a request."""
    return (CallPlace(request, at) for at, call in enumerate(request.calls) if call.tool == tool)


def fails_as(failure: NamedFailure, place: CallPlace) -> bool:
    """Whether a call is against lines."""
    return not failure or any(is_against(line, place) for line in failure)


# --- The descriptions that models were sent.


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
        path = audit_dir / FOLDER / f"{name.removeprefix('desc:')}.json"
        if path.parent.name == FOLDER:  # a record may name any path
            with suppress(OSError, ValueError, msgspec.DecodeError):
                sent = msgspec.json.decode(path.read_bytes(), type=_Tools)
                yield from ((name, tool) for tool in sent.tools)
