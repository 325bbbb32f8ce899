"""Statements are true: the simulation's goals, in few runs; `benchmarks/simulate.py` makes 200 of each."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

REPO = Path(__file__).parents[4]
RUNS = 20


@pytest.fixture(scope="module")
def simulate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("simulate", REPO / "benchmarks" / "simulate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["simulate"] = module
    spec.loader.exec_module(module)
    return module


def _count_stated(simulate: ModuleType, place: int, runs: int) -> int:
    return sum(simulate.run((place, number)).planted for number in range(runs))


@pytest.mark.slow
@pytest.mark.no_cover  # other tests run the same lines, and tracing them costs half as much again
def test_planted_causes_are_found_and_confounded_causes_are_not(simulate: ModuleType):
    for place, scenario in enumerate(simulate.SCENARIOS):
        n_stated = _count_stated(simulate, place, RUNS)
        assert scenario.least is None or n_stated >= 0.85 * RUNS, scenario.name
        assert scenario.most is None or n_stated <= 0.15 * RUNS, scenario.name


def test_a_planted_cause_is_found_and_the_same_confounded_is_not(simulate: ModuleType):
    places = {scenario.name: place for place, scenario in enumerate(simulate.SCENARIOS)}
    assert _count_stated(simulate, places["missing argument, 0.6 and 0.9"], 4) >= 3
    assert _count_stated(simulate, places["condition, confounded by category"], 4) <= 1


def test_missed_goals_are_detected(simulate: ModuleType):
    planted, confounded = simulate.SCENARIOS[0], simulate.SCENARIOS[-2]
    assert (simulate.is_reached(planted, 0.95), simulate.is_reached(planted, 0.94)) == (True, False)
    assert (simulate.is_reached(confounded, 0.05), simulate.is_reached(confounded, 0.06)) == (True, False)
