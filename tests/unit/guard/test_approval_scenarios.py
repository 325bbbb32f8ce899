"""Who may approve, and what a reviewer may change: a human who read exactly this, and made none of it."""

import pytest

from coreloop.guard.event import Account, Push
from guard_bench import BRANCH, GITHUB, PROMOTED, Bench, assert_row, named, rows
from guarding import BOT, REVIEWER

APP = Account("coreloop-app[bot]", human=False)
KIM = Account("kim", human=True)
AS_REVIEWER = {"GIT_AUTHOR_NAME": "maintainer", "GIT_AUTHOR_EMAIL": "1+maintainer@users.noreply.github.com"}
AS_KIM = {"GIT_AUTHOR_NAME": "kim", "GIT_AUTHOR_EMAIL": "2+kim@users.noreply.github.com"}
ROLES, APP_ADDRESS = ("AUTHOR", "COMMITTER"), "3+coreloop-app[bot]@users.noreply.github.com"
AS_APP = {
    **{f"GIT_{role}_NAME": APP.login for role in ROLES},
    **{f"GIT_{role}_EMAIL": APP_ADDRESS for role in ROLES},
}
REWORDED = PROMOTED.replace(b"First: show", b"First: call show, then this")


def suggestion_under_another_commit(bench: Bench) -> None:
    """Approved by whoever committed a suggestion, with another person's commit on top"""
    bench.promote(author=APP, **AS_APP)
    bench.write(REWORDED, "Apply suggestions", **AS_REVIEWER, **GITHUB)
    bench.write(REWORDED.replace(b"then", b"and then"), "Apply suggestions", **AS_KIM, **GITHUB)
    bench.review()


def forced_under_the_app_s_name(bench: Bench) -> None:
    """Approved by whoever forced it in the app's name, with "Update branch" by another person on top"""
    bench.promote(author=APP, **AS_APP)
    forced = bench.git("rev-parse", "HEAD")
    bench.update(**AS_KIM)
    bench.pushes = (Push("0" * 40, APP), Push(forced, REVIEWER), Push(bench.git("rev-parse", "HEAD"), KIM))
    bench.review()


def updated_by_its_reviewer(bench: Bench) -> None:
    """Approved by whoever pressed "Update branch\""""
    bench.promote(author=APP, **AS_APP)
    bench.update(**AS_REVIEWER)
    bench.review()


def suggested_by_its_reviewer(bench: Bench) -> None:
    """Approved by the author of a suggestion that another person committed"""
    bench.promote(author=APP, **AS_APP)
    message = "Apply suggestions\n\nCo-authored-by: maintainer <1+maintainer@users.noreply.github.com>"
    bench.write(REWORDED, message, **AS_KIM, **GITHUB)
    bench.review()


def pushed_by_nobody_known(bench: Bench) -> None:
    """Approved, while GitHub does not tell who pushed a commit that it has not verified"""
    bench.promote(author=APP, **AS_APP)
    bench.pushes = ()
    bench.words["action"] = "submitted"
    bench.review()


def pushed_with_a_hidden_commit(bench: Bench) -> None:
    """Approved, with a commit below the head that came from another branch"""
    bench.promote(author=APP, **AS_APP)
    bench.update(**AS_KIM)
    bench.pushed(KIM, before="HEAD^")
    bench.review()


def reviewer_edits_the_line(bench: Bench) -> None:
    """A reviewer edits the line on GitHub"""
    bench.promote(author=APP, **AS_APP)
    bench.write(REWORDED, "Update finance.py", **AS_REVIEWER, **GITHUB)


def edited_line_approved(bench: Bench) -> None:
    """The same, approved by another person"""
    reviewer_edits_the_line(bench)
    bench.review(reviewer=KIM)


def edited_line_approved_before(bench: Bench) -> None:
    """The same, approved before the edit"""
    bench.promote(author=APP, **AS_APP)
    before = bench.git("rev-parse", "HEAD")
    bench.write(REWORDED, "Update finance.py", **AS_REVIEWER, **GITHUB)
    bench.review(reviewer=KIM, sha=before)


def edited_by_a_machine(bench: Bench) -> None:
    """A machine edits the line"""
    bench.promote(author=APP, **AS_APP)
    bench.write(REWORDED, "Update finance.py", **{**AS_APP, **GITHUB})
    bench.review()


def edited_with_one_line_more(bench: Bench) -> None:
    """A reviewer adds a line beside the promoted one"""
    bench.promote(author=APP, **AS_APP)
    longer = PROMOTED.replace(b"First: show\n", b"First: show\n    - Ask a human first\n")
    bench.write(longer, "Update finance.py", **AS_REVIEWER, **GITHUB)


def forged_address_of_github(bench: Bench) -> None:
    """More commits with the address `noreply@github.com`, a workflow added and removed among them"""
    bench.promote(author=APP, **AS_APP)
    bench.forged = True
    bench.write(b"on: push\n", "ci: x", ".github/workflows/x.yml", **GITHUB)
    bench.git("rm", "--quiet", ".github/workflows/x.yml")
    bench.git("commit", "--quiet", "-m", "ci: y", **GITHUB)
    bench.review()


def workflow_added_and_removed(bench: Bench) -> None:
    """The same with commits that GitHub has verified"""
    forged_address_of_github(bench)
    bench.forged = False


APPROVALS = (
    *(suggestion_under_another_commit, forced_under_the_app_s_name, updated_by_its_reviewer),
    *(suggested_by_its_reviewer, pushed_by_nobody_known, pushed_with_a_hidden_commit),
    *(reviewer_edits_the_line, edited_line_approved, edited_line_approved_before, edited_by_a_machine),
    *(edited_with_one_line_more, forged_address_of_github, workflow_added_and_removed),
)
HEADING = "Who approved, and who edited"


@pytest.mark.slow
@pytest.mark.parametrize("build", APPROVALS, ids=[build.__name__ for build in APPROVALS])
def test_approval(build, bench: Bench):
    build(bench)
    assert_row(rows(HEADING)[named(build)], bench.decide(bench.event()))


def test_the_page_has_these_rows():
    assert list(rows(HEADING)) == list(map(named, APPROVALS))


def test_a_draft_is_pending_on_every_event_until_it_is_approved(bench: Bench):
    bench.promote(author=APP, **AS_APP)
    drafts = [bench.event(draft=draft, sender=BOT) for draft in (True, False)]
    assert [bench.decide(draft).state for draft in drafts] == ["pending", "pending"]
    bench.git("switch", "--quiet", BRANCH)
    bench.review(reviewer=KIM)
    assert bench.decide(bench.event("ready_for_review")).state == "success"
