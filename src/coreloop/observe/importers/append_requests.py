"""The use case ``import``: reads trace files, and appends their requests to the day files once each."""

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from coreloop.base.files import file_errors, locked, write_private
from coreloop.base.messages import number_of
from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import Workspace
from coreloop.base.record_lines import encode_line, to_plain
from coreloop.base.records import NO_ANSWER, READS_FAILED, Record
from coreloop.observe.argument_sources import SessionSources, Sources
from coreloop.observe.case_keys import FILE_NAME as KEY_FILE
from coreloop.observe.case_keys import VARIABLE, case_key
from coreloop.observe.importers import importers
from coreloop.observe.importers.files import UnusableFile, find_trace_files
from coreloop.observe.importers.recognition import Recognised, Watching, all_suffixes, read_all, recognise
from coreloop.observe.importers.traced_request import ID_PREFIX, SkippedTrace, TracedRequest, record_of
from coreloop.observe.log_settings import RECORDS, LogSettings, project_settings
from coreloop.observe.reading.decode import RecordLine, decode_line, lines_of, raw_lines
from coreloop.observe.reading.outcome import RequestOutcome, Unseen, decide, why_unknown, worked
from coreloop.observe.reading.parts import join_parts
from coreloop.observe.record_parts import TracedCall, conversation_line, error_without_values, kept_call

_IMPORTED: Final = ".imported"
"""After the day in the name of a file of requests that come from traces."""


