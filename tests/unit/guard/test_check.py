"""``guard check`` on real repositories: what promote pushed, what others push on top, what cannot be read."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from coreloop.guard.event import PullRequestEvent, Push

from coreloop.promote import draft_pull_request, plan
from coreloop.promote.commits import WritableRepository
from coreloop.promote.proposal_entry import read_proposal
from coreloop.promote.replay import Replay, ReplayVerdict
from guard_bench import pushes_json
from guarding import (
    MAKER,
    NUMBER,
    SETTINGS,
    Payload,
    account_json,
    approval,
    event,
    ordinary_event,
    pull_json,
    review_json,
)
from merging import read_trailers
from promoting import BRANCH, CATEGORIES, FILE, ID, KEY, SOURCE, Project, copy_project, hush_git
from rows import slow_after

Check = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="session")
def first_promotion(first_project: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    with pytest.MonkeyPatch.context() as monkeypatch:
        hush_git(monkeypatch)
        project = copy_project(first_project, tmp_path_factory.mktemp("promoted"))
        promote(project, project.root)
        return project


@pytest.fixture
def promoted(project: Project, first_promotion: Project) -> Project:
    """The project after ``promote --confirm``: the branch is on the remote, and fetched."""
    for folder in (project.root, project.remote):
        shutil.rmtree(folder)
    return copy_project(first_promotion, project.root.parent)


def promote(project: Project, folder: Path) -> None:
    """What the command does, for the project in a folder."""
    with WritableRepository(project.root) as repository:
        promoting = plan.Promoting(
            proposals=(read_proposal(project.candidates, ID, SETTINGS),),
            repository=repository,
            project=folder,
            settings=SETTINGS,
            ask=lambda _: Replay(ReplayVerdict.REPRODUCED, ()),
            overrides=plan.Overrides(unreached=True),
        )
        _, done = draft_pull_request.promote(promoting, None)
    assert done.branch == BRANCH
    project.git("fetch", "--quiet", "origin")


def happened(project: Project, head: str, action: str = "synchronize", **changes: Any) -> PullRequestEvent:
    """An event of the pull request whose branch ends at a commit; its words are those of the promotion."""
    message = project.git("log", "-1", "--format=%B", f"origin/{BRANCH}")
    base = project.git("rev-parse", "main")
    words = {"title": message.partition("\n")[0], "body": message, "branch": BRANCH}
    return event(action, **{**words, "head_sha": head, "base_sha": base, **changes})


@pytest.fixture
def check(project: Project, tmp_path: Path, entry_point: Check) -> Check:
    """Run the command on a payload, with an approval and the pushes; gives exit code, output and errors."""

    def answers(happened: PullRequestEvent) -> list[str]:
        head = happened.pull.head_sha
        is_here = "missing" not in project.git("cat-file", "--batch-check", stdin=head.encode())
        shas = project.git("rev-list", head).split() if is_here else []
        pushed = pushes_json(tuple(Push(sha, MAKER) for sha in shas))
        contents = {
            "reviews": [review_json(approval(sha=head))],
            "pulls": [{**pull_json(happened.pull), "activity": pushed}],
        }
        for name, content in contents.items():
            (tmp_path / f"given-{name}.json").write_text(json.dumps(content), encoding="utf-8")
        return [word for name in contents for word in (f"--{name}", str(tmp_path / f"given-{name}.json"))]

    def check(payload: PullRequestEvent | dict[str, Any], *more: str, name: str = "pull_request"):
        path = tmp_path / "event.json"
        facts = Payload(payload).as_json() if isinstance(payload, PullRequestEvent) else payload
        path.write_text(json.dumps(facts), encoding="utf-8")
        about = ("--event", str(path), "--event-name", name)
        given = answers(payload) if isinstance(payload, PullRequestEvent) else []
        return entry_point(project.root, "guard", "check", *about, *given, *more)

    return check


def spoiled(project: Project, files: dict[str, bytes | str | None], *, amend: bool = True) -> str:
    """The head of the promotion's branch after somebody changed files; None deletes one."""
    project.git("switch", "--quiet", "--detach", f"origin/{BRANCH}")
    for name, content in files.items():
        path = project.root / name
        if content is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        project.git("add", "--all", "--", name)
    if amend:
        project.git("commit", "--quiet", "--amend", "--no-edit", "--allow-empty")
    else:
        project.git("commit", "--quiet", "-m", "fix: more")
    sha = project.git("rev-parse", "HEAD")
    project.git("switch", "--quiet", "main")
    return sha


