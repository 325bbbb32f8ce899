"""The failure that a line of a description names, and the descriptions that models were sent."""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from coreloop.learn.line import Advice, parse_advice
from coreloop.learn.mine.window import Window
from coreloop.learn.statements.kinds import is_against, kind_of
from coreloop.learn.statements.logged_calls import CallPlace, LoggedRequest, RecordReader
from coreloop.observe.descriptions_in_force import FOLDER
from coreloop.observe.reading.decode import RecordLine
from coreloop.observe.shown_states import hash_state

NamedFailure = tuple[Advice, ...]
"""The clauses against one of which a call is counted, failed or not; without any, all failures are."""


def named_failure(lines: Iterable[str]) -> NamedFailure:
    """The failure that lines name together; all failures if one of them names none that a call shows."""
    advice = [parse_advice(line) for line in lines]
    clauses = tuple(clause for line in advice if line is not None for clause in line.clauses())
    is_complete = None not in advice and all(map(kind_of, clauses))
    return clauses if is_complete else ()


def places_against(
    failure: NamedFailure, tool: str, lines: Iterable[RecordLine], case_key: bytes = b""
) -> frozenset[tuple[int, int]]:
    """Where calls of a tool are against the lines: the offset of the request, and the call's place in it."""
    states = {hash_state(word, case_key): word for clause in failure for word in clause.items("states")}
    reader = RecordReader(b"", {}, {}, lambda: states)
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


_MAX_SENT: Final = 20
"""Sets of descriptions, the newest; agents of a project have a set each, or two in the days of a change."""


class _Tool(msgspec.Struct):
    name: str
    hash: str
    description: str = ""
    schema: Any = None


class _Tools(msgspec.Struct):
    tools: list[_Tool]


def last_sent(audit_dir: Path, descriptions: Iterable[str]) -> dict[str, list[str]]:
    """The description of each tool as models were last sent it, then those of its arguments.

    ``descriptions`` are the newest first.
    """
    texts: dict[str, list[str]] = {}
    for _, tool in sent_tools(audit_dir, descriptions):
        texts.setdefault(tool.name, [tool.description, *described_texts([tool.schema])])
    return texts


def described_texts(value: Any) -> Iterator[str]:
    """The descriptions in an object, at any depth."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        if key == "description" and isinstance(item, str):
            yield item
        elif isinstance(item, dict | list):
            yield from described_texts(item)


def newest_sent(window: Window) -> list[str]:
    """The sets of descriptions that models were sent in a window, the last one first."""
    newest = Counter[str]()
    for group in window.requests:
        if group.alike.descriptions is not None:
            sent = group.alike.descriptions
            newest[sent] = max(newest[sent], *group.column("us"))
    return [sent for sent, _ in newest.most_common(_MAX_SENT)]


def sent_tools(audit_dir: Path, descriptions: Iterable[str]) -> Iterator[tuple[str, _Tool]]:
    """The tools that models were sent, with the set that they are of.

    ``descriptions`` are as recorded, ``desc:HASH``; ``audit_dir`` contains their folder. A set whose file is
    gone or damaged has no tools.
    """
    for name in descriptions:
        path = audit_dir / FOLDER / f"{name.removeprefix('desc:')}.json"
        if path.parent.name == FOLDER:  # a record may name any path
            with suppress(OSError, ValueError, msgspec.DecodeError, RecursionError):
                sent = msgspec.json.decode(path.read_bytes(), type=_Tools)
                yield from ((name, tool) for tool in sent.tools)
