"""Every failure becomes one line that says what to do, and none shows the token."""

import logging
import traceback
from collections.abc import Iterator

import pytest

from coreloop.base.errors import ForgeAnswerError, ForgeError
from coreloop.base.github.github_forge import GithubForge
from github_failures import FAILURES
from github_stand_in import GithubStandIn

CANARY = "ghp_canary0123456789"

BY_NAME = pytest.mark.parametrize(
    ("fault", "leaf", "rest"),
    [pytest.param(*entry, id=name, marks=[pytest.mark.slow] * (name == "slow")) for name, *entry in FAILURES],
)


@pytest.fixture
def brief(github: GithubStandIn, at_once: None) -> Iterator[GithubForge]:
    """A forge that waits one second."""
    with GithubForge(github.repo, token=github.token, base_url=github.url, timeout_s=1) as forge:
        yield forge


@pytest.fixture
def canary(github: GithubStandIn, at_once: None) -> Iterator[GithubForge]:
    """A forge whose token is looked for."""
    github.token = CANARY
    with GithubForge(github.repo, token=CANARY, base_url=github.url, timeout_s=1) as forge:
        yield forge


@BY_NAME
def test_failure_is_one_line_that_says_what_to_do(github, brief, fault, leaf, rest) -> None:
    github.fail(fault)
    with pytest.raises(ForgeError) as caught:
        brief.open_pull_requests()
    assert type(caught.value) is leaf
    message = str(caught.value)
    assert message.isprintable()
    assert message.startswith("cannot list the open pull requests of octo/tools: ")
    assert rest is None or message.endswith(f": {rest}")
    answered = fault.reply is not None and leaf is not ForgeAnswerError and fault.reply.status >= 300
    assert caught.value.status == (fault.reply.status if answered else None)


class TestSecret:
    @BY_NAME
    def test_no_failure_shows_the_token(self, github, canary, caplog, fault, leaf, rest) -> None:
        caplog.set_level(logging.DEBUG)
        github.fail(fault)
        shown = _shown(canary.open_pull_requests)
        assert CANARY not in shown + repr(canary) + caplog.text
        assert github.traffic[0].headers["authorization"] == f"token {CANARY}"

    def test_log_of_what_goes_right_has_no_token(self, github, canary, caplog) -> None:
        caplog.set_level(logging.DEBUG)
        canary.open_draft(branch="skill/x", base="main", title="[CORELOOP-R] x", body="x")
        canary.unreviewed("main")
        assert "POST" in caplog.text
        assert CANARY not in caplog.text


def _shown(call) -> str:
    """All that a traceback can show of the error that `call` raises, local variables included."""
    try:
        call()
    except ForgeError as exc:
        behind = exc.__cause__
        while behind is not None:
            assert not hasattr(behind, "request") or behind.request is None
            behind = behind.__cause__ or behind.__context__
        result = traceback.TracebackException.from_exception(exc, capture_locals=True)
        return "".join([str(exc), repr(exc), repr(vars(exc)), *result.format()])
    raise AssertionError("nothing was raised")
