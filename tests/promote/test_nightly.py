"""A night's drafts: each candidate gets a reason; an empty night is told from one that waits for a human."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from coreloop.base.errors import PullRequestExistsError
from coreloop.base.git.repository import Repository
from coreloop.base.project.promotion_settings import ForgeSettings
from coreloop.base.project.workspace import open_workspace
from coreloop.cli.nightly import main
from coreloop.promote.nightly import (
    DraftOutcome,
    DraftState,
    connect_prepared,
    drafts_summary,
    is_empty,
    prepare_drafts,
)
from github_stand_in import GithubStandIn
from promoting import (
    GOOD,
    ID,
    OTHER,
    Agent,
    Project,
    candidate,
    suggested,
    write_candidates,
)
from rows import slow_after

NOW = datetime(2026, 4, 26, 3, tzinfo=UTC)


def night(project: Project, hub: GithubStandIn) -> list[DraftOutcome]:
    environ = {"GITHUB_TOKEN": hub.token, "GITHUB_API_URL": hub.url}
    workspace = open_workspace(project.root)
    drafts = project.root.parent / "drafts"
    return list(prepare_drafts(workspace, project.candidates, drafts, environ=environ, now=NOW, warn=print))


def open_prepared(project: Project, hub: GithubStandIn) -> None:
    """Open what was prepared, as the workflow's second job does."""
    for path in sorted((project.root.parent / "drafts").iterdir()):
        fields = json.loads(path.read_bytes())
        hub.add_pull(branch=fields["head"], base=fields["base"], title=fields["title"], body=fields["body"])
        path.unlink()


def test_draft_is_prepared_until_it_is_opened_and_then_with_a_human(project: Project, hub) -> None:
    with Agent(GOOD) as agent:
        project.configure(replay={"url": agent.url})
        first, again = night(project, hub), night(project, hub)
        assert hub.pulls == []
        open_prepared(project, hub)
        opened = night(project, hub)
    branch = hub.pulls[0].branch
    assert branch.startswith("skill/docstring-analysis-")
    assert project.head_of(branch)
    assert first == [DraftOutcome(ID, DraftState.PREPARED, branch)]
    assert again == [DraftOutcome(ID, DraftState.IN_REVIEW, branch)]
    assert opened == [DraftOutcome(ID, DraftState.IN_REVIEW, "https://github.example/octo/tools/pull/1")]
    assert not any(map(is_empty, (first, again, opened)))
    assert not {request.verb for request in hub.traffic} - {"GET"}


def test_prepared_drafts_count_as_open_and_none_is_prepared_twice(project: Project, hub) -> None:
    environ = {"GITHUB_TOKEN": hub.token, "GITHUB_API_URL": hub.url}
    hub.add_pull(branch="skill/docstring-other")
    drafts = project.root.parent / "drafts"
    fields = {"branch": "skill/docstring-analysis", "base": "main", "title": "a title", "body": "a body"}
    forge = connect_prepared(drafts, Repository(project.root), ForgeSettings(), environ)
    forge.open_draft(**fields)
    assert [pull.branch for pull in forge.open_pull_requests()] == [
        "skill/docstring-other",
        fields["branch"],
    ]
    for branch in ("skill/docstring-other", fields["branch"]):
        with pytest.raises(PullRequestExistsError):
            forge.open_draft(**{**fields, "branch": branch})
    forge.rewrite(-1, title="another title", body="another body")
    (path,) = drafts.iterdir()
    wanted = {"head": fields["branch"], "base": "main", "title": "another title", "body": "another body"}
    assert json.loads(path.read_bytes()) == wanted
    assert len(hub.pulls) == 1


def test_refused_candidate_says_why_and_does_not_stop_the_others(project: Project, hub) -> None:
    weak = candidate(id="cand-2", suggested_append=None, refused="weak: 3 of 4 requests")
    private = candidate(id="cand-3", suggested_append=None, refused="'Jane Doe' is not a declared value")
    nowhere = candidate(id="cand-4", suggested_append=suggested(target_file=None))
    write_candidates(project.candidates, candidate(), weak, private, nowhere)
    with Agent(OTHER) as agent:
        project.configure(replay={"url": agent.url})
        outcomes = night(project, hub)
    states = [outcome.state for outcome in outcomes]
    assert states == [DraftState.REFUSED, *[DraftState.NO_TEXT] * 3]
    assert is_empty(outcomes)
    summary = drafts_summary(outcomes)
    assert summary.startswith("### 0 drafts prepared\n")
    assert f"- **{ID}** refused: replay: not\\_reproduced (0 of 3 runs agree" in summary
    assert "- **cand-2** no text: weak: 3 of 4 requests\n" in summary
    assert "- **cand-3** no text: withheld here, since it may name recorded values" in summary
    assert "- **cand-4** no text: its tool has no target" in summary
    assert "Jane" not in summary
    assert hub.pulls == []


@pytest.mark.slow
@pytest.mark.parametrize("state", slow_after(1, ["open", "closed", "merged"]))
def test_candidate_that_a_human_has_or_had_makes_no_empty_night(project: Project, hub, state: str) -> None:
    project.configure(forge={"max_open": 1})
    if state == "open":  # the queue is full
        hub.add_pull(branch="skill/docstring-other", body="")
    else:
        body = f"Phase: R\nCandidate-Id: {ID}\nCandidate-Key: {candidate()['key']}\n"
        hub.add_pull(branch="skill/docstring-analysis", body=body, state=state)
    with Agent(GOOD) as agent:
        project.configure(replay={"url": agent.url}, forge={"max_open": 1})
        outcomes = night(project, hub)
    assert [outcome.state for outcome in outcomes] == [DraftState.IN_REVIEW]
    assert not is_empty(outcomes)


def test_without_a_forge_no_draft_is_prepared(project: Project) -> None:
    with Agent(GOOD) as agent:
        project.configure(replay={"url": agent.url})
        workspace = open_workspace(project.root)
        outcomes = list(
            prepare_drafts(
                workspace, project.candidates, project.root / "drafts", environ={}, now=NOW, warn=print
            )
        )
    assert is_empty(outcomes)
    assert outcomes[0].text == "there is no token or no GitHub repository"


def test_exit_code_tells_an_empty_night_from_an_error(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(project.root)
    project.configure()
    assert main(["drafts", str(project.candidates.parent), "drafts"], os.environ) == 1
    assert "### 0 drafts prepared" in capsys.readouterr().out
    write_candidates(project.candidates, candidate(suggested_append=None, refused="weak: few"))
    assert main(["drafts", str(project.candidates.parent), "drafts"], os.environ) == 0
    assert main(["drafts", str(tmp_path / "nowhere"), "drafts"], os.environ) == 2
    assert "holds no candidates" in capsys.readouterr().err
    assert main([], {}) == 2
    monkeypatch.setattr("coreloop.cli.nightly.prepare_drafts", lambda *_, **__: 1 / 0)
    assert main(["drafts", str(project.candidates.parent), "drafts"], os.environ) == 3
