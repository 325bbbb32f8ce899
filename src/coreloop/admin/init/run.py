"""The use case ``init``: add the files that coreloop needs to a repository."""

from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from coreloop.admin.checks.diagnosis import listed
from coreloop.admin.checks.setup import project_tools
from coreloop.admin.init.new_settings import add_rows
from coreloop.admin.init.pinned_version import CannotPinError, pin_installed, pin_source
from coreloop.admin.init.scaffold import (
    REQUIREMENTS,
    ProjectFile,
    plan_files,
    read_codeowners,
    unowned,
    write_files,
)
from coreloop.base.errors import GitError, UsageError
from coreloop.base.git.repository import Repository
from coreloop.base.messages import number_of
from coreloop.base.project.owners import PLACEHOLDER, has_placeholder, is_reviewer
from coreloop.base.project.settings_file import FILE_NAME
from coreloop.base.project.tools import Tool, Unresolved
from coreloop.base.project.workspace import Workspace, open_workspace
from coreloop.base.text import printable
from coreloop.descriptions.find_tools import extra_needed


@dataclass(frozen=True, slots=True, kw_only=True)
class InitRequest:
    """The input of `initialise`.

    Attributes
    ----------
    repository : Path
        The repository's root.
    github : str or None
        ``owner/name`` if the remote is on GitHub.
    for_github : bool
        Whether to write the workflows, the branch rules and CODEOWNERS.
    reviewer : str, optional
        The entry in CODEOWNERS; by default the owner of the GitHub repository.
    source : str, optional
        What the workflows install; by default the installed coreloop.
    confirm : bool
        Write the files; if false, only plan them.
    max_open : int, optional
        ``forge: max_open`` of a new coreloop.yaml.
    """

    repository: Path
    github: str | None
    for_github: bool = True
    reviewer: str | None = None
    source: str | None = None
    confirm: bool = False
    max_open: int | None = None


@dataclass(frozen=True, slots=True)
class Initialised:
    """The planned or written files.

    Attributes
    ----------
    reviewer : str or None
        None if nothing is for GitHub.
    left_out : str or None
        Why the workflows are left out; None if they are not.
    notes : tuple of str
        What was assumed about the reviewer, which files an existing CODEOWNERS leaves without an owner, which
        tools were found, and which need a row in coreloop.yaml that only a person can write.
    """

    files: tuple[ProjectFile, ...]
    reviewer: str | None
    left_out: str | None = None
    notes: tuple[str, ...] = ()


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
    reviewer, requirement, left_out = None, None, None
    notes = ["no GitHub remote: no files for it; promote ends with a branch, pushed if there is a remote"]
    if request.for_github:
        reviewer = request.reviewer or _owner(request.github)
        if not is_reviewer(reviewer):
            todo = "write --owner @login or @organization/team"
            raise UsageError(f"{printable(reviewer)} is not a reviewer; {todo}")
        notes = [*_reviewer_notes(root, request, reviewer), *_codeowners_notes(root, reviewer)]
        requirement, left_out = _pin(root, request.source)
        wheel = (requirement or "").partition("[")[0]
        notes += [f"the workflows install {wheel}; commit it, too"] if wheel.startswith("./") else []
    tools = project_tools(open_workspace(root))
    forge = replace(workspace.settings.forge, base=_base(root, workspace.settings.forge.base))
    settings = replace(workspace.settings, forge=forge)
    planned = plan_files(root, settings, owner=reviewer, requirement=requirement)
    planned = [
        _grown(root, file, request, forge.base) if file.path == FILE_NAME else file for file in planned
    ]
    notes += [*_tools_notes(tools.values(), planned), *filter(None, [extra_needed(tools, workspace)])]
    if request.confirm:
        write_files(root, planned)
    return Initialised(tuple(planned), reviewer, left_out, tuple(notes))


def _base(root: Path, base: str) -> str:
    """The base branch: of a repository without it, and without a remote, the current one."""
    with suppress(GitError):
        repository = Repository(root)
        has_base = repository.remotes() or repository.resolve(f"refs/heads/{base}")
        return base if has_base else repository.current_branch() or base
    return base


def _grown(root: Path, file: ProjectFile, request: InitRequest, base: str) -> ProjectFile:
    """coreloop.yaml with ``reach:`` and ``forge:`` if it lacks them, and they can be added."""
    workspace, is_new = open_workspace(root), file.state == "new"
    forge: dict[str, object] = {"base": base} if base != workspace.settings.forge.base else {}
    forge |= {"max_open": request.max_open} if is_new and request.max_open is not None else {}
    old = file.content if is_new else (root / FILE_NAME).read_bytes()
    content, added = add_rows(old, workspace, forge)
    grows = file.state == "there" and content != old
    return replace(file, state="grows" if grows else file.state, content=content, added=added)


def _tools_notes(tools: Collection[Tool | Unresolved], planned: list[ProjectFile]) -> Iterator[str]:
    """Which tools are found, and what only a person can write; no names that only records have."""
    if found := [tool.name for tool in tools if isinstance(tool, Tool)]:
        yield f"{number_of(len(found), 'tool')} found: {listed(found)}"
    yield from (
        f"{tool.name} is {tool.reason}" for tool in tools if isinstance(tool, Unresolved) and tool.is_defined
    )
    if any(file.path == FILE_NAME and file.state == "there" and file.added for file in planned):
        yield f"the lines under {FILE_NAME} are to be added by hand"
    settings = b"".join(file.content for file in planned if file.path == FILE_NAME)
    if b"reach:" not in settings and any(isinstance(one, Tool) and one.file.endswith(".py") for one in tools):
        yield "no reach: the source names no server, agent or tool object of a framework that coreloop reads"


def _pin(root: Path, source: str | None) -> tuple[str | None, str | None]:
    """Return what the workflows install, or the reason why it cannot be pinned; an existing file wins."""
    if source is not None:
        return pin_source(source, root), None
    if (root / REQUIREMENTS).exists():
        return "", None
    try:
        return pin_installed(), None
    except CannotPinError as error:
        return None, str(error)


def _owner(github: str | None) -> str:
    return f"@{github.partition('/')[0]}" if github else PLACEHOLDER


def _reviewer_notes(root: Path, request: InitRequest, reviewer: str) -> Iterator[str]:
    """What is assumed about a reviewer that CODEOWNERS will name."""
    codeowners = read_codeowners(root)
    if codeowners is not None and not has_placeholder(codeowners[1]):
        return
    if reviewer == PLACEHOLDER:
        yield f"CODEOWNERS names the placeholder {PLACEHOLDER}; run this again with --owner to replace it"
        return
    if request.github is None or reviewer.casefold() != _owner(request.github).casefold():
        return
    yield f"if {reviewer} is an organization, which cannot review, put a team or a login into CODEOWNERS"


def _codeowners_notes(root: Path, reviewer: str) -> Iterator[str]:
    codeowners = read_codeowners(root)
    missing = unowned(*codeowners) if codeowners is not None else {}
    if codeowners is not None and missing:
        lines = ", ".join(f"{pattern} {reviewer}" for pattern in dict.fromkeys(missing.values()))
        yield f"{codeowners[0]} has no owner for {', '.join(missing)}; add {lines}"
