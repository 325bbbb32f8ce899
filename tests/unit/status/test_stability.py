"""What counts as a clean merge, and what breaks a row of them, on real histories."""

from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath

import pytest

from coreloop.history.promotions import Merge, Promotion, read_history
from coreloop.history.repository import Replaced, Repository
from coreloop.status.stability import Stability, read_stability, weigh_merge
from merging import How, inserted, land, message, open_promotion, promote, revert
from promoting import FILE, SOURCE, Project

NOW = datetime.now(UTC)
WAYS: list[How] = ["fast-forward", "merge", "squash"]
GOOD = inserted(SOURCE, "- Call: good.")


def stability(project: Project, *, now: datetime | None = None, folder: str = ".") -> Stability:
    with Repository(project.root) as repository:
        history = read_history(repository.log("main"))
        when = now or datetime.now(UTC)
        return read_stability(repository, history, folder=PurePosixPath(folder), now=when)


def figures(found: Stability) -> list[int]:
    return [gate.figure for gate in found.gates]


def dated(when: datetime) -> dict[str, str]:
    return {"GIT_COMMITTER_DATE": f"{when:%Y-%m-%dT%H:%M:%SZ}"}


@pytest.mark.parametrize("how", WAYS)
def test_each_way_of_merging_is_clean(how: How, project: Project) -> None:
    promote(project, "aa", how)
    project.commit({"other.py": "x = 1\n"}, "somebody's work meanwhile")
    promote(project, "bb", how)
    found = stability(project)
    assert (figures(found), found.flaws, found.holds) == ([2, 0, 0], (), False)


@pytest.mark.slow
def test_thirty_in_a_row_hold_and_a_flaw_before_them_is_forgotten(project: Project) -> None:
    revert(project, promote(project, "old"))
    later = NOW + timedelta(days=100)
    for number in range(29):
        promote(project, f"{number:04x}", "fast-forward")
    found = stability(project, now=later)
    assert (figures(found), found.holds) == ([29, 0, 0], False)
    promote(project, "last", "squash")
    found = stability(project, now=later)
    assert (figures(found), found.holds, found.flaws) == ([30, 0, 0], True, ())


def test_a_revert_breaks_the_row_and_counts_for_90_days(project: Project) -> None:
    promote(project, "aa")
    revert(project, promote(project, "bb"))
    promote(project, "cc")
    found = stability(project)
    assert figures(found) == [1, 1, 0]
    assert [(one.candidate_id, one.reason) for one in found.flaws] == [("cand-bb", "it was reverted")]
    assert figures(stability(project, now=NOW + timedelta(days=91)))[1] == 0
    assert figures(stability(project, now=NOW + timedelta(days=89)))[1] == 1


def test_a_revert_that_was_taken_back_is_still_one_revert(project: Project) -> None:
    sha = revert(project, promote(project, "aa"))
    revert(project, sha)
    assert figures(stability(project)) == [1, 1, 0]


def test_a_reverted_promotion_that_came_again_is_one_clean_merge(project: Project) -> None:
    revert(project, promote(project, "aa", "fast-forward"))
    promote(project, "aa", "squash")
    assert figures(stability(project)) == [1, 1, 0]


def test_a_reverted_commit_of_somebody_else_is_no_matter(project: Project) -> None:
    promote(project, "aa")
    sha = project.commit({"other.py": "x = 1\n"}, "feat: other")
    revert(project, sha)
    assert figures(stability(project)) == [1, 0, 0]


@pytest.mark.parametrize("date", ["1999-01-01T00:00:00Z", "2037-12-31T00:00:00Z"])
def test_a_wrong_clock_does_not_hide_a_revert(date: str, project: Project) -> None:
    """By its own date the revert would be older than the commits below it, or still to come."""
    sha = promote(project, "aa", **dated(NOW - timedelta(days=1)))
    revert(project, sha, GIT_COMMITTER_DATE=date)
    found = stability(project)
    assert figures(found) == [0, 1, 0]
    assert all(NOW - timedelta(days=2) < one.merged_at <= datetime.now(UTC) for one in found.flaws)


def test_a_clock_that_ran_ahead_once_does_not_keep_reverts_young(project: Project) -> None:
    project.commit({"other.py": "x = 1\n"}, "ahead", GIT_COMMITTER_DATE="2099-12-31T00:00:00Z")
    revert(project, promote(project, "aa", **dated(NOW)), **dated(NOW + timedelta(days=10)))
    assert figures(stability(project, now=NOW + timedelta(days=99))) == [0, 1, 0]
    assert figures(stability(project, now=NOW + timedelta(days=101))) == [0, 0, 0]


def test_what_a_reviewer_added_to_the_branch_is_not_clean(project: Project) -> None:
    branch = open_promotion(project, "aa")
    project.git("switch", "--quiet", branch)
    project.commit({FILE: (project.root / FILE).read_bytes().replace(b"Ratios", b"All ratios")}, "polish")
    project.git("switch", "--quiet", "main")
    land(project, branch)
    (flaw,) = stability(project).flaws
    assert flaw.reason == "it is not a single insertion"


