"""``guard gather``, ``act`` and ``protect`` as a workflow runs them, against a GitHub on this machine."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from github_stand_in import Fault, GithubStandIn, Reply
from guarding import BOT, Payload, event, ordinary_event
from promoting import Project
from rows import slow_after

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def hub(github: GithubStandIn, project: Project, monkeypatch: pytest.MonkeyPatch) -> GithubStandIn:
    """GitHub as the workflow knows it: its variables, and a pull request that a machine may merge."""
    for name, value in {
        "GITHUB_REPOSITORY": github.repo,
        "GITHUB_TOKEN": github.token,
        "GITHUB_API_URL": github.url,
    }.items():
        monkeypatch.setenv(name, value)
    title = "[CORELOOP-R] docs(analysis): how it is used with success"
    branch = "skill/docstring-analysis-profitability-20260425"
    pull = github.add_pull(branch=branch, title=title, draft=False)
    pull.labels[:] = ["coreloop", "Auto-Merge"]
    pull.auto_merge = True
    pull.head_sha = pull.base_sha = project.git("rev-parse", "main")
    return github


@pytest.fixture
def command(hub: GithubStandIn, project: Project, entry_point: Command) -> Command:
    return partial(entry_point, project.root, "guard")


@pytest.fixture
def about(project: Project, tmp_path: Path) -> Callable[..., list[str]]:
    """Options for an event about pull request 1, whose head is main's."""

    def about(action: str = "labeled", ordinary: bool = False, **changes: Any) -> list[str]:
        sha = project.git("rev-parse", "main")
        made = ordinary_event if ordinary else event
        happened = made(action, **{"number": 1, "head_sha": sha, "base_sha": sha, **changes})
        path = Payload(happened).write(tmp_path / "event.json")
        return ["--event", str(path), "--event-name", "pull_request"]

    return about


DANGEROUS = {"labels": ("coreloop", "Auto-Merge"), "auto_merge": True, "draft": False, "sender": BOT}


def test_with_confirm_labels_and_auto_merge_go(command: Command, hub: GithubStandIn, about):
    code, out, errors = command("act", "--confirm", *about("ready_for_review", **DANGEROUS))
    assert (code, errors) == (0, "")
    assert out.count("took off ") == 2
    (pull,) = hub.pulls
    assert (pull.labels, pull.auto_merge, pull.draft) == (["coreloop"], False, False)


def test_what_the_token_may_not_do_is_told_and_the_rest_is_done(command: Command, hub: GithubStandIn, about):
    hub.rights = "app"
    code, out, errors = command("act", "--confirm", "--json", *about("ready_for_review", **DANGEROUS))
    assert (code, errors) == (1, "")
    assert hub.pulls[0].labels == ["coreloop"]
    assert len(json.loads(out)["failed"]) == 1
    assert "Resource not accessible by integration" in json.loads(out)["failed"][0]


def test_there_is_nothing_to_do_for_others(command: Command, hub: GithubStandIn, about):
    code, out, _ = command("act", "--confirm", *about(ordinary=True, labels=("automerge",), auto_merge=True))
    assert (code, out, hub.traffic) == (0, "nothing to take off\n", [])


def test_ordinary_work_is_only_looked_up(command: Command, hub: GithubStandIn, about, tmp_path: Path):
    out_dir = tmp_path / "said"
    hub.add_pull(branch="fix", draft=False).head_sha = head_of(about())
    hub.pulls[1].title = "fix: x"
    base = ("--base", head_of(about()))
    done = command("gather", *about("labeled", ordinary=True, number=2), *base, "--out", str(out_dir))
    assert (done[0], done[2]) == (0, "")
    assert {path.name: len(json.loads(path.read_text())) for path in out_dir.iterdir()} == {
        "pulls.json": 1,
        "reviews.json": 0,
        "commits.json": 0,
    }
    assert [request.path for request in hub.traffic] == [f"/repos/{hub.repo}/pulls/2"]


def test_a_promotion_is_asked_who_made_it_and_who_approved_it(
    command: Command, hub: GithubStandIn, about, tmp_path: Path
):
    out_dir = tmp_path / "said"
    hub.pushed_by[hub.pulls[0].head_sha] = "lee"
    for _ in range(130):
        hub.add_review(1, "maintainer", "COMMENTED", "f" * 40)
    hub.add_review(1, "maintainer", "APPROVED", "f" * 40)
    code, out, errors = command("gather", *about("enqueued"), "--out", str(out_dir))
    assert (code, out, errors) == (0, "read #1 from GitHub\n", "")
    (shown,) = json.loads((out_dir / "pulls.json").read_text())
    assert [(push["after"], push["actor"]["login"]) for push in shown["activity"]] == [
        (hub.pulls[0].head_sha, "lee")
    ]
    (made,) = json.loads((out_dir / "commits.json").read_text())
    assert (made["sha"], made["pull"]) == (hub.pulls[0].head_sha, 1)
    assert json.loads((out_dir / "reviews.json").read_text())[-1]["state"] == "APPROVED"


def head_of(options: list[str]) -> str:
    return json.loads(Path(options[1]).read_text())["pull_request"]["head"]["sha"]


