"""Words that history would read otherwise than they are: a key in a title, a revert of nothing."""

from pathlib import Path

import pytest

from coreloop.base.git.promotions import promotions
from coreloop.base.git.repository import Repository
from coreloop.guard.event import Account
from guard_bench import BRANCH, GITHUB, MESSAGE, PROMOTED, TITLE, Bench, assert_row, named, rows
from guard_queue import Queue
from promoting import FILE, KEY, OTHER_FILE, OTHER_SOURCE, SOURCE

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


MOVED = "tools/ratios.py"
RENAMED = PROMOTED.replace(b"def analysis", b"def ratios")
IN_A_CLASS = b"class Tools:\n" + PROMOTED.partition(b"\n\n\n")[2].replace(b"def", b"    def", 1).replace(
    b"\n    ", b"\n        "
)


def said(bench: Bench, sha: str, source: bytes = b"x = 1\n", path: str = "other.py") -> None:
    """A machine's other work that says that it reverts a commit."""
    bench.start("work", "main")
    bench.write(source, f"fix: x\n\nThis reverts commit {sha}.", path)
    bench.call(author=APP)


def renamed(bench: Bench, source: bytes = RENAMED, path: str = FILE) -> str:
    """A promotion whose tool main then renames, or its file."""
    sha = bench.land()
    bench.git("mv", FILE, path) if path != FILE else None
    bench.write(source, "refactor: rename", path)
    bench.push()
    return sha


def revert_before_the_merge(bench: Bench) -> None:
    """Other work that says that it reverts an open promotion, which may be merged first"""
    bench.promote()
    said(bench, bench.git("rev-parse", BRANCH))


def revert_of_another_branch(bench: Bench) -> None:
    """Other work that says that it reverts a commit of another branch, which is no promotion"""
    bench.start("side")
    said(bench, bench.write(b"y = 1\n", "feat: y", "side.py"))


def false_revert_after_a_move(bench: Bench) -> None:
    """Other work whose message says that it reverts a promotion, after main moved the tool's file"""
    said(bench, renamed(bench, PROMOTED, MOVED))


def false_revert_after_a_rename(bench: Bench) -> None:
    """The same, after main renamed the tool"""
    said(bench, renamed(bench))


def revert_after_a_rename(bench: Bench) -> None:
    """The same, and it takes the line out of the renamed tool"""
    said(bench, renamed(bench), SOURCE.replace(b"def analysis", b"def ratios"), FILE)


def false_revert_in_a_class(bench: Bench) -> None:
    """It does not, and main put the tool into a class, where the line is indented further"""
    said(bench, renamed(bench, IN_A_CLASS))


def false_revert_of_other_words(bench: Bench) -> None:
    """The same, after main renamed the tool and wrote the line with an escape"""
    said(bench, renamed(bench, RENAMED.replace(b"- First", b"\\x2d First")))


def false_revert_by_a_rename(bench: Bench) -> None:
    """A machine's commit that renames the tool and says that it reverts the promotion"""
    said(bench, bench.land(), RENAMED, FILE)


def false_revert_of_another(bench: Bench) -> None:
    """A machine's commit that takes out another tool's same line, and says that it reverts the promotion"""
    other = OTHER_SOURCE.replace(b"Shows a company.", b"Shows a company.\n\n    - First: show\n    ")
    bench.git("switch", "--quiet", "main")
    bench.write(other, "docs: show", OTHER_FILE)
    said(bench, renamed(bench), OTHER_SOURCE, OTHER_FILE)


def false_revert_by_the_same_deletion(bench: Bench) -> None:
    """A machine's commit that deletes a tool where main has moved it from, and says so"""
    bench.git("branch", "work")
    sha = bench.land()
    bench.git("switch", "--quiet", "work")
    bench.git("reset", "--quiet", "--hard", sha)
    rest = b'"""Tools."""\n'
    bench.write(rest, f"refactor: move\n\nThis reverts commit {sha}.")
    bench.git("switch", "--quiet", "main")
    bench.write(PROMOTED, "refactor: copy", MOVED)
    bench.write(rest, "refactor: move")
    bench.push()
    bench.git("switch", "--quiet", "work")
    bench.call(author=APP)


def false_revert_by_a_change_of_place(bench: Bench) -> None:
    """A machine's commit that moves the line to another tool, takes out that of a third, and says so"""
    third = b'def third():\n    """Third.\n\n    - First: show\n    """\n'
    bench.git("switch", "--quiet", "main")
    bench.write(third, "docs: third", "third.py")
    sha = bench.land()
    said(bench, sha, third.replace(b"    - First: show\n", b""), "third.py")
    bench.write(SOURCE, "docs: drop it")
    bench.write(third, "docs: keep it", "fourth.py")


