"""What a project's repository needs to run coreloop: its files, which of them are there, the rest written."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Final, Literal

from coreloop.errors import WorkspaceError
from coreloop.files import write_private, write_public
from coreloop.project.owners import (
    PLACEHOLDER,
    PLACEHOLDER_NOTE,
    fill_placeholder,
    has_placeholder,
    owners_of,
)
from coreloop.project.settings import FILE_NAME, Settings

REQUIREMENTS: Final = ".github/coreloop-requirements.txt"
_CODEOWNERS: Final = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
WORKFLOWS: Final = (".github/workflows/ai-policy.yml", ".github/workflows/coreloop-pattern.yml")
_FOLDERS: Final = ("ai-ask", "candidates", "counterexamples", "judgments")


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """One file.

    Attributes
    ----------
    path : str
        Below the repository's root, with ``/``.
    state : {"new", "grows", "filled", "there"}
        Existing files are never overwritten, except that .gitignore grows by the lines that it lacks, and the
        placeholder for the owner in CODEOWNERS is replaced.
    content : bytes
        The whole file as it will be.
    added : tuple of str
        The lines by which one grows.
    """

    path: str
    state: Literal["new", "grows", "filled", "there"]
    content: bytes = b""
    added: tuple[str, ...] = ()
    private: bool = False


def plan_files(
    root: Path,
    settings: Settings,
    *,
    owner: str,
    requirement: str | None,
    settings_file: bytes | None = None,
) -> list[ProjectFile]:
    """Work out what is missing; reads only.

    Parameters
    ----------
    root : Path
        The repository's root.
    settings : Settings
        Of its coreloop.yaml, or the defaults: the data folder, the base branch and the tools' files.
    owner : str
        Who reviews, as CODEOWNERS has it: ``@login`` or ``@organization/team``.
    requirement : str or None
        What the workflows install. If None, the workflows and what they install are left out.
    settings_file : bytes, optional
        A new coreloop.yaml; the template by default.

    Raises
    ------
    WorkspaceError
        A folder is where a file should be, or .gitignore cannot be read.
    """
    wanted = dict(_wanted(settings, owner=owner, requirement=requirement))
    if settings_file is not None:
        wanted[FILE_NAME] = settings_file
    planned = [_planned(root, path, content) for path, content in wanted.items() if path not in _CODEOWNERS]
    planned.append(_codeowners(root, wanted[_CODEOWNERS[0]], owner))
    return [*planned, *_data_files(root, settings), _gitignore(root, settings)]


def write_files(root: Path, planned: list[ProjectFile]) -> None:
    """Write what is missing, each file whole or not at all; a second run goes on where one ended.

    Raises
    ------
    WorkspaceError
        A file cannot be written.
    """
    for one in planned:
        if one.state != "there":
            write = write_private if one.private else write_public
            write((root / one.path).resolve(), one.content)


def _wanted(settings: Settings, *, owner: str, requirement: str | None) -> Iterator[tuple[str, bytes]]:
    yield FILE_NAME, read_template(FILE_NAME)
    if requirement is not None:
        for path in WORKFLOWS:
            yield path, read_template(PurePosixPath(path).name)
        yield REQUIREMENTS, f"{requirement}\n".encode()
    branch = settings.forge.base
    rules = re.sub(
        rb"(?m)^branch: .*$", b"branch: " + branch.encode(), read_template("branch_protection.yml")
    )
    yield ".github/branch_protection.yml", rules
    yield _CODEOWNERS[0], codeowners(settings, owner=owner).encode()


def read_template(name: str) -> bytes:
    """A file that comes with the package."""
    return files("coreloop").joinpath("templates", name).read_bytes()


def codeowners(settings: Settings, *, owner: str) -> str:
    """Who must review the tools' sources (all Python while none is named) and what the guard rests on."""
    targets = (tool.target.partition("::")[0] for tool in settings.tools.values() if tool.target is not None)
    sources = sorted({f"/{file}".replace(" ", "\\ ") for file in targets}) or ["*.py"]
    note = (PLACEHOLDER_NOTE,) if owner == PLACEHOLDER else ()
    lines = [f"{pattern} {owner}" for pattern in (*sources, f"/{FILE_NAME}", "/.github/")]
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
    path = next((place for place in _CODEOWNERS if (root / place).exists()), None)
    if path is None:
        return None
    _refuse_folder(root / path)
    try:
        return path, (root / path).read_bytes().decode(errors="surrogateescape")
    except OSError as error:
        raise WorkspaceError(f"cannot be read ({error.strerror})", path=root / path) from error


def unowned(path: str, text: str) -> dict[str, str]:
    """What the guard rests on and CODEOWNERS leaves to everybody: by file, the pattern that would own it."""
    needed = {WORKFLOWS[0]: "/.github/", REQUIREMENTS: "/.github/", FILE_NAME: f"/{FILE_NAME}"}
    needed.setdefault(path, "/.github/" if path.startswith(".github/") else f"/{path}")
    return {file: pattern for file, pattern in needed.items() if not owners_of(text, file)}


def _planned(root: Path, path: str, content: bytes) -> ProjectFile:
    if not (root / path).exists():
        return ProjectFile(path, "new", content)
    _refuse_folder(root / path)
    return ProjectFile(path, "there")


def _codeowners(root: Path, content: bytes, owner: str) -> ProjectFile:
    found = read_codeowners(root)
    if found is None:
        return ProjectFile(_CODEOWNERS[0], "new", content)
    path, text = found
    if owner == PLACEHOLDER or not has_placeholder(text):
        return ProjectFile(path, "there")
    return ProjectFile(path, "filled", fill_placeholder(text, owner).encode(errors="surrogateescape"))


def _refuse_folder(path: Path) -> None:
    if not path.is_file():
        raise WorkspaceError("is no file; move it away", path=path)


def _audit(settings: Settings) -> PurePosixPath | None:
    """The data folder below the root, where it is below."""
    folder = PurePosixPath(Path(settings.data_dir).as_posix()) / "audit"
    return None if folder.is_absolute() or ".." in folder.parts else folder


def _data_files(root: Path, settings: Settings) -> Iterator[ProjectFile]:
    audit = _audit(settings)
    for name in _FOLDERS if audit is not None else ():
        path = f"{audit}/{name}/.gitkeep"
        yield ProjectFile(path, "there" if (root / path).exists() else "new", private=True)


def _gitignore(root: Path, settings: Settings) -> ProjectFile:
    """What users asked stays out of git; the folders themselves do not."""
    audit, path = _audit(settings), root / ".gitignore"
    wanted: tuple[str, ...] = ()
    if audit is not None:
        wanted = (f"{audit}/**", f"!{audit}/**/", f"!{audit}/**/.gitkeep", f"{audit.parent / 'ai'}/")
    try:
        old = path.read_bytes() if path.exists() else b""
    except OSError as error:
        raise WorkspaceError(f"cannot be read ({error.strerror})", path=path) from error
    has = {line.strip() for line in old.decode("utf-8", "replace").splitlines()}
    if has.issuperset(wanted):
        return ProjectFile(".gitignore", "there")
    # all of them: a later line outweighs an earlier one
    end = b"\r\n" if b"\r\n" in old else b"\n"
    gap = end if old and not old.endswith((b"\n", b"\r")) else b""
    added = b"".join(line.encode() + end for line in wanted)
    return ProjectFile(".gitignore", "grows" if path.exists() else "new", old + gap + added, wanted)
