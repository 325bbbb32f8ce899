"""Which format a file has, by the structure of its beginning; what is known but not read is named."""

import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final, TypeAlias

from coreloop.observe.importers import Read, importers
from coreloop.observe.importers.agent_files import AGENT_FORMATS, has
from coreloop.observe.importers.claude_code import NAME as CLAUDE_CODE
from coreloop.observe.importers.files import UNREADABLE, TraceFile, UnusableFile, read_documents
from coreloop.observe.importers.message_forms import is_foreign_call
from coreloop.observe.importers.openai_chat import NAME as CHAT
from coreloop.observe.importers.trace_values import decode_trace
from coreloop.observe.importers.traced_request import FOREIGN, TORN, SkippedTrace, TracedRequest

# Takes the files to read and returns them, showing how many were.
Watching: TypeAlias = Callable[[Sequence[TraceFile]], AbstractContextManager[Iterable[TraceFile]]]
MAY_LACK_TIMES: Final = (CHAT, *(agent.NAME for agent in AGENT_FORMATS))
"""Importers of requests that may have no time; their ``read`` takes one for those."""
_HEAD_BYTES: Final = 1 << 18
_MAX_OBJECTS: Final = 40  # that are looked at: a file may begin with some of another kind
_SESSION: Final = "sessionId uuid message.role"  # of Claude Code
# Parts of a beginning that are read in search of a request.
_MAX_PARTS: Final = 20_000
_PLATFORMS: Final = "span_attributes root_span_id|op_name trace_id inputs|feedback_scores usage"
_RESPONSES: Final = "object=response parallel_tool_calls|response.previous_response_id=*"
_BATCH: Final = "write the messages with the answer as the last one"
_OTLP: Final = "export its spans as OTLP"
_CONSOLE: Final = rb"(?:.*\n){0,50}?\{\r?\n  (?:resource: \{|traceId: ')"
_LINES: Final = 'write {"messages": […], "ts": …} lines'
# Formats that are not read, the paths that one of their objects has (`has`), and what to do instead.
_UNREAD: Final = (
    ("records of coreloop", "request_id tool_calls", "dartlab-coreloop refine reads them where they are"),
    ("a result of claude -p without messages", "type=result session_id", "import ~/.claude/projects instead"),
    ("events of codex exec", "type=thread.started", "import the session in ~/.codex/sessions instead"),
    ("Semantic Kernel's chat history", "messages.items", _LINES),
    ("a session of Gemini CLI", "sessionId projectHash", "turn its telemetry to a file on (OTLP)"),
    ("events of OpenHands", "source action args", _LINES),
    ("events of AG-UI", "type=RUN_STARTED threadId", _LINES),
    ("an export of ChatGPT", "mapping current_node", "it has no calls of tools"),
    ("an export of claude.ai", "uuid chat_messages", _LINES),
    ("an export of Helicone", "request_body response_body", "write the messages of each request_body"),
    ("an export of Braintrust, Weave or Opik", _PLATFORMS, _OTLP),
    ("traces of OpenAI's Agents SDK", "object=trace.span span_data", _OTLP),
    ("responses of OpenAI by their ids", _RESPONSES, _LINES),
    ("a batch of OpenAI", "custom_id body|custom_id response", _BATCH),
    ("rows for fine-tuning", "conversations.from", _LINES),
)  # fmt: skip
_DATAFRAME: Final = 'write JSON lines: df.to_json("traces.jsonl", orient="records", lines=True)'
_UNREAD_BYTES: Final = (
    ("a SQLite database", rb"SQLite format 3\0", "export its messages or spans as JSON lines"),
    ("a Parquet file", rb"PAR1", _DATAFRAME),
    ("a table (CSV)", rb'[\w ."]+(?:,[\w ."]+){2,}\r?\n', _DATAFRAME),
    ("the console's output of OpenTelemetry for JavaScript", _CONSOLE, _OTLP),
    ("a chat history of Aider", rb"\s*# aider chat", _LINES),
)  # fmt: skip


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


