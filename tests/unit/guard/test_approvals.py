"""Who may approve a promotion: a human without a part in it, of exactly its head."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coreloop.base.validation import decode
from coreloop.guard.change import Made, Pull, Review
from coreloop.guard.check import asks_to_merge
from guard_bench import BRANCH, GITHUB, LINE, MESSAGE, PROMOTED, TRAILERS, Bench, message_of, put
from guarding import APP, BOT, HEAD, KIM, REVIEWER, Actor, commit_json, pull, push_json, review_json
from promoting import FILE, SOURCE
from rows import each_row, slow_after

OTHER = "c" * 40
GHOST = {**review_json(), "user": None}
NOREPLY = "Co-authored-by: M <01+{}@users.noreply.github.com>"


def approved(
    reviews: list[Any], made: list[Any] | None = None, pushes: list[Any] | None = None, **more: Any
) -> set[str]:
    activity = [push_json(HEAD)] if pushes is None else pushes
    shown = {**pull(author=APP).as_json(), "activity": activity, **more}
    one = decode(json.dumps(shown), Pull)
    commits = decode(json.dumps(made or [commit_json()]), tuple[Made, ...])
    return one.approvers(decode(json.dumps(reviews), tuple[Review, ...]), commits)


COUNTS: list[tuple[str, list[Any]]] = [
    ("of the head", [review_json()]),
    ("after an older one", [review_json(sha=OTHER), review_json()]),
    ("after a request for changes", [review_json(state="CHANGES_REQUESTED"), review_json()]),
    ("before a comment", [review_json(), review_json(state="COMMENTED", sha=OTHER)]),
    ("in another case", [review_json(Actor("Maintainer"), "approved")]),
    ("beside another's request for changes", [review_json(KIM, "CHANGES_REQUESTED"), review_json()]),
    ("by a member who hides it", [review_json(association="CONTRIBUTOR")]),
]
COUNTS_NOT: list[tuple[str, list[Any]]] = [
    ("none", []),
    ("of an older head", [review_json(sha=OTHER)]),
    ("dismissed", [review_json(), review_json(state="DISMISSED")]),
    ("before a request for changes", [review_json(), review_json(state="CHANGES_REQUESTED")]),
    ("a comment", [review_json(state="COMMENTED")]),
    ("by a bot", [review_json(BOT)]),
    ("by a bot that is called a user", [review_json(Actor("merger[bot]"))]),
    ("by its author", [review_json(APP)]),
    ("by a deleted account", [GHOST]),
    ("by a stranger", [review_json(association="NONE")]),
    ("of another pull request", [review_json(number=8)]),
]


@each_row(("name", "reviews"), COUNTS)
def test_an_approval_that_counts(name: str, reviews: list[Any]):
    assert approved(reviews) == {"maintainer"}


@each_row(("name", "reviews"), COUNTS_NOT)
def test_an_approval_that_does_not(name: str, reviews: list[Any]):
    assert approved(reviews) == set()


MADE: list[tuple[str, list[Any], list[Any]]] = [
    ("wrote a commit", [commit_json(author=REVIEWER)], []),
    ("wrote one, without a number", [commit_json(author=Actor("Maintainer"))], []),
    ("committed one", [{**commit_json(), "committer": REVIEWER.as_json()}], []),
    ("co-wrote one", [commit_json(message=f"x\n\n{NOREPLY.format('maintainer')}")], []),
    ("co-wrote one, indented", [commit_json(message=f"x\n\n  {NOREPLY.format('Maintainer')}")], []),
    ("co-wrote one under another login", [commit_json(message=f"x\n\n* {NOREPLY.format('old')}")], []),
    ("pushed the head", [commit_json()], [push_json(HEAD, REVIEWER)]),
    ("pushed before another", [commit_json()], [push_json(HEAD, KIM), push_json(OTHER, REVIEWER, HEAD)]),
]


@each_row(("name", "made", "pushes"), MADE)
def test_who_has_a_part_in_it_approves_nothing(name: str, made: list[Any], pushes: list[Any]):
    assert approved([review_json()], made, pushes) == set()
    assert approved([review_json(), review_json(KIM)], [commit_json()]) == {"maintainer", "kim"}


def test_who_the_description_calls_a_co_author_approves_nothing():
    assert approved([review_json()], body=f"Adds.\n\n{NOREPLY.format('Maintainer')}") == set()


def test_a_deleted_author_and_pusher_have_no_name():
    assert approved([review_json()], pushes=[push_json(HEAD, None)], user=None) == {"maintainer"}
    shown = decode(json.dumps({**commit_json(), "author": {}, "committer": {}}), Made)
    assert shown.accounts == {}


def test_who_only_removed_the_branch_before_has_no_part_in_it():
    assert approved([review_json()], None, [push_json("0" * 40, REVIEWER, HEAD)]) == {"maintainer"}


def unknown(made: list[Any], *pushed: str) -> str | None:
    one = decode(json.dumps(pull().as_json()), Pull)
    return one.unknown_maker(decode(json.dumps(made), tuple[Made, ...]), pushed)


SIGNED = commit_json(verified=True)
LEE = {**commit_json(message="x\n\nCo-authored-by: Lee <lee@example.org>", verified=True)}


def test_what_is_not_known_of_its_makers_is_told():
    assert unknown([SIGNED]) is None
    assert unknown([commit_json()], HEAD) is None
    assert unknown([]) == "GitHub has not shown its commits"
    assert str(unknown([commit_json()])).startswith("GitHub does not show who pushed commit aaaaaaaaaaaa")
    assert str(unknown([commit_json(), commit_json(OTHER)], HEAD)).endswith(f"{OTHER[:12]}; sign it")
    assert str(unknown([LEE])).startswith("its co-author lee@example.org has no known account")
    known = commit_json(OTHER, people=("Lee", "LEE@example.org") * 2, author=KIM, verified=True)
    assert approved([review_json(), review_json(KIM)], [LEE, known]) == {"maintainer"}
    assert unknown([LEE, known]) is None
    assert unknown([{**SIGNED, "author": {}, "committer": {}}]) is None


# --- on a repository -----------------------------------------------------------------------------------

AS_REVIEWER = {"GIT_AUTHOR_NAME": "maintainer", "GIT_AUTHOR_EMAIL": "1+maintainer@users.noreply.github.com"}
AS_KIM = {"GIT_AUTHOR_NAME": "kim", "GIT_AUTHOR_EMAIL": "2+kim@users.noreply.github.com"}
REWORDED = PROMOTED.replace(b"company: from show().code", b"company: from show() first")
MORE = PROMOTED.replace(
    b"company: from show().code\n", b"company: from show().code\n    - Ask a human first\n"
)


def ready(bench: Bench) -> None:
    bench.promote(author=APP)


def updated(bench: Bench) -> None:
    """The button "Update branch"."""
    bench.promote(author=APP)
    bench.update(**AS_KIM)


def suggested(bench: Bench) -> None:
    """A suggestion of the reviewer, committed by another person."""
    bench.promote(author=APP)
    bench.write(REWORDED, f"Apply suggestions\n\n{NOREPLY.format('maintainer')}", **AS_KIM, **GITHUB)


def edited(bench: Bench) -> None:
    """The reviewer edits an app's line on GitHub."""
    bench.promote(author=APP, GIT_AUTHOR_NAME=APP.login, GIT_COMMITTER_NAME=APP.login)
    bench.write(REWORDED, "Update finance.py", **AS_REVIEWER, **GITHUB)


