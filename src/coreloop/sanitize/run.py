"""The use cases of ``sanitize``: export a project's records, or check them for private data."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import orjson

from coreloop.base.errors import GitError, UsageError
from coreloop.sanitize.company_names import has_companies
from coreloop.sanitize.detectors.rule import Detection, OwnPattern, using
from coreloop.sanitize.export import Choices, Progress, Report, check_dir, no_progress, sanitize_dir
from coreloop.sanitize.files import find_sources, is_within, refuse_out
from coreloop.sanitize.find_in_text import sanitize_text
from coreloop.sanitize.pseudonyms import read_key
from coreloop.sanitize.sanitize_record import Mode
from coreloop.sanitize.vocabulary import KnownWords, learn

if TYPE_CHECKING:
    from coreloop.base.project.workspace import Workspace

_NO_COMPANIES: Final = (
    "no list of companies is in use: their names stay; add kr to sanitize: countries, or give --names FILE"
)
_UNIGNORED: Final = "git does not ignore the key; add it to .gitignore, or keep it outside of the repository"


@dataclass(frozen=True, slots=True)
class SanitizeResult:
    """The reports of all sources, the new folder of an export, and what the user should know about it."""

    sources: Sequence[Path]
    reports: Sequence[Report]
    out: Path | None = None
    warnings: Sequence[str] = ()

    @property
    def is_clean(self) -> bool:
        """Whether no line was rejected and a check had no findings."""
        return not any(
            report.n_rejected or (report.mode is None and report.findings) for report in self.reports
        )

    def to_json(self) -> bytes:
        """Return the report as JSON, or a list of reports for several sources.

        A report may be shared, and a home folder has its owner's name, so the paths are masked.
        """
        facts = [
            {"source": sanitize_text(os.fsencode(source).decode("utf-8", "replace")), **report.to_dict()}
            for source, report in zip(self.sources, self.reports, strict=True)
        ]
        return orjson.dumps(
            facts[0] if len(facts) == 1 else facts, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
        )


def check_records(
    workspace: "Workspace",
    sources: Sequence[Path],
    *,
    names: Path | None = None,
    jobs: int = 1,
    progress: Progress = no_progress,
) -> SanitizeResult:
    """Find private data in folders or files (by default the project's records), without writing anything.

    Raises
    ------
    WorkspaceError
        A file cannot be read.
    """
    own = workspace.own_records_dir
    sources = sources or (workspace.records_dir, *([own] if own.is_dir() else []))
    choices = Choices(names_file=_names_file(workspace, names), detection=_detection(workspace))
    reports = [check_dir(source, choices, jobs=jobs, progress=progress) for source in sources]
    return SanitizeResult(sources, reports, warnings=_without_companies(choices))


def export_records(
    workspace: "Workspace",
    mode: Mode,
    *,
    now: datetime,
    source: Path | None = None,
    out: Path | None = None,
    names: Path | None = None,
    key_file: Path | None = None,
    keep_times: bool = False,
    jobs: int = 1,
    progress: Progress = no_progress,
) -> SanitizeResult:
    """Write a sanitized copy of records.

    Parameters
    ----------
    now : datetime
        UTC; names the new folder if ``out`` is None.
    source, out : Path, optional
        Folder of records and new folder; in the project by default.
    names : Path, optional
        More companies to mask, besides the public listing; the file of coreloop.yaml by default.
    key_file : Path, optional
        Key of the pseudonyms, created if absent; by default a random key that is not stored.
    keep_times : bool
        Keep times and the names of day files unchanged.
    progress : callable
        Called with the processed bytes and the bytes of all files.

    Raises
    ------
    UsageError
        The copy or the key would lie among the records, or ``names`` is given without ``mask``.
    WorkspaceError
        A file cannot be read or written; only a new key file may remain.
    """
    if names is not None and mode != "mask":
        raise UsageError("--names is for --mode mask; the other modes keep no names")
    source = source or workspace.records_dir
    files, _ = find_sources(source)
    if not source.is_dir():  # a later run on that folder would read the copy with the log
        _refuse_within(out, source.resolve().parent, "--out")
    out = out or workspace.audit_dir / "sanitized" / f"{mode}-{now:%Y%m%dT%H%M%SZ}"
    refuse_out(source, out)
    _refuse_within(out, workspace.records_dir, "--out")
    _refuse_within(key_file, source, "--key-file")
    detection = _detection(workspace)
    with using(detection):
        words = KnownWords() if mode == "mask" else learn(files, workspace)
    choices = Choices(
        mode=mode,
        key=read_key(key_file, out=out) if key_file is not None else b"",
        names_file=_names_file(workspace, names) if mode == "mask" else None,
        vocabulary=words,
        detection=detection,
        keep_times=keep_times,
    )
    warnings = [f"{key_file}: {_UNIGNORED}"] if _is_unignored(key_file) else []
    warnings += _without_companies(choices) if mode == "mask" else []
    done = sanitize_dir(source, out, choices, jobs=jobs, progress=progress)
    return SanitizeResult((source,), [done], out, warnings)


def _without_companies(choices: Choices) -> list[str]:
    return [] if has_companies(choices.names_file, choices.detection) else [_NO_COMPANIES]


def _is_unignored(key_file: Path | None) -> bool:
    """Whether ``git add .`` would add the key file."""
    if key_file is None:
        return False
    from coreloop.base.git.repository import Repository

    path = key_file.parent.resolve() / key_file.name
    try:
        repository = Repository(path.parent)
        return not repository.is_ignored(path.relative_to(repository.root.resolve()).as_posix())
    except GitError:  # no repository, or no git
        return False


def _refuse_within(file: Path | None, source: Path, option: str) -> None:
    if file is not None and is_within(file, source):
        what = "folder" if option == "--out" else "file"
        raise UsageError(f"{option} {file} lies in {source}, which is only read; name a {what} elsewhere")


def _names_file(workspace: "Workspace", names: Path | None) -> Path | None:
    configured = workspace.settings.sanitize.names
    return names or (workspace.root / configured if isinstance(configured, str) else None)


def _detection(workspace: "Workspace") -> Detection:
    settings = workspace.settings.sanitize
    return Detection(
        countries=settings.countries,
        own=tuple(OwnPattern(own.name, own.pattern) for own in settings.detect),
        names=settings.names if isinstance(settings.names, tuple) else (),
        allow=frozenset(settings.allow),
    )
