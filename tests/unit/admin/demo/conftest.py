"""The demo, worked through with some seeds."""

import pytest

from rows import slow_after
from scripted import work


@pytest.fixture(scope="module", params=slow_after(1, [0, 7, 20260425]))
def worked(request, tmp_path_factory):
    return work(request.param, tmp_path_factory.mktemp("worked"))
