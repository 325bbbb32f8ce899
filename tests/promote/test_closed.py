"""A promotion that a person closed without merging is a no, until somebody judges it again."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from coreloop.admin.status.read_status import read_status
from coreloop.admin.status.status import Status
from coreloop.base.errors import HumanDecidesError
from coreloop.base.project.workspace import Workspace, open_workspace
from coreloop.learn.verdicts.judge import judge
from coreloop.observe.judgments import VerdictLetter, read_verdicts
from coreloop.promote.run import PromoteRequest, confirm_promotion
from github_stand_in import GithubStandIn
from promoting import Project, statement, write_candidates

ENTRY = statement()
TOKEN = "ghp_closed0123456789"
NIGHT = datetime(2026, 4, 26, tzinfo=UTC)


@pytest.fixture
def environ(github: GithubStandIn, project: Project) -> dict[str, str]:
    github.token, github.sha_of, github.protections = TOKEN, project.head_of, {"main": 1}
    project.configure(forge={"repo": github.repo})
    return {"GITHUB_TOKEN": TOKEN, "GITHUB_API_URL": github.url}


@pytest.fixture
def workspace(project: Project, environ: dict[str, str]) -> Workspace:
    return open_workspace(project.root)


@pytest.fixture
def closed(workspace: Workspace, environ: dict[str, str], github: GithubStandIn) -> Path:
    """The file of a proposal whose pull request was opened and closed."""
    path = workspace.candidates_dir / "2026-04-25-candidates.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_candidates(path, ENTRY)
    _promote(workspace, path, environ)
    github.pulls[0].state = "closed"
    return path


def _promote(workspace: Workspace, path: Path, environ: dict[str, str]) -> str:
    request = PromoteRequest(path=path, wanted=ENTRY["id"])
    result = confirm_promotion(workspace, request, environ=environ, now=NIGHT, warn=pytest.fail)
    assert result.done.pull_request is not None
    return result.done.pull_request.url


def _night(workspace: Workspace, environ: dict[str, str]) -> Status:
    return read_status(workspace, now=NIGHT, environ=environ)


@pytest.mark.slow
def test_a_closed_promotion_is_a_no_from_the_next_night_on(
    workspace: Workspace, closed: Path, environ: dict[str, str], github: GithubStandIn
) -> None:
    with pytest.raises(HumanDecidesError, match="closed without a merge"):
        _promote(workspace, closed, environ)
    status = _night(workspace, environ)
    (given,) = read_verdicts(workspace.judgments_dir).given
    assert (given.key, given.verdict) == (ENTRY["key"], VerdictLetter.VIOLATION)
    assert given.cause == f"closed without a merge: https://github.example/{github.repo}/pull/1"
    assert (status.candidates.pending, status.candidates.rejected) == (0, 1)
    _night(workspace, environ)
    assert len(read_verdicts(workspace.judgments_dir).given) == 1
    with pytest.raises(HumanDecidesError, match="was rejected"):
        _promote(workspace, closed, environ)


@pytest.mark.slow
def test_a_verdict_undoes_it(
    workspace: Workspace, closed: Path, environ: dict[str, str], github: GithubStandIn
) -> None:
    _night(workspace, environ)
    later = NIGHT + timedelta(minutes=1)
    judge(workspace, ENTRY["id"], VerdictLetter.PASS, cause="I closed it by mistake", by="Ann", now=later)
    assert _night(workspace, environ).candidates.rejected == 0
    assert _promote(workspace, closed, environ).endswith("/pull/2")


@pytest.mark.slow
def test_a_merged_promotion_is_no_no(
    workspace: Workspace, closed: Path, environ: dict[str, str], github: GithubStandIn
) -> None:
    github.pulls[0].merged_at = github.pulls[0].created_at
    _night(workspace, environ)
    assert read_verdicts(workspace.judgments_dir).given == ()
