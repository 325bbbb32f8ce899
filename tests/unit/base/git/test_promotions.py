"""Promotions read from real histories, however a pull request was merged or reverted."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from coreloop.base.git.promotions import Promotion, read_history
from coreloop.base.git.repository import Repository
from coreloop.learn.verdicts.proposal_state import known_keys
from merging import message, revert
from promoting import FILE, KEY, SOURCE, Project, run_git

AA, BB, CC, DD, EE, FF = (letter * 16 for letter in "abcdef")
BRANCH = "skill/docstring-analysis-profitability-20260425"
EDITED = SOURCE.replace(b"Which.", b"Which, of the known ones.")


def promoted(project: Project, *, text: str | None = None, content: bytes = EDITED, **environ: str) -> str:
    """A promotion on its own branch, which stays checked out; returns its commit."""
    project.git("switch", "--quiet", "--create", BRANCH, "main")
    return project.commit({FILE: content}, text or message(KEY), **environ)


def promotions_on(project: Project, revision: str = "main") -> list[Promotion]:
    repository = Repository(project.root)
    return read_history(repository, revision).promotions()


def states(project: Project, revision: str = "main") -> dict[str, bool]:
    """Whether each key is reverted."""
    return {promotion.key: promotion.reverted for promotion in promotions_on(project, revision)}


def merge(project: Project, *options: str) -> str:
    project.git("switch", "--quiet", "main")
    project.git("merge", "--quiet", *options, BRANCH)
    return project.git("rev-parse", "HEAD")


def test_fast_forward_is_read_field_by_field(project: Project) -> None:
    sha = promoted(project, GIT_COMMITTER_DATE="2026-04-26T09:00:00+09:00")
    merge(project, "--ff-only")
    moment = datetime(2026, 4, 26, tzinfo=UTC)
    named = f"cand-{KEY}", "R", f"{FILE}::analysis"
    assert promotions_on(project) == [Promotion(KEY, *named, sha, moment, False)]


def test_squash_keeps_it(project: Project) -> None:
    promoted(project)
    project.commit({"more.txt": "a reviewer's"}, "a second commit")
    project.git("switch", "--quiet", "main")
    project.git("merge", "--squash", BRANCH)
    squashed = f"docs (#7)\n\n* {message(KEY)}\n* a second commit\n\nCo-authored-by: A <a@example.org>\n"
    project.git("commit", "--quiet", "-m", squashed)
    assert states(project) == {KEY: False}


def test_time_is_that_of_the_merge(project: Project) -> None:
    """A draft that waited for seven weeks is in effect since its merge, not since it was proposed."""
    sha = promoted(project, GIT_COMMITTER_DATE="2026-03-01T00:00:00Z")
    project.git("switch", "--quiet", "main")
    project.commit({"other.txt": "x"}, message(FF), GIT_COMMITTER_DATE="2026-04-01T00:00:00Z")
    project.git("merge", "--no-ff", "-m", "merge", BRANCH, GIT_COMMITTER_DATE="2026-04-20T00:00:00Z")
    project.git("switch", "--quiet", "--create", "later")
    project.commit({"more.txt": "x"}, "later", GIT_COMMITTER_DATE="2026-04-25T00:00:00Z")
    assert [
        (promotion.key, f"{promotion.merged_at:%m-%d}") for promotion in promotions_on(project, "later")
    ] == [(FF, "04-01"), (KEY, "04-20")]
    assert promotions_on(project)[1].sha == sha


@pytest.mark.parametrize("times", [0, 1, 2, 3, 4])
def test_odd_number_of_reverts_undoes_it(project: Project, times: int) -> None:
    promoted(project)
    sha = merge(project, "--ff-only")
    for _ in range(times):
        sha = revert(project, sha)
    assert states(project) == {KEY: times % 2 == 1}


@pytest.mark.parametrize("times", [1, 2])
def test_reverted_merge_reverts_the_commits_that_it_brought(project: Project, times: int) -> None:
    """GitHub's own button reverts the merge commit, which does not name the commits that it brought."""
    promoted(project)
    sha = merge(project, "--no-ff", "-m", "Merge pull request #1 from octo/skill")
    before = project.commit({FILE: EDITED + b"# more\n"}, message(FF))
    sha = revert(project, sha)
    if times == 2:
        revert(project, sha)
    assert before
    assert states(project) == {KEY: times == 1, FF: False}


