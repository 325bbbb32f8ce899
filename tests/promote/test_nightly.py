"""A night's drafts: each candidate gets a reason; an empty night is told from one that waits for a human."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from coreloop.base.project.workspace import open_workspace
from coreloop.cli.open_drafts import main
from coreloop.promote.nightly import DraftOutcome, DraftState, drafts_summary, is_empty, open_drafts
from github_stand_in import GithubStandIn
from promoting import (
    CATEGORIES,
    GOOD,
    ID,
    OTHER,
    REACH,
    Agent,
    Project,
    candidate,
    suggested,
    write_candidates,
)
from rows import slow_after

BASE = {"reach": REACH, "categories": CATEGORIES}
NOW = datetime(2026, 4, 26, 3, tzinfo=UTC)


@pytest.fixture
def hub(github: GithubStandIn, project: Project, monkeypatch: pytest.MonkeyPatch) -> GithubStandIn:
    """GitHub as the host of the project's remote; main asks for a review."""
    monkeypatch.setattr(github, "sha_of", project.head_of)
    github.protections = {"main": 1}
    return github


def settle(project: Project, **settings: Any) -> None:
    (project.root / "coreloop.yaml").write_text(json.dumps({**BASE, **settings}))


def night(project: Project, hub: GithubStandIn) -> list[DraftOutcome]:
    environ = {"GITHUB_TOKEN": hub.token, "GITHUB_API_URL": hub.url}
    workspace = open_workspace(project.root)
    return list(open_drafts(workspace, project.candidates, environ=environ, now=NOW, warn=print))


def test_draft_is_opened_and_the_next_night_finds_it_with_a_human(project: Project, hub) -> None:
    url = "https://github.example/octo/tools/pull/1"
    with Agent(GOOD) as agent:
        settle(project, replay={"url": agent.url, "timeout_s": 20})
        first, second = night(project, hub), night(project, hub)
    assert first == [DraftOutcome(ID, DraftState.OPENED, url)]
    assert second == [DraftOutcome(ID, DraftState.IN_REVIEW, url)]
    assert not is_empty(first)
    assert not is_empty(second)


def test_refused_candidate_says_why_and_does_not_stop_the_others(project: Project, hub) -> None:
    weak = candidate(id="cand-2", suggested_append=None, refused="weak: 3 of 4 requests")
    private = candidate(id="cand-3", suggested_append=None, refused="'Jane Doe' is not a declared value")
    nowhere = candidate(id="cand-4", suggested_append=suggested(target_file=None))
    write_candidates(project.candidates, candidate(), weak, private, nowhere)
    with Agent(OTHER) as agent:
        settle(project, replay={"url": agent.url, "timeout_s": 20})
        outcomes = night(project, hub)
    states = [outcome.state for outcome in outcomes]
    assert states == [DraftState.REFUSED, *[DraftState.NO_TEXT] * 3]
    assert is_empty(outcomes)
    summary = drafts_summary(outcomes)
    assert summary.startswith("### 0 drafts opened\n")
    assert f"- **{ID}** refused: replay: not\\_reproduced (0 of 3 runs agree" in summary
    assert "- **cand-2** no text: weak: 3 of 4 requests\n" in summary
    assert "- **cand-3** no text: withheld here, since it may name recorded values" in summary
    assert "- **cand-4** no text: its tool has no target" in summary
    assert "Jane" not in summary
    assert hub.pulls == []


@pytest.mark.slow
@pytest.mark.parametrize("state", slow_after(1, ["open", "closed", "merged"]))
def test_candidate_that_a_human_has_or_had_makes_no_empty_night(project: Project, hub, state: str) -> None:
    settle(project, forge={"max_open": 1})
    if state == "open":  # the queue is full
        hub.add_pull(branch="skill/docstring-other", body="")
    else:
        body = f"Phase: R\nCandidate-Id: {ID}\nCandidate-Key: {candidate()['key']}\n"
        hub.add_pull(branch="skill/docstring-analysis", body=body, state=state)
    with Agent(GOOD) as agent:
        settle(project, replay={"url": agent.url, "timeout_s": 20}, forge={"max_open": 1})
        outcomes = night(project, hub)
    assert [outcome.state for outcome in outcomes] == [DraftState.IN_REVIEW]
    assert not is_empty(outcomes)


def test_promotion_without_a_forge_opens_no_draft(project: Project) -> None:
    with Agent(GOOD) as agent:
        settle(project, replay={"url": agent.url, "timeout_s": 20})
        workspace = open_workspace(project.root)
        outcomes = list(open_drafts(workspace, project.candidates, environ={}, now=NOW, warn=print))
    assert is_empty(outcomes)
    assert "is pushed, but there is no token" in outcomes[0].text


def test_night_without_candidates_is_not_empty() -> None:
    assert not is_empty([])
    assert "There was no proposal." in drafts_summary([])


def test_exit_code_tells_an_empty_night_from_an_error(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(project.root)
    settle(project)
    assert main([str(project.candidates.parent)]) == 1
    assert "### 0 drafts opened" in capsys.readouterr().out
    write_candidates(project.candidates, candidate(suggested_append=None, refused="weak: few"))
    assert main([str(project.candidates.parent)]) == 0
    assert main([str(tmp_path / "nowhere")]) == 2
    assert "holds no candidates" in capsys.readouterr().err
    assert main([]) == 2
    monkeypatch.setattr("coreloop.cli.open_drafts.open_drafts", lambda *_, **__: 1 / 0)
    assert main([str(project.candidates.parent)]) == 3
