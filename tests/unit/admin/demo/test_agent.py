"""The scripted agent: a pure script, and calls that really happen."""

import unicodedata
from itertools import pairwise

import pytest
import yaml

from coreloop.admin.demo.script import (
    PROJECT,
    DemoRequest,
    FromResult,
    PlannedStep,
    Prose,
    read_script,
    scripted_requests,
)
from coreloop.base.categories import Categories
from scripted import answered, tools_of_the_demo, work

OF_THE_RUN = ("request_id", "duration_total_ms", "case")
"""Differs between two runs; cases are hashes with a key of each project."""
TOOL_ERRORS = (LookupError, PermissionError, TypeError, ValueError)


def test_a_seed_says_everything():
    assert list(scripted_requests(3)) == list(scripted_requests(3))
    assert list(scripted_requests(3)) != list(scripted_requests(4))


@pytest.mark.parametrize("count", [0, 1, 17, 300, 1000])
def test_as_many_requests_as_asked_for(count):
    assert len(list(scripted_requests(1, count))) == count


def test_two_runs_of_a_seed_record_the_same(tmp_path):
    first, second = (
        [{**record, **dict.fromkeys(OF_THE_RUN)} for _, record, _ in work(5, tmp_path / name)]
        for name in ("a", "b")
    )
    assert first == second


def test_every_record_is_kept_whole(worked):
    assert [record for _, record, _ in worked if "tool_calls_omitted" in record] == []
    asked = [request.question for request, _, _ in worked]
    assert [record["question"] for _, record, _ in worked] == asked


def test_requests_come_in_order_over_thirty_days_in_shared_sessions(worked):
    requests = [request for request, _, _ in worked]
    assert all(request.offset_min <= after.offset_min for request, after in pairwise(requests))
    days = {request.offset_min // (24 * 60) for request in requests}
    assert days <= set(range(30))
    assert len(days) >= 28
    assert 80 < len({request.session for request in requests}) < 200


def test_questions_differ_in_more_than_the_name(worked):
    words = [set(_normalised(request.question).split()) for request, _, _ in worked]
    alike = sum(
        any(len(here & other) >= 0.8 * len(here | other) for j, other in enumerate(words) if i != j)
        for i, here in enumerate(words)
    )
    assert alike < 0.1 * len(words)
    names = {
        str(noun)
        for request, _, _ in worked
        for step in request.plan
        for noun in step.args.values()
        if isinstance(noun, str) and noun in request.question
    }
    nameless = {_normalised(_without(names, request.question)) for request, _, _ in worked}
    assert len(nameless) > 0.8 * len(words)


def test_a_question_belongs_to_one_category_or_none(worked):
    rules = yaml.safe_load((PROJECT / "coreloop.yaml").read_text(encoding="utf-8"))
    categories = [Categories([(rule["label"], rule["any"])]) for rule in rules["categories"]]
    seen = set()
    for request, _, _ in worked:
        labels = {rule.label(request.question) for rule in categories} - {"UNSPECIFIED"}
        assert len(labels) <= 1, request.question
        seen |= labels or {""}
    assert seen == {rule["label"] for rule in rules["categories"]} | {""}


def test_the_tools_are_really_called(tmp_path):
    seen = []

    def spied(name):
        def call(**args):
            seen.append((name, args))
            return tools_of_the_demo()[name](**args)

        return call

    spies = {name: spied(name) for name in tools_of_the_demo()}
    recorded = [
        (call["name"], call["args"])
        for _, record, _ in work(2, tmp_path, spies)
        for call in record["tool_calls"]
    ]
    assert seen == recorded
    assert len(seen) > 500


def test_a_recorded_outcome_is_what_the_tool_does_again(worked):
    for _, record, _ in worked:
        for call in record["tool_calls"]:
            try:
                tools_of_the_demo()[call["name"]](**call["args"])
                error = None
            except TOOL_ERRORS as exc:
                error = f"{type(exc).__name__}: {exc}"
            assert (call["ok"], call["error"]) == (error is None, error)
            assert (call["result_size_bytes"] > 0) == call["ok"]


def test_each_request_is_one_record_with_the_length_of_its_answer(worked):
    for request, record, given in worked:
        assert (record["chunk_len"], record["error"]) == (len(given.text), request.outage)
        assert bool(given.text) == (request.outage is None)


def test_a_defect_in_a_tool_is_not_taken_for_a_failed_call(tmp_path):
    def broken(**_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work(0, tmp_path, dict.fromkeys(tools_of_the_demo(), broken))


def test_a_few_requests_break_a_rule_or_lose_the_model(worked):
    broken = {record["violation"] for _, record, _ in worked if record["violation"]}
    prose = read_script(Prose)
    assert broken == {prose.forbidden_is, "the answer states a figure that is in no result"}
    assert all(record["violation"] == given.violation for _, record, given in worked)
    outages = [given.error for _, _, given in worked if given.error]
    assert 4 <= len(outages) <= 8
    assert {"rate limit exceeded (429): retry after 20 s", "connection reset by peer"} == set(outages)


def test_figures_of_the_results_are_no_violation():
    prose = read_script(Prose)
    assert prose.find_violation("$79.00 refunded", ["- $79.00 refunded"]) is None
    broken = "the answer states a figure that is in no result"
    assert prose.find_violation("$78.00 refunded", ["$79.00 refunded"]) == broken


def test_a_stuck_agent_stops_calling(tmp_path):
    unknown, never = (PlannedStep(name, {"customer": "Nobody"}) for name in ("list_orders", "list_tickets"))
    given, record = answered(_asking(unknown, never), tmp_path)
    assert [call["ok"] for call in record["tool_calls"]] == [False]
    assert "Sorry" in given.text


def test_a_recovery_may_fail_in_its_turn(tmp_path):
    worse = PlannedStep("search_articles", {"query": "tax", "limit": 0})
    step = PlannedStep("search_articles", {"query": "tax", "limit": 21}, recovery=worse)
    _, record = answered(_asking(step), tmp_path)
    assert [call["ok"] for call in record["tool_calls"]] == [False, False]


def test_an_argument_is_taken_from_the_last_result_of_its_tool(tmp_path):
    lists = [PlannedStep("list_orders", {"customer": name}) for name in ("C-207", "C-214")]
    newest = FromResult("list_orders", (0, "id"))
    step = PlannedStep("refund_order", {"order_id": newest, "amount": 1, "reason": "test"})
    _, record = answered(_asking(*lists, step), tmp_path)
    (expected, *_) = tools_of_the_demo()["list_orders"]("C-214")
    assert record["tool_calls"][-1]["args"]["order_id"] == expected["id"]


def _asking(*plan):
    return DemoRequest("?", session="s", offset_min=0, plan=plan)


def _normalised(question):
    folded = unicodedata.normalize("NFKC", question).lower()
    return " ".join("".join(char for char in folded if char.isalnum() or char.isspace()).split())


def _without(names, question):
    for name in names:
        question = question.replace(name, "")
    return question
