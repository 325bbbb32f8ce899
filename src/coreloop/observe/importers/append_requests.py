"""The use case ``import``: reads trace files, and appends their requests to the day files once each."""

import time
from collections import Counter
from collections.abc import Iterable
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from coreloop.base.files import file_errors, locked
from coreloop.base.messages import number_of
from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import Workspace
from coreloop.base.record_lines import encode_line, to_plain
from coreloop.base.records import NO_ANSWER, READS_FAILED
from coreloop.observe.argument_sources import SessionSources, Sources
from coreloop.observe.case_keys import FILE_NAME as KEY_FILE
from coreloop.observe.case_keys import VARIABLE, case_key
from coreloop.observe.importers import importers
from coreloop.observe.importers.files import UnusableFile, find_trace_files
from coreloop.observe.importers.recognition import Recognised, Watching, all_suffixes, read_all, recognise
from coreloop.observe.importers.traced_request import ID_PREFIX, SkippedTrace, TracedRequest, record_of
from coreloop.observe.log_settings import RECORDS, LogSettings, project_settings
from coreloop.observe.reading.decode import RecordLine, decode_line, raw_lines
from coreloop.observe.reading.outcome import RequestOutcome, Unseen, decide, why_unknown
from coreloop.observe.reading.parts import join_parts
from coreloop.observe.record_parts import TracedCall, error_without_values, keep_conversation, kept_call


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
    formats : dict of str to Counter of str
        ``requests`` and ``calls`` that were added, by format.
    dropped : Counter of str
        Values that cannot be stored, by reason; the records were added without them.
    first_day, last_day : str or None
        UTC days of the records that have a date.
    since : str or None
        The earliest day under which records are filed, which is that of their file if they have no date.
    unusable : list of UnusableFile
        Named files without traces of the format.
    unread : list of UnusableFile
        The files of folders that have none.
    unseen : Unseen
        What the added records do not say.
    """

    n_files: int = 0
    records: int = 0
    added: int = 0
    already_there: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    tools: Counter[str] = field(default_factory=Counter)
    formats: dict[str, Counter[str]] = field(default_factory=dict)
    dropped: Counter[str] = field(default_factory=Counter)
    since: str | None = None
    first_day: str | None = None
    last_day: str | None = None
    unusable: list[UnusableFile] = field(default_factory=list)
    unread: list[UnusableFile] = field(default_factory=list)
    unseen: Unseen = field(default_factory=Unseen)

    def skipped_lines(self) -> list[str]:
        """What was skipped: ``2 files: empty``."""
        return [
            f"{number_of(n, 'file')}{reason[4:]}" if reason.startswith("file:") else f"{n:,}, {reason}"
            for reason, n in sorted(self.skipped.items())
        ]


def run_import(
    source: str | None,
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
    source : str, optional
        The format: a key of `coreloop.observe.importers.importers`. Default: each file's own.
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
    suffixes = all_suffixes() if source is None else importers()[source].SUFFIXES
    files = find_trace_files(paths, suffixes, now_s=now_s)
    sorted_files = recognise(files) if source is None else Recognised({source: files})
    parts = read_all(sorted_files, watching)
    report = land(parts, out or workspace.records_dir, workspace.settings, workspace.root)
    return replace(report, n_files=len(files))


def land(
    parts: Iterable[TracedRequest | SkippedTrace | UnusableFile],
    folder: Path,
    settings: Settings,
    root: Path | None = None,
) -> ImportReport:
    """Append the requests that a folder does not have yet.

    The next import adds what an interrupted one did not reach. A long request that was cut between its lines
    keeps what was written, and its other calls are counted. Concurrent imports wait for each other.

    Parameters
    ----------
    parts : iterable
        The output of an importer.
    folder : Path
        Contains the day files. Created with mode 0700 if absent; the files have mode 0600.
    settings : Settings
        For the categories, the selectors and the results that say they failed.
    root : Path, optional
        The project's folder: its key gives records their ``case``, and their calls ``saw``.

    Raises
    ------
    WorkspaceError
        The folder cannot be read or written; lines that were already appended are complete.
    """
    report, sessions, log = ImportReport(), SessionSources(), _log(folder, settings, root)
    unwritten = "cannot be written ({strerror}); run it again to add the missing records"
    with locked(folder), closing(log.journal):
        known, seen = _known_ids(folder), set[str]()
        for part in parts:
            if not isinstance(part, TracedRequest):
                _count_skipped(report, part)
                continue
            if part.id in seen:  # of a copied file
                continue
            seen.add(part.id)
            _count(report, part)
            if part.id in known:
                report.already_there += 1
                _sources_of(part, sessions).mark_incomplete()
                continue
            sources = _sources_of(part, sessions)
            record = record_of(part, log, lambda reason: report.dropped.update([reason]), sources)
            lines = encode_line(record, log.selectors, mask_error=error_without_values)
            with file_errors(unwritten, folder):
                log.journal.append(lines, record["ts"][:10], int(time.monotonic()))
                if log.contexts is not None:
                    keep_conversation(log.contexts.append, record, map(_kept, part.calls))
            _count_unseen(report, lines)
            report.added += 1
            report.formats.setdefault(part.source, Counter()).update(requests=1, calls=len(part.calls))
    return report


def _log(folder: Path, settings: Settings, root: Path | None) -> LogSettings:
    """The settings of the log, with the key of a project's cases."""
    log = project_settings(settings, folder)
    if root is None:
        log.keys.append(b"")
        return log
    audit_dir = root / settings.data_dir / "audit"
    if folder.resolve() != (audit_dir / RECORDS).resolve():
        log = log._replace(contexts=None)  # results are kept beside the project's own records only
    unusable = f"the key of cases cannot be read or made ({{strerror}}); set {VARIABLE}"
    with file_errors(unusable, audit_dir / KEY_FILE):
        log.keys.append(case_key(audit_dir))
    return log


