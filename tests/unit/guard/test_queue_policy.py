"""Which merge groups go on and which stop. No file, no git."""

from dataclasses import replace

import pytest

from coreloop.base.errors import UsageError
from coreloop.guard.change import AddedLine
from coreloop.guard.decision import Action, GuardDecision
from coreloop.guard.event import Authorship
from guarding import (
    BOT,
    HEAD,
    NUMBER,
    approval,
    commit,
    edit,
    file,
    ordinary_event,
    pull,
    statement_proposal,
)
from judging import (
    MERGE,
    MESSAGE,
    OLD,
    ORDINARY,
    OTHER,
    SIGNED,
    SQUASH,
    assert_stops,
    assert_stops_only_for,
    grouped,
    with_trailer,
)
from promoting import FILE, LINES
from rows import each_row


def test_a_group_without_a_promotion_goes_on():
    assert grouped(commits=(ORDINARY,), files={}, pulls=(ordinary_event().pull,)) == GuardDecision()


@each_row(
    ("commits", "files"),
    [
        ((MERGE, commit()), {HEAD: (file(),)}),
        ((SQUASH,), {OTHER: (file(),)}),
        ((commit(),), {HEAD: (file(),)}),
    ],
    ids=["merged", "squashed", "rebased"],
)
def test_a_reviewed_promotion_goes_on_however_it_is_merged(commits, files):
    assert grouped(commits=commits, files=files, pulls=(pull(),), reviews=(approval(),)).reasons == ()


def test_a_merge_that_repeats_the_trailers_brings_nothing_new():
    repeated = replace(MERGE, message=f"{MERGE.message}\n\n{MESSAGE}")
    assert grouped(commits=(repeated, commit()), pulls=(pull(),), reviews=(approval(),)).reasons == ()


def test_a_group_that_is_given_up_goes_on():
    assert grouped("destroyed").reasons == ()
    with pytest.raises(UsageError, match="merge group action renamed"):
        grouped("renamed")


@each_row(
    ("changes", "reason"),
    [
        ({"labels": ("automerge",)}, "the label automerge of #7"),
        ({"auto_merge": True}, "auto-merge of #7 is on"),
        ({"number": 9}, "#7 is in the group, but --pulls does not list it"),
        ({"body": "", "head_sha": OLD}, "no queued pull request is known"),
        ({"body": "", "head_sha": OLD}, "#7 is queued as a promotion, but the group has no commit of it"),
    ],
)
def test_pull_requests_of_a_group_are_looked_at(changes, reason):
    reviews = (approval(sha=changes.get("head_sha", HEAD), pull=changes.get("number", NUMBER)),)
    assert_stops(grouped(pulls=(pull(**changes),), reviews=reviews), reason)


def test_labels_of_a_group_are_to_be_taken_off():
    decision = grouped(pulls=(pull(labels=("automerge",), auto_merge=True),), reviews=(approval(),))
    assert decision.actions == (
        Action("remove_label", NUMBER, "automerge"),
        Action("disable_auto_merge", NUMBER),
    )


@each_row("sign", [{"head_sha": HEAD, "body": ""}, {"head_sha": OLD, "body": MESSAGE}])
def test_a_pull_request_of_a_group_is_known_by_its_commit_or_its_text(sign):
    plain = ordinary_event(**sign).pull
    assert_stops_only_for(grouped(pulls=(plain,)), "#7 is queued")


def test_every_promotion_of_a_group_needs_its_own_approval():
    statement = statement_proposal()
    second = commit(proposal=statement, sha=OTHER)
    other = pull(proposal=statement, number=8, head_sha=OTHER)
    of_second = file(new=edit(proposal=statement))
    more = {"commits": (second, commit()), "files": {HEAD: (file(),), OTHER: (of_second,)}}
    both = (pull(), other)
    more["authorships"] = (SIGNED, Authorship(sha=OTHER, verified=True))
    assert_stops_only_for(grouped(**more, pulls=both, reviews=(approval(),)), "#8 is queued")
    approved = (approval(), approval(sha=OTHER, pull=8))
    assert grouped(**more, pulls=both, reviews=approved).reasons == ()
    assert_stops_only_for(
        grouped(**more, pulls=(pull(),), reviews=approved), "no queued pull request is known"
    )