def test_promoted_again_after_a_revert_is_in_effect(project: Project) -> None:
    promoted(project)
    revert(project, merge(project, "--ff-only"))
    again = project.commit({FILE: EDITED}, message(KEY))
    assert [(promotion.sha, promotion.reverted) for promotion in promotions_on(project)] == [(again, False)]


def reverts(project: Project) -> int:
    repository = Repository(project.root)
    return len(read_history(repository, "main").revert_places)


def test_revert_of_the_inner_commit_holds_although_the_merge_repeats_the_trailers(project: Project) -> None:
    sha = promoted(project)
    merge(project, "--no-ff", "-m", message(KEY))
    revert(project, sha)
    assert (states(project), reverts(project)) == ({KEY: True}, 1)


def test_revert_that_a_merge_brought_counts_at_the_merge(project: Project) -> None:
    promoted(project)
    sha = merge(project, "--ff-only")
    project.git("switch", "--quiet", "--create", "side")
    revert(project, sha)
    project.git("switch", "--quiet", "main")
    project.commit({"other.txt": "x"})
    project.git("merge", "--quiet", "--no-ff", "-m", f"Merge\n\nThis reverts commit {sha}.", "side")
    assert (states(project), reverts(project)) == ({KEY: True}, 1)
    revert(project, "HEAD")
    assert (states(project), reverts(project)) == ({KEY: False}, 1)


def test_a_sentence_about_a_commit_that_comes_later_is_no_revert(project: Project) -> None:
    """The words are on main before the promotion, whose commit they name, is merged."""
    sha = promoted(project)
    project.git("switch", "--quiet", "main")
    early = project.commit({"other.txt": "x"}, f"fix: x\n\nThis reverts commit {sha}.")
    merge(project, "--no-ff", "-m", "Merge pull request #1")
    assert (states(project), reverts(project)) == ({KEY: False}, 0)
    revert(project, early)
    assert (states(project), reverts(project)) == ({KEY: False}, 0)


def keys(project: Project, base: str = "main") -> frozenset[str]:
    repository = Repository(project.root)
    return known_keys(repository, base=base)


def test_keys_are_known_wherever_they_are(project: Project, tmp_path: Path) -> None:
    """Merged, reverted, on a branch here, on a branch of the remote, on the remote's newer base."""
    for key in (AA, BB):
        project.commit({FILE: key.encode()}, message(key))
    revert(project, "HEAD")
    project.git("push", "--quiet", "origin", "main")
    promoted(project, text=message(CC))
    colleague = tmp_path / "colleague"
    run_git(tmp_path, "clone", "--quiet", str(project.remote), str(colleague))
    for name, key in (("main", DD), ("skill/caveat-x", EE), ("feature", FF)):
        run_git(colleague, "switch", "--quiet", "--force-create", name)
        run_git(colleague, "commit", "--quiet", "--allow-empty", "-m", message(key))
        run_git(colleague, "push", "--quiet", "origin", f"{name}:{name}")
        run_git(colleague, "reset", "--quiet", "--hard", "HEAD~1")
    assert keys(project) == {AA, BB, CC}
    project.git("fetch", "--quiet")
    assert keys(project) == {AA, BB, CC, DD, EE}


