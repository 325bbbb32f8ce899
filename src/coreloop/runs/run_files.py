"""Files that show a run to people and skills. coreloop writes them and never reads them."""

import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Final

import msgspec

from coreloop.base.files import file_errors, write_private
from coreloop.runs.active_run import Run
from coreloop.runs.agent.session_file import FOLDER as AGENTS
from coreloop.runs.agent.session_file import remove_session
from coreloop.runs.events import Event
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
from coreloop.runs.lessons import read_reflexion
from coreloop.runs.load import iterations
from coreloop.runs.reflexion import Reflexion
from coreloop.runs.state import State
from coreloop.runs.stores.store import Store

CURRENT: Final = "current"
_NOTHING_LEARNT: Final = Reflexion()
_NO_ITERATIONS: Final[Mapping[int, Sequence[Event]]] = MappingProxyType({})


def write_views(
    root: Path,
    state: State,
    *,
    iterations: Mapping[int, Sequence[Event]] = _NO_ITERATIONS,
    reflexion: Reflexion = _NOTHING_LEARNT,
) -> None:
    """Write the views of a run, and make it the current one.

    Parameters
    ----------
    root : Path
        The project's folder.
    state : State
        After a committed iteration.
    iterations : mapping of int to sequence of Event
        Iterations and their events, for ``archival/iteration_NNN.json``.
    reflexion : Reflexion
        The content of ``reflexion.json``.

    Raises
    ------
    WorkspaceError
        The folder or a file cannot be written; every file is whole, old or new.
    """
    folder = private_session(root, state.run_id)
    if not state.drives_itself:  # otherwise the commit wrote it, and another one may have come since
        write_state(root, state)
    contents = {
        "search_history.json": as_json(state.search_history),
        REFLEXION: as_json(reflexion.view()),
        **kind_named(state.kind).views(state),
    }
    for number, events in iterations.items():
        contents[f"archival/iteration_{number:03d}.json"] = as_json(
            [msgspec.to_builtins(event) for event in events]
        )
    for parent in {(folder / name).parent for name in contents} - {folder}:
        make_private(parent)
    for name, content in contents.items():
        write_private(folder / name, content)
    _link(root / FOLDER / CURRENT, Path("sessions", state.run_id))
    _link(root / FOLDER / STATE, Path(CURRENT, STATE))


class Viewer:
    """Writes the views of a run after each of its iterations.

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

    def __call__(self, run: Run) -> None:
        """Write the views as they are now.

        Raises
        ------
        WorkspaceError
            See `write_views`.
        """
        new = {}
        for seq, number, events in iterations(self._store, run.run_id, after=self._newest):
            self._newest, new[number] = seq, events
        learnt = read_reflexion(self._store.reflexion(run.state.kind))
        write_views(self._root, run.state, iterations=new, reflexion=learnt)


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
    """Replace a symbolic link; a file system without links goes without."""
    temporary = link.with_name(f".{link.name}.{os.getpid()}.partial")
    with suppress(OSError):
        temporary.unlink(missing_ok=True)
        temporary.symlink_to(target)
        try:
            temporary.replace(link)
        finally:
            temporary.unlink(missing_ok=True)  # still there if ``link`` is a folder
