"""Putting what coreloop needs into a repository, as one use case: ``init``."""

from dataclasses import dataclass, field
from pathlib import Path

from coreloop.errors import UsageError
from coreloop.project.pin import CannotPinError, pin_installed, pin_source
from coreloop.project.scaffold import REQUIREMENTS, ProjectFile, plan_files, read_template, write_files
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
    source : str, optional
        What the workflows install; by default what is installed here.
    confirm : bool
        Write; without it, only plan.
    """

    repository: Path
    github: str | None
    reviewer: str | None = None
    source: str | None = None
    confirm: bool = False


@dataclass(frozen=True, slots=True)
class Initialised:
    """The files of a project, who reviews them, and what a new coreloop.yaml proposes.

    Attributes
    ----------
    left_out : str or None
        Why the workflows were left out.
    """

    files: tuple[ProjectFile, ...]
    reviewer: str
    left_out: str | None = None
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
        coreloop.yaml is not at the repository's root, or the reviewer or the source is invalid.
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
    requirement, left_out = _pinned(root, request.source)
    planned = plan_files(
        root, workspace.settings, owner=reviewer, requirement=requirement, settings_file=settings_file
    )
    if request.confirm:
        write_files(root, planned)
    return Initialised(tuple(planned), reviewer, left_out, proposals)


def _pinned(root: Path, source: str | None) -> tuple[str | None, str | None]:
    """What the workflows install, or why that is unknown; an existing file decides by itself."""
    if source is not None:
        return pin_source(source), None
    if (root / REQUIREMENTS).exists():
        return "", None
    try:
        return pin_installed(), None
    except CannotPinError as error:
        return None, str(error)


def _owner(github: str | None) -> str:
    return f"@{github.partition('/')[0]}" if github else "@OWNER"


def _checked(reviewer: str) -> str:
    if not reviewer.startswith("@") or not reviewer[1:] or not reviewer.isprintable() or " " in reviewer:
        said = f"{printable(reviewer)} is no reviewer; write --owner @login or @organization/team"
        raise UsageError(said)
    return reviewer
