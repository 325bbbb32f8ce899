"""The failure that a line of a description names."""

from collections.abc import Iterable, Iterator

from coreloop.learn.line import Advice, parse_advice
from coreloop.learn.statements.kinds import is_against, kind_of
from coreloop.learn.statements.logged_calls import CallPlace, LoggedRequest, RecordReader
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
