"""What goes on and what stops: one promotion, spoiled in one way at a time. No file, no git."""

from dataclasses import replace

import pytest

from coreloop.guard.approval import machines
from coreloop.guard.change import AddedLine
from coreloop.guard.decision import Action, BaseRules, GuardDecision
from coreloop.guard.event import Account, Authorship, Push, PushEvent
from coreloop.guard.policy import decide
from guarding import (
    BASE,
    BOT,
    HEAD,
    MAKER,
    NUMBER,
    PEOPLE,
    REVIEWER,
    approval,
    candidate_proposal,
    commit,
    event,
    facts,
    file,
    judged,
    ordinary_event,
    pull,
)
from judging import (
    MESSAGE,
    OLD,
    ORDINARY,
    OTHER,
    assert_stops,
    assert_stops_only_for,
    assert_waits,
    grouped,
    with_trailer,
)
from promoting import FILE, LINES, SOURCE
from rows import each_row


def decided_with(name: str, value: str | None) -> GuardDecision:
    """The decision when commit and pull request agree on that value."""
    message = with_trailer(name, value)
    return judged(event(body=message), commits=(commit(message),))


# --- what goes on ----------------------------------------------------------------------------------


@each_row(
    "happened",
    [
        pytest.param(event("opened", labels=()), id="the draft, just opened and not labelled yet"),
        pytest.param(event("labeled", label="coreloop"), id="coreloop's own label"),
        pytest.param(event("synchronize", sender=BOT), id="a rebase by a machine"),
        pytest.param(event("edited"), id="edited"),
        pytest.param(
            event("labeled", labels=("coreloop", "docs", "do-not-merge"), label="docs"), id="a topic"
        ),
        pytest.param(event("unlabeled", label="docs"), id="another label taken off"),
        pytest.param(event("auto_merge_disabled"), id="auto-merge taken back"),
        pytest.param(event(branch=f"{pull().branch}-2"), id="a branch with a number"),
        pytest.param(event(body=f"{pull().body}\nReviewed-by: a tool\n"), id="a tool's own trailer below"),
    ],
)
def test_a_good_promotion_goes_on(happened):
    assert judged(happened).reasons == ()
    assert judged(happened).claims


def test_an_approved_promotion_goes_on_when_a_human_takes_it_out_of_draft():
    assert judged(event("ready_for_review", draft=False), reviews=(approval(),)).reasons == ()


def test_a_reviewed_promotion_may_be_queued():
    assert judged(event("enqueued"), reviews=(approval(),)).reasons == ()


@each_row(
    "happened",
    [
        ordinary_event(),
        ordinary_event(title=""),
        ordinary_event(title='Revert "[CORELOOP-R] docs(analysis): how it is used with success"'),
        ordinary_event(title="coreloop: refine says more"),
        ordinary_event(title="feat: [CORELOOP-R] is a title"),
        ordinary_event(title="[CORELOOP-X] docs: x"),
        ordinary_event(title="[CORELOOP-42] docs: x"),
        ordinary_event(title="Coreloop R"),
        ordinary_event(title="Coreloop F-strings"),
        ordinary_event(title="СОRЕLООР-R docs"),
        ordinary_event(branch="skill/anything"),
        ordinary_event(branch="skill/docstrings"),
        ordinary_event(branch="skill/docstring-style"),
        ordinary_event(branch="skill/caveat-2026"),
        ordinary_event("labeled", labels=("coreloop",), label="coreloop"),
        ordinary_event(labels=("CoreLoop",)),
        ordinary_event("unlabeled", label="coreloop"),
        ordinary_event(branch="revert-7-skill/docstring-analysis-profitability-20260425"),
        ordinary_event("ready_for_review", sender=BOT, draft=False),
        ordinary_event(labels=("automerge",), auto_merge=True),
        ordinary_event("enqueued"),
        ordinary_event("some_new_action"),
        ordinary_event(same_repo=False),
        ordinary_event("unlabeled", label="docs"),
    ],
)
def test_what_is_not_coreloop_s_goes_on(happened):
    assert judged(happened, commits=(ORDINARY,), files={}) == GuardDecision()


