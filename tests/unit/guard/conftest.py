"""What the guard's tests share."""

import pytest

from guard_bench import Bench
from promoting import Project


@pytest.fixture
def bench(project: Project) -> Bench:
    return Bench(project)
