"""Whose approval counts, on a pull request and in the queue. No file, no git."""

from dataclasses import replace
from itertools import cycle

import pytest

from coreloop.guard.approval import approved_by
from coreloop.guard.event import Account, Authorship, Push
from guarding import (
    BOT,
    HEAD,
    MAKER,
    REVIEWER,
    approval,
    commit,
    event,
    facts,
    judged,
    pull,
)
from judging import MESSAGE, OLD, SIGNED, assert_stops_only_for, assert_waits, grouped
from rows import each_row, slow_after

NOT_APPROVED = [
    pytest.param((), id="no review"),
    pytest.param((approval(BOT),), id="an app"),
    pytest.param((approval(MAKER),), id="the author"),
    pytest.param((approval(Account("Promoter", human=True)),), id="the author in other capitals"),
    pytest.param((approval(sha=OLD),), id="an older head"),
    pytest.param((approval(state="COMMENTED"),), id="a comment"),
    pytest.param((approval(state="PENDING"),), id="not sent yet"),
    pytest.param((approval(), approval(state="DISMISSED")), id="dismissed later"),
    pytest.param((approval(), approval(state="CHANGES_REQUESTED")), id="changes requested later"),
    pytest.param((approval(), approval(state="APPROVED", sha=OLD)), id="an older head, listed last"),
    pytest.param((approval(pull=8),), id="of another pull request"),
    pytest.param((approval(Account("tester", human=True)),), id="the committer, by e-mail"),
    pytest.param((approval(association="NONE"),), id="a stranger"),
    pytest.param((approval(association="FIRST_TIME_CONTRIBUTOR"),), id="a first-timer"),
    pytest.param((approval(association=""),), id="of unknown association"),
    pytest.param((approval(association="MEMBER", permission="read"),), id="a member who only reads"),
    pytest.param((approval(association="OWNER", permission=""),), id="of unknown access"),
]
APPROVED = [
    pytest.param((approval(),), id="one approval"),
    pytest.param((approval(pull=None),), id="a review that names no pull request"),
    pytest.param((approval(state="CHANGES_REQUESTED"), approval()), id="approved in the end"),
    pytest.param((approval(), approval(state="COMMENTED")), id="a comment takes nothing back"),
    pytest.param((approval(BOT, "CHANGES_REQUESTED"), approval()), id="what an app says does not count"),
    pytest.param((*[approval(BOT)] * 150, approval()), id="the 151st review"),
    pytest.param((approval(association="OWNER", permission="admin"),), id="the owner"),
    pytest.param((approval(association="MEMBER"),), id="a member"),
    pytest.param((approval(association="CONTRIBUTOR"),), id="a member whose membership is private"),
]


@each_row("reviews", NOT_APPROVED)
def test_the_queue_takes_no_promotion_without_another_human(reviews):
    assert_waits(judged(event("enqueued"), reviews=reviews))
    assert_stops_only_for(grouped(reviews=reviews, pulls=(pull(),)), "#7 is queued, but no human who neither")


@each_row("reviews", APPROVED)
def test_the_queue_takes_a_promotion_that_another_human_approved(reviews):
    assert judged(event("enqueued"), reviews=reviews).reasons == ()
    assert grouped(reviews=reviews, pulls=(pull(),)).reasons == ()


KIM = Account("kim", human=True)


@pytest.mark.parametrize(
    "more",
    [
        {"authorships": (replace(SIGNED, accounts=(Account("Maintainer", human=True),)),)},
        {"authorships": (SIGNED, Authorship(sha=OLD, accounts=(REVIEWER,), verified=True))},
        {"authorships": (replace(SIGNED, people=("Kim", "1+maintainer@users.noreply.github.com")),)},
        {"commits": (commit(people=("Kim", "123+maintainer@users.noreply.github.com", "GitHub", "x@y.z")),)},
        {"commits": (commit(f"{MESSAGE}\nCo-authored-by: Maintainer <m@example.org>\n"),)},
    ],
    ids=["an account", "of an earlier commit", "an address by GitHub", "an address by git", "a co-author"],
)
def test_who_made_any_commit_cannot_approve_it(more):
    assert not judged(reviews=(approval(),), **more).passes
    assert "waits for approval" in str(judged(reviews=(approval(),), **more).waits) or "commits" in more


def test_a_co_author_is_known_by_the_account_s_number_too():
    written = commit(f"{MESSAGE}\nCo-authored-by: Old <5+old@users.noreply.github.com>\n")
    for number, counts in ((5, False), (55, True), (0, True)):
        reviewer = replace(REVIEWER, number=number)
        approved = approved_by(pull(), (written,), facts(reviews=(approval(reviewer),)))
        assert bool(approved) is counts


def test_who_moved_the_branch_cannot_approve_it():
    moved = event(activity=(Push(OLD, REVIEWER), Push(HEAD, MAKER)))
    assert_waits(judged(moved, reviews=(approval(),)))
    assert judged(moved, reviews=(approval(KIM),)).passes


def test_an_approval_counts_only_where_it_is_known_who_made_each_commit():
    nobody = {"reviews": (approval(),), "authorships": (Authorship(sha=HEAD),)}
    assert_stops_only_for(judged(**nobody), f"who pushed commit {HEAD[:12]} of #7 is unknown")
    assert_stops_only_for(grouped(pulls=(pull(),), **nobody), f"who pushed commit {HEAD[:12]} of #7")
    assert_waits(judged(**{**nobody, "reviews": ()}))
    assert judged(event(activity=(Push(HEAD, MAKER),)), **nobody).passes
    unnamed = event(activity=(Push(HEAD, Account("", human=False)),))
    assert_stops_only_for(judged(unnamed, **nobody), "who pushed")
    assert judged(**{**nobody, "authorships": (SIGNED,)}).passes
    unsigned = (SIGNED, Authorship(sha=OLD))
    assert_stops_only_for(judged(**{**nobody, "authorships": unsigned}), f"who pushed commit {OLD[:12]}")


ANYWHERE = ["opened", "edited", "labeled", "unlabeled", "synchronize", "reopened", "ready_for_review"]
ANYWHERE += ["auto_merge_disabled", "submitted", "dismissed", "converted_to_draft"]
EVENTS = [event(action, draft=draft) for action in ANYWHERE for draft in (True, False)]


@pytest.mark.parametrize("reviews", slow_after(5, NOT_APPROVED))
def test_no_promotion_is_green_without_another_human(reviews):
    for happened in EVENTS:
        assert_waits(judged(happened, reviews=reviews))


@each_row("happened, approved", zip(EVENTS, cycle(APPROVED), strict=False))
def test_a_promotion_that_another_human_approved_goes_on(happened, approved):
    assert judged(happened, reviews=approved.values[0]).passes


@pytest.mark.slow
@each_row("happened", EVENTS)
@each_row("reviews", APPROVED)
def test_any_approval_counts_at_any_event(happened, reviews):
    assert judged(happened, reviews=reviews).passes