def test_a_push_goes_on():
    assert decide(PushEvent(), facts()) == GuardDecision()


LINE = AddedLine(FILE, "analysis", "- First: show")


# --- what says that it is coreloop's ---------------------------------------------------------------

CLAIMS = [
    ({"title": pull().title}, "its title"),
    ({"title": "  [coreloop-f] docs(x)"}, "its title"),
    ({"branch": pull().branch, "author": BOT}, "its branch"),
    ({"branch": "Skill/caveat-anything-20260425", "author": BOT}, "its branch"),
    ({"body": MESSAGE}, "trailers in its description"),
]


@each_row(("signs", "claim"), CLAIMS)
def test_one_forged_sign_on_an_ordinary_pull_request_stops_it(signs, claim):
    decision = judged(ordinary_event("edited", **signs), commits=(ORDINARY,), files={HEAD: ()})
    assert decision.claims == (claim,)
    assert_stops(decision, "lacks the trailers")


@each_row(
    ("known", "claims"),
    [
        ({}, ()),
        ({"machines": {HEAD: "merger[bot]"}}, ("its branch",)),
        ({"unknown": frozenset({HEAD})}, ("its branch",)),
        ({"added_lines": (LINE,)}, ("its branch",)),
    ],
)
def test_a_branch_s_name_is_no_sign_where_people_made_all(known, claims):
    decision = judged(ordinary_event(branch=pull().branch), commits=(ORDINARY,), files={HEAD: ()}, **known)
    assert decision.claims == claims
    assert any("is named like" in note for note in decision.notes) is (not claims)


@each_row(
    "text",
    [
        "Phase: R\nCandidate-Key: 0123456789abcdef",
        "phase: F\ncandidate-key: 0123456789abcdef",
        f"This reverts commit {OTHER}.\n\nPhase: R\nCandidate-Key: 0123456789abcdef",
        "```\n\nPhase: R\nCandidate-Key: 0123456789abcdef\n\n```",
    ],
)
def test_a_commit_s_trailers_say_it_too(text):
    decision = judged(ordinary_event(), commits=(commit(f"fix: x\n\n{text}\n"),), files={})
    assert decision.claims == (f"trailers of commit {HEAD[:12]}",)
    assert decision.reasons


@each_row(
    "message",
    [
        "docs: trailers\n\n> Phase: R\n> Candidate-Key: 0123456789abcdef\n",
        "docs: trailers\n\n    Phase: R\n    Candidate-Key: 0123456789abcdef\n",
        "docs: trailers\n\n```\nPhase: R\nCandidate-Key: 0123456789abcdef\n```\n",
        "docs: trailers\n\nA promotion has, for example,\nPhase: R\nCandidate-Key: 0123456789abcdef\n",
    ],
    ids=["quoted", "indented", "a code block", "in a sentence"],
)
def test_quoted_trailers_do_not(message):
    assert judged(ordinary_event(), commits=(commit(message),), files={}) == GuardDecision()


def test_so_does_a_commit_s_subject():
    decision = judged(ordinary_event(), commits=(commit(pull().title),), files={})
    assert decision.claims == (f"the subject of commit {HEAD[:12]}",)


def test_coreloop_s_label_is_not_taken_off():
    decision = judged(event("unlabeled", labels=(), label="coreloop"))
    assert_stops_only_for(decision, "the label coreloop was removed; add it again")


def test_a_sign_is_told_once():
    assert judged(event("labeled", label="coreloop", author=BOT), commits=()).claims == (
        "its title",
        "trailers in its description",
        "its branch",
    )


# --- machines that merge ---------------------------------------------------------------------------


def test_a_label_that_asks_to_merge_stops_it_and_is_to_be_taken_off():
    decision = judged(event("labeled", labels=("coreloop", "Auto-Merge"), label="Auto-Merge"))
    assert_stops_only_for(decision, "the label Auto-Merge of #7 asks a bot to merge")
    assert decision.actions == (Action("remove_label", NUMBER, "Auto-Merge"),)