def head_of(project: Project) -> str:
    return project.git("rev-parse", f"origin/{BRANCH}")


def test_what_promote_pushed_goes_on(promoted: Project, check: Check):
    code, out, errors = check(happened(promoted, head_of(promoted), "opened", labels=()))
    assert (code, errors) == (0, "")
    assert out.startswith(
        "passes: coreloop pull request, identified by its title, trailers in its description, its branch, "
    )


def test_what_promote_pushed_goes_on_after_main_moved(promoted: Project, check: Check):
    promoted.commit({"other.py": "x = 1\n"})
    moved = promoted.git("rev-parse", "HEAD")
    assert check(happened(promoted, head_of(promoted)), "--base", moved)[0] == 0


def test_a_rebased_promotion_goes_on(promoted: Project, check: Check):
    promoted.commit({"other.py": "x = 1\n"})
    promoted.git("switch", "--quiet", "--detach", f"origin/{BRANCH}")
    promoted.git("rebase", "--quiet", "main")
    head = promoted.git("rev-parse", "HEAD")
    promoted.git("switch", "--quiet", "main")
    assert check(happened(promoted, head))[0] == 0


@pytest.mark.slow
def test_the_project_may_be_a_folder_with_a_korean_name(project: Project, check: Check):
    folder = project.root / "분석 도구"
    project.commit(
        {f"분석 도구/{FILE}": SOURCE, "분석 도구/coreloop.yaml": json.dumps({"categories": CATEGORIES})}
    )
    project.git("push", "--quiet", "origin", "main")
    promote(project, folder)
    assert check(happened(project, head_of(project)), "--repo", str(folder))[0] == 0
    code, out, _ = check(happened(project, head_of(project)))
    assert code == 1
    assert "changes, but the trailer Target of its commit is tools/finance.py::analysis" in out


SPOILED = [
    pytest.param({"other.py": "x = 1\n"}, "2 files change", id="a second file"),
    pytest.param({".github/workflows/ai-policy.yml": "on: push\n"}, "2 files change", id="a workflow"),
    pytest.param({FILE: None, "tools/moved.py": SOURCE}, "2 files change", id="a rename"),
    pytest.param({FILE: None}, "is added, deleted, or changes its type or mode", id="a deletion"),
    pytest.param({FILE: SOURCE}, "0 files change", id="nothing is left"),
]


@pytest.mark.parametrize(("files", "reason"), slow_after(1, SPOILED))
def test_other_files_stop_it(files, reason: str, promoted: Project, check: Check):
    code, out, _ = check(happened(promoted, spoiled(promoted, files)))
    assert code == 1
    assert reason in out


def promoted_source(project: Project) -> bytes:
    return subprocess.run(
        ["git", "show", f"origin/{BRANCH}:{FILE}"], cwd=project.root, capture_output=True, check=True
    ).stdout