def recognise(files: Sequence[TraceFile], readers: Mapping[str, Read]) -> Recognised:
    """Sort files by their format; ``readers`` are those of all importers."""
    result = Recognised()
    for file in files:
        try:
            found = _format_of(file, readers)
        except UNREADABLE as error:  # or not compressed as its name says
            found = f"cannot be read ({getattr(error, 'strerror', None) or error})"
        if isinstance(found, str):
            result.unread.append(UnusableFile(file, found))
        else:
            result.by_importer.setdefault(found[0], []).append(file)
            result.formats[found[1]] += 1
    return result


def read_all(
    recognised: Recognised, readers: Mapping[str, Read], watching: Watching
) -> Iterator[TracedRequest | SkippedTrace | UnusableFile]:
    """Read sorted files, each with its own reader."""
    yield from recognised.unread
    for name, files in recognised.by_importer.items():
        with watching(files) as watched:
            yield from readers[name](watched)


def all_suffixes() -> tuple[str, ...]:
    """Return the suffixes of the files of all formats."""
    return tuple(sorted({suffix for importer in importers().values() for suffix in importer.SUFFIXES}))


def _format_of(file: TraceFile, readers: Mapping[str, Read]) -> tuple[str, str] | str:
    """The names of the importer and the format, or why the file is not read."""
    head = _head(file)
    if not head.strip():
        return "is empty"
    objects = list(_objects(read_documents(io.BytesIO(head))))
    if any(has(item, _SESSION) for item in objects):  # before the others: there are thousands of them
        return CLAUDE_CODE, CLAUDE_CODE
    for agent in AGENT_FORMATS:
        own = objects if agent.documents is read_documents else _objects(agent.documents(io.BytesIO(head)))
        if any(has(item, agent.marks) for item in own):
            return agent.NAME, agent.NAME
    sample = file if head.startswith(b"PK") else replace(file, head=head)
    known = None
    for name in (*(name for name in readers if name not in MAY_LACK_TIMES), CHAT):
        if name == CHAT and (unread := _unread(objects, head)):
            return f"is {unread}"
        for part in islice(readers[name]([sample]), _MAX_PARTS):
            if isinstance(part, TracedRequest):
                return name, part.source
            if isinstance(part, UnusableFile) and part.reason.startswith("cannot be read"):
                return part.reason
            if not isinstance(part, UnusableFile) and part not in (FOREIGN, TORN):
                known = known or (name, name)
    return known or ("is not of a known format" if objects and objects[0] is not TORN else "is not JSON")


def _unread(objects: Sequence[Any], head: bytes) -> str | None:
    """What a file of a known format is that is not read, and why."""
    unread = [(name, way) for name, mark, way in _UNREAD if any(has(item, mark) for item in objects)]
    unread += [(name, way) for name, begins, way in _UNREAD_BYTES if re.match(begins, head)]
    if any(map(is_foreign_call, objects)):
        unread.append(("a log with calls in lines of an unknown kind", _LINES))
    return f"{unread[0][0]}, which is not read: {unread[0][1]}" if unread else None


def _head(file: TraceFile) -> bytes:
    """The beginning of JSON lines; a document of many lines as a whole."""
    with file.open() as opened:
        head = opened.read(_HEAD_BYTES)
        if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in (b"{", b"["):
            return head
        head += b"" if b"\n" in head else opened.readline()
        with suppress(ValueError):
            decode_trace(head.partition(b"\n")[0].removeprefix(b"\xef\xbb\xbf"))
            return head
        return head + opened.read()


def _objects(documents: Iterator[Any]) -> Iterator[Any]:
    for document in islice(documents, _MAX_OBJECTS):
        yield from islice(document, _MAX_OBJECTS) if isinstance(document, list) else [document]
