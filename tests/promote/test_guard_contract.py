"""What the guard asks of GitHub and sends to it, both as the API description has them."""

from pathlib import Path

import pytest

from coreloop.base.errors import ForgeForbiddenError, WorkspaceError
from coreloop.base.github.branch_rules import BranchRules
from coreloop.base.github.github_api import GithubApi
from coreloop.guard.check import CONTEXT
from coreloop.guard.protection import (
    FILE,
    apply,
    differences,
    never_green,
    protection_body,
    read_current,
    read_wanted,
)
from github_stand_in import GithubStandIn

ROOT = Path(__file__).parents[2]


def test_an_unprotected_branch_gets_the_wanted_rules(github: GithubStandIn, api: GithubApi) -> None:
    wanted = read_wanted(ROOT / FILE)
    current = read_current(api, "main")
    assert current.classic == {}
    assert {entry.rule for entry in differences(wanted, current)} == {
        "required check block-coreloop-auto-merge",
        "required_approving_review_count",
        "require_code_owner_reviews",
        "dismiss_stale_reviews",
        "require_last_push_approval",
        "enforce_admins",
        "allow_auto_merge",
    }
    apply(api, wanted, current)
    assert differences(wanted, read_current(api, "main")) == []
    assert github.allow_auto_merge is False
    assert github.put["main"]["restrictions"] is None


def test_a_check_that_was_green_once_is_known(github: GithubStandIn, api: GithubApi) -> None:
    assert never_green(api, ROOT) is None
    github.green.clear()
    assert "ai-policy.yml was never green" in str(never_green(api, ROOT))


def test_rules_of_rulesets_count_and_what_is_unreadable_is_unknown(
    github: GithubStandIn, api: GithubApi
) -> None:
    wanted = read_wanted(ROOT / FILE)
    github.rulesets, github.required, github.other_pusher = {"main": 2}, [CONTEXT], True
    left = {entry.rule for entry in differences(wanted, read_current(api, "main"))}
    assert left == {"require_code_owner_reviews", "enforce_admins", "allow_auto_merge"}
    apply(api, wanted, read_current(api, "main"))
    github.rulesets, github.rights = {}, "app"
    partly = read_current(api, "main", partly=True)
    assert (bool(partly.unread), differences(wanted, partly)) == (True, [])
    github.put.clear()
    open_now = differences(wanted, read_current(api, "main", partly=True))
    assert [entry.rule for entry in open_now][:2] == [
        f"required check {CONTEXT}",
        "required_approving_review_count",
    ]
    assert all(entry.open for entry in open_now)


def test_nobody_may_merge_past_the_review_and_who_may_push_stays() -> None:
    wanted = read_wanted(ROOT / FILE)
    answer = {
        "required_pull_request_reviews": {
            "bypass_pull_request_allowances": {"users": [{"login": "root"}], "teams": [{"slug": "ops"}]},
            "dismissal_restrictions": {"users": [{"login": "kim"}], "teams": [], "apps": []},
        },
        "restrictions": {"users": [{"login": "kim"}], "teams": [], "apps": [{"slug": "app"}]},
    }
    current = BranchRules(answer, allow_auto_merge=False)
    past = next(entry for entry in differences(wanted, current) if entry.rule == "may merge without a review")
    assert past.now == ["ops", "root"]
    body = protection_body(wanted, current)
    nobody = {"users": [], "teams": [], "apps": []}
    assert body["required_pull_request_reviews"]["bypass_pull_request_allowances"] == nobody
    assert body["required_pull_request_reviews"]["dismissal_restrictions"] == nobody | {"users": ["kim"]}
    assert body["restrictions"] == nobody | {"users": ["kim"], "apps": ["app"]}


def test_stricter_rules_and_those_that_the_file_does_not_name_stay(
    github: GithubStandIn, api: GithubApi
) -> None:
    wanted = read_wanted(ROOT / FILE)
    stricter = protection_body(wanted, read_current(api, "main"))
    stricter["required_pull_request_reviews"]["required_approving_review_count"] = 3
    stricter["required_pull_request_reviews"]["require_code_owner_reviews"] = False
    stricter["required_status_checks"]["strict"] = True
    stricter["required_status_checks"]["checks"] = [{"context": "tests", "app_id": -1}]
    stricter["required_linear_history"] = True
    github.put["main"] = stricter
    github.allow_auto_merge = False
    current = read_current(api, "main")
    assert [(entry.rule, entry.now, entry.wanted) for entry in differences(wanted, current)] == [
        ("required check block-coreloop-auto-merge", False, True),
        ("require_code_owner_reviews", False, True),
    ]
    apply(api, wanted, current)
    put = github.put["main"]
    assert put["required_pull_request_reviews"]["required_approving_review_count"] == 3
    assert put["required_status_checks"] == {
        "strict": True,
        "contexts": [],
        "checks": [
            {"context": "tests", "app_id": -1},
            {"context": "block-coreloop-auto-merge", "app_id": 15368},
        ],
    }
    assert put["required_linear_history"] is True
    assert [request.verb for request in github.traffic if request.verb != "GET"] == ["PUT"]


def test_who_does_not_administer_is_told(github: GithubStandIn, api: GithubApi) -> None:
    github.rights = "app"
    with pytest.raises(ForgeForbiddenError, match="cannot read the protection of branch main"):
        read_current(api, "main")


@pytest.mark.parametrize(
    "text",
    ["{", "branch: main\nmore: 1\n", "\udcff"],
    ids=["no YAML", "an unknown key", "no UTF-8"],
)
def test_a_file_of_rules_that_is_none_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "branch_protection.yml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(WorkspaceError, match=r"branch_protection\.yml: (?:cannot be used|is not YAML)"):
        read_wanted(path)
