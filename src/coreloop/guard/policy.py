"""The decision whether coreloop's rules let a pull request, or a merge group, merge.

A pure function of the event and the facts from git and the forge. Each rule is a function that yields a
reason for every violation. Only a counted approval of the head makes a promotion's check green; until then it
is pending, so that nothing has to be taken back.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Final

from coreloop.base.errors import UsageError
from coreloop.base.git.repository import Commit
from coreloop.base.git.slug import to_slug
from coreloop.base.git.trailers import LABEL, branch_start, promoted_keys, read_promoted
from coreloop.base.letters import plain_letters
from coreloop.base.text import printable
from coreloop.guard.approval import approved_by, refuse_unknown, why_unapproved
from coreloop.guard.change import AddedLine
from coreloop.guard.claims import is_branch
from coreloop.guard.decision import GuardDecision
from coreloop.guard.event import Event, MergeGroupEvent, PullRequestEvent, PushEvent, ReportedPull
from coreloop.guard.labels import refuse_merging, remedies
from coreloop.guard.lines import is_day
from coreloop.guard.markers import (
    GuardFacts,
    claims,
    is_repeated,
    outside,
    own_commits,
    promotion_of,
    promotions_of,
    refuse_repeated,
    stated_claims,
    usable_settings,
)
from coreloop.guard.merge_group import group_reasons
from coreloop.guard.promotion import (
    engine_of,
    lines_of,
    other_words,
    refuse_files,
    refuse_message,
    refuse_trailers,
    subject_of,
)


def decide(event: Event, facts: GuardFacts) -> GuardDecision:
    """Apply every rule; a `UsageError` if the guard does not handle a merge group's action.

    A pull request's action does not matter, since nothing is green by itself.
    """
    decision = _decide(event, facts)
    if not facts.false_reverts:
        return decision
    claims, reasons = decision.claims or ("what it says it reverts",), dict.fromkeys(facts.false_reverts)
    return replace(decision, claims=claims, reasons=(*decision.reasons, *reasons), waits=())


def _decide(event: Event, facts: GuardFacts) -> GuardDecision:
    markers = claims(event, facts)
    if isinstance(event, PushEvent) or not markers:
        return GuardDecision(
            notes=(*_human_lines(facts.added_lines), *_human_branch(event), *_unread(event, facts))
        )
    if isinstance(event, MergeGroupEvent):
        return _decide_group(event, facts, markers)
    pull = _pull_after(event)
    stated = any(stated_claims(event, facts)) and not facts.unusable
    repeated = stated and is_repeated(pull, facts.commits, facts)
    rules = _RULES_OF_REPEATED if repeated else _RULES if stated else _RULES_OF_LINES
    reasons = [reason for rule in rules for reason in rule(event, facts)]
    settled = reasons or approved_by(pull, facts.commits, facts)
    why = why_unapproved(pull, facts)
    decision = GuardDecision(
        markers,
        tuple(dict.fromkeys(reasons)),
        waits=() if settled else (f"#{pull.number} waits for approval: {why}",),
        actions=tuple(remedies(pull)),
        notes=(
            *(() if reasons else _repeated_lines(pull, facts) if repeated else _approved_lines(event, facts)),
            *(() if repeated else _other_authors(event, facts)),
            *_unread(event, facts),
        ),
    )
    return _explained(decision, [pull])


def _human_lines(added: Iterable[AddedLine]) -> Iterator[str]:
    """Lines of coreloop's forms that a human's change brings: a human's words, and said."""
    for path in dict.fromkeys(line.path for line in added):
        lines = ", ".join(printable(line.line) for line in added if line.path == path)
        yield f"{printable(path)}: lines in coreloop's form are their author's own: {lines}"


def _human_branch(event: Event) -> Iterator[str]:
    """A promotion's branch name on what people made is theirs, and said."""
    if isinstance(event, PullRequestEvent) and is_branch(event.pull.branch):
        yield (
            f"branch {printable(event.pull.branch)} is named like a promotion's, but people made "
            "all of it: it is their own"
        )


def _repeated_lines(pull: ReportedPull, facts: GuardFacts) -> Iterator[str]:
    """A merged promotion's words on a person's change prove nothing, and are said."""
    yield (
        f"#{pull.number} has the trailers of a merged promotion on another change, which is "
        "its author's own, and of which nothing is proved; unless it is a backport, reword "
        "its title and its commit's message, or begin each line of the trailers with >"
    )
    yield from _human_lines(facts.added_lines)


def _unread(event: Event, facts: GuardFacts) -> Iterator[str]:
    """What is not known of the pushers, where something depends on them."""
    if not isinstance(event, PullRequestEvent) or not (claims(event, facts) or facts.added_lines):
        return
    if not all(pull.shows_pusher for pull in facts.pulls):
        yield (
            f"GitHub did not show who pushed to #{event.pull.number}; only the sender of the "
            "event that a push makes is known"
        )
    if facts.unknown and not any(stated_claims(event, facts)):
        yield (
            f"who pushed commit {min(facts.unknown)[:12]} is unknown, and GitHub has not verified "
            "it, so coreloop's lines in it count as a machine's; sign it"
        )


