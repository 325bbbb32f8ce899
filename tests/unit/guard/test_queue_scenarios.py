"""The merge queue's table of docs/reference/guard-decisions.md: each row is merged in every way."""

from collections.abc import Callable
from pathlib import Path

import pytest

from coreloop.guard.event import Account
from guard_bench import (
    BRANCH,
    GITHUB,
    HUMAN_EDIT,
    OTHER,
    PROMOTED,
    Bench,
    assert_row,
    named,
    rows,
    suggestion_that_proves,
    update_branch,
    without_trailers,
)
from guard_queue import Queue
from promoting import FILE, OTHER_FILE

DEPENDABOT = Account("dependabot[bot]", human=False)


def ordinary_entry(queue: Queue, way: str) -> None:
    """An ordinary pull request"""
    queue.bench.start("work")
    queue.bench.write(HUMAN_EDIT, "docs: analysis")
    queue.bench.start("group")
    queue.add(8, "work", way, title="docs: analysis")


def entry_on_a_promotion_s_branch(queue: Queue, way: str) -> None:
    """A person's work on a branch with a name that promote gives"""
    queue.bench.start("work")
    queue.bench.write(HUMAN_EDIT, "docs: analysis")
    queue.bench.start("group")
    queue.add(8, "work", way, title="docs: analysis", branch=BRANCH)


def promotion_with_approval(queue: Queue, way: str) -> None:
    """An approved promotion"""
    queue.bench.promote()
    queue.bench.start("group")
    queue.add(7, BRANCH, way, approved=True, **queue.bench.words)


def promotion_without_approval(queue: Queue, way: str) -> None:
    """A promotion without approval"""
    queue.bench.promote()
    queue.bench.start("group")
    queue.add(7, BRANCH, way, **queue.bench.words)


def updated_promotion(queue: Queue, way: str) -> None:
    """An approved promotion whose branch was updated"""
    update_branch(queue.bench)
    queue.bench.start("group")
    queue.add(7, BRANCH, way, approved=True, **queue.bench.words)


def repaired_promotion(queue: Queue, way: str) -> None:
    """An approved promotion that a reviewer's suggestion repaired"""
    suggestion_that_proves(queue.bench)
    queue.bench.start("group")
    queue.add(7, BRANCH, way, approved=True, **queue.bench.words)


def repaired_promotion_without_approval(queue: Queue, way: str) -> None:
    """A promotion that a reviewer's suggestion repaired, without approval"""
    suggestion_that_proves(queue.bench)
    queue.bench.start("group")
    queue.add(7, BRANCH, way, **queue.bench.words)


def repaired_promotion_between_others(queue: Queue, way: str) -> None:
    """The same, between ordinary pull requests"""
    for name in ("before", "behind"):
        queue.bench.start(name, "main")
        queue.bench.write(b"x = 1\n", f"fix: {name}", f"{name}.py")
    queue.bench.git("switch", "--quiet", "main")
    suggestion_that_proves(queue.bench)
    queue.bench.start("group", "main")
    queue.add(6, "before", way, title="fix: before")
    queue.add(7, BRANCH, way, approved=True, **queue.bench.words)
    queue.add(8, "behind", way, title="fix: behind")


def promotion_repaired_by_two_suggestions(queue: Queue, way: str) -> None:
    """The same, repaired by two suggestions"""
    queue.bench.promote(PROMOTED.replace(b"First:", b"First :").replace(b"show", b"shown"))
    queue.bench.write(PROMOTED.replace(b"First:", b"First :"), "Apply suggestions", **GITHUB)
    queue.bench.write(PROMOTED, "Apply suggestions", **GITHUB)
    queue.bench.start("group")
    queue.add(7, BRANCH, way, approved=True, **queue.bench.words)


def promotion_spoiled_by_a_suggestion(queue: Queue, way: str) -> None:
    queue.bench.promote(PROMOTED.replace(b"First:", b"First :"))
    queue.bench.write(PROMOTED.replace(b"First: show", b"First: look"), "Apply suggestions", **GITHUB)
    queue.bench.start("group")
    queue.add(7, BRANCH, way, approved=True, **queue.bench.words)


def promotion_repaired_with_code(queue: Queue, way: str) -> None:
    queue.bench.promote(PROMOTED.replace(b"First:", b"First :"))
    queue.bench.write(PROMOTED.replace(b"return {", b"return 1 or {"), "Apply suggestions", **GITHUB)
    queue.bench.start("group")
    queue.add(7, BRANCH, way, approved=True, **queue.bench.words)


def promotion_repaired_with_another_file(queue: Queue, way: str) -> None:
    queue.bench.promote(PROMOTED.replace(b"First:", b"First :"))
    (queue.bench.project.root / FILE).write_bytes(PROMOTED)
    queue.bench.git("add", FILE)
    queue.bench.write(b"x = 1\n", "Apply suggestions", "other.py", **GITHUB)
    queue.bench.start("group")
    queue.add(7, BRANCH, way, approved=True, **queue.bench.words)