def test_such_a_label_stops_it_on_any_later_event_too():
    assert_stops_only_for(judged(event("synchronize", labels=("coreloop", "kodiak"))), "the label kodiak")


def test_the_label_of_the_event_counts_though_the_list_lacks_it():
    assert_stops_only_for(judged(event("labeled", label="queue")), "the label queue")


@each_row("action", ["auto_merge_enabled", "labeled", "opened", "edited", "ready_for_review"])
def test_auto_merge_stops_it_on_any_event(action):
    decision = judged(event(action, auto_merge=True))
    assert_stops_only_for(decision, "auto-merge of #7 is on")
    assert decision.actions == (Action("disable_auto_merge", NUMBER),)


def test_auto_merge_that_was_just_turned_on_stops_it():
    assert_stops_only_for(judged(event("auto_merge_enabled")), "auto-merge of #7 is on")


@pytest.mark.parametrize("action", ["ready_for_review", "opened", "reopened"])
def test_out_of_draft_by_a_machine_it_still_waits_for_a_human(action):
    ready = judged(event(action, sender=BOT, draft=False))
    assert (ready.state, ready.actions) == ("pending", ())
    assert judged(event(action, sender=BOT, draft=False), reviews=(approval(),)).passes


def test_an_action_that_nobody_knows_is_decided_from_what_is_there():
    assert judged(event("some_new_action")).state == "pending"
    assert judged(event("some_new_action", auto_merge=True)).state == "failure"


# --- what it is ------------------------------------------------------------------------------------


@each_row(
    ("changes", "reason"),
    [
        ({"title": "docs: better words"}, "its title is not its commit's subject"),
        ({"title": ""}, "its title is not its commit's subject"),
        ({"branch": "docs"}, "branch docs is not the one that promote names"),
        ({"branch": "skill/caveat-analysis-profitability-20260425"}, "is not the one that promote names"),
        ({"branch": "skill/docstring-show-profitability-20260425"}, "is not the one that promote names"),
        ({"branch": "skill/docstring-analysis-profitability-20261325"}, "is not the one that promote names"),
        ({"branch": "skill/docstring-analysis-profitability"}, "is not the one that promote names"),
        ({"same_repo": False}, "it comes from another repository"),
        ({"body": ""}, "the trailers in its description are not its commit's"),
        ({"body": with_trailer("Candidate-Key", "0" * 16)}, "the trailers in its description"),
    ],
)
def test_title_branch_text_and_home_are_those_of_the_commit(changes, reason):
    assert_stops_only_for(judged(event("edited", **changes)), reason)


def test_a_second_commit_stops_it():
    second = commit("fix: the code, too", sha=OTHER, parents=(HEAD,))
    assert_stops(judged(commits=(second, commit())), "it has 2 commits")
    copied = commit(sha=OTHER, parents=(HEAD,))
    assert_stops_only_for(judged(commits=(copied, commit())), "it has 2 commits")


def test_a_pull_request_of_300_commits_stops():
    more = tuple(commit(sha=f"{number:040x}") for number in range(300))
    assert_stops_only_for(judged(commits=more), "it has 300 commits")


def test_no_commit_at_all_stops_it():
    assert_stops_only_for(judged(commits=(), files={}), "it has 0 commits")


def test_a_merge_stops_it():
    assert_stops_only_for(judged(commits=(commit(parents=(BASE, OTHER)),)), "is a merge")


