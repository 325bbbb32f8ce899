"""The trailers of a merged promotion on another change: a backport by hand, or words that somebody pasted."""

from pathlib import Path

import pytest

from coreloop.guard.event import Account
from guard_bench import (
    BODY,
    BRANCH,
    MESSAGE,
    PROMOTED,
    QUOTED,
    TITLE,
    TRAILERS,
    Bench,
    assert_row,
    named,
    rows,
)
from guard_queue import Queue
from guarding import MAKER
from promoting import FILE, SOURCE

APP = Account("coreloop-app[bot]", human=False)
AS_APP = {"GIT_AUTHOR_NAME": APP.login, "GIT_AUTHOR_EMAIL": "3+coreloop-app[bot]@users.noreply.github.com"}
CORRECTED = PROMOTED.replace(b"First: show", b"First: search")


def backport_resolved_by_hand(bench: Bench, **environ: str) -> None:
    """A backport of a promotion whose conflict was resolved by hand"""
    bench.base = "release"
    bench.start("release")
    older = SOURCE.replace(b"Ratios of a company.", b"Ratios of one company.")
    bench.write(older, "docs: older words")
    sha = bench.land()
    bench.start("backport", "release")
    resolved = PROMOTED.replace(b"Ratios of a company.", b"Ratios of one company (cached).")
    message = f"{bench.git('log', '-1', '--format=%B', sha)}\n(cherry picked from commit {sha})\n"
    bench.write(resolved, message, **environ)
    bench.call(title=TITLE, branch="backport")


def resolved_and_approved(bench: Bench) -> None:
    """The same, approved by a human with write access who neither wrote nor pushed it"""
    backport_resolved_by_hand(bench)
    bench.review()


def resolved_and_approved_by_its_author(bench: Bench) -> None:
    """The same, approved by its author"""
    backport_resolved_by_hand(bench)
    bench.review(reviewer=MAKER)


def resolved_before_a_push(bench: Bench) -> None:
    """The same, approved before the last push"""
    backport_resolved_by_hand(bench)
    bench.review(sha=bench.git("rev-parse", "main"))


def resolved_in_a_machine_s_name(bench: Bench) -> None:
    """The same, and the commit kept the machine that wrote the promotion as its author"""
    backport_resolved_by_hand(bench, **AS_APP)
    bench.review()


def resolved_by_a_machine(bench: Bench) -> None:
    """The same, opened by a machine"""
    backport_resolved_by_hand(bench)
    bench.words["author"] = APP
    bench.review()


def resolved_by_nobody_known(bench: Bench) -> None:
    """The same, and it is unknown who pushed it"""
    backport_resolved_by_hand(bench)
    bench.pushes = ()
    bench.words["action"] = "submitted"
    bench.review()


def resolved_in_a_fork(bench: Bench) -> None:
    """The same, from a fork"""
    backport_resolved_by_hand(bench)
    bench.words["same_repo"] = False
    bench.review()


def resolved_with_auto_merge(bench: Bench) -> None:
    """The same, with auto-merge and the label `automerge`"""
    backport_resolved_by_hand(bench)
    bench.words |= {"auto_merge": True, "labels": ("automerge",)}
    bench.review()


def backport_that_moves_code(bench: Bench) -> None:
    """A backport of a promotion whose commit also moves code"""
    bench.base = "release"
    bench.git("branch", "release")
    sha = bench.land()
    bench.start("backport", "release")
    bench.git("cherry-pick", sha)
    path = bench.project.root / FILE
    path.write_bytes(path.read_bytes().replace(b'"""Tools."""\n\n\n', b"") + b'\n\n"""Tools."""\n')
    bench.git("commit", "--quiet", "--all", "--amend", "--no-edit")
    bench.call(title=TITLE, branch="backport")


def corrected_with_its_trailers(bench: Bench, message: str = f"docs: the line\n\n{BODY}") -> None:
    """A person corrects a promoted line and pastes the promotion's trailers"""
    bench.land()
    bench.start("docs")
    bench.write(CORRECTED, message)
    bench.call(branch="docs")


def squashed_with_other_messages(bench: Bench) -> None:
    """A person's squash whose message lists the promotion's among others"""
    bench.land()
    bench.start("work")
    bench.write(b"x = 1\n", f"feat: x\n\n* feat: x\n\n* {MESSAGE}\n\n* fix: y\n", "other.py")


def corrected_with_a_description(bench: Bench) -> None:
    """The same, in the description only"""
    corrected_with_its_trailers(bench, "docs: the line")
    bench.words["body"] = f"Corrects it.\n\n{BODY}"


def other_work_with_a_description(bench: Bench) -> None:
    """Other work of a person's with the trailers in its description"""
    bench.land()
    bench.start("work")
    bench.write(b"x = 1\n", "fix: x", "other.py")
    bench.call(body=BODY)


def corrected_with_a_quotation(bench: Bench) -> None:
    """The correction with the trailers quoted, `> ` before each line"""
    corrected_with_its_trailers(bench, f"docs: the line\n\n{QUOTED}\n")


def corrected_with_a_code_block(bench: Bench) -> None:
    """The correction with the trailers in a code block, between blank lines"""
    corrected_with_its_trailers(bench, f"docs: the line\n\n```\n\n{TRAILERS}\n\n```\n")


def corrected_with_other_figures(bench: Bench) -> None:
    """The correction with other figures"""
    corrected_with_its_trailers(bench, f"docs: the line\n\n{BODY}".replace("Observed: ", "Observed: 9"))
    bench.review()


def corrected_in_small_letters(bench: Bench) -> None:
    """The correction with the trailers' names in lower case"""
    corrected_with_its_trailers(bench, f"docs: the line\n\n{BODY.lower()}".replace("phase: r", "phase: R"))
    bench.review()