LINE = "- company: from show().code"
LINED = SOURCE.replace(b"Ratios of a company.", f"Ratios of a company.\n\n    {LINE}".encode())
WRAPPED = LINED.replace(b"from show", b"from\n      show")
REWORDED = LINED.replace(b"show().code", b"what show gave")
HELD: list[tuple[str, list[bytes], bool]] = [
    ("nothing is changed", [LINED], False),
    ("other words of the docstring are changed", [LINED.replace(b"Which.", b"Which one.")], False),
    ("the line is wrapped", [WRAPPED], False),
    ("the line is taken out", [SOURCE], True),
    ("the wrapped line is taken out", [WRAPPED, SOURCE], True),
    ("the line was reworded before", [REWORDED, SOURCE], True),
    ("the line came a second time, and goes once", [LINED + LINED.replace(b"analysis", b"b"), LINED], True),
]


@pytest.mark.parametrize(("texts", "is_reverted"), [row[1:] for row in HELD], ids=[name for name, *_ in HELD])
def test_a_revert_counts_only_if_the_line_is_gone(
    texts: list[bytes], is_reverted: bool, project: Project
) -> None:
    sha = project.commit({FILE: LINED}, message(KEY))
    for text in texts[:-1]:
        project.commit({FILE: text}, "docs: other words")
    project.commit({FILE: texts[-1]}, f"fix: x\n\nThis reverts commit {sha}.")
    assert (states(project), reverts(project)) == ({KEY: is_reverted}, int(is_reverted))


def test_a_file_that_moved_still_has_its_line(project: Project) -> None:
    sha = project.commit({FILE: LINED}, message(KEY))
    project.git("mv", FILE, "tools/moved.py")
    project.commit({}, f"refactor: moved\n\nThis reverts commit {sha}.")
    assert states(project) == {KEY: False}


def test_a_false_revert_of_a_revert_brings_nothing_back(project: Project) -> None:
    gone = revert(project, project.commit({FILE: LINED}, message(KEY)))
    project.commit({"other.txt": "x"}, f"fix: x\n\nThis reverts commit {gone}.")
    assert states(project) == {KEY: True}
    revert(project, gone)
    assert states(project) == {KEY: False}


@pytest.mark.parametrize(
    ("before", "after", "is_again"),
    [
        (LINED, LINED.replace(b"Which.", b"Which one."), False),
        (LINED, LINED.replace(b"().code", b"().code\n    - Fast, since cached."), False),
        (SOURCE, SOURCE.replace(b"Which.", b"Which one."), False),
        (SOURCE, LINED, True),
        (REWORDED, REWORDED.replace(b"company: from what show gave", "company: show의 code".encode()), True),
    ],
    ids=["other words", "a person's line beside it", "no line", "the line again", "the line in Korean"],
)
def test_the_trailers_of_a_merged_promotion_do_not_date_another_change(
    before: bytes, after: bytes, is_again: bool, project: Project
) -> None:
    project.commit({FILE: LINED}, message(KEY), GIT_COMMITTER_DATE="2026-04-01T00:00:00Z")
    if before != LINED:
        project.commit({FILE: before}, "docs: other words", GIT_COMMITTER_DATE="2026-04-02T00:00:00Z")
    project.commit({FILE: after}, message(KEY), GIT_COMMITTER_DATE="2026-04-20T00:00:00Z")
    repository = Repository(project.root)
    merged_at = read_history(repository, "main").merged_at()
    assert merged_at[KEY].day == (20 if is_again else 1)


def test_a_backport_that_comes_back_does_not_date_its_line_again(project: Project) -> None:
    start = project.git("rev-parse", "main")
    sha = project.commit({FILE: LINED}, message(KEY), GIT_COMMITTER_DATE="2026-04-01T00:00:00Z")
    project.git("switch", "--quiet", "--create", "release", start)
    project.git("cherry-pick", "-x", sha, GIT_COMMITTER_DATE="2026-04-02T00:00:00Z")
    project.git("switch", "--quiet", "main")
    when = "2026-04-20T00:00:00Z"
    project.git("merge", "--quiet", "--no-ff", "-m", "Merge release", "release", GIT_COMMITTER_DATE=when)
    repository = Repository(project.root)
    merged_at = read_history(repository, "main").merged_at()
    assert merged_at[KEY].day == 1
