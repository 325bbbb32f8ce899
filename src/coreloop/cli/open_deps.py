"""What commands answer questions of the current project with."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from coreloop.cli.open_runs import project_store

if TYPE_CHECKING:
    from coreloop.answer.deps import Deps


@contextmanager
def project_deps() -> "Iterator[Deps]":
    """Open everything that questions need."""
    from coreloop.answer.deps import open_deps

    with project_store() as (workspace, store), open_deps(workspace, store, os.environ) as deps:
        yield deps
