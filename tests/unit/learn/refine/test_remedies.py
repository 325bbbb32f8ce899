"""Remedies: calls that worked after a failure significantly often."""

from typing import Any

from coreloop.learn.facts.values import texts_by_hash
from coreloop.learn.refine.causes import Cause
from coreloop.learn.refine.features import gather
from coreloop.learn.refine.remedies import find_remedy
from logs import call, failed
from samples import asked, sample_of

VALUES = {"escalate": texts_by_hash(("billing", "true", 'a"b'))}
REFUSED = failed("refund", {"amount": 500}, "PermissionError: over the limit")


def _remedy(*requests: list[Any], handoff: tuple[str, ...] = ()) -> str | None:
    """The remedy for the failed calls of ``refund``."""
    sample = sample_of(asked(number, *calls, days=1) for number, calls in enumerate(requests))
    (tool_calls,) = [
        tool_calls for tool_calls in gather(sample, min_failures=1) if tool_calls.tool == "refund"
    ]
    cases = tool_calls.cases(sample)
    cause = Cause((), cases.all & ~cases.good, cases.good, 0.0)
    return find_remedy(tool_calls, cause, VALUES, arguments=lambda _: ("team", "urgent"), handoff=handoff)


def _escalated(**args: Any) -> list[Any]:
    return [REFUSED, call("escalate", args)]


FINE = [[call("refund", {"amount": 5}), call("finish")]] * 20


def test_the_usual_next_call_is_named_with_its_declared_values():
    assert (
        _remedy(*[_escalated(team="billing", note="Kim's words")] * 10, *FINE) == 'escalate(team="billing")'
    )


def test_an_undeclared_value_is_left_out():
    assert _remedy(*[_escalated(team="Kim")] * 10, *FINE) == "escalate"


def test_an_argument_outside_the_signature_is_left_out():
    assert _remedy(*[_escalated(Kim_Cheolsu=True, team="billing")] * 10, *FINE) == 'escalate(team="billing")'


def test_values_that_differ_are_left_out():
    requests = [_escalated(team="billing" if n % 2 else "other") for n in range(10)]
    assert _remedy(*requests, *FINE) == "escalate"


def test_true_is_written_without_quotes():
    assert _remedy(*[_escalated(urgent=True)] * 10, *FINE) == "escalate(urgent=true)"


def test_a_value_with_a_quote_is_left_out():
    assert _remedy(*[_escalated(team='a"b')] * 10, *FINE) == "escalate"


def test_fewer_than_eight_calls_are_no_remedy():
    assert _remedy(*[_escalated()] * 7, *FINE) is None


def test_half_of_the_failures_are_not_enough():
    assert _remedy(*[_escalated()] * 10, *[[REFUSED, call(f"other{n}")] for n in range(8)], *FINE) is None


def test_a_call_that_follows_successes_as_often_is_no_remedy():
    assert _remedy(*[_escalated()] * 10, *[[call("refund"), call("escalate")]] * 20) is None


def test_calling_the_same_tool_again_is_no_remedy():
    assert _remedy(*[[REFUSED, call("refund", {"amount": 5})]] * 10, *FINE) is None


def test_a_hand_over_is_no_remedy():
    requests = [*[_escalated()] * 10, *FINE]
    assert _remedy(*requests) == "escalate"
    assert _remedy(*requests, handoff=("escalate",)) is None


def test_a_call_that_failed_too_is_skipped():
    assert _remedy(*[[REFUSED, failed("other"), call("escalate")]] * 10, *FINE) == "escalate"


def test_nothing_after_the_failures_is_no_remedy():
    assert _remedy(*[[REFUSED]] * 10, *FINE) is None
