"""Counts by reason: nothing is lost, whatever interrupts the counting."""

import sys
import threading

from coreloop.observe.tally import NO_STACK, ReasonCounts


def test_cases_are_counted_by_reason():
    tally = ReasonCounts()
    for reason in ("a", "b", "a"):
        tally.add(reason)
    tally.no_stack += 2
    assert tally.counts() == {"a": 2, "b": 1, NO_STACK: 2}
    tally.counts()["a"] = 9
    assert tally.counts()["a"] == 2


def test_threads_lose_no_case():
    tally, before = ReasonCounts(), sys.getswitchinterval()

    def work():
        for _ in range(2000):
            tally.add("a")

    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert tally.counts() == {"a": 8000}


def test_a_case_that_comes_while_its_thread_is_counting_is_counted():
    tally = ReasonCounts()
    with tally._lock:  # as in the midst of counting
        tally.add("interrupting")
        assert tally.counts() == {}
    tally.add("later")
    assert tally.counts() == {"interrupting": 1, "later": 1}