def _count_skipped(report: ImportReport, part: SkippedTrace | UnusableFile) -> None:
    if isinstance(part, SkippedTrace):
        report.skipped[part.reason] += 1
    elif part.file.named:
        report.unusable.append(part)
    else:
        report.unread.append(part)
        report.skipped[f"file: {part.reason.removeprefix('is ')}"] += 1


def _count_unseen(report: ImportReport, lines: bytes) -> None:
    """Count what a record does not say as those count it who read its lines later."""
    [(_, line)] = join_parts(enumerate(lines.splitlines(keepends=True)))
    read = decode_line(line)
    assert isinstance(read, RecordLine)  # it was written just now
    report.unseen.n_requests += 1
    report.unseen.omitted += read.fields.tool_calls_omitted or 0
    report.unseen.undated += bool(read.fields.undated)
    if decide(read.fields, read.calls) is RequestOutcome.UNKNOWN:
        report.unseen.requests[NO_ANSWER] += 1
    unknown = Counter(why for call in read.calls if (why := why_unknown(call)) is not None)
    report.unseen.guessed += unknown.pop(READS_FAILED, 0)
    report.unseen.calls.update(unknown)


def _kept(call: TracedCall) -> dict[str, Any]:
    return kept_call(call.name, to_plain(call.args), call.result, call.error, user_texts=call.user_texts)


def _known_ids(folder: Path) -> set[str | None]:
    """Ids of the imported requests in the day files."""
    with file_errors("cannot be read ({strerror})", folder):
        files = filter(Path.is_file, folder.glob("*.jsonl"))  # a pipe would block forever
        imported = (raw for path in files for _, raw in raw_lines(path) if ID_PREFIX.encode() in raw)
        lines = (line for line in map(decode_line, imported) if isinstance(line, RecordLine))
        return {line.fields.request_id for line in lines}


def _count(report: ImportReport, request: TracedRequest) -> None:
    report.records += 1
    report.tools.update(call.name for call in request.calls)
    day = request.ended.date().isoformat()
    report.since = min(day, report.since or day)
    if not request.undated:
        report.first_day = min(day, report.first_day or day)
        report.last_day = max(day, report.last_day or day)


def _sources_of(request: TracedRequest, sessions: SessionSources) -> Sources:
    """The memory of a request's session; a sub-agent sees nothing of it."""
    if request.session_id is None or request.parent_id is not None:
        return Sources()
    return sessions.open(request.session_id, request.ended.timestamp())
