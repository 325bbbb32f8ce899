"""The use case ``import``: reads trace files, and appends their requests to the day files once each."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeAlias

import orjson

from coreloop.base.files import file_errors, locked
from coreloop.base.project.settings import Settings
from coreloop.base.project.settings_file import FILE_NAME
from coreloop.base.project.workspace import Workspace
from coreloop.base.record_lines import encode_line, to_plain
from coreloop.base.records import NO_ANSWER
from coreloop.observe.argument_sources import SessionSources, Sources
from coreloop.observe.case_keys import FILE_NAME as KEY_FILE
from coreloop.observe.case_keys import VARIABLE, case_key
from coreloop.observe.importers import Read, importers
from coreloop.observe.importers.files import UNREADABLE, TraceFile, UnusableFile, find_trace_files
from coreloop.observe.importers.traced_request import ID_PREFIX, SkippedTrace, TracedRequest, record_of
from coreloop.observe.log_settings import RECORDS, LogSettings, project_settings
from coreloop.observe.reading.decode import RecordLine, decode_line
from coreloop.observe.reading.outcome import RequestOutcome, Unseen, decide, why_unknown, worked
from coreloop.observe.record_parts import error_without_values, keep_conversation, kept_call

# Takes the files to read and returns them, showing how many were.
Watching: TypeAlias = Callable[[Sequence[TraceFile]], AbstractContextManager[Iterable[TraceFile]]]
_HEAD_BYTES: Final = 1 << 18
# Parts of a file that are read in search of a request: a long session's first turn has some thousand.
_MAX_PARTS: Final = 20_000
# Keys, of which a file of the format has one near its beginning; in the order in which formats are tried.
_MARKS: Final = {
    "claude-code": (b'"sessionId"', b'"leafUuid"'),
    "inspect": (b'"eval"', b"PK\x03\x04"),
    "langsmith": (b'"run_type"',),
    "langfuse": (b'"observations"', b'"projectId"', b'"traceId"', b'"startTime"', b'"start_time"'),
    "otlp": (b'"traceId"', b'"traceID"', b'trace_id"', b'"resourceSpans"', b'"resource_spans"'),
    "openai-chat": (b'"messages"', b'"role"', b'"type"', b'"kind"', b'"parts"', b'"from"'),
}
_MARK: Final = f'"{ID_PREFIX}'.encode()


@dataclass(slots=True)
class ImportReport:
    """The result of an import.

    Attributes
    ----------
    n_files : int
        Files read.
    records : int
        Requests in the traces, whether added or already present.
    tools : Counter of str
        Calls in the traces, by tool.
    dropped : Counter of str
        Values that cannot be stored, by reason; the records were added without them.
    first_day, last_day : str or None
        UTC days of the records.
    unusable : list of UnusableFile
        Named files without traces of the format.
    unseen : Unseen
        What the added records do not say.
    """

    n_files: int = 0
    records: int = 0
    added: int = 0
    already_there: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    tools: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    first_day: str | None = None
    last_day: str | None = None
    unusable: list[UnusableFile] = field(default_factory=list)
    unseen: Unseen = field(default_factory=Unseen)


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


def run_import(
    source: str,
    paths: Iterable[Path],
    workspace: Workspace,
    *,
    now_s: float,
    out: Path | None = None,
    watching: Watching = nullcontext,
) -> ImportReport:
    """Append the requests of trace files that a folder does not have yet.

    Parameters
    ----------
    source : str
        The format: a key of `coreloop.observe.importers.importers`.
    paths : iterable of Path
        Files, and folders that are searched for files of the format.
    workspace : Workspace
        The project, see `land`.
    now_s : float
        Unix time, to recognize files that are still being written.
    out : Path, optional
        Contains the day files. Default: the project's.
    watching : callable, optional
        Shows the progress.

    Raises
    ------
    WorkspaceError
        A path is absent, a folder has no file of the format, or a file or folder cannot be read or written;
        lines that were already appended are complete.
    """
    importer = importers()[source]
    files = find_trace_files(paths, importer.SUFFIXES, now_s=now_s)
    with watching(files) as watched:
        folder = out or workspace.records_dir
        report = land(importer.read(watched), folder, workspace.settings, workspace.root)
    return replace(report, n_files=len(files))


def land(
    parts: Iterable[TracedRequest | SkippedTrace | UnusableFile],
    folder: Path,
    settings: Settings,
    root: Path | None = None,
) -> ImportReport:
    """Append the requests that a folder does not have yet, one line each.

    The next import completes an interrupted import. Concurrent imports wait for each other.

    Parameters
    ----------
    parts : iterable
        The output of an importer.
    folder : Path
        Contains the day files. Created with mode 0700 if absent; the files have mode 0600.
    settings : Settings
        For the categories, the selectors and the results that say they failed.
    root : Path, optional
        The project's folder: its key gives records their ``case``, and its tools' source their ``saw``.

    Raises
    ------
    WorkspaceError
        The folder cannot be read or written; lines that were already appended are complete.
    """
    report, sessions, log = ImportReport(), SessionSources(), _log(folder, settings, root)
    unwritten = "cannot be written ({strerror}); run it again to add the missing records"
    with locked(folder), closing(log.journal):
        known = _imported_ids(folder)
        for part in parts:
            if not isinstance(part, TracedRequest):
                _count_skipped(report, part)
                continue
            _count(report, part)
            if part.id in known:
                report.already_there += 1
                _sources_of(part, sessions).mark_incomplete()
                continue
            sources = _sources_of(part, sessions)
            record = record_of(part, log, lambda reason: report.dropped.update([reason]), sources)
            line = encode_line(record, log.selectors, mask_error=error_without_values)
            with file_errors(unwritten, folder):
                log.journal.append(line, record["ts"][:10], int(time.monotonic()))
                if log.contexts is not None:
                    keep_conversation(log.contexts.append, record, _conversation(part))
            _count_unseen(report, line)
            known.add(part.id)
            report.added += 1
    return report


def _log(folder: Path, settings: Settings, root: Path | None) -> LogSettings:
    """The settings of the log, with the key of a project's cases."""
    if root is None:
        return project_settings(settings, folder, None)
    audit_dir = root / settings.data_dir / "audit"
    project = root if (root / FILE_NAME).is_file() else None
    log = project_settings(settings, folder, project)
    if folder.resolve() != (audit_dir / RECORDS).resolve():
        log = log._replace(contexts=None)  # results are kept beside the project's own records only
    unusable = f"the key of cases cannot be read or made ({{strerror}}); set {VARIABLE}"
    with file_errors(unusable, audit_dir / KEY_FILE):
        log.case_keys.append(case_key(audit_dir))
    return log


