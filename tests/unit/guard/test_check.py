"""``guard check``: what it prints and exits with, and what it refuses to decide on."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coreloop.guard.change import _Payload
from guard_bench import Bench
from guarding import Happened, Payload, commit_json, event, push_json, review_json
from rows import slow_after

Check = Callable[..., tuple[int, str, str]]


@pytest.fixture
def check(bench: Bench, tmp_path: Path, entry_point: Check) -> Check:
    """Run the command on an event; gives exit code, output and errors."""

    def check(happened: Happened | dict[str, Any], *more: str, name: str = "pull_request"):
        path = tmp_path / "event.json"
        facts = Payload(happened).as_json() if isinstance(happened, Happened) else happened
        path.write_text(json.dumps(facts), encoding="utf-8")
        about = ("--event", str(path), "--event-name", name)
        return entry_point(bench.project.root, "guard", "check", *about, *more)

    return check


@pytest.fixture
def promoted(bench: Bench) -> Happened:
    bench.promote()
    happened = bench.event()
    bench.git("switch", "--quiet", "main")
    return happened


def test_each_state_has_its_words_and_its_code(
    promoted: Happened, check: Check, bench: Bench, tmp_path: Path
):
    code, out, errors = check(promoted)
    assert (code, errors) == (1, "")
    assert out == (
        "waits: coreloop pull request\n  - #7 waits for the approval of a human without a part in it\n"
    )
    head = promoted.pull.head_sha
    rules = ["main: who pushed last can approve it (require_last_push_approval)"]
    answers = {
        "pulls": [{**promoted.pull.as_json(), "activity": [push_json(head)], "notes": rules}],
        "reviews": [review_json(sha=head)],
        "commits": [{name: its for name, its in commit_json(head).items() if name != "pull"}],
    }
    for name, content in answers.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    given = [word for name in answers for word in (f"--{name}", str(tmp_path / f"{name}.json"))]
    assert check(promoted, *given) == (0, f"passes: coreloop pull request\nnote: {rules[0]}\n", "")
    red = event(**{**vars_of(promoted), "auto_merge": True})
    code, out, _ = check(red, "--json")
    report = json.loads(out)
    assert (code, report["state"], report["coreloop"]) == (1, "failure", True)
    assert report["reasons"] == ["auto-merge of #7 lets a machine merge; take it off"]
    assert check(red)[1].splitlines()[-1].startswith("promote it again; or take the trailers")
    sha = bench.project.commit({"other.py": "x = 1\n"}, "fix: x")
    plain = event(title="fix: x", body="", head_sha=sha, base_sha=promoted.pull.base_sha)
    assert check(plain) == (0, "passes: not a coreloop pull request\n", "")


def vars_of(happened: Happened) -> dict[str, Any]:
    pull = happened.pull
    return {name: getattr(pull, name) for name in ("title", "body", "branch", "head_sha", "base_sha")}


def assert_refused(done: tuple[int, str, str], mention: str) -> None:
    code, out, errors = done
    assert (code, out) == (2, "")
    assert errors.startswith("dartlab-coreloop: ")
    assert errors.count("\n") == 1
    assert mention in errors


CONTENTS = [b"", b"{", b"[]", b"null", b"\xff", b"[" * 9_999, b'{"action": "opened", "pull_request": {}}']


def test_a_payload_that_is_none_is_refused(check: Check, tmp_path: Path):
    path = tmp_path / "torn.json"
    for content in CONTENTS:
        path.write_bytes(content)
        assert_refused(check({}, "--event", str(path)), "torn.json: is not a pull_request (")
    assert_refused(check({}, "--event", str(tmp_path / "none.json")), "none.json: cannot be read")
    for name in ("pull_request_target", "push", "", "merge_group", "pull_request"):
        assert_refused(check({"action": "opened"}, name=name), f"the guard decides on no {name}")


def test_a_commit_that_is_not_here_and_a_history_that_is_not_shared_are_refused(
    promoted: Happened, check: Check, bench: Bench
):
    lacks = "this clone lacks the history of the change; fetch it with depth 0"
    assert_refused(check(event(**{**vars_of(promoted), "head_sha": "e" * 40})), lacks)
    assert_refused(check(promoted, "--base", "e" * 40), lacks)
    bench.git("switch", "--quiet", "--orphan", "elsewhere")
    bench.git("commit", "--quiet", "--allow-empty", "-m", "x")
    head = bench.git("rev-parse", "HEAD")
    bench.git("switch", "--quiet", "main")
    assert_refused(check(event(**{**vars_of(promoted), "head_sha": head})), lacks)


def test_a_shallow_clone_and_no_clone_are_refused(promoted: Happened, check: Check, bench: Bench, tmp_path):
    shallow = tmp_path / "shallow"
    bench.project.commit({"other.py": "x = 1\n"})
    bench.push()
    bench.git("clone", "--quiet", "--depth=1", f"file://{bench.project.remote}", str(shallow))
    assert_refused(check(promoted, "--repo", str(shallow)), "this clone lacks the history of the change")
    (tmp_path / "nothing").mkdir()
    assert_refused(check(promoted, "--repo", str(tmp_path / "nothing")), "is not in a git repository")


def test_the_live_pull_request_decides_and_must_be_the_event_s(
    promoted: Happened, check: Check, tmp_path: Path
):
    path = tmp_path / "pulls.json"
    there = event(**vars_of(promoted), labels=("automerge",), auto_merge=True)

    def listed(**changes: Any) -> tuple[int, str, str]:
        path.write_text(json.dumps([event(**{**vars_of(promoted), **changes}).pull.as_json()]))
        return check(there, "--pulls", str(path))

    assert check(there)[1].startswith("stops: ")
    assert listed()[1].startswith("waits: ")
    assert listed(labels=("automerge",))[1].startswith("stops: ")
    assert_refused(listed(number=9), "--pulls does not list #7")
    assert_refused(listed(base="release"), "#7 has another base since this event; re-run the newest run")


def test_what_an_event_reports_counts_before_github_shows_it(promoted: Happened, check: Check):
    def decided(action: str, label: str | None = None) -> str:
        return check(event(action, **vars_of(promoted), label=label, labels=()))[1].partition(":")[0]

    assert decided("labeled", "automerge") == "stops"
    assert decided("unlabeled", "automerge") == "waits"
    assert decided("labeled") == "waits"
    assert decided("auto_merge_enabled") == "stops"
    assert decided("auto_merge_disabled") == "waits"


def test_a_title_alone_is_a_promotion_s(promoted: Happened, check: Check, bench: Bench):
    sha = bench.project.commit({"other.py": "x = 1\n"}, "fix: x")
    words = {**vars_of(promoted), "head_sha": sha, "body": None}
    assert "it has 0 promotions in its commits" in check(event(**words))[1]
    assert check(event(**{**words, "title": None}))[0] == 0


def test_an_event_of_another_name_is_refused_whatever_it_holds(promoted: Happened, check: Check):
    payload = Payload(promoted).as_json()
    group = {"head_sha": promoted.pull.head_sha, "head_ref": "x", "base_sha": promoted.pull.base_sha}
    for name in ("pull_request_target", "push"):
        assert_refused(check({**payload, "merge_group": group}, name=name), f"the guard decides on no {name}")


@pytest.mark.parametrize("option", slow_after(1, ["reviews", "pulls", "commits"]))
def test_lists_that_are_none_are_refused(option: str, promoted: Happened, check: Check, tmp_path: Path):
    path = tmp_path / "list.json"
    path.write_text('{"message": "Not Found"}')
    assert_refused(check(promoted, f"--{option}", str(path)), "list.json: is not a list of ")


@pytest.mark.parametrize(
    ("base", "default", "other"), [("main", "main", ""), ("next", "main", "next"), ("next", "", "")]
)
def test_a_base_is_named_if_it_is_not_the_default_branch(base: str, default: str, other: str):
    assert _Payload(default_branch=default).other(base) == other
