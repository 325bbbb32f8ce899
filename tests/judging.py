"""The decision on a promotion or a merge group with one thing changed, and what it must be."""

import re

from coreloop.guard.decision import GuardDecision
from coreloop.guard.event import Authorship, MergeGroupEvent
from coreloop.guard.policy import decide
from guarding import (
    BASE,
    HEAD,
    NUMBER,
    commit,
    facts,
    pull,
)

MESSAGE = commit().message
ORDINARY = commit("fix: a typo\n\nTarget: the docs\n")
OTHER = "c" * 40


def with_trailer(name: str, value: str | None) -> str:
    """The commit's message with another value of a trailer, or without it."""
    line = f"{name}: {value}\n" if value is not None else ""
    return re.sub(rf"^{name}: .*\n", line, MESSAGE, flags=re.MULTILINE)


OLD = "d" * 40
SIGNED = Authorship(sha=HEAD, verified=True)


def assert_stops(decision: GuardDecision, reason: str) -> None:
    assert decision.claims
    assert [given for given in decision.reasons if reason in given], decision.reasons


def assert_stops_only_for(decision: GuardDecision, reason: str) -> None:
    assert decision.claims
    assert len(decision.reasons) == 1, decision.reasons
    assert reason in decision.reasons[0]


def assert_waits(decision: GuardDecision) -> None:
    assert (decision.state, decision.waits[0].partition(":")[0]) == ("pending", "#7 waits for approval")


def grouped(action: str = "checks_requested", number: int | None = NUMBER, **changes) -> GuardDecision:
    """The decision on a merge group of one promotion."""
    group = MergeGroupEvent(action=action, head_sha=OTHER, base_sha=BASE, number=number)
    return decide(group, facts(**changes))


MERGE = commit(
    f"Merge pull request #7 from octo/{pull().branch}\n\n{pull().title}", sha=OTHER, parents=(BASE, HEAD)
)
SQUASH = commit(MESSAGE.replace(pull().title, f"{pull().title} (#7)"), sha=OTHER)
