"""When an axis is mature: what counts, from when, and whose history is read."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from axis_histories import (
    CAVEAT,
    GUIDE,
    NOW,
    History,
    clock,
    figures,
    replace_root,
    weigh,
)
from coreloop.base.errors import GitError, UsageError
from coreloop.promote.axis.axis_gates import Thresholds
from promoting import Project, run_git
from rows import slow_after


def test_mature_history_passes_every_gate(history: History) -> None:
    history.mature()
    history.add(GUIDE.format("성장성"))
    case = weigh(history)
    assert (figures(case), case.passed, case.first_merge) == (
        [3, 2, 40],
        True,
        datetime(2026, 3, 16, tzinfo=UTC),
    )


@pytest.mark.parametrize(
    ("thresholds", "passed"),
    slow_after(
        1,
        [
            (Thresholds(), [True, True, True]),
            (Thresholds(phase_r_merges=4), [False, True, True]),
            (Thresholds(phase_f_caveats=3), [True, False, True]),
            (Thresholds(age_days=41), [True, True, False]),
        ],
    ),
)
def test_gates_are_joined_by_and(history: History, thresholds: Thresholds, passed: list[bool]) -> None:
    history.mature()
    case = weigh(history, thresholds=thresholds)
    assert ([gate.passed for gate in case.gates], case.passed) == (passed, all(passed))


def test_branch_that_is_not_merged_is_not_evidence(history: History) -> None:
    history.on_branch("skill/docstring-x", GUIDE.format("수익성"), at="2026-03-01")
    assert figures(weigh(history)) == [0, 0, 0]


def test_age_counts_from_the_merge_and_not_from_the_draft(history: History) -> None:
    project = history.project
    history.on_branch("skill/a", GUIDE.format("수익성"), at="2026-01-05")
    project.git("merge", "--quiet", "--no-ff", "-m", "Merge #1", "skill/a", **clock("2026-04-20"))
    assert figures(weigh(history)) == [1, 0, 5]


def test_squash_counts_once_with_its_lines(history: History) -> None:
    project = history.project
    history.on_branch("skill/a", GUIDE.format("수익성"), at="2026-01-05")
    project.git("merge", "--quiet", "--squash", "skill/a")
    project.git("commit", "--quiet", "-m", f"docs (#7)\n\n* {history.message()}", **clock("2026-04-20"))
    assert figures(weigh(history)) == [1, 0, 5]


@pytest.mark.parametrize(("times", "counted"), slow_after(1, [(1, 2), (2, 3), (3, 2)]))
def test_reverted_promotions_do_not_count_until_the_revert_is_reverted(
    history: History, times: int, counted: int
) -> None:
    history.mature()
    sha = history.add(CAVEAT.format("수익성"), phase="F")
    for _ in range(times):
        sha = history.revert(sha)
    assert figures(weigh(history))[1] == counted


def test_age_is_that_of_the_first_promotion_in_effect(history: History) -> None:
    gone = history.add(GUIDE.format("수익성"), at="2026-01-05")
    history.revert(gone)
    history.add(GUIDE.format("수익성"), at="2026-04-24")
    assert figures(weigh(history)) == [1, 0, 1]


def test_caveat_does_not_start_the_age(history: History) -> None:
    history.add(CAVEAT.format("수익성"), phase="F", at="2026-01-05")
    history.add(GUIDE.format("수익성"), at="2026-04-20")
    assert figures(weigh(history)) == [1, 1, 5]


@pytest.mark.parametrize(
    ("dates", "age_days"),
    slow_after(
        1,
        [
            pytest.param(
                ["2026-04-20", "2001-01-01", "2026-04-22"], 5, id="a later promotion is dated long ago"
            ),
            pytest.param(["2001-01-01", "2026-04-22"], 114, id="the first is dated before its parent"),
            pytest.param(["2038-01-01", "2026-03-01"], 0, id="the first is in the future"),
            pytest.param(["2026-03-26", "2038-01-01"], 30, id="a later promotion is in the future"),
        ],
    ),
)
def test_wrong_commit_times_do_not_make_a_history_older(
    history: History, dates: list[str], age_days: int
) -> None:
    for at in dates:
        history.add(GUIDE.format("수익성"), at=at)
    assert figures(weigh(history))[2] == age_days


def test_wrong_clock_now_gives_no_negative_age(history: History) -> None:
    history.mature()
    assert figures(weigh(history, now=NOW - timedelta(days=9999))) == [3, 2, 0]


def test_base_branch_of_the_remote_counts_and_not_the_local_branch(project: Project) -> None:
    history = History(project)
    history.add(GUIDE.format("수익성"))
    assert figures(weigh(history))[0] == 0
    project.git("push", "--quiet", "origin", "main")
    assert figures(weigh(history))[0] == 1


def test_other_base_branch_can_be_set(history: History) -> None:
    project = history.project
    history.on_branch("trunk", GUIDE.format("수익성"), at="2026-04-01")
    (project.root / "coreloop.yaml").write_text("forge: {base: trunk}\n")
    assert (figures(weigh(history))[0], weigh(history).base) == (1, "trunk")


def test_missing_base_branch_is_an_error(history: History) -> None:
    (history.project.root / "coreloop.yaml").write_text("forge: {base: trunk}\n")
    with pytest.raises(GitError, match="there is no branch trunk; set forge: base"):
        weigh(history)


def test_shallow_clone_is_an_error(project: Project, tmp_path: Path) -> None:
    project.commit({"other.txt": "x"})
    project.git("push", "--quiet", "origin", "main")
    clone = tmp_path / "clone"
    run_git(tmp_path, "clone", "--quiet", "--depth=1", project.remote.as_uri(), str(clone))
    with pytest.raises(GitError, match=r"this clone is shallow.*git fetch --unshallow"):
        weigh(History(replace_root(project, clone)))


@pytest.mark.parametrize(("engine", "axis"), [("", None), ("a b", None), ("../x", None), ("analysis", " ")])
def test_engine_and_axis_must_be_names(history: History, engine: str, axis: str | None) -> None:
    with pytest.raises(UsageError, match=r"^--(engine|axis) "):
        weigh(history, axis, engine=engine)
