"""Attempts of a question share the time that is left: none starts that cannot end, the first error stands."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coreloop.answer.models.contracts import PlanResponse
from coreloop.answer.models.ladder import Ladder, Paces
from coreloop.answer.models.model import CallLimits
from coreloop.answer.models.offline import OfflineModel
from coreloop.answer.models.prompt import Material
from coreloop.answer.research.asking import ask
from coreloop.base.errors import ModelError
from coreloop.runs.active_run import Run, work_on
from coreloop.runs.events import StepFailed
from coreloop.runs.limits import AnswerReserve, Limits
from coreloop.runs.manage import create_run
from coreloop.runs.stores.store import Store
from model_stand_in import ModelStandIn, answers, hangs, model_stand_in, streams
from researching import stand_in_model
from running import store_at

PLAN = '{"queries": [{"query": "q", "intent": "i"}]}'
MATERIAL = Material(question="Why?")


@pytest.fixture
def server() -> Iterator[ModelStandIn]:
    with model_stand_in() as stand_in:
        yield stand_in


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with store_at(str(tmp_path / "runs.db")) as store:
        yield store


def run_of(store: Store, deadline_s: float) -> str:
    limits = Limits(deadline_s=deadline_s, tokens=1_000_000, usd=None, answer=AnswerReserve(seconds=0))
    return create_run(store, "why?", kind="research", limits=limits)


def plan(run: Run, ladder: Ladder, key: str = "plan") -> PlanResponse:
    return ask(run, ladder, "plan", MATERIAL, PlanResponse, key=key)


def failures(store: Store, run_id: str) -> list[StepFailed]:
    return [event for _, event in store.read(run_id) if isinstance(event, StepFailed)]


@pytest.mark.slow
def test_a_stalled_endpoint_is_asked_once_and_its_first_error_stands(store: Store, server: ModelStandIn):
    server.acts += [hangs()] * 3
    run_id = run_of(store, 1.5)
    with work_on(store, run_id) as run, pytest.raises(ModelError, match=r"no complete answer in 1\.\d+ s"):
        plan(run, Ladder([stand_in_model(server.url)]))
    assert len(server.bodies) == len(failures(store, run_id)) == 1  # one reservation was settled


def test_a_wait_that_is_longer_than_the_time_left_is_not_waited(store: Store, server: ModelStandIn):
    server.acts += [answers(429, {"error": "slow down"}, retry_after="3000"), streams(PLAN)]
    with (
        work_on(store, run_of(store, 60)) as run,
        pytest.raises(ModelError, match="answered 429: slow down"),
    ):
        plan(run, Ladder([stand_in_model(server.url)]))
    assert len(server.bodies) == 1


def test_no_call_starts_that_cannot_end_in_time(store: Store, server: ModelStandIn):
    paces = Paces()
    model = stand_in_model(server.url)
    paces.note(model.name, elapsed_s=100.0, output_tokens=10)
    run_id = run_of(store, 60)
    with (
        work_on(store, run_id) as run,
        pytest.raises(ModelError, match=r"no call was made, \d+ s were left for it"),
    ):
        plan(run, Ladder([model], paces=paces))
    assert server.bodies == []
    assert failures(store, run_id) == []


@pytest.mark.slow
def test_a_model_that_answers_here_is_asked_after_one_that_took_its_time(store: Store, server: ModelStandIn):
    server.acts += [hangs()]
    with work_on(store, run_of(store, 1.5)) as run:
        ladder = Ladder([stand_in_model(server.url), OfflineModel()])
        assert plan(run, ladder).sub_questions == ("Why?",)


@pytest.mark.parametrize(
    ("noted", "attempts", "share_s"),
    [
        ([], 3, 60.0),  # nothing is known: an attempt that is given up early cannot succeed
        ([(1.0, 100)], 3, 40.0),  # 10 ms a token, 4,000 tokens: more than a third
        ([(0.1, 100)], 3, 20.0),  # 4 s: a third
        ([(0.1, 100), (1.0, 100)], 3, 40.0),  # the slowest counts
        ([(30.0, 100)], 3, 60.0),  # never more than there is
        ([(0.1, 100)], 1, 60.0),
    ],
)
def test_an_attempt_gets_its_part_or_what_a_long_reply_takes(
    noted: list[tuple[float, int]], attempts: int, share_s: float
):
    paces, model = Paces(), stand_in_model("http://127.0.0.1:9")
    for elapsed_s, tokens in noted:
        paces.note(model.name, elapsed_s, tokens)
    limits: Any = CallLimits(max_output_tokens=4_000)
    assert Ladder([model], paces=paces).share_s(60.0, attempts, limits) == pytest.approx(share_s)


@pytest.mark.slow
def test_an_endpoint_that_stalls_once_after_it_was_measured_is_asked_again(
    store: Store, server: ModelStandIn
):
    fast = streams(PLAN, usage=(10, 100_000))
    server.acts += [fast, hangs(), fast]
    with work_on(store, run_of(store, 9)) as run:
        ladder = Ladder([stand_in_model(server.url)])
        assert plan(run, ladder) == plan(run, ladder, "again")
    assert len(server.bodies) == 3