def notes_of(command: Command, about: Any, folder: Path) -> list[str]:
    """What gather says that the rules of the base leave open."""
    assert command("gather", *about("synchronize", draft=False), "--out", str(folder))[0] == 0
    (shown,) = json.loads((folder / "pulls.json").read_text())
    return list(shown["notes"])


@pytest.mark.usefixtures("protected")
def test_what_the_rules_of_the_base_leave_open_comes_with_a_promotion(
    command: Command, hub: GithubStandIn, about, tmp_path: Path
):
    hub.rights = "app"  # as a workflow's token, which reads rulesets and the names of required statuses
    notes = notes_of(command, about, tmp_path)
    assert (
        notes[0]
        == "main: a promotion can be merged while the guard is red (required check block-coreloop-auto-merge)"
    )
    assert [note for note in notes if "who pushed last can approve it" in note]
    assert [note for note in notes if "can be told to merge by itself" in note]
    hub.rulesets, hub.required, hub.other_pusher = {"main": 1}, ["block-coreloop-auto-merge"], True
    open_now = " ".join(notes_of(command, about, tmp_path))
    assert "guard is red" not in open_now
    assert "pushed last" not in open_now
    assert "own files can be changed" in open_now
    hub.rights = "admin"
    assert command("protect", "--confirm")[0] == 0
    assert notes_of(command, about, tmp_path) == []
    hub.rights, hub.rulesets = "app", {}
    assert notes_of(command, about, tmp_path) == [
        "main: this token may not read all rules; run dartlab-coreloop guard protect"
    ]


@pytest.mark.usefixtures("protected")
@pytest.mark.parametrize(
    "fault", slow_after(1, [Fault(Reply(500, {})), Fault(Reply(200, {"no": "list"})), Fault()])
)
def test_rules_that_cannot_be_read_change_no_decision_and_are_told(
    fault: Fault, command: Command, hub: GithubStandIn, about, tmp_path: Path
):
    hub.fail(fault, path="/rules/", times=99)
    (note,) = notes_of(command, about, tmp_path)
    assert note.startswith(
        "the rules of main are unknown: cannot read the rules of branch main of octo/tools"
    )


def test_a_group_is_asked_about_by_its_branch_and_its_commits(
    command: Command, project: Project, hub: GithubStandIn, tmp_path: Path
):
    hub.add_pull(branch="fix")
    base = project.git("rev-parse", "main")
    head = project.commit({"x.py": ""}, "fix: x (#2)")
    group = {"head_sha": head, "base_sha": base, "head_ref": f"refs/heads/gh-readonly-queue/main/pr-1-{base}"}
    path = tmp_path / "group.json"
    path.write_text(json.dumps({"action": "checks_requested", "merge_group": group}))
    out_dir = tmp_path / "said"
    code, out, _ = command(
        "gather", "--event", str(path), "--event-name", "merge_group", "--out", str(out_dir), "--json"
    )
    assert (code, json.loads(out)["pulls"]) == (0, [1, 2])
    shown = json.loads((out_dir / "pulls.json").read_text())
    assert [(entry["number"], "notes" in entry) for entry in shown] == [(1, True), (2, True)]
    hub.pulls[0].branch, hub.pulls[0].title = "feature", "a change"
    command("gather", "--event", str(path), "--event-name", "merge_group", "--out", str(out_dir))
    assert "notes" not in (out_dir / "pulls.json").read_text()  # no promotion is queued


GITHUB_FOLDER = Path(__file__).parents[3] / ".github"
RULES, WORKFLOW = "branch_protection.yml", "workflows/ai-policy.yml"


@pytest.fixture
def protected(project: Project) -> Project:
    """The project with the guard's workflow and the wanted rules."""
    project.commit({f".github/{name}": (GITHUB_FOLDER / name).read_bytes() for name in (RULES, WORKFLOW)})
    return project


@pytest.mark.usefixtures("protected")
def test_protect_shows_first_and_applies_with_confirm(command: Command, hub: GithubStandIn):
    code, out, _ = command("protect")
    assert code == 0
    assert "required_approving_review_count: 0 -> 1" in out
    assert "allow_auto_merge: True -> False (GitHub can be told to merge by itself)\n" in out
    assert out.endswith("--confirm applies 7 rules to main\n")
    assert {request.verb for request in hub.traffic} == {"GET"}
    code, out, _ = command("protect", "--confirm")
    assert (code, out.splitlines()[-1]) == (0, "7 of 7 rules applied to main")
    assert command("protect")[1] == "main has the wanted rules\n"
    assert json.loads(command("protect", "--json")[1])["before"] == []


@pytest.mark.usefixtures("protected")
def test_a_check_that_was_never_green_is_not_required(command: Command, hub: GithubStandIn):
    hub.green.clear()
    code, out, _ = command("protect")
    assert code == 0
    assert "--confirm refuses: ai-policy.yml was never green" in out
    assert "in octo/tools; open a pull request" in out
    code, out, errors = command("protect", "--confirm")
    assert (code, out) == (1, "")
    assert "block-coreloop-auto-merge is not required yet" in errors
    assert "ai-policy.yml was never green" in errors
    assert {request.verb for request in hub.traffic} == {"GET"}
    hub.green.add("ai-policy.yml")
    assert command("protect", "--confirm")[0] == 0
    hub.green.clear()  # it is required already
    assert command("protect", "--confirm")[:2] == (0, "main has the wanted rules\n")