def corrected_on_its_branch(bench: Bench) -> None:
    """The correction on a branch with a name that promote gives"""
    corrected_with_its_trailers(bench)
    bench.words["branch"] = BRANCH
    bench.review()


def corrected_with_more_promoted(bench: Bench) -> None:
    """The correction and another commit, with a promotion's title"""
    corrected_with_its_trailers(bench)
    bench.write(b"x = 1\n", TITLE, "other.py")
    bench.review()


def corrected_after_a_revert(bench: Bench) -> None:
    """A person pastes the trailers of a promotion that was reverted"""
    bench.land()
    bench.git("revert", "--no-edit", "HEAD")
    bench.push()
    bench.start("docs")
    bench.write(CORRECTED, f"docs: the line\n\n{BODY}")


def reverted_repeated_and_corrected(bench: Bench) -> None:
    """A revert, an exact copy of the promotion and a correction, a commit each, with the promotion's title"""
    sha = bench.land()
    bench.start("docs")
    bench.git("revert", "--no-edit", sha)
    bench.git("cherry-pick", sha)
    bench.write(CORRECTED, "docs: the line")
    bench.call(title=TITLE, branch="docs")


def reverted_repeated_and_corrected_by_a_machine(bench: Bench) -> None:
    """That revert, copy and correction, opened by a machine"""
    reverted_repeated_and_corrected(bench)
    bench.words["author"] = APP


def backport_after_a_false_revert(bench: Bench) -> None:
    """An exact backport, although a message on main says falsely that it reverts the promotion"""
    bench.base = "release"
    bench.git("branch", "release")
    sha = bench.land()
    bench.write(b"x = 1\n", f"fix: x\n\nThis reverts commit {sha}.", "other.py")
    bench.push()
    bench.start("backport", "release")
    bench.git("cherry-pick", "-x", sha)
    bench.call(title=TITLE, branch="backport")


def backport_after_a_false_revert_by_a_machine(bench: Bench) -> None:
    """That backport, opened by a machine"""
    backport_after_a_false_revert(bench)
    bench.words["author"] = APP


def backport_with_other_figures(bench: Bench) -> None:
    """An exact backport whose message has other figures"""
    bench.base = "release"
    bench.git("branch", "release")
    sha = bench.land()
    bench.start("backport", "release")
    bench.git("cherry-pick", sha)
    bench.git("commit", "--quiet", "--amend", "--message", MESSAGE.replace("Observed: ", "Observed: 9"))
    bench.call(branch="backport", author=APP)


FORGED = "Phase: R\nCandidate-Key: 0123456789abcdef\nTarget: tools/finance.py::analysis"


def backport_with_other_trailers(bench: Bench, body: str = FORGED) -> None:
    """An exact backport whose description has trailers that none of its commits has"""
    bench.base = "release"
    bench.git("branch", "release")
    sha = bench.land()
    bench.start("backport", "release")
    bench.git("cherry-pick", "-x", sha)
    bench.call(title=TITLE, branch="backport", author=APP, body=f"Backport.\n\n{body}")


def backport_with_its_trailers(bench: Bench) -> None:
    """The same with its commit's trailers"""
    backport_with_other_trailers(bench, TRAILERS)


def release_with_other_trailers(bench: Bench) -> None:
    """A release merge whose description has trailers that none of its commits has"""
    bench.base = "release"
    bench.git("branch", "release")
    bench.land()
    bench.start("up")
    bench.call(author=APP, body=FORGED)


REPEATED = (
    *(backport_resolved_by_hand, resolved_and_approved, resolved_and_approved_by_its_author),
    *(resolved_before_a_push, resolved_in_a_machine_s_name, resolved_by_a_machine, resolved_by_nobody_known),
    *(resolved_in_a_fork, resolved_with_auto_merge, backport_that_moves_code, corrected_with_its_trailers),
    *(
        corrected_with_a_description,
        other_work_with_a_description,
        corrected_with_a_quotation,
        corrected_with_a_code_block,
        corrected_with_other_figures,
    ),
    *(corrected_in_small_letters, corrected_on_its_branch, corrected_with_more_promoted),
    *(corrected_after_a_revert, squashed_with_other_messages, reverted_repeated_and_corrected),
    *(reverted_repeated_and_corrected_by_a_machine, backport_after_a_false_revert),
    *(backport_after_a_false_revert_by_a_machine, backport_with_other_figures),
    *(backport_with_other_trailers, backport_with_its_trailers, release_with_other_trailers),
)
HEADING = "The trailers of a merged promotion"


@pytest.mark.slow
@pytest.mark.parametrize("build", REPEATED, ids=[build.__name__ for build in REPEATED])
def test_repeated_trailers(build, bench: Bench):
    build(bench)
    assert_row(rows(HEADING)[named(build)], bench.decide(bench.event()))


def test_the_page_has_these_rows():
    assert list(rows(HEADING)) == list(map(named, REPEATED))


@pytest.mark.slow
@pytest.mark.parametrize("way", ["merge", "squash", "rebase"])
@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ({"approved": True}, ""),
        ({}, "#7 is queued, but no human"),
        ({"approved": True, "author": APP}, "has the trailers of a merged promotion on another change"),
    ],
    ids=["approved", "not approved", "a machine's"],
)
def test_in_the_queue_it_needs_a_person_and_an_approval_too(words, reason, way, bench: Bench, tmp_path: Path):
    corrected_with_its_trailers(bench)
    bench.start("group", "main")
    queue = Queue(bench, tmp_path)
    queue.add(7, "docs", way, title="docs: the line", body=BODY, **words)
    assert [said for said in queue.decide().reasons if reason not in said] == []
    bench.git("switch", "--quiet", "group")
    assert queue.decide().passes is not bool(reason)
