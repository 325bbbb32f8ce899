"""What researches of the project in the current folder work with, for programs that use coreloop."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from coreloop.answer.research.desk import Desk, open_desk
from coreloop.base.project.workspace import open_workspace
from coreloop.runs.stores.store import open_store


@contextmanager
def desk_here() -> Iterator[Desk]:
    """Open what the settings of the current folder's project name."""
    workspace = open_workspace(Path.cwd())
    with open_store(workspace) as store:
        yield open_desk(workspace, store, os.environ)