def edited_in_a_list(bench: Bench) -> None:
    """An edit of a line that continues a list of promoted lines."""
    first, line = put(LINE), "- axis: from show().name"
    bench.land(first)
    bench.promote(put(line, source=first), message_of(line), author=APP)
    bench.write(put("- Call it once", source=first), "Update finance.py", **AS_KIM, **GITHUB)


def restored(bench: Bench) -> None:
    """A suggestion restores the promoted line."""
    bench.promote(PROMOTED.replace(b"company:", b"company :"), author=APP)
    bench.write(PROMOTED, "Update finance.py", **AS_KIM, **GITHUB)


def hidden(bench: Bench) -> None:
    """A commit below the head that nobody is known to have pushed."""
    bench.promote(author=APP)
    bench.write(REWORDED, "Update finance.py", **AS_KIM)
    bench.pushes = [push_json(bench.git("rev-parse", "HEAD"), KIM, bench.git("rev-parse", "HEAD^"))]


def forced(bench: Bench) -> None:
    """A push replaced another, whose commit is gone."""
    head = bench.promote(author=APP)
    bench.pushes = [push_json(head, APP, "f" * 40), push_json("f" * 40, APP)]


def at_once(bench: Bench) -> None:
    """One push brings the promotion, and an edit of its line."""
    bench.promote(author=APP)
    bench.write(REWORDED, "Update finance.py", **AS_KIM)
    bench.pushes = [push_json(bench.git("rev-parse", "HEAD"), KIM, bench.git("rev-parse", "main"))]


