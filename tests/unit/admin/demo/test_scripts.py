"""The behaviours that the demo's script promises to show."""

from collections import Counter, defaultdict
from itertools import pairwise

import pytest

from scripted import work

SEEDS = [0, 7, 20260425]
SELECTORS = {"escalate": "team"}
LEAST_CHARS = 200
"""The gate ``min_chunk_len`` of the project."""
ALWAYS_GOOD = [
    "list_orders()>escalate(billing)",
    "list_tickets()>update_ticket()",
    "list_incidents()>search_articles()",
    "get_customer()>search_articles()",
]


@pytest.fixture(scope="module", params=SEEDS, ids=str)
def helpdesk(request, tmp_path_factory):
    return work(request.param, tmp_path_factory.mktemp("helpdesk"))


def test_questions_of_the_help_desk_are_english(helpdesk):
    assert all(request.question.isascii() for request, _, _ in helpdesk)


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


def test_answers_of_the_help_desk_have_honest_lengths(helpdesk):
    lengths = [len(given.text) for _, _, given in helpdesk]
    assert sum(length >= 200 for length in lengths) > 200
    assert sum(length < 200 for length in lengths) > 20


def test_good_ways_of_working_always_succeed_at_the_help_desk_and_bad_ones_fail(helpdesk):
    verdicts = _verdicts(helpdesk, LEAST_CHARS)
    _assert_always_good(verdicts, ALWAYS_GOOD)
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
    if given.violation or not record["tool_calls"][-1]["ok"]:
        return False
    return len(given.text) >= least_chars


def _sequence(calls):
    steps = [
        f"{call['name']}({call['args'].get(SELECTORS.get(call['name']), '')})" for call in calls if call["ok"]
    ]
    return ">".join(step for step, before in zip(steps, [None, *steps], strict=False) if step != before)
