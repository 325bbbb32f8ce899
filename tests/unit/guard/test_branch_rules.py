"""The rules of the base branch, as far as a token may read them: an explanation, never the decision."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from coreloop.base.github.github_api import GithubApi
from coreloop.base.github.urllib_transport import UrllibTransport
from coreloop.guard.decision import CONTEXT, BaseRules
from coreloop.guard.github import read_base_rules
from coreloop.guard.protection import FILE, apply, read_current, read_wanted
from github_stand_in import Fault, GithubStandIn, Reply

ROOT = Path(__file__).parents[3]
UNREAD = "the classic protection of main, which this token may not read"


@pytest.fixture
def api(github: GithubStandIn) -> Iterator[GithubApi]:
    with GithubApi(github.repo, UrllibTransport(github.token, base_url=github.url, tries=1)) as api:
        yield api


def unprotected(github: GithubStandIn, api: GithubApi) -> None:
    """Nothing is set."""


def ruleset(github: GithubStandIn, api: GithubApi) -> None:
    github.rulesets, github.required, github.other_pusher = {"main": 1}, ["tests", CONTEXT], True


def ruleset_of_other_things(github: GithubStandIn, api: GithubApi) -> None:
    github.rulesets, github.required = {"main": 1}, ["tests"]


def protect(github: GithubStandIn, api: GithubApi) -> None:
    """What ``guard protect --confirm`` does."""
    apply(api, read_wanted(ROOT / FILE), read_current(api, "main"))


def classic_of_other_things(github: GithubStandIn, api: GithubApi) -> None:
    github.protections = {"main": 1}


def ruleset_for_the_status_alone(github: GithubStandIn, api: GithubApi) -> None:
    github.rulesets, github.required = {"main": None}, [CONTEXT]


RULES: list[tuple[Callable[[GithubStandIn, GithubApi], None], str, BaseRules, int]] = [
    # what is set, whose token asks, the answer, the number of requests
    (unprotected, "admin", BaseRules(False, False), 2),
    (unprotected, "app", BaseRules(False, False), 2),
    (ruleset, "admin", BaseRules(True, True), 1),
    (ruleset, "app", BaseRules(True, True), 1),
    (ruleset_of_other_things, "app", BaseRules(False, False), 2),
    (ruleset_for_the_status_alone, "app", BaseRules(True, False), 2),
    (protect, "admin", BaseRules(True, True), 3),
    (protect, "write", BaseRules(True, None, UNREAD), 3),
    (protect, "app", BaseRules(True, None, UNREAD), 3),
    (classic_of_other_things, "admin", BaseRules(False, False), 3),
    (classic_of_other_things, "app", BaseRules(False, None, UNREAD), 3),
]


@pytest.mark.parametrize(
    ("set_up", "rights", "wanted", "n_requests"), RULES, ids=[f"{row[0].__name__} {row[1]}" for row in RULES]
)
def test_rules_are_read_as_far_as_the_token_may(
    set_up, rights, wanted: BaseRules, n_requests: int, github: GithubStandIn, api: GithubApi
):
    set_up(github, api)
    github.rights = rights
    github.traffic.clear()
    assert read_base_rules(api, "main") == wanted
    assert len(github.traffic) == n_requests
    assert {request.verb for request in github.traffic} == {"GET"}


def test_ruleset_and_classic_protection_add_up(github: GithubStandIn, api: GithubApi):
    protect(github, api)
    github.rulesets, github.other_pusher, github.rights = {"main": 1}, True, "app"
    assert read_base_rules(api, "main") == BaseRules(True, True, UNREAD)


@pytest.mark.parametrize(
    ("status", "wanted"),
    [
        (403, BaseRules(None, None, "the rulesets of main, which this token may not read")),
        (404, BaseRules(False, False)),  # an older server, which has none
    ],
)
def test_rulesets_that_cannot_be_read_are_unknown(
    status: int, wanted: BaseRules, github: GithubStandIn, api: GithubApi
):
    github.fail(Fault(Reply(status, {"message": "No"})), path="/rules/")
    assert read_base_rules(api, "main") == wanted


def test_a_status_that_the_classic_protection_requires_is_known_without_the_rulesets(
    github: GithubStandIn, api: GithubApi
):
    protect(github, api)
    github.fail(Fault(Reply(403, {"message": "No"})), path="/rules/")
    assert read_base_rules(api, "main").requires_status is True


@pytest.mark.parametrize("path", ["/rules/", "/branches/main", "/protection"])
@pytest.mark.parametrize("reply", [Reply(500, {}), Reply(200, {"no": "rules"}), None])
def test_a_read_that_fails_leaves_all_unknown_and_says_so(
    path: str, reply: Reply | None, github: GithubStandIn, api: GithubApi
):
    classic_of_other_things(github, api)
    if path == "/protection" and reply and reply.status == 200:
        reply = Reply(200, {"required_pull_request_reviews": 1})
    github.fail(Fault(reply), path=path)
    found = read_base_rules(api, "main")
    assert (found.requires_status, found.require_last_push_approval) == (None, None)
    assert found.unread.startswith("cannot read the ") or found.unread.startswith("cannot read branch main")
    assert list(found.warnings("main")) == []


def test_only_rules_that_are_known_to_be_missing_are_warned_of():
    assert list(BaseRules(True, True).warnings("main")) == []
    assert list(BaseRules(None, None, "x").warnings("main")) == []
    status, approval = BaseRules(False, False).warnings("ma\x1bin")
    assert status.startswith(
        rf"ma\u{{1b}}in does not require the status {CONTEXT}, so a red one stops no merge;"
    )
    assert approval == r"ma\u{1b}in lets the last pusher approve; run dartlab-coreloop guard protect"
