"""Retries, the breaker and the next provider, on a clock of the test."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from coreloop.answer.search.failover import Failover, Pace
from coreloop.answer.search.provider import Blocked, Empty, Failed, Found, SearchAnswer, SearchLimits, Source

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


def test_a_provider_that_is_blocked_for_long_is_left_alone_until_then() -> None:
    time = Time()
    until = NOON + timedelta(seconds=120)
    web = Scripted("web", [Blocked("busy", until), FOUND], time)
    search = Failover([web], pace=time.pace())
    assert search.search("q", SearchLimits()) == Blocked("web: busy")
    assert search.search("q", SearchLimits()) == Failed("web: left alone for 120 s")
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
