"""The tables of docs/reference/guard-decisions.md: a pull request or merge group -> green or red -> reasons.

Every row is a real repository, made by the function whose docstring is the row's first cell. The page is the
source of the answers and the reasons.
"""

from collections.abc import Callable
from dataclasses import replace

import pytest

from coreloop.descriptions.edit import Edited, put_lines
from coreloop.guard.event import Account
from coreloop.guard.report import report_check
from coreloop.learn.proposals.allowed_lines import is_form
from guard_bench import (
    BETTER,
    BODY,
    BRANCH,
    GITHUB,
    HUMAN_EDIT,
    MESSAGE,
    OTHER,
    PAGE,
    PROMOTED,
    QUOTED,
    TITLE,
    TRAILERS,
    WORSE,
    Bench,
    assert_row,
    named,
    rows,
    suggestion_that_proves,
    update_branch,
    with_line,
    without_trailers,
)
from guarding import BOT, MAKER
from promoting import FILE, OTHER_FILE, SOURCE
from rows import slow_after

DEPENDABOT = Account("dependabot[bot]", human=False)


# --- pull requests: what is done -------------------------------------------------------------------


def as_promote_makes_it(bench: Bench) -> None:
    """As `promote` opens it: a draft"""
    bench.promote()


def update_branch_with_a_change(bench: Bench) -> None:
    """The merge of "Update branch" also changes a file"""
    update_branch(bench)
    (bench.project.root / "other.py").write_text("x = 2\n")
    bench.git("commit", "--quiet", "--all", "--amend", "--no-edit", **GITHUB)


def suggestion_of_another_line(bench: Bench) -> None:
    """A reviewer's suggestion that changes the line"""
    bench.promote()
    bench.write(PROMOTED.replace(b"First: show", b"First: look"), "Apply suggestions", **GITHUB)


def suggestion_for_code(bench: Bench) -> None:
    """A reviewer's suggestion for the code below the docstring"""
    bench.promote()
    bench.write(PROMOTED.replace(b"return {", b"return 1 or {"), "Apply suggestions", **GITHUB)


def second_commit(bench: Bench) -> None:
    """A second commit by a person"""
    bench.promote(PROMOTED.replace(b"First:", b"First :"))
    bench.write(PROMOTED, "fix: the line")


def ready_with_approval(bench: Bench) -> None:
    """Ready, and approved by a human with write access who neither wrote nor pushed it"""
    bench.promote()
    bench.review()


def ready_without_approval(bench: Bench) -> None:
    """Ready, and not yet approved"""
    bench.promote()
    bench.words["draft"] = False


def approved_by_its_author(bench: Bench) -> None:
    """Ready, and approved by its author"""
    bench.promote()
    bench.review(reviewer=MAKER)


def approved_by_a_bot(bench: Bench) -> None:
    """Ready, and approved by a bot"""
    bench.promote()
    bench.review(reviewer=BOT)


def approved_without_write_access(bench: Bench) -> None:
    """Ready, and approved by somebody who can only read"""
    bench.promote()
    bench.review(permission="read")


def approved_before_the_last_push(bench: Bench) -> None:
    """Ready, and approved before the last push"""
    bench.promote()
    bench.review(sha=bench.git("rev-parse", "main"))


def ready_by_a_bot(bench: Bench) -> None:
    """A bot marked it ready for review"""
    bench.promote()
    bench.words |= {"action": "ready_for_review", "sender": BOT, "draft": False}


def merge_label(bench: Bench) -> None:
    """The label `automerge`"""
    bench.promote()
    bench.words["labels"] = ("coreloop", "automerge")


def merge_labels_of_other_languages(bench: Bench) -> None:
    """The labels `자동 병합`, `自動マージ`, `自动合并` and `r+`"""
    bench.promote()
    bench.words["labels"] = ("coreloop", "자동 병합", "自動マージ", "自动合并", "r+")


def auto_merge(bench: Bench) -> None:
    """GitHub's auto-merge is on"""
    bench.promote()
    bench.words["auto_merge"] = True


def without_its_label(bench: Bench) -> None:
    """The label `coreloop` was removed"""
    bench.promote()
    bench.words |= {"action": "unlabeled", "label": "coreloop", "labels": ()}


def other_title(bench: Bench) -> None:
    """Its title was changed"""
    bench.promote()
    bench.words["title"] = "docs: analysis"


