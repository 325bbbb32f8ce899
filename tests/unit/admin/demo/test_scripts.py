"""The behaviours that each demo's script promises to show."""

from collections import Counter, defaultdict
from itertools import pairwise

import pytest

from scripted import SCENARIOS, work

SEEDS = [0, 7, 20260425]
SELECTORS = {"analysis": "axis", "scan": "target", "escalate": "team"}
LEAST_CHARS = {"finlab": 400, "helpdesk": 200}
"""The gate ``min_chunk_len`` of each project."""
ALWAYS_GOOD = {
    "finlab": [
        "analysis(수익성)>show()",
        "scan(부채비율)>compare()>analysis(안정성)",
        "analysis(현금흐름)>trend()>show()",
        "analysis(배당)>show()",
        "scan(영업이익률)>compare()",
        "analysis(안정성)>analysis(현금흐름)>show()",
        "scan(배당)>compare()",
    ],
    "helpdesk": [
        "list_orders()>escalate(billing)",
        "list_tickets()>update_ticket()",
        "list_incidents()>search_articles()",
        "get_customer()>search_articles()",
    ],
}


@pytest.fixture(scope="module", params=SEEDS, ids=str)
def finlab(request, tmp_path_factory):
    return work(SCENARIOS["finlab"], request.param, tmp_path_factory.mktemp("finlab")).requests


@pytest.fixture(scope="module", params=SEEDS, ids=str)
def helpdesk(request, tmp_path_factory):
    return work(SCENARIOS["helpdesk"], request.param, tmp_path_factory.mktemp("helpdesk")).requests


def test_questions_are_korean_and_some_are_english(finlab):
    english = sum(request.language == "en" for request, _, _ in finlab)
    assert 20 < english < 100


def test_questions_of_the_help_desk_are_english(helpdesk):
    assert all(request.language == "en" and request.question.isascii() for request, _, _ in helpdesk)


def test_missing_arguments_always_fail_and_are_made_good(finlab):
    failed = [
        (call, following)
        for _, record, _ in finlab
        for call, following in pairwise([*record["tool_calls"], None])
        if (call["error"] or "").startswith("TypeError")
    ]
    assert len(failed) >= 15
    for call, following in failed:
        assert following["ok"]
        assert call["args"].items() < following["args"].items()


def test_made_up_axes_and_unknown_companies_fail(finlab):
    errors = _errors(finlab)
    assert sum("unknown axis" in error for error in errors) >= 15
    assert sum("unknown company" in error for error in errors) >= 5


def test_mistakes_of_every_kind_are_made_at_the_help_desk(helpdesk):
    kinds = ("unknown priority", "reason must not", "limit must", "approved by", "ticket 'ORD-", "customer")
    errors = _errors(helpdesk)
    counts = Counter(kind for kind in kinds for error in errors if kind in error)
    assert sum(counts.values()) == len(errors)
    assert all(counts[kind] >= 6 for kind in kinds)


def test_a_refund_above_the_limit_is_escalated_to_billing(helpdesk):
    calls = [pairwise([*record["tool_calls"], None]) for _, record, _ in helpdesk]
    refused = [
        following
        for pairs in calls
        for call, following in pairs
        if call["name"] == "refund_order" and (call["error"] or "").startswith("PermissionError")
    ]
    escalated = [call for call in refused if call is not None]
    assert len(escalated) >= 12
    assert {(call["name"], call["args"]["team"]) for call in escalated} == {("escalate", "billing")}


def test_some_overrides_clear_the_flag_some_do_not_and_some_flags_get_none(finlab):
    outcomes = [override["succeeded"] for _, record, _ in finlab for override in record["override_calls"]]
    ignored = [
        record
        for _, record, _ in finlab
        if not record["override_calls"] and any(call["extreme_flags"] for call in record["tool_calls"])
    ]
    assert outcomes.count(True) >= 8
    assert outcomes.count(False) >= 3
    assert len(ignored) >= 5
    used = [
        call["overrides_used"]
        for _, record, _ in finlab
        for call in record["tool_calls"]
        if call["overrides_used"]
    ]
    assert used == [["exclude_one_off"]] * len(outcomes)


def test_korean_answers_have_honest_lengths(finlab):
    lengths = [len(given.text) for _, _, given in finlab]
    assert sum(length >= 400 for length in lengths) > 150
    assert sum(200 <= length < 400 for length in lengths) > 5
    assert sum(length < 200 for length in lengths) > 20


def test_answers_of_the_help_desk_have_honest_lengths(helpdesk):
    lengths = [len(given.text) for _, _, given in helpdesk]
    assert sum(length >= 200 for length in lengths) > 200
    assert sum(length < 200 for length in lengths) > 20


def test_good_ways_of_working_always_succeed_in_korean_and_a_bad_one_mostly_fails(finlab):
    verdicts = _verdicts(finlab, LEAST_CHARS["finlab"])
    _assert_always_good(verdicts, ALWAYS_GOOD["finlab"])
    companies = {
        request.stock_code
        for request, record, _ in finlab
        if _sequence(record["tool_calls"]) == "analysis(수익성)>show()"
    }
    assert len(companies) >= 15
    growth = verdicts["analysis(성장성)>trend()"]
    assert 0 < sum(growth) < 0.5 * len(growth)
    assert len(growth) >= 18


def test_good_ways_of_working_always_succeed_at_the_help_desk_and_bad_ones_fail(helpdesk):
    verdicts = _verdicts(helpdesk, LEAST_CHARS["helpdesk"])
    _assert_always_good(verdicts, ALWAYS_GOOD["helpdesk"])
    assert not any(verdicts["get_customer()"])
    assert len(verdicts["get_customer()"]) >= 8


def _errors(requests):
    return [call["error"] for _, record, _ in requests for call in record["tool_calls"] if call["error"]]


def _assert_always_good(verdicts, sequences):
    for sequence in sequences:
        assert len(verdicts[sequence]) >= 10
        assert all(verdicts[sequence]), sequence


def _verdicts(requests, least_chars):
    """The same rule as the miner's, written down plainly: what a demo promises to show."""
    verdicts = defaultdict(list)
    for _, record, given in requests:
        verdict = _succeeded(record, given, least_chars)
        if verdict is not None:
            verdicts[_sequence(record["tool_calls"])].append(verdict)
    return verdicts


def _succeeded(record, given, least_chars):
    if given.error:
        return None
    flagged = any(call["extreme_flags"] for call in record["tool_calls"])
    cleared = bool(record["override_calls"]) and all(
        override["succeeded"] for override in record["override_calls"]
    )
    if given.violation or not record["tool_calls"][-1]["ok"] or (flagged and not cleared):
        return False
    if 200 <= len(given.text) < least_chars:
        return None
    return len(given.text) >= least_chars


def _sequence(calls):
    steps = [
        f"{call['name']}({call['args'].get(SELECTORS.get(call['name']), '')})" for call in calls if call["ok"]
    ]
    return ">".join(step for step, before in zip(steps, [None, *steps], strict=False) if step != before)
