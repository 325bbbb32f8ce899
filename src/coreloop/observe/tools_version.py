"""Read the checked-out commit of a git repository from its files, without starting git."""

import re
from pathlib import Path
from typing import Final

_COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_LONGEST_CHARS: Final = 4096
_MAX_LINKS: Final = 5


def tools_version_of(folder: Path) -> str | None:
    """Return the checked-out commit of the git repository that contains a folder.

    Parameters
    ----------
    folder : Path
        Anywhere within the working tree.

    Returns
    -------
    str or None
        40 hex digits, or 64 in a SHA-256 repository; None if the repository or commit is absent or cannot
        be read. Uncommitted changes are ignored.
    """
    try:
        git = _git_folder(folder)
        return None if git is None else _commit(git)
    except (OSError, ValueError):  # not text, or an impossible path
        return None


def _git_folder(folder: Path) -> Path | None:
    candidates = (parent / ".git" for parent in (folder, *folder.parents))
    dot_git = next((path for path in candidates if path.exists()), None)
    if dot_git is None or dot_git.is_dir():
        return dot_git
    link = _read(dot_git)  # of a worktree or a submodule
    return dot_git.parent / link.removeprefix("gitdir:").strip() if link.startswith("gitdir:") else None


def _commit(git: Path) -> str | None:
    common_file = git / "commondir"
    common = git / _read(common_file) if common_file.is_file() else git
    head = _read(git / "HEAD")
    for _ in range(_MAX_LINKS):
        if not head.startswith("ref:"):
            return head if _COMMIT.fullmatch(head) else None
        name = head.removeprefix("ref:").strip()
        loose = next((folder / name for folder in (git, common) if (folder / name).is_file()), None)
        if loose is None:
            return _packed_commit(common / "packed-refs", name)
        head = _read(loose)
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