def _decide_group(event: MergeGroupEvent, facts: GuardFacts, markers: tuple[str, ...]) -> GuardDecision:
    if event.action == "destroyed":
        return GuardDecision(markers)
    if event.action != "checks_requested":
        raise UsageError(f"the guard does not handle the merge group action {printable(event.action)}")
    reasons = dict.fromkeys(group_reasons(event, facts))
    pulls = list(promotions_of(facts))
    actions = tuple(action for pull in pulls for action in remedies(pull))
    return _explained(GuardDecision(markers, tuple(reasons), actions=actions), pulls)


def _explained(decision: GuardDecision, pulls: Iterable[ReportedPull]) -> GuardDecision:
    """A decision with what the base branch lets happen without it."""
    known = [(pull.base, pull.base_rules) for pull in pulls if pull.base_rules is not None]
    warnings = (warning for base, rules in known for warning in rules.warnings(base))
    unread = (printable(rules.unread) for _, rules in known if rules.unread)
    return replace(decision, warnings=tuple(dict.fromkeys(warnings)), unread=tuple(dict.fromkeys(unread)))


# --- rules for a pull request ----------------------------------------------------------------------


def _merging(event: PullRequestEvent, facts: GuardFacts) -> Iterator[str]:
    yield from refuse_merging(_pull_after(event))


def _pull_after(event: PullRequestEvent) -> ReportedPull:
    """The pull request, with what a payload reports that its pull request does not show yet."""
    pull, label = event.pull, event.label if event.action == "labeled" else None
    if event.live:
        return pull
    labels = pull.labels if label is None or label in pull.labels else (*pull.labels, label)
    return replace(pull, labels=labels, auto_merge=pull.auto_merge or event.action == "auto_merge_enabled")


def _sticky_label(event: PullRequestEvent, facts: GuardFacts) -> Iterator[str]:
    removed = event.action == "unlabeled" and plain_letters(event.label or "") == LABEL
    if removed and LABEL not in map(plain_letters, event.pull.labels):
        yield f"the label {LABEL} was removed; add it again"


def _own_repository(event: PullRequestEvent, facts: GuardFacts) -> Iterator[str]:
    if not event.pull.same_repo:
        yield "it comes from another repository; open it from a branch of this repository"


def _one_commit(event: PullRequestEvent, facts: GuardFacts) -> Iterator[str]:
    """Besides commits that GitHub has verified: "Update branch", a reviewer's suggestions and edits."""
    verified = {authorship.sha for authorship in facts.authorships if authorship.verified}
    commits = [
        commit for commit in facts.commits if promoted_keys(commit.message) or commit.sha not in verified
    ]
    if len(commits) != 1:
        yield (
            f"it has {len(commits)} commits besides those that GitHub has verified; a promotion "
            "has exactly one; edit it on GitHub or sign the commit, or promote it again"
        )
    for commit in commits:
        if len(commit.parents) > 1:
            yield f"commit {commit.sha[:12]} is a merge; rebase instead"


def _one_file(event: PullRequestEvent, facts: GuardFacts) -> Iterator[str]:
    """No commit may change another file, even if a later one takes that back."""
    changed = {file.path for file in facts.files.get(event.pull.head_sha, ())}
    for commit in facts.commits:
        other = set(facts.touched.get(commit.sha, ())) - changed
        if other:
            yield (
                f"commit {commit.sha[:12]} changes {printable(min(other))} too; no commit may change "
                "more than the promoted docstring's file"
            )


def _words(event: PullRequestEvent, facts: GuardFacts) -> Iterator[str]:
    """A squash merge takes its message from the title and the description, or from the commit."""
    for commit in promotion_of(facts):
        yield from refuse_trailers(commit, facts.settings)
        yield from refuse_message(commit)
        if event.pull.title != subject_of(commit):
            yield "its title is not its commit's subject; restore the title"
        yield from _refuse_branch(event.pull, commit, facts)
        if read_promoted(event.pull.message) != read_promoted(commit.message):
            yield "the trailers in its description are not its commit's; restore them"


def _refuse_branch(pull: ReportedPull, commit: Commit, facts: GuardFacts) -> Iterator[str]:
    phases = {group["Phase"] for group in read_promoted(commit.message)}
    starts = "|".join(re.escape(branch_start(phase, engine_of(commit))) for phase in phases) or "\n"
    axes = "|".join(map(re.escape, _axes(pull.head_sha, commit, facts)))
    match = re.fullmatch(rf"(?:{starts})(?:{axes})-([0-9]{{8}})(?:-[0-9]{{1,2}})?", pull.branch)
    if match is None or not is_day(match[1]):
        yield (
            f"branch {printable(pull.branch)} is not the one that promote names for its commit; "
            "promote it again"
        )