def test_a_second_file_in_the_merge_is_not_clean(project: Project) -> None:
    branch = open_promotion(project, "aa")
    project.git("switch", "--quiet", branch)
    project.commit({"notes.txt": "x"}, "notes")
    project.git("switch", "--quiet", "main")
    land(project, branch, "squash")
    (flaw,) = stability(project).flaws
    assert flaw.reason == "it changed more than the content of its target"


def test_a_changed_mode_is_not_clean(project: Project) -> None:
    (project.root / FILE).chmod(0o755)
    project.commit({FILE: GOOD}, message("aa"))
    (flaw,) = stability(project).flaws
    assert flaw.reason == "it changed more than the content of its target"


def test_a_promotion_without_a_commit_below_is_not_clean(project: Project) -> None:
    project.git("switch", "--quiet", "--orphan", "other")
    project.commit({FILE: GOOD}, message("aa"))
    project.git("branch", "--force", "main", "other")
    assert figures(stability(project)) == [0, 0, 0]


def test_a_project_below_the_repository_s_root_has_its_own_targets(project: Project) -> None:
    promote(project, "aa")
    assert figures(stability(project))[0] == 1
    (flaw,) = stability(project, folder="engine").flaws
    assert flaw.reason == "its target was no file before or is none after it"


def test_a_section_that_an_insertion_hides_is_lost(project: Project) -> None:
    """One insertion, inside the docstring: and the text of Parameters is that of another section now."""
    hidden = SOURCE.replace(b"    axis : str", b"    Guide\n    -----\n    axis : str")
    project.commit({FILE: hidden}, message("aa"))
    found = stability(project)
    assert figures(found) == [1, 0, 1]
    assert [one.reason for one in found.flaws] == ["analysis lost Parameters"]
    revert(project, "HEAD")
    assert figures(stability(project)) == [0, 1, 0]


def test_a_section_that_is_lost_beside_other_changes_is_lost_too(project: Project) -> None:
    shorter = SOURCE.replace(b"    Parameters\n    ----------\n    axis : str\n        Which.\n", b"")
    project.commit({FILE: shorter, "other.py": "x = 1\n"}, message("aa"))
    found = stability(project)
    assert figures(found) == [0, 0, 1]
    (flaw,) = found.flaws
    assert flaw.reason == "it changed more than the content of its target; analysis lost Parameters"


@pytest.mark.parametrize(
    "target", ["", f"../{FILE}::analysis", f"/etc/{FILE}::analysis", "README::analysis", "::analysis"]
)
def test_a_target_that_is_no_file_of_the_project_is_not_read(target: str, project: Project) -> None:
    project.commit({FILE: GOOD}, message("aa", target=target))
    (flaw,) = stability(project).flaws
    assert flaw.reason == "it names no file of the project as its target"


def weighed(after: bytes, *, target: str = f"{FILE}::analysis", before: bytes = SOURCE) -> str | None:
    promotion = Promotion("aa", "cand-aa", "R", target, "f" * 40, NOW, reverted=False)
    merge = Merge(promotion, "f" * 40, "e" * 40, 1)
    return weigh_merge(merge, Replaced(FILE, before, after), alone=True).reason


@pytest.mark.parametrize(
    ("after", "target", "reason"),
    [
        pytest.param(GOOD, f"{FILE}::analysis", None, id="as coreloop does it"),
        pytest.param(GOOD, f"{FILE}::analysis:4", None, id="a target with its line"),
        pytest.param(GOOD, f"{FILE}::other", "nothing named other is defined here", id="another's target"),
        pytest.param(b"def (", f"{FILE}::analysis", "cannot read the file", id="no Python any more"),
    ],
)
def test_a_merge_is_weighed_by_its_target(after: bytes, target: str, reason: str | None) -> None:
    found = weighed(after, target=target)
    assert found == reason if reason is None else reason in (found or "")


SOURCED = b"- company: from search().hits[].name"
LISTED = SOURCE.replace(b"company.\n", b"company.\n\n    - First: show\n    " + SOURCED + b"\n", 1)


@pytest.mark.parametrize(
    ("new", "clean"),
    [
        (b"- company: from find().rows[].code", True),
        (b"- Ask the customer nicely", False),
        (b"- company: from find().rows[].code\n\n    A word of the reviewer's.", False),
    ],
    ids=["a better line", "a line of no form", "a reviewer's text too"],
)
def test_a_line_that_gave_way_to_another_is_clean(new: bytes, clean: bool) -> None:
    assert (weighed(LISTED.replace(SOURCED, new), before=LISTED) is None) is clean


def test_a_persons_line_that_went_is_not_clean() -> None:
    before = LISTED.replace(b"- First: show", b"- Ask the customer first")
    after = before.replace(b"- Ask the customer first\n    " + SOURCED, b"- First: show")
    assert weighed(after, before=before) == "it is not a single insertion"
