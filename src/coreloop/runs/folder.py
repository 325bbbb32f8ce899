"""The folder of a run below ``.research/``, and what is written there whoever works on the run."""

from pathlib import Path
from typing import Any, Final

import orjson

from coreloop.base.errors import WorkspaceError
from coreloop.base.files import file_errors, write_private
from coreloop.runs.clock import is_ulid
from coreloop.runs.state import State, state_json

FOLDER: Final = ".research"
"""In the project's folder; ``init`` keeps it out of git."""
INBOX: Final = f"{FOLDER}/inbox"
"""Where skills write what they give to commands; it is removed when it was recorded."""
STATE: Final = "state.json"
REFLEXION: Final = "reflexion.json"


def session_folder(root: Path, run_id: str) -> Path:
    """Return the folder of a run's views below a project's folder.

    Raises
    ------
    ValueError
        The id is not a ULID, so that it could name a path elsewhere.
    """
    if not is_ulid(run_id):
        raise ValueError(f"not a run id: {run_id!r}")
    return root / FOLDER / "sessions" / run_id


def reports_file(runs_dir: Path, run_id: str) -> Path:
    """Return the file of what a run's command reported; it exists while that is not booked."""
    return runs_dir / "spending" / f"{run_id}.jsonl"


def private_session(root: Path, run_id: str) -> Path:
    """Create the folder of a run's views, readable only by you.

    Raises
    ------
    WorkspaceError
        It cannot be created, or a symbolic link leads elsewhere.
    """
    folder = session_folder(root, run_id)
    for path in (root / FOLDER, folder.parent, folder):
        make_private(path)
    return folder


def write_reflexion(root: Path, run_id: str, view: Any) -> None:
    """Write what a run sees of earlier ones, if it has a view of it.

    Raises
    ------
    WorkspaceError
        See `coreloop.runs.run_files.Viewer`.
    """
    if (session_folder(root, run_id) / REFLEXION).is_file():
        write_private(private_session(root, run_id) / REFLEXION, as_json(view))


def write_state(root: Path, state: State) -> None:
    """Write the state of a run for people and skills.

    Raises
    ------
    WorkspaceError
        See `coreloop.runs.run_files.Viewer`.
    """
    write_private(private_session(root, state.run_id) / STATE, as_json(state_json(state)))


def as_json(value: Any) -> bytes:
    """Return what a view contains."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def make_private(folder: Path) -> None:
    """Create a folder of views, readable only by you.

    Raises
    ------
    WorkspaceError
        It cannot be created, or it is a symbolic link.
    """
    refuse_link(folder)
    with file_errors("cannot be used ({strerror})", folder):
        folder.mkdir(mode=0o700, exist_ok=True)
        folder.chmod(0o700)


def refuse_link(folder: Path) -> None:
    """Refuse a symbolic link in place of a folder.

    Raises
    ------
    WorkspaceError
        It is one.
    """
    if folder.is_symlink():  # a repository or a command could make one that leads elsewhere
        raise WorkspaceError("is a symbolic link; replace it by a folder", path=folder)
