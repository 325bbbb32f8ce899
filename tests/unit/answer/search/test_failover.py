"""Retries, the breaker and the next provider, on a clock of the test."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from coreloop.answer.search.failover import Breaker, Failover, Pace
from coreloop.answer.search.provider import Blocked, Empty, Failed, Found, SearchAnswer, SearchLimits
from coreloop.answer.search.source import Source

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
FOUND = Found((Source(title="t", location="a.md", type="markdown", text="x", retrieved_at=NOON),))
DOWN = Failed("HTTP 500")


@dataclass
class Time:
    """A clock that a pause moves on."""

    passed_s: float = 0.0
    pauses: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.passed_s += seconds

    def pace(self) -> Pace:
        return Pace(
            now=lambda: NOON + timedelta(seconds=self.passed_s),
            monotonic=lambda: self.passed_s,
            sleep=self.sleep,
            chance=lambda: 1.0,
        )


@dataclass
class Scripted:
    """A provider that gives the answers of a list, the last one for ever; each takes some time."""

    name: str
    answers: Iterable[SearchAnswer]
    time: Time
    takes_s: float = 0.0
    limits: list[SearchLimits] = field(default_factory=list)

    def search(self, _query: str, limits: SearchLimits) -> SearchAnswer:
        self.limits.append(limits)
        self.time.passed_s += min(self.takes_s, limits.timeout_s)
        answers = list(self.answers)
        return answers[min(len(self.limits), len(answers)) - 1]


def test_a_failed_attempt_is_repeated_with_growing_pauses() -> None:
    time = Time()
    web = Scripted("web", [DOWN, DOWN, FOUND], time)
    search = Failover([web], pace=time.pace())
    assert search.search("q", SearchLimits()) == FOUND
    assert time.pauses == [0.5, 1.0]


def test_after_three_attempts_the_next_provider_is_asked() -> None:
    time = Time()
    web, index = Scripted("web", [DOWN], time), Scripted("index", [FOUND], time)
    search = Failover([web, index], pace=time.pace())
    assert search.search("q", SearchLimits()) == FOUND
    assert len(web.limits) == 3


def test_a_provider_that_is_blocked_for_long_is_left_alone_until_then() -> None:
    time = Time()
    until = NOON + timedelta(seconds=120)
    web = Scripted("web", [Blocked("busy", until), FOUND], time)
    search = Failover([web], pace=time.pace())
    assert search.search("q", SearchLimits()) == Blocked("web: busy", until)
    assert search.search("q", SearchLimits()) == Blocked("web: asked to be left alone for 120 s", until)
    time.passed_s = 121
    assert search.search("q", SearchLimits()) == FOUND


def test_the_deadline_shortens_the_last_attempt() -> None:
    time = Time()
    web = Scripted("web", [DOWN], time, takes_s=100)
    Failover([web], pace=time.pace()).search("q", SearchLimits(timeout_s=60, deadline_s=15))
    assert [limits.timeout_s for limits in web.limits] == [10.0, 4.5]
    assert time.passed_s == 15


def test_empty_means_that_every_provider_found_nothing() -> None:
    time = Time()
    web, index = Scripted("web", [DOWN], time), Scripted("index", [Empty()], time)
    assert Failover([index], pace=time.pace()).search("q", SearchLimits()) == Empty()
    assert Failover([index, web], pace=time.pace()).search("q", SearchLimits()) == Failed("web: HTTP 500")


def test_three_failed_queries_in_a_row_open_the_breaker_for_half_a_minute() -> None:
    time = Time()
    web = Scripted("web", [DOWN], time)
    search = Failover([web], pace=time.pace())
    for _ in range(3):
        search.search("q", SearchLimits())
    asked = len(web.limits)
    assert "left alone" in str(search.search("q", SearchLimits()))
    assert len(web.limits) == asked == 9
    time.passed_s += 31
    search.search("q", SearchLimits())
    assert len(web.limits) == 12


def test_half_of_four_queries_opens_the_breaker_and_one_of_three_does_not() -> None:
    breaker = Breaker()
    for has_worked in (True, False, True):
        breaker.count(0, has_worked=has_worked)
        assert breaker.closed_s(0) == 0
    breaker.count(0, has_worked=False)
    assert (breaker.closed_s(1), breaker.closed_s(30)) == (29, 0)
