"""Temporary files and folders that are cleaned up, and workers that end with their parent.

What a killed process leaves is removed by a later one, once nothing in it was written for a day.
"""

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_LEFT_FOR_S: Final = 86_400


@contextmanager
def temporary_folder(prefix: str, *, parent: Path | None = None) -> Iterator[Path]:
    """Create a folder ``{prefix}{random}`` of mode 0700; removed after the block.

    Parameters
    ----------
    prefix : str
        No other name in the parent may be this prefix and 16 hex digits.
    parent : Path, optional
        The system's folder for temporary files by default.

    Raises
    ------
    OSError
        It cannot be created.
    """
    if parent is None:
        from tempfile import gettempdir  # 4 ms that most commands can do without, as below

        parent = Path(gettempdir())
    remove_leftovers(parent, re.compile(rf"{re.escape(prefix)}[0-9a-f]{{16}}"))
    folder = parent / f"{prefix}{os.urandom(8).hex()}"
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        _remove_tree(folder)


def remove_leftovers(folder: Path, names: re.Pattern[str]) -> None:
    """Remove files and folders with matching names in which nothing was written for a day.

    Links are not followed. Errors are ignored.
    """
    with suppress(OSError):
        for path in folder.iterdir():
            if names.fullmatch(path.name) and not path.is_symlink():
                with suppress(OSError):
                    _remove(path)


def _remove(path: Path) -> None:
    parts = [path, *(path.iterdir() if path.is_dir() else ())]
    if time.time() - max(part.lstat().st_mtime for part in parts) > _LEFT_FOR_S:
        _remove_tree(path) if path.is_dir() else path.unlink()


def end_with_parent() -> None:
    """Make this `multiprocessing` worker exit when its parent process ends."""
    from multiprocessing import parent_process
    from threading import Thread

    parent = parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        os._exit(1)  # a worker that is blocked on a pipe ends no other way

    Thread(target=watch, name="end_with_parent", daemon=True).start()


def _remove_tree(folder: Path) -> None:
    from shutil import rmtree

    rmtree(folder, ignore_errors=True)
