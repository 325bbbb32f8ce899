"""Words that history would read otherwise than they are: a key in a title, a revert of nothing."""

from pathlib import Path

import pytest

from coreloop.base.git.promotions import promotions
from coreloop.base.git.repository import Repository
from coreloop.guard.event import Account
from guard_bench import BRANCH, GITHUB, MESSAGE, PROMOTED, TITLE, Bench, assert_row, named, rows
from guard_queue import Queue
from promoting import KEY, SOURCE

APP = Account("coreloop-app[bot]", human=False)
REST = "Phase: R\nTarget: tools/finance.py::analysis"
EMPTY = "Phase:\nCandidate-Id:\nCandidate-Key:\nTarget:"


def other_work(bench: Bench, message: str = "fix: x", **words: object) -> None:
    """Other work of a machine's."""
    bench.start("work")
    bench.write(b"x = 1\n", message, "other.py")
    bench.call(**{"author": APP, **words})


def key_in_the_title(bench: Bench) -> None:
    """A machine's other work with a key as title, and the phase in its description"""
    other_work(bench, title=f"Candidate-Key: {KEY}", body=REST)


def key_in_the_title_above_a_commit(bench: Bench) -> None:
    """The same, and the phase in a commit's message"""
    other_work(bench, f"fix: x\n\n{REST}", title=f"Candidate-Key: {KEY}")


def phase_and_key_apart(bench: Bench) -> None:
    """The same in two paragraphs of its description"""
    other_work(bench, body=f"{REST}\n\nCandidate-Key: {KEY}")


def first_in_the_description(bench: Bench) -> None:
    """A phase and a key as the first lines of a machine's description, which a squash puts below the title"""
    other_work(bench, body=f"Phase: R\nCandidate-Key: {KEY}")


def subject_of_an_index(bench: Bench) -> None:
    """The subject `Candidate-Key: add index`"""
    other_work(bench, "Candidate-Key: add index", title="Candidate-Key: add index")


def header_as_a_paragraph(bench: Bench) -> None:
    """A description with `Candidate-Id: 42` as a paragraph"""
    other_work(bench, body="Adds the header\n\nCandidate-Id: 42\n\nto all requests.")


def template_of_trailers(bench: Bench) -> None:
    """A description from a template with empty trailers"""
    other_work(bench, body=f"What changes.\n\n{EMPTY}\n")


def promotion_without_a_key(bench: Bench) -> None:
    """A promotion whose commit and description lack the key"""
    lines = MESSAGE.splitlines(keepends=True)
    bench.promote(message="".join(line for line in lines if not line.startswith("Candidate-Key")))
    bench.review()


def false_revert(bench: Bench) -> None:
    """Other work whose message says that it reverts a merged promotion"""
    sha = bench.land()
    other_work(bench, f"fix: x\n\nThis reverts commit {sha}.")


def false_revert_of_a_person(bench: Bench) -> None:
    """The same by a person"""
    false_revert(bench)
    bench.call()


def false_revert_in_the_description(bench: Bench) -> None:
    """The same in its description only"""
    sha = bench.land()
    other_work(bench, body=f"This reverts commit {sha[:12]}.")


def false_revert_from_before(bench: Bench) -> None:
    """The same on a branch from before the promotion"""
    bench.git("branch", "before")
    sha = bench.land()
    bench.start("work", "before")
    bench.write(b"x = 1\n", f"fix: x\n\nThis reverts commit {sha}.", "other.py")
    bench.call(author=APP)


def revert_that_is_one(bench: Bench) -> None:
    """A person's revert of a merged promotion"""
    sha = bench.land()
    bench.start("revert")
    bench.git("revert", "--no-edit", sha)


def revert_after_removal(bench: Bench) -> None:
    """A message that says that it reverts a promotion whose line somebody has removed"""
    sha = bench.land()
    bench.write(SOURCE, "docs: drop it")
    bench.push()
    other_work(bench, f"fix: x\n\nThis reverts commit {sha}.")


def false_revert_of_a_revert(bench: Bench) -> None:
    """Other work whose message says that it reverts a promotion's revert"""
    bench.land()
    bench.git("revert", "--no-edit", "HEAD")
    bench.push()
    other_work(bench, f"fix: x\n\nThis reverts commit {bench.git('rev-parse', 'main')}.")


