"""What is written in a store's commit: whoever appends an event, hooks and people read its effect."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from coreloop.runs import events as happened
from coreloop.runs.agent.session_file import FOLDER as AGENTS
from coreloop.runs.agent.session_file import write_session
from coreloop.runs.events import Event
from coreloop.runs.fold import Folding
from coreloop.runs.folder import FOLDER, STATE, make_private, private_session, session_folder, write_state

_WORKS: Final = (happened.Opened, happened.IterationCommitted)
"""The session that a run belongs to works on it."""


def publish(root: Path, events: Sequence[Event], *, new: int) -> None:
    """Write the state of a run, and the file of its agent's session, as the newest events leave them.

    Parameters
    ----------
    root : Path
        The project's folder.
    events : sequence of Event
        All events of the run.
    new : int
        How many of them are being committed.

    Raises
    ------
    WorkspaceError
        A file cannot be written; nothing is committed then.
    """
    folding, known = Folding(), len(events) - new
    for event in events[:known]:
        folding.add(event)
    before = folding.state.owner
    for event in events[known:]:
        folding.add(event)
    state = folding.state
    if state.drives_itself:
        private_session(root, state.run_id)
        make_private(root / FOLDER / AGENTS)
        is_newest = any(isinstance(event, _WORKS) for event in events[known:])
        write_session(root / FOLDER / AGENTS, state, before=before, is_newest=is_newest)
    if state.drives_itself or (session_folder(root, state.run_id) / STATE).is_file():
        write_state(root, state)