def test_an_ordinary_pull_request_ahead_in_the_group_needs_no_approval_of_ours():
    ahead = ordinary_event().pull
    ahead = replace(ahead, number=3, head_sha=OLD)
    mixed = (commit(), replace(ORDINARY, sha=OLD))
    assert grouped(commits=mixed, pulls=(pull(), ahead), reviews=(approval(),)).reasons == ()


def test_a_group_without_known_pull_requests_stops():
    unlisted, unbrought = grouped(reviews=(approval(),)).reasons
    assert "#7 is in the group" in unlisted
    assert "--pulls does not list it; re-run" in unlisted
    assert f"commit {HEAD[:12]} is a promotion, but no queued pull request" in unbrought
    assert unbrought.endswith("merge it without the queue")


def test_a_queue_branch_that_names_no_pull_request_stops():
    stopped = grouped(number=None, pulls=(pull(),), reviews=(approval(),))
    assert_stops_only_for(stopped, "names no pull request")


def test_a_group_that_claims_without_a_promotion_stops():
    plain = ordinary_event(author=BOT).pull
    assert_stops_only_for(grouped(commits=(MERGE,), files={}, pulls=(plain,)), "no commit is one")
    hidden = commit("docs: words", sha=HEAD)
    decision = grouped(commits=(hidden,), files={}, pulls=(pull(),), reviews=(approval(),))
    assert_stops(decision, "#7 is queued as a promotion, but the group has no commit of it")
    assert_stops(
        decision,
        "a title or branch in the group is a promotion's, but no commit is one",
    )


@each_row(
    ("files", "reason"), [((), "0 files change"), ((file(path="tools/other.py"),), "the trailer Target")]
)
def test_what_a_group_s_promotion_changes_is_looked_at(files, reason):
    decision = grouped(files={HEAD: files}, pulls=(pull(),), reviews=(approval(),))
    assert_stops_only_for(decision, reason)


def test_later_commits_repair_a_group_s_promotion_only_if_they_prove_it_and_its_pull_request_is_known():
    code, proved = (file(new=edit() + b"x = 1\n"),), (file(),)
    queued = {"files": {HEAD: code}, "pulls": (pull(),), "reviews": (approval(),)}
    outside = "something outside of the docstring of analysis changes"
    assert_stops_only_for(grouped(**queued), outside)
    assert_stops_only_for(grouped(**queued, repairs={HEAD: (code, code)}), outside)
    assert_stops_only_for(grouped(**queued, repairs={OTHER: (proved,)}), outside)
    assert grouped(**queued, repairs={HEAD: (code, proved, code)}).reasons == ()
    assert grouped(**{**queued, "files": {HEAD: proved}}, repairs={HEAD: (code,)}).reasons == ()
    assert_stops(grouped(**{**queued, "pulls": ()}, repairs={HEAD: (proved,)}), outside)


def test_a_repair_brings_the_lines_of_its_group():
    gained = (AddedLine(FILE, "analysis", LINES[1]),)
    lines = {
        "added_lines": gained,
        "pulls": (pull(),),
        "reviews": (approval(),),
        "repairs": {HEAD: ((file(),),)},
    }
    assert grouped(files={HEAD: ()}, **lines).reasons == ()


def test_a_group_s_promotion_has_its_trailers():
    message = with_trailer("Replay", "not_reproduced")
    decision = grouped(commits=(commit(message),), pulls=(pull(body=message),), reviews=(approval(),))
    assert_stops_only_for(decision, "is not one that allows a promotion")
