"""What promotion relies on beyond single answers: identity, idempotence, patience, and nothing that merges.

What goes right is in tests/promote/test_forge_contract.py, where Prism checks it too.
"""

import pytest

from coreloop.base.errors import (
    ForgeError,
    ForgeNotFoundError,
    ForgeUnavailableError,
    PullRequestExistsError,
    UsageError,
)
from coreloop.base.github.github_forge import GithubForge
from coreloop.base.github.protocol import Forge
from github_failures import raw, said
from github_stand_in import Fault, GithubStandIn, Request, is_for_humans
from rows import each_row

KEY = "0123456789abcdef"
UNKNOWN = "it is unknown whether a review is required: "
TRAILERS = f"Phase: R\nCandidate-Key: {KEY}"


@each_row("repo", ["", "tools", "octo/", "/tools", "octo/tools/x", "octo/..", "octo/tools?x", "octo/a b"])
def test_repository_that_is_none_is_refused(repo: str) -> None:
    with pytest.raises(UsageError, match="set forge: repo to owner/name"):
        GithubForge(repo, token="a-token", base_url="https://api.github.com")


def test_pages_that_lead_in_a_circle_end(github: GithubStandIn, forge: GithubForge) -> None:
    github.fail(raw(b"[]", Link='<http://x/y?page=2>; rel="next"'), times=9)
    with pytest.raises(ForgeError, match="its page links form a loop"):
        forge.open_pull_requests()
    assert len(github.traffic) == 2


def test_renamed_repository_is_not_half_read(github: GithubStandIn, forge: GithubForge) -> None:
    github.add_pull(branch="skill/x")
    github.moved_to = "octo/kit"
    with pytest.raises(
        ForgeNotFoundError, match="the repository is now called octo/kit; set forge: repo to that name"
    ):
        forge.find_pull_request(KEY)


def test_pull_request_is_not_opened_in_a_renamed_repository(
    github: GithubStandIn, forge: GithubForge
) -> None:
    github.moved_to = "octo/kit"
    with pytest.raises(ForgeNotFoundError, match="the repository has moved"):
        forge.open_draft(branch="skill/x", base="main", title="x", body="x")
    assert github.pulls == []


@pytest.mark.parametrize(
    ("body", "found"),
    [
        pytest.param(TRAILERS, True, id="alone"),
        pytest.param(f"{TRAILERS}0", False, id="longer key"),
        pytest.param(f"see {TRAILERS}", False, id="mentioned"),
        pytest.param(None, False, id="no body"),
    ],
)
def test_key_is_a_trailer_of_the_body(
    github: GithubStandIn, forge: GithubForge, body: str | None, found: bool
) -> None:
    github.add_pull(branch="skill/x", body=body)
    assert (forge.find_pull_request(KEY) is not None) is found


def test_only_coreloops_pull_requests_are_counted(github: GithubStandIn, forge: GithubForge) -> None:
    github.add_pull(branch="skill/docstring-x")
    github.add_pull(branch="renamed", title="[CORELOOP-F] docs(x): y")
    github.add_pull(branch="fix/skill/x", title="about [CORELOOP-R]")
    github.add_pull(branch="skill/closed", state="closed")
    assert [pull.number for pull in forge.open_pull_requests()] == [1, 2]


def test_lost_answer_does_not_make_a_second_pull_request(github: GithubStandIn, forge: GithubForge) -> None:
    github.fail(Fault(carried_out=True), verb="POST")
    draft = {"branch": "skill/x", "base": "main", "title": "[CORELOOP-R] x", "body": TRAILERS}
    with pytest.raises(ForgeUnavailableError):
        forge.open_draft(**draft)
    found = forge.find_pull_request(KEY)
    assert found is not None
    with pytest.raises(PullRequestExistsError):
        forge.open_draft(**draft)
    assert [pull.number for pull in github.pulls] == [found.number] == [1]


