"""What counts as a clean merge, and what breaks a row of clean merges, on real histories."""

from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath

import pytest

from coreloop.admin.status.stability import Stability, read_stability, weigh_merge
from coreloop.base.git.promotions import Merge, Promotion, read_history
from coreloop.base.git.repository import Replaced, Repository
from merging import How, land, open_promotion, promote, revert
from promoting import FILE, SOURCE, Project
from rows import each_row

NOW = datetime.now(UTC)
MERGE_METHODS: list[How] = ["fast-forward", "merge", "squash"]


def stability(project: Project, *, now: datetime | None = None, folder: str = ".") -> Stability:
    repository = Repository(project.root)
    history = read_history(repository, "main")
    when = now or datetime.now(UTC)
    return read_stability(repository, history, folder=PurePosixPath(folder), now=when)


def figures(stability: Stability) -> list[int]:
    return [gate.figure for gate in stability.gates]


@pytest.mark.parametrize("how", MERGE_METHODS)
def test_every_merge_method_is_clean(how: How, project: Project) -> None:
    promote(project, "aa", how)
    project.commit({"other.py": "x = 1\n"}, "somebody's work meanwhile")
    promote(project, "bb", how)
    result = stability(project)
    assert (figures(result), result.flaws, result.holds) == ([2, 0, 0], (), False)


@pytest.mark.slow
def test_thirty_clean_merges_pass_and_a_flaw_before_them_is_ignored(project: Project) -> None:
    revert(project, promote(project, "old"))
    later = NOW + timedelta(days=100)
    for number in range(29):
        promote(project, f"{number:04x}", "fast-forward")
    result = stability(project, now=later)
    assert (figures(result), result.holds) == ([29, 0, 0], False)
    promote(project, "last", "squash")
    result = stability(project, now=later)
    assert (figures(result), result.holds, result.flaws) == ([30, 0, 0], True, ())


def test_a_revert_breaks_the_row(project: Project) -> None:
    promote(project, "aa")
    revert(project, promote(project, "bb"))
    promote(project, "cc")
    result = stability(project)
    assert figures(result) == [1, 1, 0]
    assert [(flaw.candidate_id, flaw.reason) for flaw in result.flaws] == [("cand-bb", "it was reverted")]


def test_a_reviewers_addition_to_the_branch_is_not_clean(project: Project) -> None:
    branch = open_promotion(project, "aa")
    project.git("switch", "--quiet", branch)
    project.commit({FILE: (project.root / FILE).read_bytes().replace(b"Ratios", b"All ratios")}, "polish")
    project.git("switch", "--quiet", "main")
    land(project, branch)
    (flaw,) = stability(project).flaws
    assert flaw.reason == "it is not as promote writes it"


def test_a_second_file_in_the_merge_is_not_clean(project: Project) -> None:
    branch = open_promotion(project, "aa")
    project.git("switch", "--quiet", branch)
    project.commit({"notes.txt": "x"}, "notes")
    project.git("switch", "--quiet", "main")
    land(project, branch, "squash")
    (flaw,) = stability(project).flaws
    assert flaw.reason == "it changed more than the content of its target"


def weighed(after: bytes, *, target: str = f"{FILE}::analysis", before: bytes = SOURCE) -> str | None:
    promotion = Promotion("aa", "cand-aa", "R", target, "f" * 40, NOW, reverted=False)
    merge = Merge(promotion, "f" * 40, "e" * 40, 1)
    return weigh_merge(merge, Replaced(FILE, before, after), is_only_change=True).reason


SOURCED = b"- company: from search().hits[].name"
LISTED = SOURCE.replace(
    b"company.\n", b"company.\n\n    - company: from show().code\n    " + SOURCED + b"\n", 1
)


@each_row(
    ("new", "clean"),
    [
        (b"- company: from find().rows[].code", True),
        (b"- Ask the customer nicely", False),
        (b"- company: from find().rows[].code\n\n    A word of the reviewer's.", False),
    ],
    ids=["a better line", "a line in no known form", "a reviewer's text too"],
)
def test_replacing_a_line_of_coreloop_is_clean(new: bytes, clean: bool) -> None:
    assert (weighed(LISTED.replace(SOURCED, new), before=LISTED) is None) is clean


def test_removing_a_persons_line_is_not_clean() -> None:
    before = LISTED.replace(b"- company: from show().code", b"- Ask the customer first")
    after = before.replace(b"- Ask the customer first\n    " + SOURCED, b"- company: from show().code")
    assert weighed(after, before=before) == "it changed lines of other forms"