def from_somewhere(bench: Bench) -> None:
    """GitHub does not tell where the branch was before a push."""
    bench.promote(author=APP)
    bench.write(REWORDED, "Update finance.py", **AS_KIM)
    bench.pushes = [{"after": bench.git("rev-parse", "HEAD"), "actor": KIM.as_json()}]


def alone(bench: Bench) -> None:
    """The same, of one commit."""
    bench.pushes = [{"after": bench.promote(author=APP), "actor": APP.as_json()}]


def by_nobody(bench: Bench) -> None:
    bench.pushes = [push_json(bench.promote(author=APP), None)]


def by_a_machine(bench: Bench) -> None:
    bench.promote(author=APP)
    bench.write(REWORDED, "Update finance.py", GIT_AUTHOR_NAME=APP.login, **GITHUB)


def by_an_app_with_a_name(bench: Bench) -> None:
    bench.accounts["kim"] = Actor("helper", human=False)
    edited_by_kim(bench)


def edited_by_kim(bench: Bench) -> None:
    bench.promote(author=APP)
    bench.write(REWORDED, "Update finance.py", **AS_KIM, **GITHUB)


def with_a_line_more(bench: Bench) -> None:
    bench.promote(author=APP)
    bench.write(MORE, "Update finance.py", **AS_KIM, **GITHUB)


def with_a_line_less(bench: Bench) -> None:
    """The edit also takes out a line that stood there before."""
    first, line = put(LINE), "- axis: from show().name"
    bench.land(first)
    bench.promote(put(line, source=first), message_of(line), author=APP)
    reworded = put("- Call it once", source=first).replace(b"    - company: from show().code\n", b"")
    bench.write(reworded, "Update finance.py", **AS_KIM, **GITHUB)


def with_other_code(bench: Bench) -> None:
    bench.promote(author=APP)
    bench.write(REWORDED.replace(b"return", b"return 1 or"), "Update finance.py", **AS_KIM, **GITHUB)


def other_trailers(bench: Bench) -> None:
    bench.promote(author=APP)
    bench.words["body"] = bench.words["body"].replace("Observed: 87", "Observed: 99")


WAYS: list[tuple[Callable[[Bench], None], str, str]] = [
    # what happened, the state if the maintainer approves, and if kim does
    (ready, "success", "success"),
    (edited, "pending", "success"),
    (suggested, "pending", "pending"),
    (hidden, "pending", "pending"),
    (updated, "success", "pending"),
    (edited_in_a_list, "success", "pending"),
    (forced, "success", "success"),
    (at_once, "success", "pending"),
    (alone, "success", "success"),
    (from_somewhere, "pending", "pending"),
    (by_nobody, "pending", "pending"),
    (restored, "success", "pending"),
    (by_a_machine, "failure", "failure"),
    (by_an_app_with_a_name, "failure", "failure"),
    (with_a_line_more, "failure", "failure"),
    (with_a_line_less, "failure", "failure"),
    (with_other_code, "failure", "failure"),
    (other_trailers, "failure", "failure"),
]


@pytest.mark.parametrize(("build", "first", "second"), slow_after(4, WAYS))
def test_a_promotion_waits_for_a_human_without_a_part_in_it(build, first: str, second: str, bench: Bench):
    wanted = [first, second]
    bench.accounts = {"maintainer": REVIEWER, "kim": KIM}
    build(bench)
    event = bench.event()
    assert bench.decide(event).state == ("failure" if "failure" in wanted else "pending")
    states = []
    for reviewer in (REVIEWER, KIM):
        bench.reviews = [review_json(reviewer, sha=event.pull.head_sha)]
        states.append(bench.decide(event).state)
    assert states == wanted


def test_what_lets_a_machine_merge_is_red_and_told(bench: Bench):
    bench.promote()
    bench.review()
    event = bench.event(labels=("coreloop", "automerge"), auto_merge=True, same_repo=False)
    decision = bench.decide(event)
    assert decision.reasons == (
        "the label automerge of #7 lets a machine merge; take it off",
        "auto-merge of #7 lets a machine merge; take it off",
        "#7 comes from a fork; push its branch here",
    )
    assert decision.undo == ((7, "the label automerge", "automerge"), (7, "auto-merge", ""))


def test_two_promotions_and_none_are_red(bench: Bench):
    bench.promote()
    bench.write(PROMOTED + b"\n", "[CORELOOP-R] docs(analysis): more")
    assert bench.decide(bench.event()).reasons[0].startswith("it has 2 promotions in its commits")
    bench.git("switch", "--quiet", "main")
    bench.start("work")
    bench.write(b"x = 1\n", "fix: x", "other.py")
    assert bench.decide(bench.event()).reasons[0].startswith("it has 0 promotions in its commits")


