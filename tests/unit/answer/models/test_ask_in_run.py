"""A question to a model is a step of a run: settled by what it used, and never asked again."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from coreloop.answer.models.contracts import Material, PlannedQuery, PlanResponse
from coreloop.answer.models.ladder import ENDPOINTS, Ladder
from coreloop.answer.models.openai_compatible import OpenAICompatible
from coreloop.answer.research.asking import ask
from coreloop.base.errors import UsageError
from coreloop.base.project.settings import PriceSettings
from coreloop.runs.active_run import Run, work_on
from coreloop.runs.amounts import NOTHING, Amount
from coreloop.runs.events import Settled, StepFailed
from coreloop.runs.limits import Limits
from coreloop.runs.manage import create_run
from coreloop.runs.stores.store import Store
from happenings import state_of
from model_stand_in import ModelStandIn, streams
from rows import slow_after
from running import python, store_at

KEY = "sk-test-0123456789"
PLAN = '{"queries": [{"query": "q", "intent": "i"}]}'
READ = PlanResponse(queries=(PlannedQuery(query="q", intent="i"),))
ASKED = Material(question="Why?")


@pytest.fixture
def place(tmp_path: Path) -> str:
    return str(tmp_path / "runs.db")


@pytest.fixture
def store(place: str) -> Iterator[Store]:
    with store_at(place) as store:
        yield store


def ladder(server: ModelStandIn, *names: str, price: PriceSettings | None = None) -> Ladder:
    price = price or PriceSettings(input=1.0, output=10.0)
    return Ladder([_model(server.url, name, price) for name in names or ("gpt-5",)])


def _model(url: str, name: str, price: PriceSettings | None) -> OpenAICompatible:
    headers = {"Authorization": f"Bearer {KEY}"}
    return OpenAICompatible(
        "openai", name, endpoint=ENDPOINTS["openai"], url=url, headers=headers, price=price
    )


def new_run(store: Store, **fields: object) -> str:
    return create_run(store, "why?", kind="research", **fields)


def plan(run: Run, models: Ladder) -> PlanResponse:
    return ask(run, models, "plan", ASKED, PlanResponse)


def test_an_answered_question_is_not_asked_again(store: Store, server: ModelStandIn):
    run_id = new_run(store)
    server.acts += [streams("prose"), streams("prose"), streams(PLAN, model="other")]
    with work_on(store, run_id) as run:
        first = plan(run, ladder(server, "gpt-5", "other"))
    with work_on(store, run_id) as run:
        assert plan(run, ladder(server, "gpt-5", "other")) == first
    assert len(server.bodies) == 3


def test_a_call_without_a_usable_reply_settles_what_it_used(store: Store, server: ModelStandIn):
    run_id = new_run(store)
    server.acts += [streams("prose", usage=(20, 1)), streams(PLAN, usage=(30, 2))]
    with work_on(store, run_id) as run:
        plan(run, ladder(server))
    events = [event for _seq, event in store.read(run_id)]
    (failed,) = [event for event in events if isinstance(event, StepFailed)]
    assert (failed.attempt, failed.tokens, failed.microusd) == (1, 21, 30)
    assert state_of(store, run_id).spent == Amount(30 + 50, 21 + 32)


def test_a_model_without_a_price_needs_a_limit_of_tokens(store: Store, server: ModelStandIn):
    unpriced = Ladder([_model(server.url, "gpt-5", None)])
    server.acts.append(streams(PLAN, usage=(10, 5)))
    with (
        work_on(store, new_run(store)) as run,
        pytest.raises(UsageError, match="no price and the run no lim"),
    ):
        plan(run, unpriced)
    run_id = new_run(store, limits=Limits(tokens=100_000))
    with work_on(store, run_id) as run:
        plan(run, unpriced)
    assert state_of(store, run_id).spent == Amount(0, 15)


KILLED = """
import sys
from coreloop.answer.models.ladder import choose_model
from coreloop.answer.models.contracts import PlanResponse
from coreloop.answer.models.contracts import Material
from coreloop.answer.research.asking import ask
from coreloop.base.project.settings import EndpointSettings, PriceSettings
from coreloop.base.project.settings import Settings
from coreloop.runs.active_run import work_on
from running import Failpoint, store_at

place, run_id, url, number, is_before = sys.argv[1:]
settings = Settings(
    model="lab:m", endpoints={"lab": EndpointSettings(url=url)},
    prices={"lab:m": PriceSettings(input=1.0, output=10.0)},
)
with store_at(place) as store:
    failing = Failpoint(store, int(number), is_before=is_before == "before")
    with work_on(failing, run_id) as run:
        ask(run, choose_model(settings, {}), "plan", Material(question="Why?"), PlanResponse)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no SIGKILL here")
@pytest.mark.parametrize(
    ("number", "when", "calls", "is_assumed"),
    slow_after(1, [(2, "after", 1, True), (3, "before", 2, True), (3, "after", 1, False)]),
    ids=["reserved, not asked", "answered, not committed", "committed"],
)
def test_a_killed_process_overspends_nothing_and_repeats_no_answer(
    place: str, server: ModelStandIn, number: int, when: str, calls: int, is_assumed: bool
):
    with store_at(place) as store:
        run_id = new_run(store, limits=Limits(usd=1.0))
    server.acts += [streams(PLAN, usage=(10, 5)), streams(PLAN, usage=(10, 5))]
    process = python(KILLED, place, run_id, server.url, str(number), when)  # append 1: Opened, 2: Reserved
    assert process.communicate()[1] == ""
    assert process.returncode == -9
    with store_at(place) as store:
        with work_on(store, run_id) as run:
            assert plan(run, ladder(server)) == READ
        events = [event for _seq, event in store.read(run_id)]
        settled = [event for event in events if isinstance(event, Settled)]
        assert [event.is_assumed for event in settled] == [True] * is_assumed
        assumed = sum(event.tokens for event in settled)
        assert state_of(store, run_id).spent.tokens == 15 + assumed
        assert state_of(store, run_id).reserved == NOTHING
    assert len(server.bodies) == calls
