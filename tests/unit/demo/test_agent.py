"""The scripted agent: a pure script, calls that really happen, and the behaviours that the demo shows."""

import json
import unicodedata
from collections import defaultdict
from itertools import pairwise

import pytest
import yaml

from coreloop.demo.agent import answer, scripted_requests
from coreloop.demo.phrases import Noun
from coreloop.demo.plan import PlannedStep, Request
from coreloop.demo.prose import find_violation
from coreloop.demo.roster import roster
from coreloop.demo.tools import PROJECT, load_tools
from coreloop.observe import AuditCollector

TOOLS = load_tools()
SEEDS = [0, 7, 20260425]
OF_THE_RUN = ("request_id", "duration_total_ms")
SELECTORS = {"analysis": "axis", "scan": "target"}
ALWAYS_GOOD = [
    "analysis(수익성)>show()",
    "scan(부채비율)>compare()>analysis(안정성)",
    "analysis(현금흐름)>trend()>show()",
    "analysis(배당)>show()",
    "scan(영업이익률)>compare()",
    "analysis(안정성)>analysis(현금흐름)>show()",
    "scan(배당)>compare()",
]


@pytest.fixture(scope="module", params=SEEDS, ids=str)
def worked(request, tmp_path_factory):
    return _work(request.param, tmp_path_factory.mktemp("worked"))


def _work(seed, folder, tools=TOOLS):
    """Every request with the record that the real collector wrote of it, and its answer."""
    requests = list(scripted_requests(seed))
    answers = [answer(request, tools, _collector(folder, request.question)) for request in requests]
    return list(zip(requests, _records(folder), answers, strict=True))


def _collector(folder, question="?"):
    return AuditCollector(question, data_dir=folder, clock_ns=lambda: 1_777_109_400_000_000_000)


def _records(folder):
    lines = (folder / "audit" / "ai-ask" / "2026-04-25.jsonl").read_bytes().splitlines()
    return [json.loads(line) for line in lines]


def _answered(request, folder):
    given = answer(request, TOOLS, _collector(folder))
    (record,) = _records(folder)
    return given, record


def test_a_seed_says_everything():
    assert list(scripted_requests(3)) == list(scripted_requests(3))
    assert list(scripted_requests(3)) != list(scripted_requests(4))


@pytest.mark.parametrize("count", [0, 1, 17, 300, 1000])
def test_as_many_requests_as_asked_for(count):
    assert len(list(scripted_requests(1, count))) == count


def test_two_runs_of_a_seed_record_the_same(tmp_path):
    first, second = (
        [{**record, **dict.fromkeys(OF_THE_RUN)} for _, record, _ in _work(5, tmp_path / name)]
        for name in ("a", "b")
    )
    assert first == second


def test_every_record_is_kept_whole(worked):
    assert [record for _, record, _ in worked if "tool_calls_omitted" in record] == []
    assert [record["question"] for _, record, _ in worked] == [request.question for request, _, _ in worked]


