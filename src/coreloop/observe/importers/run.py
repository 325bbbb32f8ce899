"""Importing foreign traces as one use case: files in, lines of the day files out."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from coreloop.errors import UsageError
from coreloop.observe.importers import IMPORTERS, Read, openai_chat
from coreloop.observe.importers.files import TraceFile, find_trace_files
from coreloop.observe.importers.landing import ImportReport, land
from coreloop.observe.importers.times import read_times
from coreloop.project.settings import Settings

Watching: TypeAlias = Callable[[Sequence[TraceFile]], AbstractContextManager[Sequence[TraceFile]]]
"""Called with the files that will be read, for the same files with a `TraceFile.progress`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRequest:
    """What ``import`` is asked for.

    Attributes
    ----------
    source : str
        Who wrote the traces: a key of `coreloop.observe.importers.IMPORTERS`.
    paths : tuple of Path
        Files, and folders that are searched for files of the format.
    folder : Path
        Of day files.
    times : Path, optional
        Records whose ``ts`` is when the requests of message lists ended, by their ``request_id``.
    """

    source: str
    paths: tuple[Path, ...]
    folder: Path
    times: Path | None = None


def run_import(
    request: ImportRequest, settings: Settings, *, now_s: float, watching: Watching = nullcontext
) -> ImportReport:
    """Append the requests of foreign traces that a folder does not have yet.

    Parameters
    ----------
    request : ImportRequest
        The traces, and where their records go.
    settings : Settings
        For the categories and selectors.
    now_s : float
        Unix time, against which files are told that somebody is still writing.
    watching : callable, optional
        Watches how far the files are read.

    Returns
    -------
    ImportReport
        What was found and added; named files that hold nothing of the format are in it.

    Raises
    ------
    WorkspaceError
        A path is missing, or a folder has no file of the format, or cannot be read or written; what was
        appended before is whole.
    UsageError
        Times were given for a format that has its own.
    """
    importer = IMPORTERS[request.source]
    files = find_trace_files(request.paths, importer.suffixes, now_s=now_s)
    read = importer.read if request.times is None else _read_with_times(request.source, request.times)
    with watching(files) as watched:
        report = land(read(watched), request.folder, settings)
    return replace(report, n_files=len(files))


def _read_with_times(source: str, path: Path) -> Read:
    if source != openai_chat.NAME:
        raise UsageError(f"--times is for --from {openai_chat.NAME}; traces of {source} have their own times")
    return partial(openai_chat.read, times=read_times(path))
