"""Both demos, worked through with some seeds."""

from itertools import product

import pytest

from scripted import SCENARIOS, work

SEEDS = [0, 7, 20260425]


@pytest.fixture(params=SCENARIOS.values(), ids=SCENARIOS)
def scenario(request):
    return request.param


@pytest.fixture(scope="module", params=product(SCENARIOS, SEEDS), ids=lambda param: f"{param[0]}-{param[1]}")
def worked(request, tmp_path_factory):
    name, seed = request.param
    return work(SCENARIOS[name], seed, tmp_path_factory.mktemp("worked"))
