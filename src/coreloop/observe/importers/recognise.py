"""Finds out which importer reads a trace file, by looking into it."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from coreloop.observe.importers import Read
from coreloop.observe.importers.files import UNREADABLE, TraceFile
from coreloop.observe.importers.traced_request import TracedRequest

_HEAD_BYTES: Final = 1 << 18
_MAX_PARTS: Final = 20_000
"""Parts of a file that are read in search of a request: a long session's first turn has some thousand."""
_MARKS: Final = {
    "claude-code": (b'"sessionId"', b'"leafUuid"'),
    "inspect": (b'"eval"', b"PK\x03\x04"),
    "langfuse": (b'"observations"', b'"projectId"', b'"traceId"', b'"startTime"', b'"start_time"'),
    "otlp": (b'"traceId"', b'"trace_id"', b'"resourceSpans"', b'"resource_spans"'),
    "openai-chat": (b'"messages"', b'"role"'),
}
"""Keys, of which a file of the format has one near its beginning; in the order in which formats are tried."""


def recognise(
    files: Sequence[TraceFile], readers: Mapping[str, Read]
) -> tuple[dict[str, list[TraceFile]], list[TraceFile]]:
    """Sort files by the format that reads a request from them; ``readers`` are those of all formats.

    Returns
    -------
    dict of str to list of TraceFile
        Files by the name of their importer.
    list of TraceFile
        Those from which no importer reads a request.
    """
    by_format: dict[str, list[TraceFile]] = {}
    others: list[TraceFile] = []
    for file in files:
        name = next(_formats_of(file, readers), None)
        (others if name is None else by_format.setdefault(name, [])).append(file)
    return by_format, others


def _formats_of(file: TraceFile, readers: Mapping[str, Read]) -> Iterator[str]:
    try:
        with file.open() as opened:
            head = opened.read(_HEAD_BYTES)
    except UNREADABLE:  # or not compressed as its name says
        return
    for name, marks in _MARKS.items():
        if any(mark in head for mark in marks):
            parts = islice(readers[name]([file]), _MAX_PARTS)
            if any(isinstance(part, TracedRequest) for part in parts):
                yield name
