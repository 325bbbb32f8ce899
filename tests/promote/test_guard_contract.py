"""What the guard asks of GitHub and sends to it, both as the API description has them."""

from pathlib import Path

import pytest

from coreloop.base.errors import ForgeForbiddenError, ForgeNotFoundError, WorkspaceError
from coreloop.base.github.github_api import GithubApi
from coreloop.base.github.urllib_transport import UrllibTransport
from coreloop.guard.protection import (
    FILE,
    apply,
    differences,
    lone_maintainer,
    never_green,
    owners_errors,
    protection_body,
    read_current,
    read_wanted,
)
from github_stand_in import Fault, GithubStandIn, Reply

ROOT = Path(__file__).parents[2]
BRANCH = "skill/docstring-analysis-profitability-20260425"


@pytest.fixture
def api(github: GithubStandIn):
    with GithubApi(github.repo, UrllibTransport(github.token, base_url=github.url, timeout_s=30)) as api:
        yield api


def written(answers: dict[str, bytes], folder: Path) -> dict[str, Path]:
    for name, content in answers.items():
        (folder / name).write_bytes(content)
    return {name: folder / name for name in answers}


def test_all_reviews_are_gathered_and_read_back(
    github: GithubStandIn, api: GithubApi, tmp_path: Path
) -> None:
    pull = github.add_pull(branch=BRANCH, title="x", body="y")
    for _ in range(130):
        github.add_review(1, "maintainer", "COMMENTED", pull.head_sha)
    github.add_review(1, "maintainer", "APPROVED", pull.head_sha)
    github.add_review(1, "kim", "APPROVED", pull.head_sha)
    github.permissions["kim"] = "read"
    github.pushed_by |= {pull.head_sha: "lee", "f" * 40: "kim"}
    paths = written(gather(api, read_pulls(api, {1}, required=1)), tmp_path)
    reviews = read_reviews(paths["reviews"])
    assert (len(reviews), reviews[-1].state, reviews[-1].pull) == (132, "APPROVED", 1)
    assert [(review.association, review.permission) for review in reviews[-3:]] == [
        ("MEMBER", ""),  # a comment, for which nobody needs access
        ("MEMBER", "write"),
        ("MEMBER", "read"),
    ]
    assert reviews[-1].reviewer.human
    (found,) = read_pulls_file(paths["pulls"])
    assert (found.branch, found.head_sha, found.auto_merge) == (BRANCH, pull.head_sha, False)
    assert {(push.after, push.actor.login) for push in found.activity} == {
        (pull.head_sha, "lee"),
        ("f" * 40, "kim"),
    }
    (made,) = read_authorships(paths["commits"])
    assert (made.sha, made.pull, made.verified) == (pull.head_sha, 1, False)
    assert {account.login for account in made.accounts} == {"maintainer"}
    assert made.people == ("Maintainer", "maintainer@example.org") * 2
    assert {request.verb for request in github.traffic} == {"GET"}


@pytest.mark.parametrize("status", [403, 404])
def test_a_server_without_activity_names_no_pusher_and_a_deleted_account_may_nothing(
    github: GithubStandIn, api: GithubApi, tmp_path: Path, status: int
) -> None:
    pull = github.add_pull(branch=BRANCH)
    github.add_review(1, "gone", "APPROVED", pull.head_sha)
    github.fail(Fault(Reply(status, {"message": "No"})), path="/activity")
    github.fail(Fault(Reply(404, {"message": "Not Found"})), path="/permission")
    paths = written(gather(api, read_pulls(api, {1}, required=1)), tmp_path)
    assert read_pulls_file(paths["pulls"])[0].activity == ()
    assert read_reviews(paths["reviews"])[0].permission == "none"


def test_a_number_that_is_no_pull_request_is_left_out_unless_it_is_the_one(api: GithubApi) -> None:
    assert read_pulls(api, {7}, required=None) == []
    with pytest.raises(ForgeNotFoundError, match="cannot read #7"):
        read_pulls(api, {7}, required=7)


def test_a_label_is_taken_off_and_one_that_is_gone_is_no_error(github: GithubStandIn, api: GithubApi) -> None:
    pull = github.add_pull(branch=BRANCH)
    pull.labels[:] = ["coreloop", "auto merge / now"]
    for _ in range(2):
        take_back(api, Action("remove_label", 1, "auto merge / now"))
    assert pull.labels == ["coreloop"]


def test_an_unprotected_branch_gets_the_wanted_rules(github: GithubStandIn, api: GithubApi) -> None:
    wanted = read_wanted(ROOT / FILE)
    current = read_current(api, "main")
    assert current.protection is None
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


def test_the_rules_of_the_base_are_read(github: GithubStandIn, api: GithubApi) -> None:
    assert read_base_rules(api, "main") == BaseRules(False, False)
    wanted = read_wanted(ROOT / FILE)
    apply(api, wanted, read_current(api, "main"))
    assert read_base_rules(api, "main") == BaseRules(True, True)
    github.rights = "app"
    assert read_base_rules(api, "main").requires_status is True
    github.put.clear()
    github.rulesets, github.required, github.other_pusher = {"main": 1}, [CONTEXT], True
    assert read_base_rules(api, "main") == BaseRules(True, True)


def test_what_the_rules_rest_on_is_read(github: GithubStandIn, api: GithubApi) -> None:
    assert never_green(api, ROOT) is None
    github.green.clear()
    assert "ai-policy.yml was never green" in str(never_green(api, ROOT))
    assert owners_errors(api, "main") == ()
    assert lone_maintainer(api) is None
    github.pushers = ["kim"]
    assert lone_maintainer(api) == "kim"


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


def test_a_check_that_any_app_may_report_is_a_difference(github: GithubStandIn, api: GithubApi) -> None:
    wanted = read_wanted(ROOT / FILE)
    weak = protection_body(wanted, read_current(api, "main"))
    weak["required_status_checks"]["checks"][0]["app_id"] = -1
    github.put["main"] = weak
    (found,) = (entry for entry in differences(wanted, read_current(api, "main")) if "check" in entry.rule)
    assert found.rule == "required check block-coreloop-auto-merge"


def test_who_does_not_administer_is_told(github: GithubStandIn, api: GithubApi) -> None:
    github.rights = "app"
    with pytest.raises(ForgeForbiddenError, match="cannot read the protection of branch main"):
        read_current(api, "main")


@pytest.mark.parametrize(
    "text",
    ["", "branch: main\n", "- x\n", "{", "branch: main\nmore: 1\n", "\udcff"],
    ids=["empty", "keys missing", "a list", "no YAML", "an unknown key", "no UTF-8"],
)
def test_a_file_of_rules_that_is_none_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "branch_protection.yml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(WorkspaceError, match=r"branch_protection\.yml: (?:cannot be used|is not YAML)"):
        read_wanted(path)
