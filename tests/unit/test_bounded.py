"""Work without end fails, and so does a wait that nobody ends; the limits go when the block does."""

import signal
import time

import pytest

from bounded import bounded, given_up


def work_for_ever() -> None:
    while True:
        pass


def test_work_without_end_fails():
    with pytest.raises(AssertionError, match="no end after"), bounded(0.01):
        work_for_ever()


def test_a_wait_that_nobody_ends_fails():
    with pytest.raises(AssertionError, match="still waiting after"), given_up(0.01):
        time.sleep(600)


def test_a_limit_ends_with_its_block():
    with bounded(), given_up():
        pass
    assert signal.getitimer(signal.ITIMER_PROF) == signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
