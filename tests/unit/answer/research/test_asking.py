"""Attempts of a question share the time that is left: none starts that cannot end."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from coreloop.answer.models.contracts import Material, PlanResponse
from coreloop.answer.models.ladder import Ladder
from coreloop.answer.research.asking import ask, ask_or_do_without
from coreloop.answer.research.next_queries import plan_offline
from coreloop.base.errors import ModelError
from coreloop.runs.active_run import Run, work_on
from coreloop.runs.events import StepFailed
from coreloop.runs.limits import AnswerReserve, Limits
from coreloop.runs.manage import create_run
from coreloop.runs.stores.store import Store
from model_stand_in import ModelStandIn, answers, hangs, streams
from researching import stand_in_model
from running import store_at

PLAN = '{"queries": [{"query": "q", "intent": "i"}]}'
MATERIAL = Material(question="Why?")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with store_at(str(tmp_path / "runs.db")) as store:
        yield store


def run_of(store: Store, deadline_s: float) -> str:
    limits = Limits(deadline_s=deadline_s, tokens=1_000_000, usd=None, answer=AnswerReserve(seconds=0))
    return create_run(store, "why?", kind="research", limits=limits)


def plan(run: Run, ladder: Ladder) -> PlanResponse:
    return ask(run, ladder, "plan", MATERIAL, PlanResponse)


@pytest.mark.slow
def test_a_stalled_endpoint_is_asked_once_and_its_first_error_stands(store: Store, server: ModelStandIn):
    server.acts += [hangs()] * 3
    run_id = run_of(store, 1.5)
    with work_on(store, run_id) as run, pytest.raises(ModelError, match=r"no complete answer in 1\.\d+ s"):
        plan(run, Ladder([stand_in_model(server.url)]))
    failed = [event for _, event in store.read(run_id) if isinstance(event, StepFailed)]
    assert len(server.bodies) == len(failed) == 1  # one reservation was settled


def test_a_wait_that_is_longer_than_the_time_left_is_not_waited(store: Store, server: ModelStandIn):
    server.acts += [answers(429, {"error": "slow down"}, retry_after="3000"), streams(PLAN)]
    with (
        work_on(store, run_of(store, 60)) as run,
        pytest.raises(ModelError, match="answered 429: slow down"),
    ):
        plan(run, Ladder([stand_in_model(server.url)]))
    assert len(server.bodies) == 1


@pytest.mark.slow
def test_a_plan_is_made_without_a_model_that_took_its_time(store: Store, server: ModelStandIn):
    server.acts += [hangs()]
    with work_on(store, run_of(store, 1.5)) as run:
        ladder = Ladder([stand_in_model(server.url)], is_optional=True)
        planned = ask_or_do_without(run, ladder, "plan", MATERIAL, PlanResponse, plan_offline)
    assert planned.sub_questions == ("Why?",)


@pytest.mark.slow
def test_a_model_that_stalls_leaves_the_next_one_its_share(store: Store, server: ModelStandIn):
    server.acts += [hangs(), streams(PLAN)]
    models = [stand_in_model(server.url), stand_in_model(server.url)]
    with work_on(store, run_of(store, 6)) as run:
        assert plan(run, Ladder(models)).queries[0].query == "q"