def false_revert_in_a_release(bench: Bench) -> None:
    """A machine's release merge that brings the tool's new name, with a commit that says so"""
    sha = bench.land()
    bench.git("branch", "release")
    bench.write(RENAMED, "refactor: rename")
    bench.push()
    bench.base = "release"
    bench.start("up")
    bench.write(b"x = 1\n", f"fix: x\n\nThis reverts commit {sha}.", "other.py")
    bench.call(author=APP)


def revert_of_a_release_by_another_name(bench: Bench) -> None:
    """The merge keeps main's line, and a machine renames the tool there"""
    revert_of_a_release_without_its_change(bench)
    bench.write(RENAMED, "refactor: rename")
    bench.call(author=APP)


def release_with_another(bench: Bench) -> None:
    """A release merge with a promotion's revert, and the same line of another tool"""
    other = OTHER_SOURCE.replace(b"Shows a company.", b"Shows a company.\n\n    - First: show\n    ")
    sha = bench.land()
    bench.git("branch", "release")
    bench.git("revert", "--no-edit", sha)
    bench.write(other, "docs: show", OTHER_FILE)
    bench.push()
    bench.base = "release"
    bench.start("up")
    bench.call()


def revert_beside_another(bench: Bench) -> None:
    """A person's revert of a promotion whose line another tool has gained, too"""
    other = OTHER_SOURCE.replace(b"Shows a company.", b"Shows a company.\n\n    - First: show\n    ")
    sha = bench.land()
    bench.write(other, "docs: show", OTHER_FILE)
    bench.push()
    bench.start("revert")
    bench.git("revert", "--no-edit", sha)


def false_revert_of_a_revert_beside_another(bench: Bench) -> None:
    """Other work that says that it reverts a promotion's revert, whose line another tool has"""
    revert_beside_another(bench)
    bench.git("push", "--quiet", "origin", "revert:main")
    bench.git("switch", "--quiet", "main")
    bench.git("merge", "--quiet", "--ff-only", "revert")
    bench.git("fetch", "--quiet", "origin")
    said(bench, bench.git("rev-parse", "main"))


def revert_taken_back(bench: Bench) -> None:
    """A revert and its own revert in one pull request, which a squash would not tell from a revert"""
    sha = bench.land()
    bench.start("revert")
    bench.git("revert", "--no-edit", sha)
    bench.git("revert", "--no-edit", "HEAD")
    bench.call()


def reapplied_in_a_release(bench: Bench) -> None:
    """A release merge with a promotion's revert and the revert of that"""
    sha = bench.land()
    bench.git("branch", "release")
    bench.git("revert", "--no-edit", sha)
    bench.git("revert", "--no-edit", "HEAD")
    bench.push()
    bench.base = "release"
    bench.start("up")
    bench.call()


def revert_of_a_release(bench: Bench) -> None:
    """A revert on a release branch, merged back to main"""
    sha = bench.land()
    bench.start("release")
    bench.git("revert", "--no-edit", sha)
    bench.call()


def revert_of_a_release_without_its_change(bench: Bench) -> None:
    """The same, where the release branch is `forge: base`, and the merge keeps main's line"""
    bench.git("switch", "--quiet", "main")
    settings = (bench.project.root / "coreloop.yaml").read_bytes()
    settings = settings.replace(b'"forge": {', b'"forge": {"base": "release", ')
    bench.write(settings, "chore: base", "coreloop.yaml")
    revert_of_a_release(bench)
    bench.push("release")
    bench.start("back", "main")
    bench.git("merge", "--quiet", "--no-ff", "--strategy", "ours", "--message", "merge", "release")


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
    *(
        revert_before_the_merge,
        revert_of_another_branch,
        false_revert_after_a_move,
        false_revert_after_a_rename,
    ),
    *(revert_after_a_rename, false_revert_in_a_class, false_revert_of_other_words, false_revert_by_a_rename),
    *(false_revert_of_another, false_revert_by_the_same_deletion, false_revert_by_a_change_of_place),
    *(
        false_revert_in_a_release,
        release_with_another,
        revert_beside_another,
        false_revert_of_a_revert_beside_another,
    ),
    *(revert_taken_back, reapplied_in_a_release, revert_of_a_release),
    *(revert_of_a_release_without_its_change, revert_of_a_release_by_another_name),
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
    assert ["whose line is still there" in reason for reason in queue.decide().reasons] == [True]


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