def _axes(head: str, commit: Commit, facts: GuardFacts) -> Iterator[str]:
    """The axis in a branch's name: a value of the lines, or none that they name."""
    yield from (to_slug(None), "undeclared")
    for files in (facts.files.get(head, ()), *facts.repairs.get(head, ())):
        values = re.findall(r'="([^"]*)"', " ".join(lines_of(files, commit)[1]))
        yield from (to_slug(value, facts.settings.axis_slugs) for value in values)


def _contents(event: PullRequestEvent, facts: GuardFacts) -> Iterator[str]:
    head = event.pull.head_sha
    for commit in promotion_of(facts):
        if not _words_of_others(event, facts):
            refused = refuse_files(facts.files.get(head, ()), commit, sha=head, facts=facts)
            yield from tuple(_refuse_edits(commit, head, facts)) or refused


def _edits(commit: Commit, facts: GuardFacts) -> list[Commit]:
    """The commits that edit a promotion: all but its own and merges."""
    return [edit for edit in facts.commits if edit.sha != commit.sha and len(edit.parents) < 2]


def _is_proved_alone(commit: Commit, head: str, facts: GuardFacts) -> bool:
    alone = next(iter(facts.repairs.get(head, ())), ())
    return not any(refuse_files(alone, commit, sha=head, facts=facts))


def _refuse_edits(commit: Commit, head: str, facts: GuardFacts) -> Iterator[str]:
    """Why a proved promotion's lines must not be edited as they were; nothing if something else is wrong."""
    sides = [facts.files.get(head, ()), *facts.repairs.get(head, ())]
    lines, own = ([set(part) for part in lines_of(side, commit)] for side in (*sides, ())[:2])
    edits = _edits(commit, facts)
    if not edits or lines == own or not _is_proved_alone(commit, head, facts):
        return
    made = next((edit.sha for edit in edits if edit.sha in facts.machines), None)
    if made is not None:
        yield (
            f"{printable(facts.machines[made] or '?')} rewrote the promoted line in commit "
            f"{made[:12]}, which only a person may; undo that commit, or promote it again"
        )
    elif list(map(len, lines)) != list(map(len, own)):
        yield (
            "a suggestion may change the promoted line, not add or remove one ("
            f"{printable(', '.join(sorted(lines[1] ^ own[1] | lines[0] ^ own[0])))}); put other "
            "lines in a pull request of their own"
        )


def _words_of_others(event: PullRequestEvent, facts: GuardFacts) -> tuple[str, ...]:
    """The lines that humans wrote instead of a promotion's, where nothing else changes."""
    head = event.pull.head_sha
    for commit in promotion_of(facts):
        edits = _edits(commit, facts)
        human = edits and not any(edit.sha in facts.machines for edit in edits)
        if human and _is_proved_alone(commit, head, facts):
            files, alone = facts.files.get(head, ()), next(iter(facts.repairs.get(head, ())), ())
            return other_words(files, alone, commit, facts)
    return ()


def _approved_lines(event: PullRequestEvent, facts: GuardFacts) -> Iterator[str]:
    """Who has approved which lines."""
    approved = approved_by(event.pull, facts.commits, facts)
    for commit in promotion_of(facts) if approved else ():
        lines = lines_of(facts.files.get(event.pull.head_sha, ()), commit)[1]
        yield f"{printable(', '.join(sorted(approved)))} approved {printable(', '.join(lines))}"


def _other_authors(event: PullRequestEvent, facts: GuardFacts) -> Iterator[str]:
    edits = [edit for commit in promotion_of(facts) for edit in _edits(commit, facts)]
    names = ", ".join(dict.fromkeys(printable(edit.people[0]) for edit in edits if edit.people))
    for line in _words_of_others(event, facts):
        yield f"{printable(line)} is in the words of {names}, not coreloop's; nothing else changed"


def _lines(event: PullRequestEvent, facts: GuardFacts) -> Iterator[str]:
    if not any(promoted_keys(commit.message) for commit in own_commits(facts)):
        yield from (outside(line, event, facts) for line in facts.added_lines)


def _by_people(event: PullRequestEvent, facts: GuardFacts) -> Iterator[str]:
    yield from refuse_repeated(event.pull, (commit.sha for commit in own_commits(facts)), facts)


def _known_makers(event: PullRequestEvent, facts: GuardFacts) -> Iterator[str]:
    yield from refuse_unknown(event.pull, facts.commits, facts)


_RULES: Final[tuple[Callable[[PullRequestEvent, GuardFacts], Iterator[str]], ...]] = (
    _merging,
    _sticky_label,
    _own_repository,
    _one_commit,
    _one_file,
    _words,
    _contents,
    _lines,
    _known_makers,
)
_RULES_OF_REPEATED: Final = (_merging, _own_repository, _by_people, _known_makers)
# For a pull request that only its lines give away: the other rules are about words that it does not have. And
# where the settings cannot be used: the others would compare with what they say.
_RULES_OF_LINES: Final = (_merging, _lines, usable_settings)