def test_pull_request_that_is_no_draft_is_told(github: GithubStandIn, forge: GithubForge) -> None:
    github.sha_of = lambda branch: branch
    opened = github._create_pull(
        Request("POST", "", {}, {}, {"title": "x", "head": "skill/x", "base": "main", "draft": False})
    )
    github.fail(Fault(opened))
    with pytest.raises(ForgeError, match=r"/pull/1 was opened, but not as a draft: close it"):
        forge.open_draft(branch="skill/x", base="main", title="x", body="x")


class TestReviewRule:
    def test_forbidden_rulesets_are_unknown(self, github, forge) -> None:
        github.fail(said(403, "Upgrade to GitHub Pro"), path="/rules/")
        reason = forge.unreviewed("main")
        assert reason.startswith(UNKNOWN)
        assert "rulesets (403: Upgrade to GitHub Pro)" in reason
        assert reason.endswith("read access to administration")

    def test_classic_protection_outweighs_unknown_rulesets(self, github, forge) -> None:
        github.protections = {"main": 2}
        github.fail(said(403, "no"), path="/rules/")
        assert forge.unreviewed("main") == ""

    def test_forbidden_protection_of_a_protected_branch_is_unknown(self, github, forge) -> None:
        github.rights = "app"
        github.protections = {"main": 2}
        reason = forge.unreviewed("main")
        assert reason.startswith(UNKNOWN)
        assert "(403: Resource not accessible by personal access token)" in reason

    def test_branch_that_cannot_be_read_either_is_unknown(self, github, forge) -> None:
        github.rights = "app"
        github.fail(said(403, "no"), path="/branches/main", nth=3)
        assert forge.unreviewed("main").startswith(UNKNOWN)

    def test_server_without_rulesets_has_none(self, github, forge) -> None:
        github.fail(said(404, "Not Found"), path="/rules/")
        assert forge.unreviewed("main") == "no review is required: main is not protected"

    @pytest.mark.parametrize("fault", [said(429, "no"), said(500, "no"), raw(b"{"), Fault()])
    @pytest.mark.parametrize("nth", [1, 2])
    def test_trouble_is_never_taken_for_an_answer(self, github, forge, fault, nth) -> None:
        github.protections = {"main": 1}
        github.fail(fault, nth=nth)
        with pytest.raises(ForgeError):
            forge.unreviewed("main")


class TestHumansOnly:
    """Nothing merges, and the check of the whole suite's traffic would notice."""

    @pytest.mark.parametrize(
        ("verb", "path", "body"),
        [
            ("PUT", "/repos/o/r/pulls/1/merge", {}),
            ("POST", "/repos/o/r/merges", {"base": "main", "head": "x"}),
            ("PATCH", "/repos/o/r/git/refs/heads/main", {"sha": "0"}),
            (
                "POST",
                "/graphql",
                {"query": "mutation { enqueuePullRequest(input: {}) { clientMutationId } }"},
            ),
            ("POST", "/repos/o/r/issues/1/labels", {"labels": ["automerge"]}),
            ("POST", "/repos/o/r/pulls", {"draft": False}),
        ],
    )
    def test_other_ways_are_noticed(self, verb: str, path: str, body: object) -> None:
        assert is_for_humans(Request(verb, path, {}, {}, body))

    def test_forge_has_no_such_operation(self) -> None:
        operations = {name for name in dir(GithubForge) if not name.startswith("_")}
        methods = {name for name in vars(Forge) if not name.startswith("_")}
        assert operations == methods
        reads = {"open_pull_requests", "closed_pull_requests", "find_pull_request", "unreviewed"}
        assert methods == reads | {"open_draft", "rewrite", "add_label"}


def test_pull_request_from_a_deleted_fork_is_nobodys_promotion(
    github: GithubStandIn, forge: GithubForge
) -> None:
    """GitHub gives such a head no repository; its own description says that cannot be."""
    body = TRAILERS + "\n"
    github.add_pull(
        branch="skill/docstring-analysis-general-20260425", title="[CORELOOP-R] x", body=body, fork=""
    )
    assert (forge.find_pull_request(KEY), forge.open_pull_requests()) == (None, ())
