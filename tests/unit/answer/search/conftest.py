from pathlib import Path

import pytest

from indexing import Indexed


@pytest.fixture
def project(tmp_path: Path) -> Indexed:
    return Indexed(tmp_path)