def test_a_key_without_its_line_is_red(bench: Bench):
    other = re.sub(r"(Candidate-Key: )\w{16}", r"\g<1>00000000000000ff", TRAILERS)
    bench.promote(message=f"{MESSAGE.strip()}\n\n{other}\n")
    assert bench.decide(bench.event()).reasons[0].startswith("its lines are not those of the proposals")


def test_an_edit_in_a_person_s_name_that_a_machine_pushed_is_red(bench: Bench):
    first = bench.promote(author=APP)
    last = bench.write(REWORDED, "Update finance.py", **AS_KIM)
    bench.accounts = {"kim": KIM}
    event, states = bench.event(), []
    for pusher in (KIM, APP):
        bench.pushes = [push_json(last, pusher, first), push_json(first, APP)]
        states.append(bench.decide(event).state)
    assert states == ["pending", "failure"]


def test_what_the_base_no_longer_declares_is_red(bench: Bench):
    bench.git("switch", "--quiet", "main")
    bench.write(SOURCE.replace(b"company", b"firm"), "refactor: firm")
    bench.push()
    bench.promote(at="main~1")
    event = bench.event()
    (reason,) = bench.decide(event).reasons
    assert reason.endswith("the base declares no argument company")
    bench.git("rm", "--quiet", FILE)
    bench.git("commit", "--quiet", "--message", "refactor: gone")
    bench.push()
    gone = replace(event, pull=replace(event.pull, base_sha=bench.git("rev-parse", "main")))
    (reason,) = bench.decide(gone).reasons
    assert "analysis" in reason


@pytest.mark.parametrize("settings", slow_after(1, ["tools: [\n", "nonsense: 1\n", "gats: {}\n"]))
def test_settings_that_cannot_be_used_stop_a_promotion_alone(settings: str, bench: Bench):
    bench.project.commit({"coreloop.yaml": settings}, "chore: settings")
    bench.push()
    bench.promote()
    (reason,) = bench.decide(bench.event()).reasons
    assert reason.startswith("the base's coreloop.yaml cannot be used")
    bench.git("switch", "--quiet", "main")
    bench.start("repair")
    bench.project.commit({"coreloop.yaml": "gates: {}\n"}, "fix: settings")
    bench.words = {}
    assert bench.decide(bench.event()).state == "success"


def test_a_project_outside_of_the_repository_is_an_error(bench: Bench, tmp_path: Path):
    from coreloop.base.errors import GitError

    bench.promote()
    (bench.project.root.parent / "coreloop.yaml").write_text("gates: {}\n")
    bench.git("rm", "--quiet", "coreloop.yaml")
    event = bench.event()
    bench.git("reset", "--quiet", "--hard", "main")
    bench.git("switch", "--quiet", "main")
    bench.git("rm", "--quiet", "coreloop.yaml")
    bench.git("commit", "--quiet", "-m", "x")
    with pytest.raises(GitError, match="is not in the repository"):
        bench.decide(event)


def test_the_branch_of_a_promotion_is_no_sign(bench: Bench):
    bench.start(BRANCH)
    bench.write(PROMOTED, "docs: analysis")
    bench.words = {"branch": BRANCH}
    assert bench.decide(bench.event()).coreloop is False


ASKS = """
auto-merge automerge AUTO_MERGE auto:merge ready-for-merging merge-when-passing Merge-Me merge-queue Queued
kodiak:merge bulldozer aviator bors marge-bot homu submit-queue autosubmit autoland ready-to-land ship-it
🚀shipit lgtm /lgtm tide autoapprove ａｕｔｏ－ｍｅｒｇｅ 자동-병합 바로-머지 自動マージ 自动合并
r+ R+ r=me CQ+1 automerge:do-not-merge
"""
ASKS_NOT = """
coreloop docs bug 🚀 문서 v1.0 do-not-merge don't-merge no-merge blocked-merge merge-conflict c++ r+d for+
not-ready-to-merge emergency needs-merge 병합-금지 병합-충돌 자동화 请勿合并 合并冲突 color=red automation
shipping ownership island
"""


def test_labels_that_ask_a_machine_to_merge_are_known_by_their_words():
    assert [label for label in ASKS.split() if not asks_to_merge(label)] == []
    assert [label for label in ASKS_NOT.split() if asks_to_merge(label)] == []