AROUND = "something outside of the docstring of analysis changes"
EDITS = [
    pytest.param(lambda s: s.replace(b"dict[str, str]:", b"dict[str, str]:  # noqa"), AROUND, id="noqa"),
    pytest.param(
        lambda s: s.replace(b'"axis": axis}', b'"axis": axis}  # type: ignore'), AROUND, id="ignore"
    ),
    pytest.param(lambda s: b"\xef\xbb\xbf" + s, AROUND, id="a byte order mark"),
    pytest.param(lambda s: s.replace(b"\n", b"\r\n"), AROUND, id="line ends"),
    pytest.param(lambda s: b"# coding: latin-1\n" + s, AROUND, id="a coding line"),
    pytest.param(lambda s: s + b"\n", AROUND, id="a line at the end"),
    pytest.param(lambda s: s.replace(b"return", b"raise SystemExit\n    return"), AROUND, id="code"),
    pytest.param(lambda s: s.replace(b"Tools.", b"Other tools."), AROUND, id="another docstring"),
    pytest.param(lambda s: s.replace(b'"""Ratios', b'r"""Ratios'), AROUND, id="a prefix"),
    pytest.param(
        lambda s: s.replace(b"Ratios", b"All ratios"),
        "differs in more than",
        id="a line grows",
    ),
    pytest.param(
        lambda s: s.replace(b"Which.", b"Any."),
        "differs in more than",
        id="a line rewritten",
    ),
    pytest.param(
        lambda s: s.replace(b"        Which.\n", b""),
        "differs in more than",
        id="a line removed",
    ),
    pytest.param(lambda s: s + b"def (:\n", "cannot read the file", id="no Python"),
    pytest.param(lambda s: s.replace(b"def analysis", b"def other"), "nothing named analysis", id="gone"),
]


@pytest.mark.parametrize(("change", "reason"), slow_after(3, EDITS))
def test_a_change_beside_the_insertion_stops_it(change, reason: str, promoted: Project, check: Check):
    source = change(promoted_source(promoted))
    assert source != promoted_source(promoted)
    code, out, _ = check(happened(promoted, spoiled(promoted, {FILE: source})))
    assert code == 1
    assert reason in out


def test_a_file_mode_a_link_and_a_submodule_stop_it(promoted: Project, check: Check):
    blob = promoted.git("rev-parse", f"origin/{BRANCH}:{FILE}")
    commit = promoted.git("rev-parse", "main")
    for entry in (f"100755,{blob},{FILE}", f"120000,{blob},{FILE}", f"160000,{commit},{FILE}"):
        promoted.git("switch", "--quiet", "--detach", f"origin/{BRANCH}")
        promoted.git("update-index", "--cacheinfo", entry)
        promoted.git("commit", "--quiet", "--amend", "--no-edit")
        head = promoted.git("rev-parse", "HEAD")
        promoted.git("reset", "--quiet", "--hard", f"origin/{BRANCH}")
        promoted.git("switch", "--quiet", "main")
        code, out, _ = check(happened(promoted, head))
        assert code == 1
        assert "is added, deleted, or changes its type or mode" in out


def test_a_second_commit_and_a_merge_stop_it(promoted: Project, check: Check):
    second = spoiled(promoted, {"other.py": "x = 1\n"}, amend=False)
    code, out, _ = check(happened(promoted, second))
    assert code == 1
    assert "it has 2 commits" in out
    promoted.commit({"main.py": "y = 1\n"})
    promoted.git("switch", "--quiet", "--detach", f"origin/{BRANCH}")
    promoted.git("merge", "--quiet", "--no-edit", "main")
    merged = promoted.git("rev-parse", "HEAD")
    promoted.git("switch", "--quiet", "main")
    code, out, _ = check(happened(promoted, merged))
    assert code == 1
    assert "is a merge; rebase instead" in out


def test_trailers_give_it_away_whatever_it_is_called(promoted: Project, check: Check):
    disguised = ordinary_event(head_sha=head_of(promoted), base_sha=promoted.git("rev-parse", "main"))
    code, out, _ = check(disguised)
    assert code == 1
    assert "identified by trailers of commit" in out


def test_ordinary_work_goes_on(promoted: Project, check: Check):
    base = promoted.git("rev-parse", "main")
    head = promoted.commit({"other.py": "x = 1\n"}, "fix: x")
    code, out, errors = check(ordinary_event(head_sha=head, base_sha=base, labels=("automerge",)))
    assert (code, out, errors) == (0, "passes: not a coreloop pull request\n", "")


