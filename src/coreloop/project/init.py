"""The use case ``init``: add the files that coreloop needs to a repository."""

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
    """The input of `initialise`.

    Attributes
    ----------
    repository : Path
        The repository's root.
    github : str or None
        ``owner/name`` if the remote is on GitHub.
    reviewer : str, optional
        The entry in CODEOWNERS; by default the owner of the GitHub repository.
    source : str, optional
        What the workflows install; by default the installed coreloop.
    confirm : bool
        Write the files; if false, only plan them.
    """

    repository: Path
    github: str | None
    reviewer: str | None = None
    source: str | None = None
    confirm: bool = False


@dataclass(frozen=True, slots=True)
class Initialised:
    """The planned or written files, the reviewer, and the proposals in a new coreloop.yaml.

    Attributes
    ----------
    left_out : str or None
        Why the workflows are left out; None if they are not.
    """

    files: tuple[ProjectFile, ...]
    reviewer: str
    left_out: str | None = None
    proposals: SettingsProposals = field(default_factory=SettingsProposals)


def initialise(workspace: Workspace, request: InitRequest) -> Initialised:
    """Plan the files that a repository lacks and, with ``request.confirm``, write them.

    Parameters
    ----------
    workspace : Workspace
        The workspace of the folder in which ``init`` was called.
    request : InitRequest
        The repository of that folder, and the options.

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
    reviewer = _check_reviewer(request.reviewer or _owner(request.github))
    is_new = not (root / FILE_NAME).exists()
    proposals = propose_settings(workspace.records_dir, root) if is_new else SettingsProposals()
    settings_file = write_settings(read_template(FILE_NAME), proposals)
    requirement, left_out = _pin(root, request.source)
    planned = plan_files(
        root, workspace.settings, owner=reviewer, requirement=requirement, settings_file=settings_file
    )
    if request.confirm:
        write_files(root, planned)
    return Initialised(tuple(planned), reviewer, left_out, proposals)


def _pin(root: Path, source: str | None) -> tuple[str | None, str | None]:
    """Return what the workflows install, or the reason why it cannot be pinned; an existing file wins."""
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


def _check_reviewer(reviewer: str) -> str:
    if not reviewer.startswith("@") or not reviewer[1:] or not reviewer.isprintable() or " " in reviewer:
        raise UsageError(
            f"{printable(reviewer)} is not a reviewer; write --owner @login or @organization/team"
        )
    return reviewer
