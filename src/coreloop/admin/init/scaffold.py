"""The files that a repository needs to run coreloop: plan which are missing, and write them."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Final, Literal

from coreloop.base.errors import WorkspaceError
from coreloop.base.files import file_errors, write_private, write_public
from coreloop.base.git.repository import Repository
from coreloop.base.project.owners import (
    PLACEHOLDER,
    PLACEHOLDER_NOTE,
    PLACES,
    fill_placeholder,
    has_placeholder,
    owners_of,
)
from coreloop.base.project.promotion_settings import ForgeSettings
from coreloop.base.project.settings import Settings
from coreloop.base.project.settings_file import FILE_NAME

REQUIREMENTS: Final = ".github/coreloop-requirements.txt"
DEPENDENCIES: Final = ".github/coreloop-dependencies.txt"
"""What the nightly job installs beside coreloop, by its hashes; the only file that a later run replaces."""
WORKFLOWS: Final = (".github/workflows/ai-policy.yml", ".github/workflows/coreloop-pattern.yml")
_VIEWS: Final = ".research/"
"""The views of runs, see `coreloop.runs.run_files`."""
# git@github.com:octo/tools.git, https://github.example.com/octo/tools; not git@gitlab.com:github/tools.git
_HOST: Final = re.compile(r"(?:[\w+.-]+://)?(?:[^/@\s]*@)?([^/:\s]*)[:/]")
_FOLDERS: Final = ("ai-ask", "candidates", "counterexamples", "judgments")


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """A file of the project, existing or planned.

    Attributes
    ----------
    path : str
        Below the repository's root, with ``/``.
    state : {"new", "grows", "filled", "updated", "there"}
        Existing files are never overwritten, except that .gitignore and coreloop.yaml gain what they lack,
        the placeholder in CODEOWNERS is replaced, and `DEPENDENCIES` become those of this coreloop.
    content : bytes
        The complete content after writing.
    added : tuple of str
        The lines that a file gains.
    private : bool
        Whether the file and its folders are closed to other users.
    """

    path: str
    state: Literal["new", "grows", "filled", "updated", "there"]
    content: bytes = b""
    added: tuple[str, ...] = ()
    private: bool = False


def uses_github(root: Path, repository: Repository | None, forge: ForgeSettings) -> bool:
    """Whether a remote is on GitHub or GitHub Enterprise, ``forge: repo`` is set, or .github exists."""
    urls = map(repository.remote_url, repository.remotes()) if repository is not None else ()
    hosts = (found[1].lower() for found in map(_HOST.match, urls) if found is not None)
    return forge.repo is not None or (root / ".github").exists() or any("github" in host for host in hosts)


def plan_files(
    root: Path, settings: Settings, *, owner: str | None, requirement: str | None
) -> list[ProjectFile]:
    """Plan the files of a repository without writing.

    Parameters
    ----------
    root : Path
        The repository's root.
    settings : Settings
        Settings for the data folder and the base branch.
    owner : str or None
        The reviewer in CODEOWNERS: ``@login`` or ``@organization/team``. If None, nothing is for GitHub.
    requirement : str or None
        What the workflows install. If None, the workflows and their requirements file are left out.

    Raises
    ------
    WorkspaceError
        A folder has the path of a planned file, or .gitignore cannot be read.
    """
    planned = [_planned(root, FILE_NAME, read_template(FILE_NAME))]
    if owner is not None:
        planned += (_planned(root, *file) for file in _github_files(settings.forge.base, requirement))
        planned.append(_codeowners(root, owner))
    return [*planned, *_data_files(root, settings), _gitignore(root, settings)]


def write_files(root: Path, planned: list[ProjectFile]) -> None:
    """Write the planned files, each atomically; a second run continues an interrupted one.

    Raises
    ------
    WorkspaceError
        A file cannot be written.
    """
    for file in planned:
        if file.state != "there":
            write = write_private if file.private else write_public
            write((root / file.path).resolve(), file.content)


def _github_files(branch: str, requirement: str | None) -> Iterator[tuple[str, bytes]]:
    if requirement is not None:
        for path in WORKFLOWS:
            yield path, read_template(PurePosixPath(path).name)
        yield REQUIREMENTS, f"{requirement}\n".encode()
        yield DEPENDENCIES, read_template(PurePosixPath(DEPENDENCIES).name)
    line = f"branch: {json.dumps(branch, ensure_ascii=False)}".encode()  # JSON is valid YAML
    rules = re.sub(rb"(?m)^branch: .*$", lambda _: line, read_template("branch_protection.yml"))
    yield ".github/branch_protection.yml", rules


def read_template(name: str) -> bytes:
    """Return a template that comes with the package."""
    return files("coreloop.admin.init").joinpath("templates", name).read_bytes()


def codeowners(owner: str) -> str:
    """Return CODEOWNERS: the reviewer of all Python files, which may have tools, and of the guard's files."""
    note = (PLACEHOLDER_NOTE,) if owner == PLACEHOLDER else ()
    lines = [f"{pattern} {owner}" for pattern in ("*.py", f"/{FILE_NAME}", "/.github/")]
    return "\n".join(
        ("# Who must review promotions, and whatever could change the guard.", *note, *lines, "")
    )


