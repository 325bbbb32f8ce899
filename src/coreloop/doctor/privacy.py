"""Whether other users or a git repository can get at what users asked."""

import os
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from coreloop.doctor.diagnosis import Diagnosis, Setup, listed
from coreloop.errors import NoRepositoryError
from coreloop.history.repository import Repository
from coreloop.project.workspace import Workspace
from coreloop.text import counted

_KEEP: Final = ".gitkeep"
_OTHERS: Final = 0o077
_PROBE: Final = "2026-01-01.jsonl"
"""A name that need not exist: git says whether it would ignore it."""


def check_private(setup: Setup) -> Iterator[Diagnosis]:
    """Whether folders are 0700 and files 0600. What holds no data need not be."""
    if not hasattr(os, "geteuid"):
        yield Diagnosis("private", "ok", "not checked: this system has no file modes")
        return
    workspace = setup.workspace
    found = [path for folder in _private_folders(workspace) for path in _open_to_others(folder)]
    # audit/ itself may be open: what users asked lies in the folders below it
    audit = workspace.audit_dir
    found += [path for path in _open_to_others(audit) if path != audit and path.is_file()]
    if not found:
        yield Diagnosis("private", "ok", "no other user can read the log's folders")
        return
    shown = listed(f"{_below(path, workspace.root)} ({path.stat().st_mode & 0o777:04o})" for path in found)
    folders = sorted({_below(_top(path, workspace), workspace.root) for path in found})
    yield Diagnosis(
        "private",
        "fault",
        f"other users can get at {counted(len(found), 'path')} of the log: {shown}",
        f"run chmod -R go-rwx {shlex.join(folders)} in {workspace.root}",
    )


def check_ignored(setup: Setup) -> Iterator[Diagnosis]:
    """Whether git ignores the log and the knowledge database, and has no file of theirs already."""
    workspace = setup.workspace
    try:
        with Repository(workspace.root) as repository:
            yield _ignored(repository, workspace)
    except NoRepositoryError:
        yield Diagnosis("ignored", "ok", f"{workspace.root} is in no git repository")


def _ignored(repository: Repository, workspace: Workspace) -> Diagnosis:
    root = repository.root.resolve()
    folders = {
        folder.resolve().relative_to(root).as_posix(): folder
        for folder in (workspace.audit_dir, workspace.knowledge_dir.parent)
        if folder.resolve().is_relative_to(root)
    }
    if not folders:
        return Diagnosis("ignored", "ok", "the data folder is outside of the git repository")
    tracked = [path for path in repository.tracked(list(folders)) if not path.endswith(_KEEP)]
    if tracked:
        todo = "run git rm --cached on them, ignore their folder, and remove them from the history"
        what = f"git has {counted(len(tracked), 'file')} of the log: {listed(tracked)}"
        return Diagnosis("ignored", "fault", what, todo)
    probes = (workspace.records_dir / _PROBE, workspace.knowledge_file)
    seen = [name for name, folder in folders.items() if not _is_ignored(repository, folder, probes)]
    if not seen:
        return Diagnosis("ignored", "ok", f"git ignores {' and '.join(folders)}")
    holds = any(_holds_data(folders[name]) for name in seen)
    lines = " and ".join(f"{name}/" for name in seen)
    return Diagnosis(
        "ignored",
        "fault" if holds else "warning",
        f"git does not ignore {' and '.join(seen)}: git add would add what users asked",
        f"run dartlab-coreloop init --confirm, or add {lines} to .gitignore",
    )


def _is_ignored(repository: Repository, folder: Path, probes: Iterable[Path]) -> bool:
    """Whether what lies in a folder, or would, is ignored."""
    root = repository.root.resolve()
    inside = (probe.parent.resolve() / probe.name for probe in probes if probe.is_relative_to(folder))
    return all(repository.is_ignored(probe.relative_to(root).as_posix()) for probe in inside)


def _private_folders(workspace: Workspace) -> tuple[Path, ...]:
    return (
        workspace.records_dir,
        workspace.candidates_dir,
        workspace.counterexamples_dir,
        workspace.judgments_dir,
        workspace.rollups_dir,
        workspace.knowledge_dir,
        workspace.archive_dir,
    )


def _open_to_others(folder: Path) -> Iterator[Path]:
    """A folder and its files that others may use in any way; an empty folder is skipped."""
    if not folder.is_dir():
        return
    with os.scandir(folder) as entries:
        inside = [entry for entry in entries if entry.name != _KEEP]
        found = [Path(entry.path) for entry in inside if entry.is_file() and entry.stat().st_mode & _OTHERS]
    if inside and folder.stat().st_mode & _OTHERS:
        yield folder
    yield from sorted(found)


def _holds_data(folder: Path) -> bool:
    return any(path.name != _KEEP for path in folder.rglob("*") if path.is_file())


def _top(path: Path, workspace: Workspace) -> Path:
    knowledge = workspace.knowledge_dir.parent
    return knowledge if path.is_relative_to(knowledge) else workspace.audit_dir


def _below(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
