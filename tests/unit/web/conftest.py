"""A service that the tests share."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from serving import Served, served


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder: Path = tmp_path_factory.mktemp("project")
    with served(folder) as service:
        yield service


@pytest.fixture(scope="session")
def client(service: Served) -> Iterator[httpx2.Client]:
    with service.client() as client:
        yield client
