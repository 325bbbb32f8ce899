"""The verdict under a merged pull request: one comment, edited afterwards; a person's is never touched."""

from dataclasses import replace
from datetime import UTC, date, datetime

import orjson
import pytest

from coreloop.admin.status.dashboard import verdict_comments
from coreloop.admin.status.status import Standing, Status
from coreloop.base.github.github_api import GithubApi
from coreloop.base.github.issues import MARK, write_comment
from coreloop.cli.nightly import main
from coreloop.learn.effect.description_changes import Change
from coreloop.learn.effect.effect import Effect
from coreloop.learn.effect.verdict import EffectVerdict
from effects import LOOK
from github_stand_in import GithubStandIn
from github_stand_in.bodies import Comment


@pytest.fixture
def api(github: GithubStandIn) -> GithubApi:
    github.add_pull(branch="skill/x", state="merged")
    return GithubApi(github.repo, github.token, base_url=github.url)


def test_it_is_written_once_and_edited_afterwards(api: GithubApi, github: GithubStandIn):
    done = [write_comment(api, 1, text).split()[0] for text in ("helps", "helps", "hurts")]
    assert done == ["created", "unchanged", "edited"]
    assert [comment.body for comment in github.comments] == [f"{MARK}\nhurts"]


def test_a_persons_comment_with_the_mark_is_left_alone(api: GithubApi, github: GithubStandIn):
    github.comments.append(Comment(1, 1, f"{MARK}\nmine", login="kim"))
    assert write_comment(api, 1, "helps").startswith("created ")
    assert github.comments[0].body == f"{MARK}\nmine"


def _effect(verdict: EffectVerdict, **changes: object) -> Effect:
    change = Change(
        tool="refund_order",
        target="shop.py::refund_order",
        sha="0123456789abcdef",
        subject="x",
        place=1,
        merged_at=datetime(2026, 5, 1, tzinfo=UTC),
        ids=("ce-2026-04-01-001",),
        keys=("k",),
        pull_request=1,
    )
    return Effect(change=replace(change, **changes), verdict=verdict, look=LOOK, decided_on=date(2026, 5, 9))


def test_the_nightly_job_comments_on_promotions_with_a_verdict(github: GithubStandIn):
    github.add_pull(branch="skill/x", state="merged")
    nothing = Standing(pending=0, oldest=None, promoted=0, rejected=0)
    status = Status(
        generated_at=datetime(2026, 5, 10, tzinfo=UTC),
        log=None,
        sieved=None,
        candidates=nothing,
        counterexamples=nothing,
        promotions=None,
        effects=(
            _effect(EffectVerdict.HELPS),
            replace(_effect(EffectVerdict.TOO_EARLY, pull_request=2), decided_on=None),
            _effect(EffectVerdict.HURTS, ids=(), keys=()),
        ),
    )
    comments = orjson.dumps(verdict_comments(status)).decode()
    environ = {"GITHUB_REPOSITORY": github.repo, "GITHUB_TOKEN": github.token, "GITHUB_API_URL": github.url}
    assert main(["comments"], {**environ, "COMMENTS": comments}) == 0
    (comment,) = github.comments
    assert comment.number == 1
    assert "helps**, since 2026-05-09" in comment.body
    assert "10.0% now (-25.0 to -15.0 points)" in comment.body


def test_without_a_verdict_there_is_nothing_to_write(capsys: pytest.CaptureFixture[str]):
    environ = {"GITHUB_REPOSITORY": "octo/tools", "GITHUB_TOKEN": "t"}
    assert main(["comments"], {**environ, "COMMENTS": ""}) == 0
    assert main(["comments"], {**environ, "COMMENTS": "{"}) == 2
    assert "COMMENTS is not what nightly wrote" in capsys.readouterr().err
