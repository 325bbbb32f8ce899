"""The merge queue: every promotion of a group is approved and proved, and ordinary work goes on."""

from typing import Any

import pytest

from guard_bench import BODY, BRANCH, GITHUB, MESSAGE, PROMOTED, TITLE, Bench, Queue, message_of, put
from rows import slow_after

WAYS = ["squash", "merge", "rebase"]
WORDS = {"title": TITLE, "body": BODY, "branch": BRANCH, "labels": ("coreloop",)}
ways = pytest.mark.parametrize("way", slow_after(1, WAYS))


@pytest.fixture
def queue(bench: Bench) -> Queue:
    """A queue on top of main, with a promotion and ordinary work that wait for it."""
    bench.promote()
    bench.git("switch", "--quiet", "main")
    bench.start("work")
    bench.write(b"x = 1\n", "fix: x", "other.py")
    bench.git("switch", "--quiet", "--detach", "main")
    return Queue(bench)


def add(queue: Queue, way: str, *, approved: bool, **words: Any) -> None:
    queue.add(7, BRANCH, way, approved=approved, **{**WORDS, **words})


@ways
def test_a_promotion_is_merged_once_it_is_approved(way: str, queue: Queue):
    add(queue, way, approved=True)
    assert queue.decide().state == "success"
    queue.bench.reviews = []
    queue.bench.git("switch", "--quiet", "--detach", "HEAD@{1}")
    (reason,) = queue.decide().reasons
    assert reason == "#7 waits for the approval of a human without a part in it"


@ways
def test_ordinary_work_goes_on_alone_and_behind_an_approved_promotion(way: str, queue: Queue):
    add(queue, way, approved=True)
    queue.add(8, "work", way)
    decision = queue.decide()
    assert (decision.coreloop, decision.state) == (True, "success")
    queue.bench.git("switch", "--quiet", "--detach", "main")
    alone = Queue(queue.bench)
    alone.add(8, "work", way, labels=("automerge",))
    decision = alone.decide()
    assert (decision.coreloop, decision.state) == (False, "success")


@ways
def test_another_text_than_the_promotion_s_is_red(way: str, queue: Queue):
    bench = queue.bench
    bench.git("switch", "--quiet", BRANCH)
    bench.write(PROMOTED + b"x = 1\n", "x")
    bench.git("commit", "--quiet", "--amend", "-m", MESSAGE)
    bench.git("switch", "--quiet", "--detach", "main")
    add(queue, way, approved=True)
    assert queue.decide().reasons


def test_a_merge_label_is_red_and_told(queue: Queue):
    add(queue, "squash", approved=True, labels=("automerge",), auto_merge=True)
    decision = queue.decide()
    assert len(decision.reasons) == 2
    assert [label for *_, label in decision.undo] == ["automerge", ""]


@pytest.mark.parametrize("way", slow_after(1, ["merge", "rebase"]))
def test_words_that_hide_a_promotion_do_not_hide_its_commits(way: str, queue: Queue):
    queue.add(7, BRANCH, way, title="fix: x", body="")
    assert "#7 waits for the approval of a human without a part in it" in queue.decide().reasons


def test_an_approval_of_another_pull_request_with_the_same_words_does_not_count(queue: Queue):
    queue.add(8, "work", "squash", approved=True, **{**WORDS, "branch": "work"})
    add(queue, "squash", approved=False)
    assert any(reason.startswith("#7 waits for the approval") for reason in queue.decide().reasons)


def test_a_promotion_of_no_known_pull_request_is_red(queue: Queue):
    add(queue, "rebase", approved=True)
    queue.add(8, "work", "rebase")
    del queue.entries[0]
    assert any("is a promotion of no known pull request" in reason for reason in queue.decide().reasons)


@pytest.mark.parametrize("way", slow_after(1, WAYS))
def test_a_promotion_that_a_suggestion_restored_passes_by_squash_alone(way: str, queue: Queue):
    bench = queue.bench
    bench.git("switch", "--quiet", BRANCH)
    bench.write(PROMOTED.replace(b"company:", b"company :"), MESSAGE)
    bench.git("reset", "--quiet", "--soft", "main")
    bench.git("commit", "--quiet", "-m", MESSAGE)
    bench.write(PROMOTED, "Update finance.py", **GITHUB)
    bench.git("switch", "--quiet", "--detach", "main")
    add(queue, way, approved=True)
    assert queue.decide().state == ("success" if way == "squash" else "failure")


def test_a_group_s_own_base_counts_without_another(queue: Queue):
    add(queue, "squash", approved=False)
    queue.add(8, "work", "squash")
    assert queue.decide().coreloop
    queue.bench.git("switch", "--quiet", "--detach", "HEAD@{1}")
    assert queue.decide(base=None).coreloop is False  # the queue's entry before it is checked by itself


def test_two_promotions_in_a_group_are_each_proved_and_approved(queue: Queue):
    git, line = queue.bench.git, "- axis: from show().name"
    add(queue, "squash", approved=True)
    git("switch", "--quiet", "--create", "second")
    queue.bench.write(put(line, source=PROMOTED), message_of(line))
    git("switch", "--quiet", "--detach", "HEAD^")
    title, _, body = message_of(line).partition("\n\n")
    queue.add(8, "second", "merge", approved=True, title=title, body=body)
    assert queue.decide().reasons == ()
    queue.bench.reviews.pop()
    git("switch", "--quiet", "--detach", "HEAD@{1}")
    assert queue.decide().reasons == ("#8 waits for the approval of a human without a part in it",)