def test_requests_come_in_order_over_thirty_days_in_shared_sessions(worked):
    requests = [request for request, _, _ in worked]
    assert all(one.offset_min <= other.offset_min for one, other in pairwise(requests))
    days = {request.offset_min // (24 * 60) for request in requests}
    assert days <= set(range(30))
    assert len(days) >= 28
    assert 80 < len({request.session for request in requests}) < 200


def test_questions_differ_in_more_than_the_company(worked):
    words = [set(_normalised(request.question).split()) for request, _, _ in worked]
    alike = sum(
        any(len(one & other) >= 0.8 * len(one | other) for j, other in enumerate(words) if i != j)
        for i, one in enumerate(words)
    )
    assert alike < 0.1 * len(words)
    nameless = {_normalised(_without_names(request.question)) for request, _, _ in worked}
    assert len(nameless) > 0.8 * len(words)


def test_questions_are_korean_and_some_are_english(worked):
    english = sum(request.language == "en" for request, _, _ in worked)
    assert 20 < english < 100


def test_a_question_belongs_to_one_category_or_none(worked):
    rules = yaml.safe_load((PROJECT / "coreloop.yaml").read_text(encoding="utf-8"))["categories"]
    labelled = defaultdict(int)
    for request, _, _ in worked:
        question = request.question.casefold()
        labels = [rule["label"] for rule in rules if any(word in question for word in rule["any"])]
        assert len(labels) <= 1, request.question
        labelled["".join(labels)] += 1
    assert labelled.keys() == {rule["label"] for rule in rules} | {""}


def test_particles_follow_the_last_syllable():
    assert (
        f"{Noun('별하몰'):은는} {Noun('들찬푸드'):은는} {Noun('별하몰'):과와}"
        == "별하몰은 들찬푸드는 별하몰과"
    )
    assert f"{Noun('ROE'):이가} {Noun('ROE')}" == "ROE가 ROE"


def test_the_tools_are_really_called(tmp_path):
    seen = []

    def spied(name):
        def call(**args):
            seen.append((name, args))
            return TOOLS[name](**args)

        return call

    recorded = [
        (call["name"], call["args"])
        for _, record, _ in _work(2, tmp_path, {name: spied(name) for name in TOOLS})
        for call in record["tool_calls"]
    ]
    assert seen == recorded
    assert len(seen) > 600


def test_a_recorded_outcome_is_what_the_tool_does_again(worked):
    for _, record, _ in worked:
        for call in record["tool_calls"]:
            try:
                result, error = TOOLS[call["name"]](**call["args"]), None
            except (LookupError, TypeError, ValueError) as exc:
                result, error = None, f"{type(exc).__name__}: {exc}"
            assert (call["ok"], call["error"]) == (error is None, error)
            assert call["extreme_flags"] == (result or {}).get("flags", [])
            assert (call["result_size_bytes"] > 0) == call["ok"]


def test_each_request_is_one_record_with_the_length_of_its_answer(worked):
    for request, record, given in worked:
        assert (record["chunk_len"], record["error"]) == (len(given.text), request.outage)
        assert bool(given.text) == (request.outage is None)


def test_a_defect_in_a_tool_is_not_taken_for_a_failed_call(tmp_path):
    def broken(**_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        _work(0, tmp_path, dict.fromkeys(TOOLS, broken))


def test_forgotten_arguments_always_fail_and_are_made_good(worked):
    forgotten = [
        (call, following)
        for _, record, _ in worked
        for call, following in pairwise([*record["tool_calls"], None])
        if (call["error"] or "").startswith("TypeError")
    ]
    assert len(forgotten) >= 15
    for call, following in forgotten:
        assert following["ok"]
        assert call["args"].items() < following["args"].items()


def test_made_up_axes_and_unknown_companies_fail(worked):
    errors = [call["error"] for _, record, _ in worked for call in record["tool_calls"] if call["error"]]
    assert sum("unknown axis" in error for error in errors) >= 15
    assert sum("unknown company" in error for error in errors) >= 5


def test_some_overrides_clear_the_flag_some_do_not_and_some_flags_get_none(worked):
    outcomes = [override["succeeded"] for _, record, _ in worked for override in record["override_calls"]]
    ignored = [
        record
        for _, record, _ in worked
        if not record["override_calls"] and any(call["extreme_flags"] for call in record["tool_calls"])
    ]
    assert outcomes.count(True) >= 8
    assert outcomes.count(False) >= 3
    assert len(ignored) >= 5
    used = [
        call["overrides_used"]
        for _, record, _ in worked
        for call in record["tool_calls"]
        if call["overrides_used"]
    ]
    assert used == [["exclude_one_off"]] * len(outcomes)


def test_a_few_requests_break_a_rule_or_lose_the_model(worked):
    broken = {record["violation"] for _, record, _ in worked if record["violation"]}
    assert broken == {"the answer recommends a trade", "the answer states a figure that no result holds"}
    assert all(record["violation"] == given.violation for _, record, given in worked)
    outages = [given.error for _, _, given in worked if given.error]
    assert 4 <= len(outages) <= 8
    assert {"rate limit exceeded (429): retry after 20 s", "connection reset by peer"} == set(outages)


def test_figures_of_the_results_are_no_violation():
    assert find_violation("ROE 8.2%", ["- ROE: 8.2%"]) is None
    assert find_violation("ROE 8.3%", ["- ROE: 8.2%"]) == "the answer states a figure that no result holds"


def test_answers_have_honest_lengths(worked):
    lengths = [len(given.text) for _, _, given in worked]
    assert sum(length >= 400 for length in lengths) > 150
    assert sum(200 <= length < 400 for length in lengths) > 5
    assert sum(length < 200 for length in lengths) > 20


def test_good_ways_of_working_always_succeed_and_a_bad_one_mostly_fails(worked):
    """The same rule as the miner's, written down plainly: what the demo promises to show."""
    verdicts = defaultdict(list)
    companies = defaultdict(set)
    for request, record, given in worked:
        verdict = _succeeded(record, given)
        if verdict is not None:
            verdicts[_sequence(record["tool_calls"])].append(verdict)
            companies[_sequence(record["tool_calls"])].add(request.stock_code)
    for sequence in ALWAYS_GOOD:
        assert len(verdicts[sequence]) >= 10
        assert all(verdicts[sequence]), sequence
    assert len(companies["analysis(수익성)>show()"]) >= 15
    growth = verdicts["analysis(성장성)>trend()"]
    assert 0 < sum(growth) < 0.5 * len(growth)
    assert len(growth) >= 18


def test_a_stuck_agent_stops_calling(tmp_path):
    asked = PlannedStep("analysis", {"company": "들찬푸드", "axis": "주가"})
    given, record = _answered(
        _asking(asked, PlannedStep("show", {"company": "들찬푸드", "topic": "손익"})), tmp_path
    )
    assert [call["ok"] for call in record["tool_calls"]] == [False]
    assert "죄송합니다" in given.text


def test_a_recovery_may_fail_in_its_turn(tmp_path):
    worse = PlannedStep("trend", {"company": "들찬푸드", "metric": "sales", "years": 9})
    _, record = _answered(_asking(PlannedStep("trend", {"company": "들찬푸드"}, recovery=worse)), tmp_path)
    assert [call["ok"] for call in record["tool_calls"]] == [False, False]


def _asking(*plan):
    return Request("?", language="ko", session="s", offset_min=0, stock_code=None, plan=plan)


def _succeeded(record, given):
    if given.error:
        return None
    flagged = any(call["extreme_flags"] for call in record["tool_calls"])
    cleared = bool(record["override_calls"]) and all(
        override["succeeded"] for override in record["override_calls"]
    )
    if given.violation or not record["tool_calls"][-1]["ok"] or (flagged and not cleared):
        return False
    if 200 <= len(given.text) < 400:
        return None
    return len(given.text) >= 400


def _sequence(calls):
    steps = [
        f"{call['name']}({call['args'].get(SELECTORS.get(call['name']), '')})" for call in calls if call["ok"]
    ]
    return ">".join(step for step, before in zip(steps, [None, *steps], strict=False) if step != before)


def _normalised(question):
    folded = unicodedata.normalize("NFKC", question).lower()
    return " ".join("".join(char for char in folded if char.isalnum() or char.isspace()).split())


def _without_names(question):
    for company in roster():
        question = question.replace(company.name, "")
    return question