@each_row(
    ("name", "value", "reason"),
    [
        ("Phase", None, "lacks the trailers Phase"),
        ("Replay", None, "lacks the trailers Replay"),
        ("Observed", None, "lacks the trailers Observed"),
        ("Phase", "A", "lacks the trailers Phase"),
        ("Candidate-Id", "cand-1", "Candidate-Id of commit aaaaaaaaaaaa is not an id of phase R"),
        ("Candidate-Id", "cand-2026-02-30-001", "is not an id of phase R"),
        ("Candidate-Id", "ce-2026-04-25-001", "is not an id of phase R"),
        ("Candidate-Key", None, "lacks the trailers Phase"),
        ("Candidate-Key", "5f3e", "lacks the trailers Phase"),
        ("Replay", "not_reproduced", "is not one that allows a promotion"),
        ("Replay", "not-applicable", "the steps can be replayed"),
        ("Target", f"{FILE}::show", "is not the docstring of analysis"),
        ("Target", f"{FILE}::analysis\u2028x", "is not the docstring of analysis"),
        (
            "Target",
            "tools/other.py::analysis",
            "but the trailer Target of its commit is tools/other.py::analysis",
        ),
        ("Target", FILE, "is not the docstring of analysis"),
        ("Target", f"{FILE}::analysis:x", "is not the docstring of analysis"),
        ("Target", f"{FILE}::analysis:99", "not defined at line 99"),
        ("Evidence", "99 of 99 requests, lower bound 0.76", "the trailer Evidence is"),
        ("Observed", "13", "the trailer Observed is 13, but the lines say 12"),
        ("Unique-Questions", "12", "the trailer Unique-Questions"),
        ("Success-Rate", "0.900", "the trailer Success-Rate does not fit 12 of 12"),
        ("Success-Rate", "1", "the trailer Success-Rate does not fit 12 of 12"),
    ],
)
def test_trailers_are_whole_and_agree(name, value, reason):
    assert_stops(decided_with(name, value), reason)


@each_row("subject", ["docs: x", "[CORELOOP-F] docs(analysis): how it fails"])
def test_the_subject_is_the_title_of_its_phase(subject):
    message = MESSAGE.replace(pull().title, subject)
    decision = judged(event(title=subject), commits=(commit(message),))
    assert_stops(decision, "is not the title of a promotion of phase R")


CATEGORIES = 'categories: [{label: FIN-profitability-KR, any: ["수익성"]}]'


def test_a_target_that_coreloop_yaml_declares_is_the_one(settings_of):
    declared = settings_of(f'{{tools: {{analysis: {{target: "{FILE}::analysis"}}}}, {CATEGORIES}}}')
    other = settings_of(f'{{tools: {{analysis: {{target: "{FILE}::elsewhere"}}}}, {CATEGORIES}}}')
    assert judged(settings=declared).reasons == ()
    assert_stops_only_for(judged(settings=other), "is not the docstring of analysis")


def test_a_project_in_a_folder_has_its_targets_below_it():
    below = {HEAD: (file(path=f"sub/{FILE}"),)}
    assert judged(files=below, project="sub/").reasons == ()
    assert_stops_only_for(judged(files=below), f"sub/{FILE} changes, but the trailer Target")


# --- the file --------------------------------------------------------------------------------------


@each_row(
    ("files", "reason"),
    [
        pytest.param((), "0 files change", id="nothing changes"),
        pytest.param((file(), file(path="x.py")), "2 files change", id="a second file"),
        pytest.param((file(), file(path=".github/workflows/ai-policy.yml")), "2 files", id="a workflow"),
        pytest.param(
            (file(path="new.py", modes=("000000", "100644")), file(modes=("100644", "000000"))),
            "2 files change",
            id="a rename",
        ),
        pytest.param(
            (file(modes=("100644", "000000")),),
            "is added, deleted, or changes its type or mode",
            id="deleted",
        ),
        pytest.param(
            (file(modes=("000000", "100644")),), "is added, deleted, or changes its type or mode", id="added"
        ),
        pytest.param(
            (file(modes=("100644", "100755")),),
            "is added, deleted, or changes its type or mode",
            id="a changed mode",
        ),
        pytest.param(
            (file(modes=("100644", "120000")),),
            "is added, deleted, or changes its type or mode",
            id="now a link",
        ),
        pytest.param(
            (file(modes=("120000", "120000")),), "is added, deleted, or changes its type or mode", id="a link"
        ),
        pytest.param(
            (file(modes=("160000", "160000")),),
            "is added, deleted, or changes its type or mode",
            id="a submodule",
        ),
        pytest.param((file(path=".github/workflows/ci.yml"),), "is not a Python file", id="only a workflow"),
        pytest.param(
            (file(path="tools/other.py"),),
            "but the trailer Target of its commit is",
            id="another file",
        ),
        pytest.param((file(new=SOURCE),), "differs in more than", id="no line at all"),
    ],
)
def test_exactly_one_file_is_modified_and_it_is_the_target(files, reason):
    decision = judged(files={HEAD: files})
    assert_stops(decision, reason)
    # without its lines the axis of its branch is unknown
    assert {said for said in decision.reasons if reason not in said} <= {
        f"branch {pull().branch} is not the one that promote names for its commit; promote it again"
    }