def test_json_holds_the_reasons_and_what_would_help(promoted: Project, check: Check):
    head = head_of(promoted)
    code, out, _ = check(happened(promoted, head, labels=("automerge",), auto_merge=True), "--json")
    report = json.loads(out)
    assert (code, report["state"], report["coreloop"]) == (1, "failure", True)
    assert len(report["reasons"]) == 2
    assert "Fix every point above" in check(happened(promoted, head, auto_merge=True))[1]
    assert report["actions"] == [
        {"what": "remove_label", "pull": NUMBER, "label": "automerge"},
        {"what": "disable_auto_merge", "pull": NUMBER, "label": None},
    ]


# --- the queue -------------------------------------------------------------------------------------


def group(project: Project, head: str, number: int = NUMBER) -> dict[str, Any]:
    base = project.git("rev-parse", "main")
    ref = f"refs/heads/gh-readonly-queue/main/pr-{number}-{base}"
    return {
        "action": "checks_requested",
        "merge_group": {"head_sha": head, "head_ref": ref, "base_sha": base, "base_ref": "refs/heads/main"},
    }


@pytest.mark.parametrize("way", slow_after(1, ["merge", "squash", "rebase"]))
def test_a_group_is_decided_by_reviews_of_its_pull_requests(
    way: str, promoted: Project, check: Check, tmp_path: Path
):
    head = head_of(promoted)
    message = promoted.git("log", "-1", "--format=%B", head)
    promoted.git("switch", "--quiet", "--detach", "main")
    promoted.git("commit", "--quiet", "--allow-empty", "-m", "fix: ahead in the queue")
    if way == "merge":
        subject = f"Merge pull request #7 from octo/{BRANCH}"
        promoted.git("merge", "--quiet", "--no-ff", "-m", f"{subject}\n\n{message}", head)
    elif way == "squash":
        promoted.git("merge", "--quiet", "--squash", head)
        subject, _, rest = message.partition("\n")
        promoted.git("commit", "--quiet", "-m", f"{subject} (#7)\n{rest}")
    else:
        promoted.git("cherry-pick", head)
    tip = promoted.git("rev-parse", "HEAD")
    promoted.git("switch", "--quiet", "main")
    pushed = pushes_json((Push(head, MAKER),))
    files = {"pulls": [{**pull_json(happened(promoted, head).pull), "activity": pushed}]}
    files |= {"reviews": [], "commits": []}
    files["commits"] = [{"sha": head, "author": account_json(approval().reviewer), "committer": None}]

    def decided() -> str:
        for name, content in files.items():
            (tmp_path / f"{name}.json").write_text(json.dumps(content))
        options = [word for name in files for word in (f"--{name}", str(tmp_path / f"{name}.json"))]
        return check(group(promoted, tip), *options, name="merge_group")[1]

    assert "queued, but no human who neither" in decided()
    files["reviews"] = [review_json(approval(sha=head))]
    assert "queued, but no human who neither" in decided()  # who reviewed it committed it
    files["commits"] = []
    assert decided().startswith("passes: ")


def test_a_group_without_promotions_goes_on(promoted: Project, check: Check):
    base = promoted.git("rev-parse", "main")
    head = promoted.commit({"other.py": "x = 1\n"}, "fix: x (#7)")
    payload = group(promoted, head)
    payload["merge_group"]["base_sha"] = base
    assert check(payload, name="merge_group")[0] == 0


def test_a_push_goes_on(promoted: Project, check: Check):
    code, out, _ = check({"ref": "refs/heads/main"}, name="push")
    assert (code, out) == (0, "passes: not a coreloop pull request\n")


# --- what cannot be read is red ---------------------------------------------------------------------


def assert_refused(done: tuple[int, str, str], mention: str) -> None:
    code, out, errors = done
    assert (code, out) == (2, "")
    assert errors.startswith("dartlab-coreloop: ")
    assert errors.count("\n") == 1
    assert mention in errors


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"null", b'{"action": "opened"}', b"\xff", b"[" * 9_999]
)
def test_a_payload_that_is_none_is_refused(content: bytes, promoted: Project, check: Check, tmp_path: Path):
    path = tmp_path / "torn.json"
    path.write_bytes(content)
    assert_refused(check({}, "--event", str(path)), "torn.json: is not a pull_request as GitHub sends it")


