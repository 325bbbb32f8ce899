"""What the commands on runs share: what names a run, and the project's store."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from coreloop.base.errors import UsageError
from coreloop.base.project.workspace import Workspace, open_workspace

if TYPE_CHECKING:
    from coreloop.runs.stores.store import Store

run_argument = click.argument("run_id", metavar="[RUN]", required=False)
session_option = click.option(
    "--session",
    default="",
    metavar="ID",
    help="The agent's session, whose run is meant without RUN.  [default: $CLAUDE_CODE_SESSION_ID]",
)
_SESSION_CHARS: Final = 200
"""Of an id; those of Claude Code have 36."""


def session_id(session: str = "") -> str:
    """Return the session of the agent that calls: as it says, or as its environment does; "" for none."""
    return (session or os.environ.get("CLAUDE_CODE_SESSION_ID", ""))[:_SESSION_CHARS]


def meant_run(workspace: Workspace, store: "Store", run_id: str | None, session: str = "") -> str:
    """Return the run that was named, or else the session's own, or else the newest of the project.

    Raises
    ------
    UsageError
        The newest belongs to another session, which this one shall not disturb.
    RunNotFoundError
        There is no run.
    """
    from coreloop.runs.agent.session_file import run_of_session
    from coreloop.runs.manage import named_run, read_run

    session = session_id(session)
    own = run_id or run_of_session(workspace.root, session)
    if session and own is None:
        newest = read_run(store, None)
        if newest.owner not in {"", session}:
            raise UsageError(f"this session has no run; name one, such as the newest: {newest.run_id}")
    return named_run(store, own)


@contextmanager
def project_store() -> "Iterator[tuple[Workspace, Store]]":
    """Open the store of the project in the current folder."""
    import coreloop.answer.agent.kind
    import coreloop.answer.repair.forget  # registers its kind, so that its runs are whole
    import coreloop.answer.research.kind  # noqa: F401
    from coreloop.runs.stores.store import open_store

    workspace = open_workspace(Path.cwd())
    with open_store(workspace) as store:
        yield workspace, store
