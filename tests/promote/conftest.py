"""Every test here that talks to GitHub does it twice: straight to the stand-in, and through Prism."""

import logging
from collections.abc import Iterator

import pytest

from github_stand_in import GithubStandIn, is_for_humans
from prism_proxy import prism_proxy, why_no_prism


@pytest.fixture(scope="session")
def checked_github() -> Iterator[GithubStandIn]:
    if reason := why_no_prism():
        pytest.skip(reason)
    with GithubStandIn() as github, prism_proxy(github.address) as github.url:
        yield github


@pytest.fixture(params=["direct", pytest.param("prism", marks=[pytest.mark.prism, pytest.mark.slow])])
def github(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> Iterator[GithubStandIn]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    if request.param == "prism":
        # a failed test shows what Prism found wrong
        caplog.set_level(logging.DEBUG, logger="github.Requester")
        github = request.getfixturevalue("checked_github")
        github.reset()
        yield github
    else:
        with GithubStandIn() as github:
            yield github
    assert [one.line for one in github.traffic if is_for_humans(one)] == []
