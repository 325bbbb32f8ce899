"""Fixtures that more than one folder of tests uses."""

from collections.abc import Iterator

import pytest
from github_stand_in import GithubStandIn, is_for_humans

from coreloop.promote.github_api import Connection
from coreloop.promote.github_forge import GithubForge


@pytest.fixture
def github(monkeypatch: pytest.MonkeyPatch) -> Iterator[GithubStandIn]:
    """A GitHub on this machine; no test leaves it having merged, or having let something merge."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with GithubStandIn() as github:
        yield github
    assert [request.line for request in github.traffic if is_for_humans(request)] == []


@pytest.fixture
def connection(github: GithubStandIn) -> Connection:
    return Connection(base_url=github.url, timeout_s=5, seconds_between_requests=0, seconds_between_writes=0)


@pytest.fixture
def forge(github: GithubStandIn, connection: Connection) -> Iterator[GithubForge]:
    with GithubForge(github.repo, token=github.token, connection=connection) as forge:
        yield forge
