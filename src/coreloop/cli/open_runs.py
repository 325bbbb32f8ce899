"""What commands open, the project's runs and what answers need, and how a run is named."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeVar

import click

import coreloop.answer.agent.agent_state
import coreloop.answer.repair.store
import coreloop.answer.research.answer  # noqa: F401
from coreloop.answer.deps import deps_here
from coreloop.base.errors import RunNotFoundError, UsageError
from coreloop.base.project.workspace import Workspace, open_workspace
from coreloop.cli.options import USD, DurationType, choice_option, options
from coreloop.runs.agent.session_file import run_of_session
from coreloop.runs.manage import named_run, read_run
from coreloop.runs.stores.store import Store, open_store

run_argument = click.argument("run_id", metavar="[RUN]", required=False)
run_option = click.option(
    "--run", "run_id", metavar="RUN", help="The run.  [default: the session's, or else the newest]"
)
session_option = click.option(
    "--session",
    default="",
    metavar="ID",
    help="The agent's session, whose run is meant without RUN.  [default: $CLAUDE_CODE_SESSION_ID]",
)
_LIMITS: Final = {
    "max_iterations": (click.IntRange(1), "End it after N iterations."),
    "budget_usd": (USD, "End it when this is spent.  [default: 10.00]"),
    "max_tokens": (click.IntRange(1), "End it after N tokens."),
    "deadline": (DurationType(), "End it after 90s, 30m or 8h of work."),
    "usd_per_iteration": (USD, "What an iteration costs at least, if its command does not say."),
}
_Command = TypeVar("_Command", bound=Callable[..., Any])
_SESSION: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,99}")
"""An id of a session, which is written into commands for an agent; those of Claude Code are UUIDs."""
_LOOK_BACK: Final = 20
"""Runs of a project in which a session without its file finds its own."""


def limit_options(*names: str) -> Callable[[_Command], _Command]:
    """Options for limits of a run, None where not given."""
    return options(
        *(
            click.option(f"--{name.replace('_', '-')}", type=_LIMITS[name][0], help=_LIMITS[name][1])
            for name in names
        )
    )


_MODE: Final = "Whether the model's opinion may end the run (bounded) or not."
mode_option = choice_option("--mode", words=["bounded", "exhaust"], about=_MODE, default="bounded")


def session_id(session: str = "") -> str:
    """Return the session of the agent that calls: as it says, or as its environment does; "" for none.

    Raises
    ------
    UsageError
        The id is not one.
    """
    session = session or os.environ.get("CLAUDE_CODE_SESSION_ID", "")
    if session and not _SESSION.fullmatch(session):
        raise UsageError("the id of a session has up to 100 of the characters A-Z, a-z, 0-9 and . _ : -")
    return session


def meant_run(workspace: Workspace, store: Store, run_id: str | None, session: str = "") -> str:
    """Return the run that was named, or else the session's own; outside of a session the project's newest.

    Raises
    ------
    UsageError
        The session has no run, and shall not disturb that of another one.
    RunNotFoundError
        There is no run.
    """
    session = session_id(session)
    if run_id is not None or not session:
        return named_run(store, run_id)
    own = _own_run(workspace, store, session)
    if own is None:
        newest = named_run(store, None)
        raise UsageError(f"this session has no run; name one, such as the newest: {newest}")
    return own


def _own_run(workspace: Workspace, store: Store, session: str) -> str | None:
    """Return a session's run: as its file says if the run's events do, else its newest that goes on."""
    named = run_of_session(workspace.root, session)
    for run_id in (named, *(row.run_id for row in store.runs(limit=_LOOK_BACK))):
        with suppress(RunNotFoundError):  # it was forgotten
            if run_id is not None and read_run(store, run_id).owner == session:
                return run_id
    return None


@contextmanager
def project_store() -> Iterator[tuple[Workspace, Store]]:
    """Open the store of the project in the current folder."""
    workspace = open_workspace(Path.cwd())
    with open_store(workspace) as store:
        yield workspace, store


project_deps: Final = deps_here
"""Opens everything that questions need, with the kinds of runs that are registered above."""
