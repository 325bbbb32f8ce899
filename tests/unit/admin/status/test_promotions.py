"""Merged, reverted and open promotions, on real histories and with pull requests."""

from datetime import UTC, datetime, timedelta

from coreloop.admin.status.promotions import OpenPromotion, Promotions, join_open, read_promotions
from coreloop.base.git.promotions import OpenBranch
from coreloop.base.git.repository import Repository
from coreloop.base.github.protocol import PullRequest
from merging import inserted, message, open_promotion, promote, revert
from promoting import FILE, Project

NOW = datetime(2026, 4, 25, 12, tzinfo=UTC)


def pull(branch: str, created_at: datetime, number: int = 1) -> PullRequest:
    return PullRequest(
        number=number,
        url=f"https://github.com/octo/tools/pull/{number}",
        title="[CORELOOP-R] docs",
        state="open",
        draft=True,
        branch=branch,
        base="main",
        head_sha="f" * 40,
        repo="octo/tools",
        head_repo="octo/tools",
        created_at=created_at,
        body="",
    )


def test_a_branch_and_its_pull_request_count_once() -> None:
    branches = [OpenBranch("skill/a", "aa", NOW), OpenBranch("skill/b", "bb", NOW - timedelta(days=3))]
    pulls = [pull("skill/a", NOW - timedelta(days=1)), pull("skill/c", NOW - timedelta(days=9), 2)]
    assert [(promotion.branch, promotion.url is not None) for promotion in join_open(branches, pulls)] == [
        ("skill/c", True),
        ("skill/b", False),
        ("skill/a", True),
    ]
    assert join_open([], []) == ()


def promotions_of(project: Project, *pulls: PullRequest) -> Promotions:
    repository = Repository(project.root)
    now = datetime.now(UTC)
    return read_promotions(repository, "main", pulls, project=project.root, now=now)


def test_promotions_are_merged_reverted_or_open(project: Project) -> None:
    promote(project, "aa")
    sha = promote(project, "bb")
    revert(project, sha)
    open_promotion(project, "cc", GIT_COMMITTER_DATE="2026-04-01T00:00:00Z")
    project.git("push", "--quiet", "origin", "main", "skill/docstring-cc")
    project.git("branch", "--quiet", "--delete", "--force", "skill/docstring-cc")
    promotions = promotions_of(project)
    assert (promotions.merged, promotions.by_phase, promotions.reverted) == (1, {"R": 1, "F": 0}, 1)
    since = datetime(2026, 4, 1, tzinfo=UTC)
    assert promotions.open == (OpenPromotion("skill/docstring-cc", since),)


def test_a_commit_with_several_lines_is_one_merge_and_no_revert(project: Project) -> None:
    groups = [message(key).partition("\n\nAppends.\n\n") for key in ("aa", "bb", "cc")]
    text = "".join((*groups[0], *(f"\n{trailers}" for _, _, trailers in groups[1:])))
    sha = project.commit(
        {FILE: inserted((project.root / FILE).read_bytes(), "- company: from show().code")}, text
    )
    project.git("push", "--quiet", "origin", "main")
    promotions = promotions_of(project)
    assert (promotions.merged, promotions.by_phase, promotions.reverted) == (1, {"R": 3, "F": 0}, 0)
    revert(project, sha)
    project.git("push", "--quiet", "origin", "main")
    promotions = promotions_of(project)
    assert (promotions.merged, promotions.by_phase, promotions.reverted) == (0, {"R": 0, "F": 0}, 1)
