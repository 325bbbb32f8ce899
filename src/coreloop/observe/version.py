"""Which commit of a git repository a folder shows, by its files alone: no process is started."""

import re
from pathlib import Path
from typing import Final

_COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_LONGEST_CHARS: Final = 4096
_MAX_LINKS: Final = 5


def tools_version_of(folder: Path) -> str | None:
    """The commit that is checked out in the git repository around a folder.

    Parameters
    ----------
    folder : Path
        Anywhere within the working tree.

    Returns
    -------
    str or None
        40 hex digits, or 64 of a repository with SHA-256; None where there is no repository, no commit yet,
        or nothing that can be read. Changes that are not committed do not show.
    """
    try:
        git = _git_folder(folder)
        return None if git is None else _commit(git)
    except (OSError, ValueError):  # no text, or a path that no file system can have
        return None


def _git_folder(folder: Path) -> Path | None:
    around = (parent / ".git" for parent in (folder, *folder.parents))
    dot_git = next((path for path in around if path.exists()), None)
    if dot_git is None or dot_git.is_dir():
        return dot_git
    said = _read(dot_git)  # of a worktree or a submodule
    return dot_git.parent / said.removeprefix("gitdir:").strip() if said.startswith("gitdir:") else None


def _commit(git: Path) -> str | None:
    common_file = git / "commondir"
    common = git / _read(common_file) if common_file.is_file() else git
    said = _read(git / "HEAD")
    for _ in range(_MAX_LINKS):
        if not said.startswith("ref:"):
            return said if _COMMIT.fullmatch(said) else None
        name = said.removeprefix("ref:").strip()
        loose = next((place / name for place in (git, common) if (place / name).is_file()), None)
        if loose is None:
            return _packed_commit(common / "packed-refs", name)
        said = _read(loose)
    return None


def _packed_commit(packed: Path, name: str) -> str | None:
    if not packed.is_file():
        return None
    with packed.open(encoding="utf-8") as lines:
        for line in lines:
            commit, _, ref = line.rstrip("\n").partition(" ")
            if ref == name and _COMMIT.fullmatch(commit):
                return commit
    return None


def _read(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        return file.read(_LONGEST_CHARS).strip()
