"""The verdict under a merged pull request: one comment, edited afterwards; a person's is never touched."""

import json
from pathlib import Path

import pytest

from coreloop.base.errors import ForgeError
from coreloop.base.github.comments import MARK, write_comment
from coreloop.base.github.github_api import GithubApi
from coreloop.base.github.urllib_transport import UrllibTransport
from coreloop.cli.dashboard import main
from github_stand_in import GithubStandIn
from github_stand_in.bodies import Comment


@pytest.fixture
def api(github: GithubStandIn) -> GithubApi:
    github.add_pull(branch="skill/x", state="merged")
    return GithubApi(github.repo, UrllibTransport(github.token, base_url=github.url))


def test_it_is_written_once_and_edited_afterwards(api: GithubApi, github: GithubStandIn):
    done = [write_comment(api, 1, text).done for text in ("helps", "helps", "hurts")]
    assert done == ["created", "unchanged", "edited"]
    assert [comment.body for comment in github.comments] == [f"{MARK}\nhurts"]


def test_a_persons_comment_with_the_mark_is_left_alone(api: GithubApi, github: GithubStandIn):
    github.comments.append(Comment(1, 1, f"{MARK}\nmine", login="kim"))
    assert write_comment(api, 1, "helps").done == "created"
    assert github.comments[0].body == f"{MARK}\nmine"


def test_a_pull_request_that_is_gone_is_an_error(api: GithubApi):
    with pytest.raises(ForgeError, match="pull request 99"):
        write_comment(api, 99, "helps")


def _facts(verdict: str, **changes: object) -> dict[str, object]:
    figures = {
        "before": 0.2,
        "expected": 0.21,
        "after": 0.02,
        "difference": -0.19,
        "low": -0.28,
        "high": -0.1,
    }
    more = {"n_after": 280, "day": 7, "n_controls": 4}
    effect = {"tool": "refund_order", "by": "coreloop", "verdict": verdict, "todo": "", "pull_request": 1}
    return {**effect, "decided_on": "2026-05-09", "figures": {**figures, **more}, **changes}


def test_the_nightly_job_comments_on_promotions_with_a_verdict(
    github: GithubStandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    github.add_pull(branch="skill/x", state="merged")
    standing = {"pending": 0}
    effects = [
        _facts("helps"),
        _facts("too early", decided_on=None, pull_request=2),
        _facts("hurts", by="human"),
    ]
    status = {
        "candidates": standing,
        "counterexamples": standing,
        "promotions": None,
        "notes": [],
        "alarms": [],
    }
    path = tmp_path / "status.json"
    path.write_text(json.dumps({**status, "effects": effects}))
    assert main(["--comments", str(path)], {}) == 0
    comments = capsys.readouterr().out
    environ = {"GITHUB_REPOSITORY": github.repo, "GITHUB_TOKEN": github.token, "GITHUB_API_URL": github.url}
    assert main(["--comment"], {**environ, "COMMENTS": comments}) == 0
    (comment,) = github.comments
    assert comment.number == 1
    assert "helps**, since 2026-05-09" in comment.body
    assert "surely between -28.0 and -10.0" in comment.body


def test_without_a_verdict_there_is_nothing_to_write(capsys: pytest.CaptureFixture[str]):
    environ = {"GITHUB_REPOSITORY": "octo/tools", "GITHUB_TOKEN": "t"}
    assert main(["--comment"], {**environ, "COMMENTS": ""}) == 0
    assert main(["--comment"], {**environ, "COMMENTS": "{"}) == 2
    assert "COMMENTS is not the output of --comments" in capsys.readouterr().err
