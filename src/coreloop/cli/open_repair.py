"""The desk of repairs of the current project, for commands."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from coreloop.cli.open_runs import project_store

if TYPE_CHECKING:
    from coreloop.answer.repair.desk import RepairDesk


@contextmanager
def project_repair() -> "Iterator[RepairDesk]":
    """Open everything that answers and repairs need."""
    from coreloop.answer.repair.desk import open_repair_desk

    with project_store() as (workspace, store), open_repair_desk(workspace, store, os.environ) as desk:
        yield desk