def other_branch(bench: Bench) -> None:
    """Its commit on a branch of another name"""
    bench.promote()
    bench.words["branch"] = "docs"


def other_description(bench: Bench) -> None:
    """The trailers were removed from its description"""
    bench.promote()
    bench.words["body"] = ""


def from_a_fork(bench: Bench) -> None:
    """From a fork"""
    bench.promote()
    bench.words["same_repo"] = False


def with_another_file(bench: Bench) -> None:
    """Its commit also changes another file"""
    bench.promote()
    (bench.project.root / "other.py").write_text("x = 1\n")
    bench.git("add", "other.py")
    bench.git("commit", "--quiet", "--amend", "--no-edit")


def unknown_tool(bench: Bench) -> None:
    """Its line names a tool that the base does not have"""
    bench.promote(*with_line("- company: from login().code"))


def unescaped_value(bench: Bench) -> None:
    """Its line is written with an escape"""
    bench.promote(PROMOTED.replace(b"First: show", rb"First: sh\x6fw"))


def title_on_other_work(bench: Bench) -> None:
    """Other work with the title of a promotion"""
    bench.start("work")
    bench.write(b"x = 1\n", "fix: x", "other.py")
    bench.call(title=TITLE)


def trailers_on_other_work(bench: Bench) -> None:
    """Other work with the trailers of a promotion"""
    bench.start("work")
    bench.write(b"x = 1\n", MESSAGE, "other.py")


def new_file(bench: Bench) -> None:
    """A line of coreloop's in a new file"""
    bench.start("work")
    with_line = OTHER.replace(b"Shows a company.", f"Shows a company.\n\n    {BETTER}\n    ".encode())
    bench.write(with_line, "feat: display", "tools/charts.py")


def cherry_pick_after_a_revert(bench: Bench) -> None:
    """A reverted promotion again, by `cherry-pick`"""
    sha = bench.land()
    bench.git("revert", "--no-edit", "HEAD")
    bench.push()
    bench.start("again")
    bench.git("cherry-pick", sha)


def trailers_in_lower_case(bench: Bench) -> None:
    """Its commit with the trailers' names in lower case"""
    bench.start("docs")
    bench.write(PROMOTED, f"docs: analysis\n\n{BODY.lower()}".replace("phase: r", "phase: R"))


def trailers_in_the_body_only(bench: Bench) -> None:
    """Its line, with the trailers in the description only"""
    without_trailers(bench)
    bench.call(body=BODY)


def in_a_bigger_change(bench: Bench) -> None:
    """Its line in a bigger change, as after a squash"""
    bench.start("rework")
    bench.write(b"x = 1\n", "feat: x", "other.py")
    bench.write(PROMOTED.replace(b"return {", b"return 1 or {"), "feat: y")


def one_line_docstring(bench: Bench) -> None:
    """A line of coreloop's in a one-line docstring, with an escaped dash"""
    bench.start("docs")
    bench.write(
        OTHER.replace(b'"""Shows a company."""', rb'"Shows.\n\n\x2d First: analysis"'), "x", OTHER_FILE
    )


def wrapped(bench: Bench) -> None:
    """A line of coreloop's, wrapped"""
    bench.start("docs")
    line = b"\n\n    - company: from\n      show().code"
    bench.write(SOURCE.replace(b"of a company.", b"of a company." + line), "docs: x")


def reapply(bench: Bench) -> None:
    """A reverted promotion again, by "Reapply\""""
    bench.land()
    bench.git("revert", "--no-edit", "HEAD")
    bench.push()
    bench.start("reapply-7")
    bench.write(PROMOTED, f'Reapply "{TITLE}"\n\nThis reverts commit {bench.git("rev-parse", "main")}.')


def file_python_cannot_read(bench: Bench) -> None:
    """Its line in a file that Python cannot parse"""
    bench.start("docs")
    bench.write(PROMOTED + b"def (:\n", "docs: x")


def moved_to_another_tool(bench: Bench) -> None:
    """A promoted line, copied to another tool"""
    bench.land()
    bench.start("docs")
    more = b'\n\ndef scan(company):\n    """Scans.\n\n    - First: show\n    """\n'
    bench.write(PROMOTED + more, "feat: scan")


