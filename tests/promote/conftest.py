"""Every test here that talks to GitHub does it twice: straight to the stand-in, and through Prism."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from coreloop.base.github.github_api import GithubApi
from github_stand_in import GithubStandIn, is_for_humans
from prism_proxy import prism_proxy, why_no_prism
from promoting import Project
from retail_shop import Shop, shop_with_requests


@pytest.fixture(scope="session")
def mined_shop(tmp_path_factory: pytest.TempPathFactory, tau_trajectories: Path, tau_log: Path) -> Shop:
    """The example shop after a night of pattern and refine over the real requests; tests change a copy."""
    return shop_with_requests(tmp_path_factory.mktemp("mined"), tau_trajectories, tau_log)


@pytest.fixture
def shop(mined_shop: Shop, tmp_path: Path) -> Shop:
    return mined_shop.copy(tmp_path)


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


@pytest.fixture
def hub(github: GithubStandIn, project: Project, monkeypatch: pytest.MonkeyPatch) -> GithubStandIn:
    """GitHub as the host of the project's remote; main asks for a review."""
    monkeypatch.setattr(github, "sha_of", project.head_of)
    github.protections = {"main": 1}
    return github


@pytest.fixture
def api(github: GithubStandIn) -> GithubApi:
    return GithubApi(github.repo, github.token, base_url=github.url, timeout_s=30)