def test_a_missing_payload_is_refused(promoted: Project, check: Check, tmp_path: Path):
    assert_refused(check({}, "--event", str(tmp_path / "none.json")), "none.json: cannot be read")


@pytest.mark.parametrize("name", ["pull_request_target", "issue_comment", "", "check_run"])
def test_another_event_is_refused(name: str, promoted: Project, check: Check):
    assert_refused(check({}, name=name), "the guard does not handle the event")


def test_a_commit_that_is_not_here_is_refused(promoted: Project, check: Check):
    assert_refused(
        check(happened(promoted, "e" * 40)), f"does not have the head commit {'e' * 40}; fetch it first"
    )
    there = happened(promoted, head_of(promoted))
    assert_refused(
        check(there, "--base", "e" * 40), f"does not have the base commit {'e' * 40}; fetch it first"
    )


def test_unrelated_histories_are_refused(promoted: Project, check: Check):
    promoted.git("switch", "--quiet", "--orphan", "elsewhere")
    promoted.git("commit", "--quiet", "--allow-empty", "-m", "x")
    head = promoted.git("rev-parse", "HEAD")
    promoted.git("switch", "--quiet", "main")
    assert_refused(check(happened(promoted, head)), "have no common history")


def test_a_shallow_clone_is_refused(promoted: Project, check: Check, tmp_path: Path):
    shallow = tmp_path / "shallow"
    promoted.commit({"other.py": "x = 1\n"})
    promoted.git("push", "--quiet", "origin", "main")
    promoted.git("clone", "--quiet", "--depth=1", f"file://{promoted.remote}", str(shallow))
    there = happened(promoted, head_of(promoted))
    assert_refused(check(there, "--repo", str(shallow)), "this clone is shallow")


def test_no_repository_is_refused(promoted: Project, check: Check, tmp_path: Path):
    (tmp_path / "nothing").mkdir()
    there = happened(promoted, head_of(promoted))
    assert_refused(check(there, "--repo", str(tmp_path / "nothing")), "is not in a git repository")


def test_the_live_pull_request_decides_and_must_be_the_event_s(
    promoted: Project, check: Check, tmp_path: Path
):
    path = tmp_path / "pulls.json"
    there = happened(promoted, head_of(promoted), labels=("automerge",), auto_merge=True)

    def listed(**changes: Any) -> tuple[int, str, str]:
        live = happened(promoted, head_of(promoted), **changes).pull
        pushed = pushes_json((Push(live.head_sha, MAKER),))
        path.write_text(json.dumps([{**pull_json(live), "activity": pushed}]))
        return check(there, "--pulls", str(path))

    nothing = tmp_path / "nothing.json"
    nothing.write_text("[]")
    assert check(there)[0] == 1
    assert listed()[0] == 0
    assert "waits for approval" in check(happened(promoted, head_of(promoted)), "--reviews", str(nothing))[1]
    assert_refused(listed(number=9), "--pulls does not list #7")
    assert_refused(listed(base="release"), "#7 has another base since this event; re-run the newest run")


def test_lists_that_are_none_are_refused(promoted: Project, check: Check, tmp_path: Path):
    path = tmp_path / "list.json"
    there = happened(promoted, head_of(promoted), "enqueued")
    for option, what in {"--reviews": "reviews", "--pulls": "pull requests", "--commits": "commits"}.items():
        path.write_text('{"message": "Not Found"}')
        assert_refused(check(there, option, str(path)), f"list.json: is not a list of {what}")


def test_a_coreloop_yaml_that_cannot_be_used_stops_a_promotion_and_says_so(promoted: Project, check: Check):
    (promoted.root / "coreloop.yaml").write_text("gats: {}\n")
    code, out, _ = check(happened(promoted, head_of(promoted)))
    assert (code, "coreloop.yaml:1" in out) == (1, True)


def test_what_the_tests_push_is_a_promotion(promoted: Project):
    message = promoted.git("log", "-1", "--format=%B", f"origin/{BRANCH}")
    assert read_trailers(message)["Candidate-Key"] == KEY