@dataclass(slots=True)
class ImportReport:
    """The result of an import.

    Attributes
    ----------
    n_files : int
        Files read.
    records : int
        Requests in the traces, whether added or already present.
    corrected : int
        Requests that were present, whose traces say more than they did.
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
    corrected: int = 0
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
        The project.
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
    log = RequestLog(out or workspace.records_dir, workspace.settings, workspace.root)
    report = log.append(read_all(sorted_files, watching))
    return replace(report, n_files=len(files))


class _Known(NamedTuple):
    """Where a request stands, and how much its record says."""

    path: Path
    says: tuple[int, int, bool, bool]


class RequestLog:
    """The requests in a folder that come from traces, in files of their own: ``2026-11-29.imported.jsonl``.

    So a file can be written anew where a trace has grown, beside live recording.

    Parameters
    ----------
    folder : Path
        Contains the day files. Created with mode 0700 if absent; the files have mode 0600.
    settings : Settings
        For the categories, the selectors and the results that say they failed.
    root : Path, optional
        The project's folder: its key gives records their ``case``, and their calls ``saw``.
    """

    def __init__(self, folder: Path, settings: Settings, root: Path | None = None) -> None:
        self._folder = folder
        self._log = _log(folder, settings, root)
        self._sessions = SessionSources()
        self._known: dict[str, _Known] = {}
        self._read_to: dict[Path, tuple[int, int]] = {}  # inode, bytes

    def append(self, parts: Iterable[TracedRequest | SkippedTrace | UnusableFile]) -> ImportReport:
        """Append what the folder does not have, and replace what says less than its trace does now.

        The next import adds what an interrupted one did not reach, also of a long request that was cut
        between its lines. Concurrent imports wait for each other.

        Parameters
        ----------
        parts : iterable
            The output of an importer.

        Raises
        ------
        WorkspaceError
            The folder cannot be read or written; lines that were already appended are complete.
        """
        report, seen, grown = ImportReport(), set[str](), dict[Path, dict[str, bytes]]()
        with locked(self._folder), closing(self._log.journal):
            self._read_known()
            for part in parts:
                if not isinstance(part, TracedRequest):
                    _count_skipped(report, part)
                    continue
                if part.id in seen:  # of a copied file
                    continue
                seen.add(part.id)
                _count(report, part)
                known = self._known.get(part.id)
                if known is None:
                    self._append(part, report, *self._lines(part, _sources_of(part, self._sessions), report))
                    continue
                _sources_of(part, self._sessions).mark_incomplete()
                lines = self._lines_if_grown(part, known, report)
                if lines is None:
                    report.already_there += 1
                else:
                    grown.setdefault(known.path, {})[part.id] = lines
                    report.corrected += 1
            for path, requests in grown.items():
                self._rewrite(path, requests)
        return report

    def _lines(self, part: TracedRequest, sources: Sources, report: ImportReport) -> tuple[Record, bytes]:
        record = record_of(part, self._log, lambda reason: report.dropped.update([reason]), sources)
        return record, encode_line(record, self._log.selectors, mask_error=error_without_values)

    def _append(self, part: TracedRequest, report: ImportReport, record: Record, lines: bytes) -> None:
        unwritten = "cannot be written ({strerror}); run it again to add the missing records"
        day, second = f"{record['ts'][:10]}{_IMPORTED}", int(time.monotonic())
        with file_errors(unwritten, self._folder):
            self._log.journal.append(lines, day, second)
            if self._log.contexts is not None:
                self._log.contexts.append(conversation_line(record, map(_kept, part.calls)), day, second)
        _count_unseen(report, lines)
        report.added += 1
        report.formats.setdefault(part.source, Counter()).update(requests=1, calls=len(part.calls))

    def _lines_if_grown(self, part: TracedRequest, known: "_Known", report: ImportReport) -> bytes | None:
        """The lines of a request that is known, if its trace now says more."""
        n_calls, n_ended, is_answered, is_judged = known.says
        is_new = len(part.calls) > n_calls or not (is_judged or not (part.scores or part.judgment))
        if not known.path.stem.endswith(_IMPORTED) or (is_answered and n_ended == n_calls and not is_new):
            return None
        sources = Sources()  # the session's has what this request showed before
        sources.mark_incomplete()
        _, lines = self._lines(part, sources, report)
        says = _says(_written(lines))
        is_less = any(now < before for now, before in zip(says, known.says, strict=True))
        return None if is_less or says == known.says else lines

    def _read_known(self) -> None:
        """Read what other processes have added since."""
        with file_errors("cannot be read ({strerror})", self._folder):
            for path in filter(Path.is_file, self._folder.glob("*.jsonl")):  # a pipe would block forever
                status = path.stat()
                inode, end = self._read_to.get(path, (status.st_ino, 0))
                start = end if inode == status.st_ino and end <= status.st_size else 0
                for _, raw in raw_lines(path, start=start, end=status.st_size):
                    line = decode_line(raw) if ID_PREFIX.encode() in raw else None
                    if isinstance(line, RecordLine):
                        self._known[line.fields.request_id or ""] = _Known(path, _says(line))
                self._read_to[path] = status.st_ino, status.st_size

    def _rewrite(self, path: Path, requests: Mapping[str, bytes]) -> None:
        """Put lines in the place of others; the file is the old one or the new one, whenever this ends."""
        with file_errors("cannot be read ({strerror})", path):
            path.touch()  # a person may have removed the day
            kept = [raw for _, raw in lines_of(path) if _id_of(raw) not in requests]
        kept = [raw if raw.endswith(b"\n") else raw + b"\n" for raw in kept]  # a crash left half a line
        write_private(path, b"".join([*kept, *requests.values()]))


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
    read = _written(lines)
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


def _written(lines: bytes) -> RecordLine:
    """A record as those read it who read its lines later."""
    [(_, line)] = join_parts(enumerate(lines.splitlines(keepends=True)))
    read = decode_line(line)
    assert isinstance(read, RecordLine)  # it was written just now
    return read


def _says(line: RecordLine) -> tuple[int, int, bool, bool]:
    """How much a record says: calls, those whose end is known, whether it has an answer, and a verdict."""
    n_ended = sum(worked(call) is not None for call in line.calls)
    n_calls = len(line.calls) + (line.fields.tool_calls_omitted or 0)
    return n_calls, n_ended, line.fields.chunk_len is not None, line.fields.judgment is not None


def _id_of(raw: bytes) -> str | None:
    """The id of the request that a line is of; None for another line."""
    with suppress(ValueError):
        fields = orjson.loads(raw)
        return fields.get("request_id") if isinstance(fields, dict) else None
    return None


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
