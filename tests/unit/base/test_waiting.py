"""Waiting ends with the answer, or with the time."""

from collections.abc import Iterator

from coreloop.base.waiting import wait_until


def test_the_first_true_answer_is_returned():
    answers: Iterator[str] = iter(["", "", "ready", "too late"])
    assert wait_until(lambda: next(answers), within_s=60, pause_s=0) == "ready"
    assert next(answers) == "too late"


def test_without_time_it_is_asked_once():
    answers = iter(["", "too late"])
    assert wait_until(lambda: next(answers), within_s=0, pause_s=60) == ""
