"""Files that show a run to people and skills. coreloop writes them and never reads them."""

import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from coreloop.base.files import file_errors, write_private
from coreloop.runs.agent.session_file import FOLDER as AGENTS
from coreloop.runs.agent.session_file import remove_session
from coreloop.runs.folder import (
    FOLDER,
    REFLEXION,
    STATE,
    as_json,
    make_private,
    private_session,
    refuse_link,
    session_folder,
    write_state,
)
from coreloop.runs.kinds import kind_named
from coreloop.runs.load import iterations
from coreloop.runs.reflexion import Reflexion
from coreloop.runs.state import State
from coreloop.runs.stores.store import Store

CURRENT: Final = "current"


class Viewer:
    """Writes the views of a run after each of its iterations, and makes it the current one.

    Parameters
    ----------
    root : Path
        The project's folder.
    store : Store
        Of the run.
    """

    def __init__(self, root: Path, store: Store) -> None:
        self._root = root
        self._store = store
        self._newest = 0

    def __call__(self, state: State) -> None:
        """Write the views as they are after a committed iteration.

        Raises
        ------
        WorkspaceError
            The folder or a file cannot be written; every file is whole, old or new.
        """
        folder = private_session(self._root, state.run_id)
        if not state.drives_itself:  # otherwise the commit wrote it, and another one may have come since
            write_state(self._root, state)
        learnt = Reflexion.from_json(self._store.reflexion(state.kind))
        contents = {
            "search_history.json": as_json(state.search_history),
            REFLEXION: as_json(learnt.view()),
            **kind_named(state.kind).views(state),
        }
        for newest, number, events in iterations(self._store, state.run_id, after=self._newest):
            self._newest = newest
            name = f"archival/iteration_{number:03d}.json"
            if not (folder / name).exists():
                contents[name] = as_json(list(map(msgspec.to_builtins, events)))
        for parent in {(folder / name).parent for name in contents} - {folder}:
            make_private(parent)
        for name, content in contents.items():
            write_private(folder / name, content)
        _link(self._root / FOLDER / CURRENT, Path("sessions", state.run_id))
        _link(self._root / FOLDER / STATE, Path(CURRENT, STATE))


def remove_views(root: Path, run_id: str) -> None:
    """Remove the views of a run, and the links to them.

    Raises
    ------
    WorkspaceError
        A file cannot be removed.
    """
    folder, current = session_folder(root, run_id), root / FOLDER / CURRENT
    for above in (root / FOLDER, folder.parent, root / FOLDER / AGENTS):
        refuse_link(above)
    with file_errors("cannot be removed ({strerror})", folder):
        for file in (root / FOLDER / AGENTS).glob("*.json"):
            remove_session(file, run_id)
        if current.is_symlink() and current.readlink().name == run_id:
            for link in (root / FOLDER / STATE, current):
                if link.is_symlink():
                    link.unlink()
        if folder.is_symlink() or folder.is_file():
            folder.unlink()
        elif folder.exists():
            shutil.rmtree(folder)


def _link(link: Path, target: Path) -> None:
    """Let a symbolic link lead to a target; a file system without links goes without."""
    with suppress(OSError):  # also where a folder has its place
        if not link.is_symlink() or link.readlink() != target:
            link.unlink(missing_ok=True)
            link.symlink_to(target)