def test_hostile_names_are_shown_harmlessly():
    decision = judged(event(title="\x1b[2J", branch="skill/\u202e"), files={HEAD: (file(path="\x07.sh"),)})
    assert all(reason.isprintable() for reason in decision.reasons)


# --- lines without words ---------------------------------------------------------------------------

OUTSIDE = f"{FILE}: - First: show is a line of coreloop's and comes without its promotion"
BY_GITHUB = ("A Reviewer", "reviewer@example.org", "GitHub", "noreply@github.com")


def test_a_line_that_a_machine_gains_says_it_too():
    for happened, more in (
        (ordinary_event(author=BOT), {}),
        (ordinary_event(author=Account("", human=False)), {}),
        (ordinary_event(), {"machine_made": {LINE: HEAD}}),
    ):
        decision = judged(happened, commits=(ORDINARY,), files={}, added_lines=(LINE,), **more)
        assert decision.claims == (f"coreloop's lines in {FILE}",)
        assert_stops_only_for(decision, OUTSIDE)
    titled = judged(ordinary_event(title=pull().title), commits=(ORDINARY,), files={}, added_lines=(LINE,))
    assert_stops(titled, OUTSIDE)


def test_a_line_of_a_human_s_is_said_and_stops_nothing():
    decision = judged(ordinary_event(), commits=(ORDINARY,), files={}, added_lines=(LINE, LINE))
    assert (decision.passes, decision.claims) == (True, ())
    (note,) = decision.notes
    assert note.startswith(f"{FILE}: lines in coreloop's form")
    assert note.endswith(": - First: show, - First: show")


def test_a_promotion_gains_its_lines():
    assert judged(added_lines=(LINE,)).reasons == ()


def test_signs_of_landed_commits_do_not_count():
    happened = ordinary_event(title=pull().title)
    assert judged(happened, files={}, landed=frozenset({HEAD})) == GuardDecision()
    described = ordinary_event(body=MESSAGE)
    assert judged(described, files={}, landed=frozenset({HEAD})) == GuardDecision()
    assert judged(happened, files={}, landed=frozenset({OTHER})).claims
    gained = judged(happened, files={}, landed=frozenset({HEAD}), added_lines=(LINE,))
    assert_stops(gained, "comes without its promotion")
    happened = ordinary_event(branch=pull().branch, author=BOT)
    named = judged(happened, files={}, landed=frozenset({HEAD}))
    assert named.claims == ("its branch",)


def test_commits_that_github_has_verified_may_follow_the_promotion():
    suggestion = commit("Update finance.py", sha=OTHER, parents=(HEAD,), people=BY_GITHUB)
    update = commit("Merge branch 'main'", sha=OTHER, parents=(HEAD, BASE), people=BY_GITHUB)
    signed = {"authorships": (Authorship(sha=OTHER, verified=True), Authorship(sha=HEAD))}
    for more in (suggestion, update):
        assert judged(commits=(more, commit()), **signed).reasons == ()
        assert_stops(judged(commits=(more, commit())), "it has 2 commits")
    promotion = commit(sha=OTHER, parents=(HEAD,), people=BY_GITHUB)
    assert_stops_only_for(judged(commits=(promotion, commit()), **signed), "it has 2 commits")
    touched = {"touched": {OTHER: (FILE, ".github/workflows/x.yml")}}
    changed = judged(commits=(suggestion, commit()), **signed, **touched)
    assert_stops_only_for(changed, f"commit {OTHER[:12]} changes .github/workflows/x.yml")


