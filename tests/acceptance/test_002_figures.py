"""Numbers that document 002 of the specification promises, each told from its neighbours."""

import json
import re
from datetime import UTC, datetime, timedelta
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pytest

from acceptance.asking import (
    QUESTION,
    finding,
    indexed,
    research_with,
    search_service,
    searching,
)
from acceptance.walk import public_name
from researching import RIVER, plan, reflection, synthesis
from serving import served, until

NOON = datetime(2026, 4, 25, 12, tzinfo=UTC)


@pytest.mark.promise("002-10")
def test_10_an_end_that_the_model_calls_sufficient_is_no_insufficient_termination(tmp_path: Path) -> None:
    asked = research_with(
        tmp_path,
        plan("Han river length", sub_questions=(QUESTION, "Who painted the Mona Lisa?")),
        reflection(finding(), sufficient=True, confidence=0.9),
        synthesis(f"{RIVER} [1]"),
    )
    assert asked.state["stop_reason"] == "sufficient"
    assert [bool(part["findings"]) for part in asked.state["sub_questions"]] == [True, False]
    assert asked.answer["insufficient_termination"] is False


@pytest.mark.promise("002-15")
@pytest.mark.parametrize("chances", [(0.0, 0.0), (0.999, 0.0), (0.0, 0.999), (0.999, 0.999)])
def test_15_pauses_between_attempts_grow_and_vary_by_chance(chances: tuple[float, float]) -> None:
    first_s, second_s = _pauses_s(public_name("Failed")("HTTP 500"), chances=chances)
    least_s, _ = _pauses_s(public_name("Failed")("HTTP 500"), chances=(0.0, 0.0))
    assert 0 < first_s < second_s <= 10
    assert (first_s > least_s) is (chances[0] > 0)


@pytest.mark.promise("002-15")
@pytest.mark.parametrize(("asked_s", "paused_s"), [(9, [9, 0]), (10, [10, 0]), (11, []), (3600, [])])
def test_15_no_pause_is_longer_than_ten_seconds(asked_s: int, paused_s: list[float]) -> None:
    until_then = public_name("Blocked")("HTTP 429", NOON + timedelta(seconds=asked_s))
    assert _pauses_s(until_then, chances=(0.5, 0.5)) == paused_s


def _pauses_s(answer: Any, *, chances: tuple[float, ...]) -> list[float]:
    """The pauses of a search whose provider always answers this, by a clock of its own."""
    pauses: list[float] = []

    class Provider:
        name = "web"

        def search(self, _query: str, _limits: Any) -> Any:
            return answer

    pace = public_name("Pace", beside="Failover")(
        now=lambda: NOON + timedelta(seconds=sum(pauses)),
        monotonic=lambda: sum(pauses),
        sleep=pauses.append,
        chance=chain(chances, repeat(0.0)).__next__,
    )
    public_name("Failover")([Provider()], pace=pace).search("q", public_name("SearchLimits")())
    return pauses


@pytest.mark.slow
@pytest.mark.promise("002-28")
def test_28_the_metrics_have_the_failed_queries_the_iterations_and_the_seconds_of_a_run(
    tmp_path: Path,
) -> None:
    indexed(tmp_path)
    body = {"task": "How long and how deep is the Han river in Seoul?", "complexity_tier": "standard"}
    with search_service(status=500) as search:
        settings = json.dumps(searching(search))
        with served(tmp_path, settings=settings) as service, service.client() as client:
            run_id = client.post("/run", json=body).json()["run_id"]
            state = client.get(f"/runs/{run_id}").json()["state"]
            figures = until(lambda: _figures(client.get("/metrics").text, "iterations_per_request_count"))
            kinds = set(re.findall(r"^# TYPE (\w+) ", client.get("/metrics").text, re.MULTILINE))
    assert kinds >= {"research_loop_duration_seconds", "iterations_per_request", "search_failures_total"}
    assert len(state["failed_queries"]) > 1
    assert state["iteration"]["current"] > 1
    assert figures["search_failures_total"] == len(state["failed_queries"])
    assert figures["iterations_per_request_sum"] == state["iteration"]["current"]
    assert figures["iterations_per_request_count"] == figures["research_loop_duration_seconds_count"] == 1
    assert figures["research_loop_duration_seconds_sum"] > 0


def _figures(text: str, needed: str) -> dict[str, float]:
    """The metrics of researches by name, or none until one of them is there."""
    pattern = re.compile(r'^(\w+)\{kind="research"(?:,status="\w+")?\} (\S+)$', re.MULTILINE)
    figures = {name: float(value) for name, value in pattern.findall(text)}
    return figures if needed in figures else {}
