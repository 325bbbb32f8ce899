from collections.abc import Iterator
from pathlib import Path

import pytest

from fault_server import FaultServer, fault_server
from indexing import Indexed


@pytest.fixture
def project(tmp_path: Path) -> Indexed:
    return Indexed(tmp_path)


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with fault_server() as server:
        yield server
