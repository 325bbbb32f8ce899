"""The use case ``import``: reads trace files and appends records to the day files."""

import lzma
import zlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TypeAlias

from coreloop.base.errors import UsageError, WorkspaceError
from coreloop.base.project.settings import Settings
from coreloop.observe.importers import Read, importers, openai_chat
from coreloop.observe.importers.append_requests import ImportReport, land
from coreloop.observe.importers.files import TraceFile, find_trace_files, read_line_values
from coreloop.observe.importers.trace_values import read_time

Watching: TypeAlias = Callable[[Sequence[TraceFile]], AbstractContextManager[Sequence[TraceFile]]]
"""Takes the files to read and returns them with a `TraceFile.progress`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRequest:
    """The parameters of ``import``.

    Attributes
    ----------
    source : str
        The format: a key of `coreloop.observe.importers.importers`.
    paths : tuple of Path
        Files, and folders that are searched for files of the format.
    folder : Path
        Contains the day files.
    times : Path, optional
        Records that give the end (``ts``) of each message list by its ``request_id``.
    root : Path, optional
        The project's folder, see `coreloop.observe.importers.append_requests.land`.
    """

    source: str
    paths: tuple[Path, ...]
    folder: Path
    times: Path | None = None
    root: Path | None = None


def run_import(
    request: ImportRequest, settings: Settings, *, now_s: float, watching: Watching = nullcontext
) -> ImportReport:
    """Append the requests of trace files that a folder does not have yet.

    Parameters
    ----------
    request : ImportRequest
        The trace files and the folder.
    settings : Settings
        For the categories and selectors.
    now_s : float
        Unix time, to recognize files that are still being written.
    watching : callable, optional
        Adds progress callbacks to the files.

    Raises
    ------
    WorkspaceError
        A path is absent, a folder has no file of the format, or a file or folder cannot be read or written;
        lines that were already appended are complete.
    UsageError
        Times were given for a format with its own times.
    """
    importer = importers()[request.source]
    files = find_trace_files(request.paths, importer.suffixes, now_s=now_s)
    read = importer.read if request.times is None else _read_with_times(request.source, request.times)
    with watching(files) as watched:
        report = land(read(watched), request.folder, settings, request.root)
    return replace(report, n_files=len(files))


def _read_with_times(source: str, path: Path) -> Read:
    if source != openai_chat.NAME:
        raise UsageError(f"--times is for --from {openai_chat.NAME}; traces of {source} have their own times")
    return partial(openai_chat.read, times=read_times(path))


def read_times(path: Path) -> dict[str, datetime]:
    """Read the ``ts`` of the records in a file by ``request_id``.

    Raises
    ------
    WorkspaceError
        The file cannot be read, or no line has both fields.
    """
    times: dict[str, datetime] = {}
    try:
        with TraceFile(path, True, 0, 0.0).open() as lines:
            for line in read_line_values(lines):
                id = line.get("request_id") if isinstance(line, dict) else None
                ended = read_time(line.get("ts")) if id is not None else None
                if isinstance(id, str) and ended is not None:
                    times[id] = ended
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        reason = getattr(error, "strerror", None) or error
        raise WorkspaceError(f"cannot be read ({reason})", path=path) from error
    if not times:
        raise WorkspaceError("has no line with a request_id and a ts", path=path)
    return times
