"""Which format a file has, by the structure of its beginning; what is known but not read is named."""

import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeAlias

from coreloop.observe.importers import claude_code, importers
from coreloop.observe.importers.agent_files import AgentFormat, has
from coreloop.observe.importers.files import UNREADABLE, TraceFile, TracePart, UnusableFile, read_documents
from coreloop.observe.importers.message_forms import CHAT, is_foreign_call
from coreloop.observe.importers.traced_request import FOREIGN, TORN, TracedRequest

# Takes the files to read and returns them, showing how many were.
Watching: TypeAlias = Callable[[Sequence[TraceFile]], AbstractContextManager[Iterable[TraceFile]]]
_HEAD_BYTES: Final = 1 << 18
_MAX_OBJECTS: Final = 40  # that are looked at: a file may begin with some of another kind
_TOOLS: Final = "tools.function.parameters|tools.parameters|tools.inputSchema|tools.input_schema"
# Formats that are not read: the paths that an object has (`has`) or how a file begins, and what to do.
_UNREAD: Final = Path(__file__).with_name("unread_formats.tsv")


@dataclass(frozen=True, slots=True)
class Recognised:
    """Files sorted by format.

    Attributes
    ----------
    by_importer : dict of str to list of TraceFile
        Files by the name of their importer.
    formats : Counter of str
        Files by the format as its users know it, of which an importer may read several.
    unread : list of UnusableFile
        The others, with the reason.
    """

    by_importer: dict[str, list[TraceFile]] = field(default_factory=dict)
    formats: Counter[str] = field(default_factory=Counter)
    unread: list[UnusableFile] = field(default_factory=list)


def recognise(files: Sequence[TraceFile]) -> Recognised:
    """Sort files by their format."""
    result = Recognised()
    for file in files:
        try:
            found = _format_of(file)
        except UNREADABLE as error:  # or not compressed as its name says
            found = f"cannot be read ({getattr(error, 'strerror', None) or error})"
        if isinstance(found, str):
            result.unread.append(UnusableFile(file, found))
        else:
            result.by_importer.setdefault(found[0], []).append(file)
            result.formats[found[1]] += 1
    return result


def read_all(recognised: Recognised, watching: Watching) -> Iterator[TracePart]:
    """Read sorted files, each with its own reader."""
    yield from recognised.unread
    for name, files in recognised.by_importer.items():
        with watching(files) as watched:
            yield from importers()[name].read(watched)


def all_suffixes() -> tuple[str, ...]:
    """Return the suffixes of the files of all formats."""
    return tuple(sorted({suffix for importer in importers().values() for suffix in importer.SUFFIXES}))


def _format_of(file: TraceFile) -> tuple[str, str] | str:
    """The names of the importer and the format, or why the file is not read."""
    head = _head(file)
    if not head.strip():
        return "is empty"
    objects = list(_objects(read_documents(io.BytesIO(head))))
    if any(has(item, "sessionId uuid message.role") for item in objects):  # as most files
        return claude_code.NAME, claude_code.NAME
    sample = file if head.startswith(b"PK") else replace(file, head=head)
    known = None
    for name, importer in importers().items():
        if isinstance(importer, AgentFormat):
            with sample.open() as opened:
                is_read = importer.documents is read_documents
                own = objects if is_read else _objects(importer.documents(opened))
                if any(has(item, importer.marks) for item in own):
                    return name, name
            continue
        if name == CHAT and (unread := _unread(objects, head)):
            return f"is {unread}"
        for part in importer.read([sample]):
            if isinstance(part, TracedRequest):
                return name, part.source
            if not isinstance(part, UnusableFile) and part not in (FOREIGN, TORN):
                known = known or (name, name)
    kind = "tool schemas, not traces" if any(has(it, _TOOLS) for it in objects) else "not of a known format"
    return known or (f"is {kind}" if objects and objects[0] is not TORN else "is not JSON")


def _unread(objects: Sequence[Any], head: bytes) -> str | None:
    """What a file of a known format is that is not read, and why."""
    for row in _UNREAD.read_text("utf-8").splitlines()[1:]:
        name, paths, begins, way = row.split("\t")
        if re.match(begins.encode(), head) if begins else any(has(item, paths) for item in objects):
            return f"{name}, which is not read: {way}" if way else name
    is_foreign = any(map(is_foreign_call, objects))
    return "a log with calls in lines of an unknown kind, which is not read" if is_foreign else None


def _head(file: TraceFile) -> bytes:
    """The beginning of JSON lines; a document of many lines as a whole."""
    with file.open() as opened:
        head = opened.read(_HEAD_BYTES)
        if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in (b"{", b"["):
            return head
        head += b"" if b"\n" in head else opened.readline()
        is_cut = next(read_documents(io.BytesIO(head)), TORN) is TORN
        return head + opened.read() if is_cut else head


def _objects(documents: Iterator[Any]) -> Iterator[Any]:
    for document in islice(documents, _MAX_OBJECTS):
        yield from islice(document, _MAX_OBJECTS) if isinstance(document, list) else [document]