def second_definition(bench: Bench) -> None:
    """A promoted line in a second definition of its tool, below other words"""
    bench.land()
    bench.start("docs")
    again = b'\n\ndef analysis(company):\n    """Shows all.\n\n    - First: show\n    """\n'
    bench.write(PROMOTED + again, "fix: x")


def dependabot(bench: Bench) -> None:
    """Dependabot, with auto-merge and the label `automerge`"""
    bench.start("dependabot/pip/polars-1.2")
    bench.write(b"polars==1.2\n", "build: bump polars", "requirements.txt")
    bench.call(author=DEPENDABOT, labels=("dependencies", "automerge"), auto_merge=True)


def human_docstring(bench: Bench) -> None:
    """A person edits a docstring and adds a bullet"""
    bench.start("docs")
    bench.write(HUMAN_EDIT, "docs: analysis\n\nSigned-off-by: A Tester <tester@example.org>")


def signed_off(bench: Bench) -> None:
    """A commit with DCO lines and other trailers"""
    bench.start("fix")
    trailers = "Signed-off-by: A Tester <tester@example.org>\nTarget: the docs\nPhase: R"
    bench.write(HUMAN_EDIT, f"fix: x\n\n{trailers}")


def updated_work(bench: Bench) -> None:
    """Ordinary work whose "Update branch" button brought a promotion of the base"""
    bench.start("work")
    bench.write(b"x = 1\n", "fix: x", "other.py")
    bench.land()
    bench.git("switch", "--quiet", "work")
    bench.git("merge", "--quiet", "--no-edit", "main", **GITHUB)


def suggestion_for_work(bench: Bench) -> None:
    """Ordinary work with a reviewer's suggestion, committed on GitHub"""
    human_docstring(bench)
    bench.write(HUMAN_EDIT.replace(b"Fast,", b"Quick,"), "Apply suggestions from code review", **GITHUB)


def work_with_auto_merge(bench: Bench) -> None:
    """A person's ready pull request with the label `automerge` and auto-merge on"""
    human_docstring(bench)
    bench.call(draft=False, labels=("automerge",), auto_merge=True)


def bullet_about_a_new_tool(bench: Bench) -> None:
    """A bullet in the form of a line, about a tool that the same change adds"""
    bench.start("work")
    source = HUMAN_EDIT.replace(b"Fast, since cached.", b"First: scan")
    bench.write(source + b"\n\ndef scan(company):\n    return company\n", "feat: scan")


def unreadable_settings(bench: Bench) -> None:
    """A person's bullet, while the base's coreloop.yaml is invalid"""
    bench.write(b"tools: 7\n", "chore: settings", "coreloop.yaml")
    human_docstring(bench)


def repaired_settings(bench: Bench) -> None:
    """The repair of the base's coreloop.yaml, which is invalid"""
    bench.write(b"tools: [\n", "chore: settings", "coreloop.yaml")
    bench.start("repair")
    bench.write(b"{}\n", "fix: settings", "coreloop.yaml")


def moved_target(bench: Bench) -> None:
    """A person's edit of a tool's file that was moved away from its target in the base's coreloop.yaml"""
    settings = b"tools: {analysis: {target: 'tools/moved.py::analysis'}}\n"
    bench.write(settings, "chore: settings", "coreloop.yaml")
    human_docstring(bench)


def promoted_without_settings(bench: Bench) -> None:
    """Ready and approved, while the base's coreloop.yaml is invalid"""
    bench.write(b"tools: 7\n", "chore: settings", "coreloop.yaml")
    ready_with_approval(bench)


def line_without_settings(bench: Bench) -> None:
    """Its line, while the base's coreloop.yaml is invalid"""
    bench.write(b"tools: 7\n", "chore: settings", "coreloop.yaml")
    without_trailers(bench)


def stacked_on_a_squashed_promotion(bench: Bench) -> None:
    """Work stacked on a promotion that was then merged by a squash"""
    bench.promote()
    bench.start("work", BRANCH)
    bench.write(b"x = 1\n", "fix: x", "other.py")
    bench.land()
    bench.git("switch", "--quiet", "work")
    bench.call()


