"""What the facts of a decision are read from: whose answers, which files, which commits."""

from pathlib import Path

import pytest

from coreloop.base.errors import GitError
from coreloop.base.git.repository import Repository
from coreloop.guard.approval import pushed
from coreloop.guard.change import read_change
from coreloop.guard.event import Account, Authorship, Push
from coreloop.guard.facts import read_facts
from coreloop.guard.inputs import Answers
from coreloop.guard.markers import GuardFacts
from guard_bench import BRANCH, GITHUB, MESSAGE, PROMOTED, TITLE, Bench, without_trailers
from guard_queue import Queue
from guarding import HEAD, MAKER, approval, commit, judged
from judging import OLD, SIGNED

KIM = Account("kim", human=True)
AS_KIM = {"GIT_AUTHOR_NAME": "kim", "GIT_AUTHOR_EMAIL": "2+kim@users.noreply.github.com"}


def signed_line(bench: Bench) -> None:
    """A person's line in a commit that GitHub has verified, and nobody knows who pushed it."""
    bench.start("docs")
    bench.write(PROMOTED, "docs: analysis", **AS_KIM, **GITHUB)
    bench.call(author=KIM, sender=KIM, action="labeled")
    bench.pushes = ()


@pytest.mark.parametrize("number", [7, None], ids=["of its pull request", "without a number"])
def test_github_s_verification_is_read_whether_or_not_it_names_the_pull_request(number, bench: Bench):
    signed_line(bench)
    shown = bench.shown
    bench.shown = lambda *range_: [{**made, "pull": number} for made in shown(*range_)]
    assert bench.decide(bench.event()).passes


def test_a_verification_of_another_pull_request_does_not_count(bench: Bench):
    signed_line(bench)
    shown = bench.shown
    bench.shown = lambda *range_: [{**made, "pull": 8} for made in shown(*range_)]
    assert not bench.decide(bench.event()).passes


def two_people(queue: Queue, way: str) -> None:
    """A person's line behind another person's work; each has pushed their own."""
    without_trailers(queue.bench)
    queue.bench.start("work", "main")
    queue.bench.write(b"x = 1\n", "fix: x", "other.py")
    queue.bench.start("group", "main")
    queue.add(6, "work", way, title="fix: x")
    queue.add(8, "docs", way, title="docs: analysis")


def test_a_commit_of_a_group_is_looked_for_in_its_own_pull_request(bench: Bench, tmp_path: Path):
    queue = Queue(bench, tmp_path)
    two_people(queue, "merge")
    decision = queue.decide()
    assert (decision.passes, len(decision.notes)) == (True, 1)


def test_another_file_that_was_there_for_a_while_is_no_repair(bench: Bench, tmp_path: Path):
    bench.promote(PROMOTED.replace(b"First:", b"First :"))
    bench.write(b"on: push\n", "ci: x", ".github/workflows/x.yml", **GITHUB)
    bench.git("rm", "--quiet", ".github/workflows/x.yml")
    bench.write(PROMOTED, "Apply suggestions", **GITHUB)
    bench.start("group", "main")
    queue = Queue(bench, tmp_path)
    queue.add(7, BRANCH, "merge", approved=True, **bench.words)
    assert "lines other than its promotion's" in str(queue.decide().reasons)


def test_a_project_outside_of_the_repository_is_an_error_that_says_what_to_do(bench: Bench):
    settings = bench.project.root / "coreloop.yaml"
    bench.promote()
    (bench.project.root.parent / "coreloop.yaml").write_bytes(
        settings.read_bytes() if settings.exists() else b"{}\n"
    )
    bench.git("switch", "--quiet", "main")
    settings.unlink(missing_ok=True)
    bench.git("switch", "--quiet", BRANCH)
    with pytest.raises(GitError, match=r"is not in the repository .*; run the guard in the project"):
        bench.decide(bench.event())


def test_a_co_author_whose_address_github_knows_is_somebody():
    suggested = commit("Apply\n\nCo-authored-by: Max <max@example.org>\n", sha=OLD, parents=(HEAD,))

    def waits(*known: str) -> str:
        shown = (SIGNED, Authorship(sha=OLD, verified=True, known=known))
        return str(judged(commits=(suggested, commit()), authorships=shown, reviews=(approval(),)).waits)

    assert "the co-author max@example.org" in waits()
    assert waits("max@example.org") == "()"


def test_a_history_of_many_merges_is_walked_once():
    """Sixty diamonds have 2 to the 60 ways through them."""
    commits = [commit(sha=f"top {n}", parents=(f"left {n}", f"right {n}")) for n in range(60)]
    commits += [
        commit(sha=f"{side} {n}", parents=(f"top {n + 1}",)) for n in range(60) for side in ("left", "right")
    ]
    everything = {made.sha for made in commits} | {"top 60"}
    assert pushed(Push("top 0", MAKER, "elsewhere"), commits) == everything
    assert pushed(Push("top 0", MAKER, "top 1"), commits) == {"top 0", "left 0", "right 0"}


def test_a_promotion_without_a_parent_is_proved_by_what_the_pull_request_changes(bench: Bench):
    bench.git("switch", "--quiet", "--orphan", "alone")
    bench.write(PROMOTED, MESSAGE)
    bench.start(BRANCH)
    merged = ("--quiet", "--no-edit", "--allow-unrelated-histories", "--strategy-option", "theirs")
    bench.git("merge", *merged, "alone", **GITHUB)
    title, _, body = MESSAGE.partition("\n\n")
    bench.call(title=title, body=body, branch=BRANCH, labels=("coreloop",))
    decision = bench.decide(bench.event())
    assert (decision.state, decision.reasons) == ("pending", ())


def facts_of(bench: Bench) -> GuardFacts:
    """The facts of the pull request at the head, without answers of GitHub."""
    event = bench.event()
    with Repository(bench.project.root) as repository:
        change = read_change(repository, base=event.pull.base_sha, head=event.pull.head_sha)
        return read_facts(repository, event, change, folder=bench.project.root, answers=Answers())


def test_of_ordinary_work_no_file_and_no_landed_commit_is_read(bench: Bench):
    bench.git("branch", "release")
    bench.git("switch", "--quiet", "main")
    bench.write(b"x = 1\n", "fix: x", "other.py")
    bench.push("main")
    bench.base = "release"
    facts = facts_of(bench)
    assert (facts.files, facts.touched, facts.landed) == ({}, {}, frozenset())


def test_a_merged_commit_that_only_its_title_gives_away_is_known_in_a_backport(bench: Bench):
    bench.git("branch", "release")
    bench.git("switch", "--quiet", "main")
    sha = bench.write(b"x = 1\n", f"{TITLE}\n\nThe trailers were edited away.", "other.py")
    bench.push("main")
    bench.base = "release"
    bench.start("backport", "release")
    bench.git("cherry-pick", "--ff", sha)  # the same commit, also in another second
    bench.call(title="fix: x", branch="backport")
    assert facts_of(bench).landed
    assert bench.decide(bench.event()).passes


def test_without_settings_that_can_be_used_no_file_of_a_promotion_is_read(bench: Bench):
    bench.promote()
    assert facts_of(bench).touched
    (bench.project.root / "coreloop.yaml").write_text("tools: [\n", encoding="utf-8")
    facts = facts_of(bench)
    assert facts.unusable
    assert (facts.files, facts.touched) == ({}, {})