def lines_without_trailers(queue: Queue, way: str) -> None:
    """A promotion's line without its trailers, by a machine"""
    without_trailers(queue.bench)
    queue.bench.start("group")
    queue.add(8, "docs", way, title="docs: analysis", author=DEPENDABOT)


def lines_of_a_person(queue: Queue, way: str) -> None:
    """The same, by a person"""
    without_trailers(queue.bench)
    queue.bench.start("group")
    queue.add(8, "docs", way, title="docs: analysis")


def lines_behind_a_promotion(queue: Queue, way: str) -> None:
    """Behind an approved promotion: another line without trailers, by a machine"""
    promotion_with_approval(queue, way)
    queue.bench.start("docs")
    queue.bench.write(SECOND, "docs: show", OTHER_FILE)
    queue.bench.git("switch", "--quiet", "group")
    queue.add(8, "docs", way, title="docs: show", author=DEPENDABOT)


SECOND = OTHER.replace(b"Shows a company.", b"Shows a company.\n\n    - First: analysis\n    ")


def behind_a_promotion_with_approval(queue: Queue, way: str) -> None:
    """Ordinary work behind an approved promotion"""
    promotion_with_approval(queue, way)
    queue.bench.start("work")
    queue.bench.write(b"x = 1\n", "fix: x", "other.py")
    queue.bench.git("switch", "--quiet", "group")
    queue.add(8, "work", way, title="fix: x")


def behind_a_promotion_without_approval(queue: Queue, way: str) -> None:
    """Ordinary work behind a promotion without approval"""
    promotion_without_approval(queue, way)
    queue.bench.start("work")
    queue.bench.write(b"x = 1\n", "fix: x", "other.py")
    queue.bench.git("switch", "--quiet", "group")
    queue.add(8, "work", way, title="fix: x")


GROUPS: tuple[Callable[[Queue, str], None], ...] = (
    *(
        ordinary_entry,
        entry_on_a_promotion_s_branch,
        behind_a_promotion_with_approval,
        promotion_with_approval,
        updated_promotion,
    ),
    *(repaired_promotion, promotion_repaired_by_two_suggestions, repaired_promotion_between_others),
    *(promotion_without_approval, repaired_promotion_without_approval, behind_a_promotion_without_approval),
    *(lines_without_trailers, lines_of_a_person, lines_behind_a_promotion),
)
ORDINARY = {ordinary_entry, entry_on_a_promotion_s_branch, lines_of_a_person}
WAYS = [
    pytest.param(build, way, id=f"{build.__name__.replace('_', ' ')}-{way}")
    for build in GROUPS
    for way in ("merge", "squash", "rebase")
    if (build, way) != (updated_promotion, "rebase")  # GitHub cannot rebase a merge
]


@pytest.mark.slow
@pytest.mark.parametrize(("build", "way"), WAYS)
def test_merge_group(build: Callable[[Queue, str], None], way: str, bench: Bench, tmp_path: Path):
    queue = Queue(bench, tmp_path)
    build(queue, way)
    decision = queue.decide()
    assert bool(decision.claims) is (build not in ORDINARY)
    assert_row(rows("In the merge queue")[named(build)], decision)


SPOILED = [
    # what is queued, the reason where it is squashed; else the promotion's own commit is not proved
    (
        promotion_spoiled_by_a_suggestion,
        "the Candidate-Key in its commit's trailers belongs to another line; promote it again",
    ),
    (promotion_repaired_with_code, "something outside of the docstring of analysis changes"),
    (promotion_repaired_with_another_file, "2 files change; a promotion changes only one"),
]


@pytest.mark.slow
@pytest.mark.parametrize("way", ["merge", "squash", "rebase"])
@pytest.mark.parametrize(("build", "reason"), SPOILED, ids=[row[0].__name__ for row in SPOILED])
def test_repair_that_does_more_is_no_repair(
    build: Callable[[Queue, str], None], reason: str, way: str, bench: Bench, tmp_path: Path
):
    queue = Queue(bench, tmp_path)
    build(queue, way)
    expected = (
        reason
        if way == "squash"
        else "the docstring gains lines other than its promotion's; take them out, or promote it again"
    )
    assert any(expected in said for said in queue.decide().reasons)


@pytest.mark.parametrize(("way", "answer"), [("merge", "red"), ("squash", "green")])
def test_promotion_repaired_after_an_update_is_queued_by_squash_only(
    way: str, answer: str, bench: Bench, tmp_path: Path
):
    bench.promote(PROMOTED.replace(b"First:", b"First :"))
    bench.git("switch", "--quiet", "main")
    bench.write(b"x = 1\n", "fix: x", "other.py")
    bench.git("switch", "--quiet", BRANCH)
    bench.git("merge", "--quiet", "--no-edit", "main", **GITHUB)
    bench.write(PROMOTED, "Apply suggestions", **GITHUB)
    bench.start("group", "main")
    queue = Queue(bench, tmp_path)
    queue.add(7, BRANCH, way, approved=True, **bench.words)
    assert queue.decide().passes is (answer == "green")


def test_the_page_has_these_rows():
    assert list(rows("In the merge queue")) == list(map(named, GROUPS))