def release_after_a_backport(bench: Bench) -> None:
    """A release pull request that brings a promotion which the release branch has by a backport"""
    backport(bench)
    bench.git("switch", "--quiet", "release")
    bench.git("merge", "--quiet", "--ff-only", "backport-7-to-release")
    bench.start("to-release", "main")
    bench.git("merge", "--quiet", "--no-edit", "release")
    bench.call(title="Release 1.3", branch="to-release")


def human_bullet_of_unknown_words(bench: Bench) -> None:
    """A bullet in the form of a line, with a word that coreloop.yaml lacks"""
    bench.start("docs")
    bench.write(HUMAN_EDIT.replace(b"Fast, since cached.", b"Use for: charts"), "docs: analysis")


def docstring_near_promoted_lines(bench: Bench) -> None:
    """A person edits a docstring that has promoted lines"""
    bench.land()
    bench.start("docs")
    bench.write(PROMOTED.replace(b"Ratios of", b"All ratios of"), "docs: analysis")


def rename(bench: Bench) -> None:
    """A file and a tool with promoted lines are renamed"""
    bench.land()
    bench.start("move")
    bench.git("mv", FILE, "tools/ratios.py")
    renamed = PROMOTED.replace(b"def analysis", b"def ratios")
    bench.write(renamed, "refactor: names", "tools/ratios.py")


def release(bench: Bench) -> None:
    """A release pull request that brings promotions of the default branch"""
    bench.base = "release"
    bench.git("branch", "release")
    bench.land()
    bench.start("to-release", "main")
    bench.call(title="Release 1.2", branch="main", labels=("coreloop",))


def release_by_a_merge(bench: Bench) -> None:
    """A release pull request by a merge, after the default branch reverted the promotion"""
    bench.base = "release"
    bench.git("branch", "release")
    bench.land()
    bench.start("to-release", "release")
    bench.git("merge", "--quiet", "--no-ff", "--no-edit", "main")
    bench.git("switch", "--quiet", "main")
    bench.git("revert", "--no-edit", "HEAD")  # main goes on, and the release branch keeps what it had
    bench.push()
    bench.git("switch", "--quiet", "to-release")


def backport(bench: Bench) -> None:
    """A backport of a merged promotion, by `cherry-pick -x`"""
    bench.base = "release"
    bench.git("branch", "release")
    sha = bench.land()
    bench.start("backport-7-to-release", "release")
    bench.git("cherry-pick", "-x", sha)
    bench.call(title=TITLE, branch="backport-7-to-release")


def backport_of_more(bench: Bench) -> None:
    """A backport of a promotion, and one more line"""
    backport(bench)
    edited = put_lines(PROMOTED, "analysis", [BETTER], is_ours=is_form)
    assert isinstance(edited, Edited)
    bench.write(edited.source, "docs: more")


def backport_of_nothing_landed(bench: Bench) -> None:
    """A backport of a promotion that nobody merged"""
    bench.base = "release"
    bench.git("branch", "release")
    bench.promote()
    bench.start("backport", "release")
    bench.git("cherry-pick", BRANCH)
    bench.call(title="chore: backport", branch="backport")


def revert_by_button(bench: Bench) -> None:
    """The revert of a promotion, by GitHub's button"""
    sha = bench.land()
    bench.start(f"revert-7-{BRANCH}")
    bench.git("revert", "--no-edit", sha)
    bench.call(title=f'Revert "{TITLE}"', body="Reverts octo/tools#7", branch=f"revert-7-{BRANCH}")


def revert_that_restores_a_line(bench: Bench) -> None:
    """The revert of a promotion that had replaced an older line"""
    first, second = (with_line(line) for line in (WORSE, BETTER))
    bench.land(*first)
    sha = bench.land(*second)
    bench.start("revert-8")
    bench.git("revert", "--no-edit", sha)


def quoted_trailers(bench: Bench) -> None:
    """Trailers quoted in a message and in a code block"""
    bench.start("docs")
    fenced = f"```\n{TRAILERS}\n```\nSigned-off-by: A <a@example.org>"
    bench.write(b"x = 1\n", f"docs: on trailers\n\n{QUOTED}\n\n{fenced}\n", "other.py")
    bench.call(body=f"{QUOTED}\n\n{fenced}")


def other_branch_of_that_prefix(bench: Bench) -> None:
    """A branch `skill/search`, a title that only resembles, and the label `coreloop`"""
    bench.start("skill/search")
    bench.write(b"x = 1\n", "feat: search", "other.py")
    bench.call(branch="skill/search", title="Coreloop F-strings", labels=("coreloop",))


