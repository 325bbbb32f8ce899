"""The guard's way to GitHub: the failures of the other one, and no token where it does not belong."""

import traceback
from pathlib import Path
from typing import Any

import pytest

from coreloop.base.errors import (
    ForgeError,
    ForgeNotFoundError,
    ForgeUnavailableError,
    UsageError,
)
from coreloop.base.github.github_api import GithubApi
from coreloop.base.github.protocol import PullRequest
from github_failures import FAILURES, raw, said
from github_stand_in import Fault, GithubStandIn, Reply
from rows import each_row

CANARY = "ghp_canary0123456789"
DOING = "list the open pull requests of octo/tools"


@pytest.fixture
def slept_s(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    seconds = list[float]()
    monkeypatch.setattr("coreloop.base.github.github_api.sleep", seconds.append)
    return seconds


@pytest.fixture
def api(github: GithubStandIn, slept_s: list[float]) -> GithubApi:
    return api_at(github)


def api_at(github: GithubStandIn, **more: Any) -> GithubApi:
    """One that waits for a second of silence."""
    return GithubApi(github.repo, **{"token": github.token, "base_url": github.url, "timeout_s": 1} | more)


def pulls(api: GithubApi) -> list[Any]:
    return list(api.pages("/pulls", list[PullRequest], doing=DOING))


def _marked(name: str, *values: Any) -> Any:
    """A case; the server that takes too long takes this test four seconds."""
    return pytest.param(*values, id=name, marks=[pytest.mark.slow] if name == "slow" else [])


@pytest.mark.parametrize(("fault", "leaf", "rest"), [_marked(*failure) for failure in FAILURES])
def test_failure_is_one_line_that_says_what_to_do(github, api, fault, leaf, rest) -> None:
    github.fail(fault, times=9)
    with pytest.raises(ForgeError) as caught:
        pulls(api)
    assert type(caught.value) is leaf
    assert str(caught.value).isprintable()
    assert str(caught.value).startswith(f"cannot {DOING}: {rest or ''}")


@pytest.mark.parametrize("fault", [said(502, "Bad Gateway"), Fault()], ids=["out of order", "dropped"])
def test_reading_is_tried_three_times_more(github, api, slept_s, fault: Fault) -> None:
    github.fail(fault, times=3)
    assert pulls(api) == []
    assert len(github.traffic) == 4
    assert slept_s == [0.5, 1.0, 2.0]


def test_between_requests_is_a_pause(github, slept_s) -> None:
    api = api_at(github, pace_s=(0.25, 1.0))
    assert pulls(api) + pulls(api) == []
    github.fail(said(422, "no"))
    with pytest.raises(ForgeError):
        api.send("PATCH", "/pulls/1", {}, doing="write")
    assert slept_s == [0.25, 1.0]


@pytest.mark.parametrize("fault", [said(502, "Bad Gateway"), Fault()], ids=["out of order", "dropped"])
def test_writing_is_not_tried_again(github, api, fault: Fault) -> None:
    github.fail(fault)
    with pytest.raises(ForgeUnavailableError):
        api.send("PATCH", "", {"allow_auto_merge": False}, doing="change")
    assert len(github.traffic) == 1


@pytest.mark.parametrize(
    "fault",
    [said(403, "rate limit exceeded", X_RateLimit_Reset="4102444800"), said(429, "", Retry_After="61")],
    ids=["reset", "retry-after"],
)
def test_a_rate_limit_is_told_at_once(github, api, slept_s, fault: Fault) -> None:
    github.fail(fault)
    with pytest.raises(ForgeError, match="GitHub's rate limit is exceeded"):
        pulls(api)
    assert (len(github.traffic), slept_s) == (1, [])


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_the_token_is_not_sent_to_another_server(github, api, status: int) -> None:
    with GithubStandIn() as other:
        github.fail(Fault(Reply(status, {}, {"Location": f"{other.url}/repos/octo/tools/pulls"})))
        with pytest.raises(ForgeNotFoundError, match="the repository has moved"):
            pulls(api)
        assert other.traffic == []


def test_reading_follows_to_the_same_server(github, api) -> None:
    github.fail(Fault(Reply(301, {}, {"Location": f"{github.url}/repos/octo/tools/pulls?page=1"})))
    assert pulls(api) == []
    assert [request.headers["authorization"] for request in github.traffic] == [f"token {github.token}"] * 2


@pytest.mark.parametrize("status", [301, 307])
def test_writing_follows_nowhere(github, api, status: int) -> None:
    github.fail(Fault(Reply(status, {}, {"Location": f"{github.url}/elsewhere"})))
    with pytest.raises(ForgeNotFoundError, match="the repository has moved"):
        api.send("PUT", "/branches/main/protection", {}, doing="protect")
    assert len(github.traffic) == 1


def test_a_redirect_in_a_circle_ends(github, api) -> None:
    github.fail(Fault(Reply(302, {}, {"Location": f"{github.url}/repos/octo/tools/pulls"})), times=99)
    with pytest.raises(ForgeNotFoundError, match="the repository has moved"):
        pulls(api)
    assert len(github.traffic) < 12


def test_the_next_page_is_asked_of_the_same_server(github, api) -> None:
    github.fail(raw(b"[]", Link='<http://elsewhere.example/steal?page=2>; rel="next"'))
    assert pulls(api) == []
    assert [(one.path, one.query.get("page")) for one in github.traffic] == [
        ("/repos/octo/tools/pulls", None),
        ("/repos/octo/tools/pulls", "2"),
    ]


@pytest.mark.parametrize(
    ("below", "asked"), [("", "/graphql"), ("/api/v3/", "/api/graphql"), ("/api/v3", "/api/graphql")]
)
def test_graphql_is_beside_the_rest_api(github, slept_s, below: str, asked: str) -> None:
    api = api_at(github, base_url=f"{github.url}{below}")
    github.fail(said(404, "Not Found"))
    with pytest.raises(ForgeNotFoundError):
        api.mutate("convertPullRequestToDraft", "x")
    assert github.traffic[0].path == asked


@each_row("url", ["http://github.example.com", "http://127.evil.example"])
def test_the_token_does_not_travel_in_the_clear(url: str) -> None:
    with pytest.raises(UsageError, match="unencrypted; use https"):
        GithubApi("octo/tools", CANARY, base_url=url)


@each_row("url", ["", "github.example", "ftp://x", "file:///etc", "https://me:s@github.example"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="GITHUB_API_URL is not the address of an API"):
        GithubApi("octo/tools", CANARY, base_url=url)


@each_row("token", ["", " ", "\n", f"{CANARY}\nX-Other: 1", f"{CANARY}é"])
def test_an_impossible_token_is_refused_unquoted(token: str) -> None:
    with pytest.raises(ForgeError, match="GITHUB_TOKEN or GH_TOKEN") as caught:
        GithubApi("octo/tools", token, base_url="https://api.github.com")
    assert CANARY not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("fault", [_marked(one[0], one[1]) for one in FAILURES])
def test_no_failure_shows_the_token(github, slept_s, fault: Fault) -> None:
    github.token = CANARY
    api = api_at(github)
    github.fail(fault, times=9)
    shown = ""
    try:
        api.get("/pulls/7", doing="look")
    except ForgeError as exc:
        told = traceback.TracebackException.from_exception(exc, capture_locals=True)
        shown = "".join([str(exc), repr(exc), repr(vars(exc)), *told.format()])
    assert CANARY not in shown
    assert CANARY not in repr(api)


def test_a_server_that_repeats_the_token_is_not_quoted(github, slept_s) -> None:
    github.token = CANARY
    github.fail(said(422, f"token {CANARY} is wrong"))
    with pytest.raises(ForgeError, match=r"token \*\*\* is wrong"):
        pulls(api_at(github))


def test_no_certificate_is_told(monkeypatch: pytest.MonkeyPatch, github, slept_s) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    secure = github.url.replace("http://", "https://")
    with pytest.raises(ForgeUnavailableError, match="the server's certificate is not trusted"):
        pulls(api_at(github, base_url=secure))


def test_what_stands_below_has_no_redirect_to_a_file(tmp_path: Path, github, api) -> None:
    (tmp_path / "x").write_text("[]")
    github.fail(Fault(Reply(302, {}, {"Location": f"file://{tmp_path}/x"})))
    with pytest.raises(ForgeNotFoundError, match="the repository has moved"):
        pulls(api)