def read_codeowners(root: Path) -> tuple[str, str] | None:
    """Path and text of the CODEOWNERS that GitHub uses, or None.

    Raises
    ------
    WorkspaceError
        It cannot be read.
    """
    path = next((place for place in PLACES if (root / place).exists()), None)
    if path is None:
        return None
    _refuse_folder(root / path)
    with file_errors("cannot be read ({strerror})", root / path):
        return path, (root / path).read_bytes().decode(errors="surrogateescape")


def unowned(path: str, text: str) -> dict[str, str]:
    """What the guard rests on and CODEOWNERS leaves to everybody: by file, the pattern that would own it."""
    needed = {WORKFLOWS[0]: "/.github/", REQUIREMENTS: "/.github/", FILE_NAME: f"/{FILE_NAME}"}
    needed.setdefault(path, "/.github/" if path.startswith(".github/") else f"/{path}")
    return {file: pattern for file, pattern in needed.items() if not owners_of(text, file)}


def _planned(root: Path, path: str, content: bytes) -> ProjectFile:
    _refuse_link(root, path)
    if not (root / path).exists():
        return ProjectFile(path, "new", content)
    _refuse_folder(root / path)
    if path == DEPENDENCIES and (root / path).read_bytes() != content:
        return ProjectFile(path, "updated", content)
    return ProjectFile(path, "there")


def _codeowners(root: Path, owner: str) -> ProjectFile:
    for place in PLACES:
        _refuse_link(root, place)
    existing = read_codeowners(root)
    if existing is None:
        return ProjectFile(PLACES[0], "new", codeowners(owner).encode())
    path, text = existing
    if owner == PLACEHOLDER or not has_placeholder(text):
        return ProjectFile(path, "there")
    return ProjectFile(path, "filled", fill_placeholder(text, owner).encode(errors="surrogateescape"))


def _refuse_link(root: Path, path: str) -> None:
    if not (root / path).resolve().is_relative_to(root.resolve()):
        raise WorkspaceError("leads out of the repository; remove the link", path=root / path)


def _refuse_folder(path: Path) -> None:
    if not path.is_file():
        raise WorkspaceError("is not a file; move it away", path=path)


def _audit(settings: Settings) -> PurePosixPath | None:
    """Return the audit folder relative to the root, or None if it is outside."""
    folder = PurePosixPath(Path(settings.data_dir).as_posix()) / "audit"
    return None if folder.is_absolute() or ".." in folder.parts else folder


def _data_files(root: Path, settings: Settings) -> Iterator[ProjectFile]:
    audit = _audit(settings)
    for name in _FOLDERS if audit is not None else ():
        path = f"{audit}/{name}/.gitkeep"
        yield ProjectFile(path, "there" if (root / path).exists() else "new", private=True)


def _gitignore(root: Path, settings: Settings) -> ProjectFile:
    """Plan .gitignore so that git ignores the runs and the index, and the records but not their folders."""
    audit, path = _audit(settings), root / ".gitignore"
    lines: tuple[str, ...] = (_VIEWS,)
    if audit is not None:
        data = audit.parent
        records = (f"{audit}/**", f"!{audit}/**/", f"!{audit}/**/.gitkeep")
        lines = (*records, f"{data / 'ai'}/", f"{data / 'runs'}/", f"{data / 'index'}/", _VIEWS)
    _refuse_link(root, ".gitignore")
    with file_errors("cannot be read ({strerror})", path):
        old = path.read_bytes() if path.exists() else b""
    existing = {line.strip() for line in old.decode("utf-8", "replace").splitlines()}
    if existing.issuperset(lines):
        return ProjectFile(".gitignore", "there")
    # append all lines: in .gitignore a later line overrides an earlier one
    end = b"\r\n" if b"\r\n" in old else b"\n"
    gap = end if old and not old.endswith((b"\n", b"\r")) else b""
    added = b"".join(line.encode() + end for line in lines)
    return ProjectFile(".gitignore", "grows" if path.exists() else "new", old + gap + added, lines)
