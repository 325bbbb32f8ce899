"""What the commands on runs share: the argument that names a run, and the project's store."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coreloop.base.project.workspace import Workspace, open_workspace

if TYPE_CHECKING:
    from coreloop.runs.stores.store import Store

run_argument = click.argument("run_id", metavar="[RUN]", required=False)


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
