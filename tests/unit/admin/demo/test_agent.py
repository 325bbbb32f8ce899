"""The scripted agent: a pure script, and calls that really happen."""

import pytest

from scripted import tools_of_the_demo, work

OF_THE_RUN = ("request_id", "duration_total_ms")
"""Differs between two runs."""


def test_two_runs_of_a_seed_and_a_key_record_the_same(tmp_path, monkeypatch):
    monkeypatch.setenv("CORELOOP_CASE_KEY", "0" * 64)
    first, second = (
        [{**record, **dict.fromkeys(OF_THE_RUN)} for _, record, _ in work(5, tmp_path / name)]
        for name in ("a", "b")
    )
    assert first == second


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


def test_a_defect_in_a_tool_is_not_taken_for_a_failed_call(tmp_path):
    def broken(**_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work(0, tmp_path, dict.fromkeys(tools_of_the_demo(), broken))
