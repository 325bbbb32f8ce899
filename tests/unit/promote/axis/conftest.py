"""A project without a remote whose first commit is of January."""

import pytest

from axis_histories import History, clock
from promoting import Project


@pytest.fixture
def history(project: Project) -> History:
    project.git("remote", "remove", "origin")
    project.git("commit", "--quiet", "--amend", "-m", "first", **clock("2026-01-01"))
    return History(project)