def test_a_group_gains_the_lines_of_its_promotions_only():
    gained = tuple(AddedLine(FILE, "analysis", line) for line in LINES)
    approved = {
        "pulls": (pull(),),
        "reviews": (approval(),),
        "machine_made": dict.fromkeys((*gained, LINE), HEAD),
    }
    assert grouped(added_lines=gained, **approved).reasons == ()
    assert_stops_only_for(grouped(added_lines=(*gained, LINE), **approved), OUTSIDE)
    work = ordinary_event().pull
    alone = {"commits": (ORDINARY,), "files": {}, "added_lines": (LINE,)}
    assert_stops_only_for(grouped(**alone, pulls=(work,), machine_made={LINE: HEAD}), OUTSIDE)
    assert_stops_only_for(grouped(**alone, pulls=(replace(work, author=BOT),)), OUTSIDE)
    assert grouped(**alone, pulls=(work,)).passes


# --- the live pull request --------------------------------------------------------------------------

CURED = [
    pytest.param("labeled", {"label": "automerge"}, id="the label was taken off"),
    pytest.param("auto_merge_enabled", {}, id="auto-merge was turned off"),
    pytest.param("unlabeled", {"label": "coreloop"}, id="coreloop's label is back"),
]


@each_row(("action", "changes"), CURED)
def test_what_was_undone_no_longer_stops_it(action, changes):
    assert judged(event(action, live=True, **changes)).reasons == ()


@each_row(
    ("changes", "reason"),
    [
        ({"labels": ("coreloop", "automerge")}, "the label automerge of #7 asks a bot to merge; remove it"),
        ({"auto_merge": True}, "auto-merge of #7 is on; turn it off"),
    ],
)
def test_what_is_on_now_stops_it_whatever_the_event_was(changes, reason):
    assert_stops_only_for(judged(event("opened", live=True, **changes)), reason)


def test_coreloop_s_label_stays_missed():
    decision = judged(event("unlabeled", live=True, labels=(), label="coreloop"))
    assert_stops_only_for(decision, "the label coreloop was removed; add it again")


LAX, STRICT = BaseRules(False, False), BaseRules(True, True)


@each_row("rules", [LAX, STRICT, BaseRules(unread="no answer"), None])
def test_the_rules_of_the_base_change_no_decision(rules):
    ready = event(draft=False, live=True, base_rules=rules)
    decision = judged(ready, reviews=(approval(),))
    assert (decision.passes, len(decision.warnings)) == (True, 2 if rules is LAX else 0)
    assert decision.unread == (("no answer",) if rules and rules.unread else ())
    assert_waits(judged(ready))
    assert judged(ready).warnings == decision.warnings


def test_the_rules_of_a_group_s_base_are_told_once_and_only_for_its_promotions():
    ahead = replace(ordinary_event().pull, number=3, head_sha=OLD, base_rules=BaseRules(unread="no answer"))
    mixed = (commit(), replace(ORDINARY, sha=OLD))
    both = (pull(base_rules=LAX), ahead)
    decision = grouped(commits=mixed, pulls=both, reviews=(approval(),))
    assert (decision.passes, len(decision.warnings), decision.unread) == (True, 2, ())


def test_a_label_that_was_taken_off_is_no_live_sign():
    happened = ordinary_event("unlabeled", live=True, label="coreloop")
    assert judged(happened, commits=(ORDINARY,), files={}) == GuardDecision()


def test_what_the_tests_call_a_promotion_is_one():
    assert (commit().people, REVIEWER.human, candidate_proposal().file) == (PEOPLE, True, FILE)


def test_a_machine_s_commit_is_known_by_git_by_its_account_and_by_its_push():
    by_git = commit(people=("docs-bot[bot]", "1+docs-bot[bot]@users.noreply.github.com") * 2)
    assert list(dict(machines((by_git, commit(sha=OTHER)), (), ()))) == [HEAD]
    shown = (Authorship(sha=HEAD, accounts=(BOT,)), Authorship(sha=OTHER, accounts=(REVIEWER,)))
    assert list(dict(machines((), shown, ()))) == [HEAD]
    pushed = pull(activity=(Push(HEAD, BOT), Push(OTHER, MAKER)))
    assert list(dict(machines((), (), (pushed,)))) == [HEAD]
