"""Both demos, worked through with some seeds."""

from itertools import product

import pytest

from rows import slow_after
from scripted import SCENARIOS, work

SEEDS = [0, 7, 20260425]


@pytest.fixture(params=slow_after(1, SCENARIOS.values()), ids=SCENARIOS)
def scenario(request):
    return request.param


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((name, seed), id=f"{name}-{seed}", marks=[pytest.mark.slow] * (seed != SEEDS[0]))
        for name, seed in product(SCENARIOS, SEEDS)
    ],
)
def worked(request, tmp_path_factory):
    name, seed = request.param
    return work(SCENARIOS[name], seed, tmp_path_factory.mktemp("worked"))