def revert_of_a_revert(bench: Bench) -> None:
    """A person's `git revert` of a promotion's revert"""
    false_revert_of_a_revert(bench)
    bench.start("reapply", "main")
    bench.git("revert", "--no-edit", "main")
    bench.call()


def revert_in_a_release(bench: Bench) -> None:
    """A release merge with a promotion's revert, and the promotion merged again"""
    sha = bench.land()
    bench.git("branch", "release")
    bench.git("revert", "--no-edit", sha)
    bench.git("cherry-pick", sha)
    bench.push()
    bench.base = "release"
    bench.start("up")
    bench.call()


def backport_of_a_merge(bench: Bench) -> None:
    """A person's `git cherry-pick -x -m 1` of GitHub's merge of a promotion, onto a release branch"""
    bench.base = "release"
    bench.git("branch", "release")
    bench.promote()
    bench.git("switch", "--quiet", "main")
    text = f"Merge pull request #7 from octo/{BRANCH}\n\n{TITLE}"
    bench.git("merge", "--quiet", "--no-ff", "--message", text, BRANCH, **GITHUB)
    bench.push()
    bench.start("backport", "release")
    bench.git("cherry-pick", "-x", "-m", "1", "main")
    bench.call(title=f"[release] {TITLE}", branch="backport")


def backport_of_a_merge_and_more(bench: Bench) -> None:
    """The same, with other code"""
    backport_of_a_merge(bench)
    text = bench.git("log", "-1", "--format=%B")
    bench.git("reset", "--quiet", "--hard", "HEAD^")
    bench.write(PROMOTED + b"x = 1\n", text)


def backport_of_a_reverted_merge(bench: Bench) -> None:
    """The same without it, after the merge was reverted on main"""
    backport_of_a_merge(bench)
    bench.git("switch", "--quiet", "main")
    bench.git("revert", "--no-edit", "--mainline", "1", "HEAD")
    bench.push()
    bench.git("switch", "--quiet", "backport")


HISTORY = (
    *(key_in_the_title, key_in_the_title_above_a_commit, phase_and_key_apart, first_in_the_description),
    *(subject_of_an_index, header_as_a_paragraph, template_of_trailers, promotion_without_a_key),
    *(false_revert, false_revert_of_a_person, false_revert_in_the_description, false_revert_from_before),
    *(revert_that_is_one, revert_after_removal, false_revert_of_a_revert, revert_of_a_revert),
    *(revert_in_a_release, backport_of_a_merge, backport_of_a_merge_and_more, backport_of_a_reverted_merge),
)
HEADING = "What history would read"


@pytest.mark.slow
@pytest.mark.parametrize("build", HISTORY, ids=[build.__name__ for build in HISTORY])
def test_history(build, bench: Bench):
    build(bench)
    assert_row(rows(HEADING)[named(build)], bench.decide(bench.event()))


def test_the_page_has_these_rows():
    assert list(rows(HEADING)) == list(map(named, HISTORY))


@pytest.mark.slow
def test_in_the_queue_a_false_revert_is_red_too(bench: Bench, tmp_path: Path):
    false_revert_in_the_description(bench)
    body = bench.words["body"]
    bench.start("group", "main")
    queue = Queue(bench, tmp_path)
    queue.add(7, "work", "squash", title="fix: x", body=body)
    assert ["says that it reverts commit" in reason for reason in queue.decide().reasons] == [True]


@pytest.mark.slow
@pytest.mark.parametrize("build", [key_in_the_title, key_in_the_title_above_a_commit, phase_and_key_apart])
@pytest.mark.parametrize("way", ["merge", "squash", "listed"])
def test_what_the_check_lets_pass_is_no_promotion_in_history(build, way, bench: Bench):
    build(bench)
    title, body = bench.words.get("title", "fix"), bench.words.get("body", "")
    commits = bench.git("log", "--format=* %B", "main..work")
    messages = {
        "merge": f"Merge pull request #8 from octo/work\n\n{title}\n\n{body}",
        "squash": f"{title} (#8)\n\n{body}",
        "listed": f"{title} (#8)\n\n{commits}",
    }
    bench.git("switch", "--quiet", "main")
    bench.git("merge", "--quiet", *(["--no-ff", "--no-commit"] if way == "merge" else ["--squash"]), "work")
    bench.git("commit", "--quiet", "--message", messages[way])
    with Repository(bench.project.root) as repository:
        assert promotions(repository.log("main")) == []