def _count_skipped(report: ImportReport, part: SkippedTrace | UnusableFile) -> None:
    if isinstance(part, SkippedTrace):
        report.skipped[part.reason] += 1
    elif part.file.named:
        report.unusable.append(part)
    else:
        report.skipped[f"file that {part.reason}"] += 1


def _count_unseen(report: ImportReport, line: bytes) -> None:
    """Count what a record does not say as those count it who read its line later."""
    read = decode_line(line)
    if not isinstance(read, RecordLine):
        return
    report.unseen.omitted += read.fields.tool_calls_omitted or 0
    if decide(read.fields, read.calls) is RequestOutcome.UNKNOWN:
        report.unseen.requests[NO_ANSWER] += 1
    report.unseen.calls.update(why_unknown(call) for call in read.calls if worked(call) is None)


def _conversation(request: TracedRequest) -> Iterator[dict[str, Any]]:
    for call in request.calls:
        args = to_plain(call.args)
        yield kept_call(call.name, args, call.result, call.error, user_texts=call.user_texts)


def _count(report: ImportReport, request: TracedRequest) -> None:
    report.records += 1
    report.tools.update(call.name for call in request.calls)
    day = request.ended.date().isoformat()
    report.first_day = min(day, report.first_day or day)
    report.last_day = max(day, report.last_day or day)


def _imported_ids(folder: Path) -> set[str]:
    """Ids of the imported requests in the day files; incomplete lines do not count."""
    known: set[str] = set()
    with file_errors("cannot be read ({strerror})", folder):
        for path in filter(Path.is_file, folder.glob("*.jsonl")):  # a pipe would block forever
            with path.open("rb", buffering=1 << 20) as file:
                known.update(id for line in file if _MARK in line and (id := _imported_id(line)))
    return known


def _imported_id(line: bytes) -> str | None:
    try:
        record = orjson.loads(line)
    except ValueError:  # torn
        return None
    id = record.get("request_id") if isinstance(record, dict) else None
    return id if isinstance(id, str) and id.startswith(ID_PREFIX) else None


def _sources_of(request: TracedRequest, sessions: SessionSources) -> Sources:
    """The memory of a request's session; a sub-agent sees nothing of it."""
    if request.session_id is None or request.parent_id is not None:
        return Sources()
    return sessions.open(request.session_id, request.ended.timestamp())