PROMOTIONS: tuple[Callable[[Bench], None], ...] = (
    *(as_promote_makes_it, update_branch, suggestion_that_proves, ready_with_approval),
    *(ready_without_approval, approved_by_its_author, approved_by_a_bot, approved_without_write_access),
    *(approved_before_the_last_push, ready_by_a_bot, merge_label, merge_labels_of_other_languages),
    *(auto_merge, without_its_label, other_title, other_branch, other_description, from_a_fork),
    *(with_another_file, unknown_tool, unescaped_value, update_branch_with_a_change),
    *(title_on_other_work, trailers_on_other_work, cherry_pick_after_a_revert),
    *(
        suggestion_of_another_line,
        suggestion_for_code,
        second_commit,
    ),
    *(
        trailers_in_lower_case,
        trailers_in_the_body_only,
    ),
    *(backport_of_more, backport_of_nothing_landed, promoted_without_settings),
)
LINES: tuple[Callable[[Bench], None], ...] = (
    *(without_trailers, in_a_bigger_change, new_file, wrapped, one_line_docstring, file_python_cannot_read),
    *(reapply, moved_to_another_tool, second_definition, bullet_about_a_new_tool),
    human_bullet_of_unknown_words,
    line_without_settings,
)
ORDINARY: tuple[Callable[[Bench], None], ...] = (
    *(dependabot, work_with_auto_merge, human_docstring),
    *(
        unreadable_settings,
        repaired_settings,
        moved_target,
        stacked_on_a_squashed_promotion,
        release_after_a_backport,
    ),
    *(docstring_near_promoted_lines, signed_off, suggestion_for_work, updated_work, rename, release),
    *(release_by_a_merge, backport, revert_by_button, revert_that_restores_a_line, quoted_trailers),
    other_branch_of_that_prefix,
)
GREEN_ORDINARY = "passes: not a coreloop pull request"


def parametrized(*builds: Callable[..., None], fast: int | None = None) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        "build",
        builds if fast is None else slow_after(fast, builds),
        ids=[build.__name__.replace("_", " ") for build in builds],
    )


@pytest.mark.slow
@parametrized(*PROMOTIONS)
def test_promotion(build: Callable[[Bench], None], bench: Bench):
    build(bench)
    decision = bench.decide(bench.event())
    assert decision.claims
    assert_row(rows("Promotions")[named(build)], decision)


@pytest.mark.slow
@parametrized(*LINES)
def test_lines_without_a_promotion_are_a_machine_s_or_a_person_s(
    build: Callable[[Bench], None], bench: Bench
):
    build(bench)
    by_machine = bench.event(author=DEPENDABOT)
    assert_row(rows("Lines without a promotion")[named(build)], bench.decide(by_machine))
    decision = bench.decide(replace(by_machine, pull=replace(by_machine.pull, author=MAKER)))
    first, note = report_check(decision).lines
    assert (first, decision.passes) == (GREEN_ORDINARY, True)
    assert note.startswith("note: tools/")
    assert ": lines in coreloop's form are their author's own: - " in note


@parametrized(*ORDINARY, fast=4)
def test_ordinary_work(build: Callable[[Bench], None], bench: Bench):
    build(bench)
    decision = bench.decide(bench.event())
    assert report_check(decision).lines == (GREEN_ORDINARY,)
    assert rows("Ordinary work")[named(build)] == ("green", "")


def test_the_page_has_these_rows_and_no_others():
    tables = {
        "Promotions": PROMOTIONS,
        "Lines without a promotion": LINES,
        "Ordinary work": ORDINARY,
    }
    assert {heading: list(rows(heading)) for heading in tables} == {
        heading: [named(build) for build in builds] for heading, builds in tables.items()
    }
    assert f"`{GREEN_ORDINARY}`" in PAGE.read_text(encoding="utf-8")


def test_a_merge_label_is_taken_off_a_promotion_that_its_lines_give_away(bench: Bench):
    without_trailers(bench)
    decision = bench.decide(bench.event(labels=("automerge",), auto_merge=True, author=DEPENDABOT))
    assert len(decision.reasons) == 3
    assert [action.what for action in decision.actions] == ["remove_label", "disable_auto_merge"]
