"""Check that other users and git cannot read the recorded questions."""

import os
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from coreloop.admin.checks.diagnosis import Diagnosis, Setup, listed
from coreloop.base.errors import NoRepositoryError
from coreloop.base.git.repository import Repository
from coreloop.base.messages import number_of
from coreloop.base.project.workspace import Workspace
from coreloop.runs.folder import FOLDER

_KEEP: Final = ".gitkeep"
_OTHERS: Final = 0o077
_PROBE: Final = "2026-01-01.jsonl"
"""A file that need not exist: git reports whether it would ignore the name."""


def check_private(setup: Setup) -> Iterator[Diagnosis]:
    """Check that folders are 0700 and files 0600, except folders without data."""
    if not hasattr(os, "geteuid"):
        yield Diagnosis("private", "ok", "not checked: this system has no file modes")
        return
    workspace = setup.workspace
    folders = (
        workspace.records_dir,
        workspace.candidates_dir,
        workspace.counterexamples_dir,
        workspace.judgments_dir,
        workspace.facts_dir,
        workspace.knowledge_dir,
        workspace.archive_dir,
        *_optional_folders(workspace),
    )
    exposed = [path for folder in folders for path in _open_to_others(folder)]
    # audit/ itself may be open: the folders below it hold the questions
    audit = workspace.audit_dir
    exposed += [path for path in _open_to_others(audit) if path != audit and path.is_file()]
    if not exposed:
        yield Diagnosis("private", "ok", "no other user can read the log's folders")
        return
    modes = listed(f"{_below(path, workspace.root)} ({path.stat().st_mode & 0o777:04o})" for path in exposed)
    knowledge = workspace.knowledge_dir.parent
    tops = {knowledge if path.is_relative_to(knowledge) else workspace.audit_dir for path in exposed}
    names = sorted(_below(top, workspace.root) for top in tops)
    yield Diagnosis(
        "private",
        "fault",
        f"other users can access {number_of(len(exposed), 'path')} of the log: {modes}",
        f"run chmod -R go-rwx {shlex.join(names)} in {workspace.root}",
    )


def check_ignored(setup: Setup) -> Iterator[Diagnosis]:
    """Check that git ignores the log and the knowledge database and tracks no file of them."""
    workspace = setup.workspace
    try:
        yield _check_git(Repository(workspace.root), workspace)
    except NoRepositoryError:
        yield Diagnosis("ignored", "ok", f"{workspace.root} is in no git repository")


def _check_git(repository: Repository, workspace: Workspace) -> Diagnosis:
    root = repository.root.resolve()
    folders = {
        folder.resolve().relative_to(root).as_posix(): folder
        for folder in (workspace.audit_dir, workspace.knowledge_dir.parent, *_optional_folders(workspace))
        if folder.resolve().is_relative_to(root)
    }
    if not folders:
        return Diagnosis("ignored", "ok", "the data folder is outside of the git repository")
    tracked = [path for path in repository.tracked(list(folders)) if not path.endswith(_KEEP)]
    if tracked:
        todo = "run git rm --cached on them, ignore their folder, and remove them from the history"
        message = f"git tracks {number_of(len(tracked), 'file')} of the log: {listed(tracked)}"
        return Diagnosis("ignored", "fault", message, todo)
    probes = (
        workspace.records_dir / _PROBE,
        workspace.knowledge_file,
        *(folder / _PROBE for folder in _optional_folders(workspace)),
    )
    unignored = [name for name, folder in folders.items() if not _is_ignored(repository, folder, probes)]
    if not unignored:
        return Diagnosis("ignored", "ok", f"git ignores {_listed(folders)}")
    files = (path for name in unignored for path in folders[name].rglob("*") if path.is_file())
    has_data = any(path.name != _KEEP for path in files)
    lines = _listed(f"{name}/" for name in unignored)
    return Diagnosis(
        "ignored",
        "fault" if has_data else "warning",
        f"git does not ignore {_listed(unignored)}: git add would add users' questions",
        f"run dartlab-coreloop init --confirm, or add {lines} to .gitignore",
    )


def _listed(names: Iterable[str]) -> str:
    first, *others = names
    return f"{first} and {_listed(others)}" if others else first


def _is_ignored(repository: Repository, folder: Path, probes: Iterable[Path]) -> bool:
    """Whether git would ignore the probe files in a folder."""
    root = repository.root.resolve()
    inside = (probe.parent.resolve() / probe.name for probe in probes if probe.is_relative_to(folder))
    return all(repository.is_ignored(probe.relative_to(root).as_posix()) for probe in inside)


def _optional_folders(workspace: Workspace) -> tuple[Path, ...]:
    """Return the folders of own records, runs, views of runs and the index that exist."""
    folders = (
        workspace.own_records_dir,
        workspace.contexts_dir,
        workspace.runs_dir,
        workspace.root / FOLDER,
        workspace.index_file.parent,
    )
    return tuple(folder for folder in folders if folder.is_dir())


def _open_to_others(folder: Path) -> Iterator[Path]:
    """Yield a folder and its files if other users have any access to them; empty folders are skipped."""
    if not folder.is_dir():
        return
    with os.scandir(folder) as entries:
        inside = [entry for entry in entries if entry.name != _KEEP]
        files = [Path(entry.path) for entry in inside if entry.is_file() and entry.stat().st_mode & _OTHERS]
    if inside and folder.stat().st_mode & _OTHERS:
        yield folder
    yield from sorted(files)


def _below(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
