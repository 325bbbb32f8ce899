"""Putting what coreloop needs into a repository, as one use case: ``init``."""

from dataclasses import dataclass, field
from pathlib import Path

from coreloop.errors import UsageError
from coreloop.project.scaffold import ProjectFile, plan_files, read_template, write_files
from coreloop.project.settings import FILE_NAME
from coreloop.project.starter import SettingsProposals, propose_settings, write_settings
from coreloop.project.workspace import Workspace
from coreloop.text import printable


@dataclass(frozen=True, slots=True, kw_only=True)
class InitRequest:
    """What ``init`` is asked for.

    Attributes
    ----------
    repository : Path
        The repository's root.
    github : str or None
        ``owner/name`` when the remote is on GitHub.
    reviewer : str, optional
        As CODEOWNERS has it; the repository's owner by default.
    confirm : bool
        Write; without it, only plan.
    """

    repository: Path
    github: str | None
    reviewer: str | None = None
    confirm: bool = False


@dataclass(frozen=True, slots=True)
class Initialised:
    """The files of a project, who reviews them, and what a new coreloop.yaml proposes."""

    files: tuple[ProjectFile, ...]
    reviewer: str
    proposals: SettingsProposals = field(default_factory=SettingsProposals)


def initialise(workspace: Workspace, request: InitRequest) -> Initialised:
    """Write what a repository lacks; without ``confirm``, only find it.

    Parameters
    ----------
    workspace : Workspace
        Of the folder in which ``init`` was called.
    request : InitRequest
        The repository that the folder belongs to.

    Raises
    ------
    UsageError
        coreloop.yaml is not at the repository's root, or the reviewer cannot be meant.
    WorkspaceError
        A file cannot be read or written.
    """
    root = request.repository
    if (workspace.root / FILE_NAME).is_file() and not workspace.root.samefile(root):
        raise UsageError(f"{FILE_NAME} is in {workspace.root}; move it to the repository's root, {root}")
    reviewer = _checked(request.reviewer or _owner(request.github))
    is_new = not (root / FILE_NAME).exists()
    proposals = propose_settings(workspace.records_dir, root) if is_new else SettingsProposals()
    settings_file = write_settings(read_template(FILE_NAME), proposals)
    planned = plan_files(root, workspace.settings, owner=reviewer, settings_file=settings_file)
    if request.confirm:
        write_files(root, planned)
    return Initialised(tuple(planned), reviewer, proposals)


def _owner(github: str | None) -> str:
    return f"@{github.partition('/')[0]}" if github else "@OWNER"


def _checked(reviewer: str) -> str:
    if not reviewer.startswith("@") or not reviewer[1:] or not reviewer.isprintable() or " " in reviewer:
        said = f"{printable(reviewer)} is no reviewer; write --owner @login or @organization/team"
        raise UsageError(said)
    return reviewer
