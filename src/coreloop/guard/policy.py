"""The decision whether coreloop's rules let a pull request, or a merge group, merge.

A pure function of the event and the facts from git and the forge. Each rule is a function that yields a
reason for every violation. Only a counted approval of the head makes a promotion's check green; until then it
is pending, so that nothing has to be taken back.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from coreloop.base.errors import UsageError
from coreloop.base.git.repository import Commit
from coreloop.base.git.slug import to_slug
from coreloop.base.git.trailers import LABEL, SECTIONS, branch_start, read_promoted
from coreloop.base.letters import plain_letters
from coreloop.base.messages import Phrase
from coreloop.base.text import printable
from coreloop.guard.added_lines import stray_lines
from coreloop.guard.approval import approvers, makers, nameless, unaccounted
from coreloop.guard.change import AddedLine, PathChange
from coreloop.guard.claims import (
    is_promotion,
)
from coreloop.guard.decision import Action, GuardDecision
from coreloop.guard.event import (
    Authorship,
    Event,
    MergeGroupEvent,
    PullRequestEvent,
    PushEvent,
    ReportedPull,
)
from coreloop.guard.labels import asks_to_merge
from coreloop.guard.markers import (
    GuardFacts,
    claims,
    machine_lines,
    marks_of,
    own_commits,
    promoting_of,
    promotion_of,
    promotions_of,
    stated_claims,
    whose,
)
from coreloop.guard.metrics import is_day
from coreloop.guard.promotion import (
    engine_of,
    lines_of,
    other_words,
    refuse_files,
    refuse_message,
    refuse_trailers,
    subject_of,
)

_UNAPPROVED: Final = (
    "no human who neither wrote nor pushed any of it has approved its head commit; "
    "have one with write access approve it"
)


def decide(event: Event, facts: GuardFacts) -> GuardDecision:
    """Apply every rule; a `UsageError` if the guard does not handle a merge group's action.

    A pull request's action does not matter, since nothing is green by itself.
    """
    markers = claims(event, facts)
    if isinstance(event, PushEvent) or not markers:
        return GuardDecision(notes=(*_human_lines(facts.added_lines), *_unread(event, facts)))
    if isinstance(event, MergeGroupEvent):
        return _decide_group(event, facts, markers)
    stated = any(stated_claims(event, facts))
    rules = _RULES if stated and not facts.unusable else _RULES_OF_LINES
    reasons = [reason for rule in rules for reason in rule(event, facts)]
    settled = reasons or _approved_by(event.pull, facts.commits, facts)
    why = _unapproved(event.pull, facts)
    decision = GuardDecision(
        markers,
        tuple(dict.fromkeys(reasons)),
        waits=()
        if settled
        else (Phrase("#{number} waits for approval: {why}", number=event.pull.number, why=why),),
        actions=tuple(_actions_on(_with_new_label(event))),
        notes=(
            *(() if reasons else _approved_lines(event, facts)),
            *_other_authors(event, facts),
            *_unread(event, facts),
        ),
    )
    return _explained(decision, [event.pull])


def _human_lines(added: Iterable[AddedLine]) -> Iterator[str]:
    """Lines of coreloop's forms that a human's change brings: a human's words, and said."""
    for path in dict.fromkeys(line.path for line in added):
        lines = ", ".join(printable(line.line) for line in added if line.path == path)
        yield Phrase(
            "{path}: lines in coreloop's form are their author's own: {lines}",
            path=printable(path),
            lines=lines,
        )


def _unread(event: Event, facts: GuardFacts) -> Iterator[str]:
    """What is not known of the pushers, where something depends on them."""
    if not isinstance(event, PullRequestEvent) or not (claims(event, facts) or facts.added_lines):
        return
    if not all(pull.shows_pusher for pull in facts.pulls):
        yield (
            Phrase(
                "GitHub did not show who pushed to #{number}; only the sender of the event that "
                "a push makes is known",
                number=event.pull.number,
            )
        )
    if facts.unknown and not any(stated_claims(event, facts)):
        yield (
            Phrase(
                "who pushed commit {unknown} is unknown, and GitHub has not verified it, so "
                "coreloop's lines in it count as a machine's; sign it",
                unknown=min(facts.unknown)[:12],
            )
        )


def _decide_group(event: MergeGroupEvent, facts: GuardFacts, markers: tuple[str, ...]) -> GuardDecision:
    if event.action == "destroyed":
        return GuardDecision(markers)
    if event.action != "checks_requested":
        raise UsageError(
            Phrase(
                "the guard does not handle the merge group action {action}", action=printable(event.action)
            )
        )
    rules = (_group_labels, _usable_settings) if facts.unusable else _GROUP_RULES
    reasons = [reason for rule in rules for reason in rule(event, facts)]
    pulls = list(promotions_of(facts))
    actions = tuple(action for pull in pulls for action in _actions_on(pull))
    return _explained(GuardDecision(markers, tuple(dict.fromkeys(reasons)), actions=actions), pulls)


def _explained(decision: GuardDecision, pulls: Iterable[ReportedPull]) -> GuardDecision:
    """A decision with what the base branch lets happen without it."""
    known = [(pull.base, pull.base_rules) for pull in pulls if pull.base_rules is not None]
    warnings = (warning for base, rules in known for warning in rules.warnings(base))
    unread = (printable(rules.unread) for _, rules in known if rules.unread)
    return replace(decision, warnings=tuple(dict.fromkeys(warnings)), unread=tuple(dict.fromkeys(unread)))


def _actions_on(pull: ReportedPull) -> Iterator[Action]:
    for label in filter(asks_to_merge, pull.labels):
        yield Action("remove_label", pull.number, label)
    if pull.auto_merge:
        yield Action("disable_auto_merge", pull.number)


# --- rules for a pull request ----------------------------------------------------------------------


def _labels(event: PullRequestEvent, facts: GuardFacts) -> Iterator[str]:
    yield from _merging_labels(_with_new_label(event))


def _with_new_label(event: PullRequestEvent) -> ReportedPull:
    """The pull request, with the event's label added if the payload's list does not have it yet."""
    if event.live or event.action != "labeled" or event.label is None or event.label in event.pull.labels:
        return event.pull
    return replace(event.pull, labels=(*event.pull.labels, event.label))


def _merging_labels(pull: ReportedPull) -> Iterator[str]:
    for label in filter(asks_to_merge, pull.labels):
        yield Phrase(
            "the label {label} of #{number} asks a bot to merge; remove it",
            label=printable(label),
            number=pull.number,
        )


def _native_auto_merge(event: PullRequestEvent, facts: GuardFacts) -> Iterator[str]:
    if event.pull.auto_merge or (event.action == "auto_merge_enabled" and not event.live):
        yield _auto_merge_is_on(event.pull)


def _auto_merge_is_on(pull: ReportedPull) -> str:
    return Phrase("auto-merge of #{number} is on; turn it off", number=pull.number)


def _sticky_label(event: PullRequestEvent, facts: GuardFacts) -> Iterator[str]:
    removed = event.action == "unlabeled" and plain_letters(event.label or "") == LABEL
    if removed and LABEL not in map(plain_letters, event.pull.labels):
        yield Phrase("the label {label} was removed; add it again", label=LABEL)


def _own_repository(event: PullRequestEvent, facts: GuardFacts) -> Iterator[str]:
    if not event.pull.same_repo:
        yield "it comes from another repository; open it from a branch of this repository"


def _one_commit(event: PullRequestEvent, facts: GuardFacts) -> Iterator[str]:
    """Besides commits that GitHub has verified: "Update branch", a reviewer's suggestions and edits."""
    verified = {authorship.sha for authorship in facts.authorships if authorship.verified}
    commits = [commit for commit in facts.commits if is_promotion(commit) or commit.sha not in verified]
    if len(commits) != 1:
        yield (
            Phrase(
                "it has {n} commits besides those that GitHub has verified; a promotion "
                "has exactly one; edit it on GitHub or sign the commit, or promote it again",
                n=len(commits),
            )
        )
    for commit in commits:
        if len(commit.parents) > 1:
            yield Phrase("commit {sha} is a merge; rebase instead", sha=commit.sha[:12])


def _one_file(event: PullRequestEvent, facts: GuardFacts) -> Iterator[str]:
    """No commit may change another file, even if a later one takes that back."""
    changed = {file.path for file in facts.files.get(event.pull.head_sha, ())}
    for commit in facts.commits:
        other = set(facts.touched.get(commit.sha, ())) - changed
        if other:
            yield Phrase("commit {sha} changes {other}", sha=commit.sha[:12], other=printable(min(other)))


def _trailers(event: PullRequestEvent, facts: GuardFacts) -> Iterator[str]:
    for commit in promotion_of(facts):
        yield from refuse_trailers(commit, facts.settings)


def _title(event: PullRequestEvent, facts: GuardFacts) -> Iterator[str]:
    for commit in promotion_of(facts):
        if event.pull.title != subject_of(commit):
            yield "its title is not its commit's subject; restore the title"


def _branch(event: PullRequestEvent, facts: GuardFacts) -> Iterator[str]:
    for commit in promotion_of(facts):
        phases = {group.get("Phase", "") for group in read_promoted(commit.message)} & SECTIONS.keys()
        starts = "|".join(re.escape(branch_start(phase, engine_of(commit))) for phase in phases) or "\n"
        axes = "|".join(map(re.escape, _axes(event.pull.head_sha, commit, facts)))
        match = re.fullmatch(rf"(?:{starts})(?:{axes})-([0-9]{{8}})(?:-[0-9]{{1,2}})?", event.pull.branch)
        if match is None or not is_day(match[1]):
            yield Phrase(
                "branch {branch} does not match its commit; promote it again",
                branch=printable(event.pull.branch),
            )


def _axes(head: str, commit: Commit, facts: GuardFacts) -> Iterator[str]:
    """The axis in a branch's name: a value of the lines, or none that they name."""
    yield from (to_slug(None), "undeclared")
    for files in (facts.files.get(head, ()), *facts.repairs.get(head, ())):
        values = re.findall(r'="([^"]*)"', " ".join(lines_of(files, commit)[1]))
        yield from (to_slug(value, facts.settings.axis_slugs) for value in values)


def _message(event: PullRequestEvent, facts: GuardFacts) -> Iterator[str]:
    for commit in promotion_of(facts):
        yield from refuse_message(commit)


def _body(event: PullRequestEvent, facts: GuardFacts) -> Iterator[str]:
    """A squash merge copies the trailers from the body."""
    groups = read_promoted(event.pull.body)
    for commit in promotion_of(facts):
        if groups != read_promoted(commit.message):
            yield "the trailers in its description are not its commit's; restore them"


def _contents(event: PullRequestEvent, facts: GuardFacts) -> Iterator[str]:
    head = event.pull.head_sha
    for commit in promotion_of(facts):
        if not _words_of_others(event, facts):
            yield from _refuse_contents(commit, facts.files.get(head, ()), head, facts)


def _words_of_others(event: PullRequestEvent, facts: GuardFacts) -> tuple[str, ...]:
    """The lines that humans wrote instead of a promotion's, where nothing else changes."""
    head = event.pull.head_sha
    for commit in promotion_of(facts):
        files, alone = facts.files.get(head, ()), next(iter(facts.repairs.get(head, ())), ())
        own = (commit.sha, *(update.sha for update in facts.commits if len(update.parents) > 1))
        edits = [edit for edit in facts.commits if edit.sha not in own]
        human = edits and not any(edit.sha in facts.machines for edit in edits)
        if human and not any(_refuse_contents(commit, alone, head, facts)):
            return other_words(files, alone, commit, settings=facts.settings, width=facts.width)
    return ()


def _approved_lines(event: PullRequestEvent, facts: GuardFacts) -> Iterator[str]:
    """Who has approved which lines."""
    approved = _approved_by(event.pull, facts.commits, facts)
    for commit in promotion_of(facts) if approved else ():
        lines = lines_of(facts.files.get(event.pull.head_sha, ()), commit)[1]
        yield Phrase(
            "{names} approved {lines}",
            names=printable(", ".join(sorted(approved))),
            lines=printable(", ".join(lines)),
        )


def _other_authors(event: PullRequestEvent, facts: GuardFacts) -> Iterator[str]:
    promoted = {commit.sha for commit in promotion_of(facts)}
    edits = [edit for edit in facts.commits if edit.sha not in promoted and len(edit.parents) < 2]
    names = ", ".join(dict.fromkeys(printable(edit.people[0]) for edit in edits if edit.people))
    for line in _words_of_others(event, facts):
        yield Phrase(
            "{line} is in the words of {names}, not coreloop's; nothing else changed",
            line=printable(line),
            names=names,
        )


def _lines(event: PullRequestEvent, facts: GuardFacts) -> Iterator[str]:
    if not any(map(is_promotion, own_commits(facts))):
        yield from (_outside(line, event, facts) for line in facts.added_lines)


def _outside(line: AddedLine, event: PullRequestEvent | MergeGroupEvent, facts: GuardFacts) -> str:
    return Phrase(
        "{path}: {line} is a line of coreloop's and comes without its promotion ({whose}); promote it in a "
        "pull request of its own, reword it, or have a person write, push and open it",
        path=printable(line.path),
        line=printable(line.line),
        whose=whose(line, event, facts),
    )


def _known_makers(event: PullRequestEvent, facts: GuardFacts) -> Iterator[str]:
    yield from _refuse_unknown(event.pull, facts.commits, facts)


def _usable_settings(event: PullRequestEvent | MergeGroupEvent, facts: GuardFacts) -> Iterator[str]:
    if facts.unusable:
        yield Phrase(
            "the base's coreloop.yaml cannot be used ({error}), so what claims to be coreloop's cannot be "
            "checked; repair coreloop.yaml in a pull request of its own, merge that, then re-run this job",
            error=facts.unusable,
        )


_RULES: Final[tuple[Callable[[PullRequestEvent, GuardFacts], Iterator[str]], ...]] = (
    _labels,
    _native_auto_merge,
    _sticky_label,
    _own_repository,
    _one_commit,
    _one_file,
    _trailers,
    _message,
    _title,
    _branch,
    _body,
    _contents,
    _lines,
    _known_makers,
)
# For a pull request that only its lines give away: the other rules are about words that it does not have. And
# where the settings cannot be used: the others would compare with what they say.
_RULES_OF_LINES: Final = (_labels, _native_auto_merge, _lines, _usable_settings)


# --- rules for a merge group -----------------------------------------------------------------------


def _group_labels(event: MergeGroupEvent, facts: GuardFacts) -> Iterator[str]:
    for pull in promotions_of(facts):
        yield from _merging_labels(pull)
        if pull.auto_merge:
            yield _auto_merge_is_on(pull)


def _group_contents(event: MergeGroupEvent, facts: GuardFacts) -> Iterator[str]:
    for commit in promoting_of(facts):
        yield from refuse_trailers(commit, facts.settings)
        yield from _refuse_contents(commit, _brought(commit, facts), commit.sha, facts)


def _brought(commit: Commit, facts: GuardFacts) -> tuple[PathChange, ...]:
    """What a promotion of a group changes; with later commits, such as a suggestion, if only they prove it.

    Whoever wrote these: from the promotion's parent on, the bytes are those of a proved promotion. Without
    known pull requests nobody has approved the later commits.
    """
    own = facts.files.get(commit.sha, ())
    versions = (own, *(facts.repairs.get(commit.sha, ()) if facts.pulls else ()))
    proved = (files for files in versions if not any(_refuse_contents(commit, files, commit.sha, facts)))
    return next(proved, own)


def _group_lines(event: MergeGroupEvent, facts: GuardFacts) -> Iterator[str]:
    promoting = {commit.sha: _brought(commit, facts) for commit in promoting_of(facts)}
    stray = stray_lines(facts.added_lines, promoting)
    brought = machine_lines(event, facts)
    yield from (_outside(line, event, facts) for line in stray if line in brought)


def _group_approved(event: MergeGroupEvent, facts: GuardFacts) -> Iterator[str]:
    for pull in promotions_of(facts):
        marks = marks_of(pull.head_sha, pull.body)
        commits = [commit for commit in facts.commits if marks & marks_of(commit.sha, commit.message)]
        if not _approved_by(pull, commits, facts):
            yield Phrase(
                "#{number} is queued, but {unapproved}",
                number=pull.number,
                unapproved=_unapproved(pull, facts),
            )
        yield from _refuse_unknown(pull, (), facts)


def _group_known(event: MergeGroupEvent, facts: GuardFacts) -> Iterator[str]:
    """Every promotion must have a known pull request, and every promoting pull request a promotion."""
    if event.number is None:
        yield "the queue's branch names no pull request"
    elif event.number not in {pull.number for pull in facts.pulls}:
        yield Phrase("#{number} is in the group, but --pulls does not list it", number=event.number)
    promoting = list(promoting_of(facts))
    marks = [marks_of(commit.sha, commit.message) for commit in promoting]
    for pull in promotions_of(facts):
        if not any(map(marks_of(pull.head_sha, pull.body).intersection, marks)):
            yield Phrase("#{number} contains no promotion", number=pull.number)
    pull_marks = set[str]().union(*(marks_of(pull.head_sha, pull.body) for pull in promotions_of(facts)))
    for commit in promoting:
        if pull_marks.isdisjoint(marks_of(commit.sha, commit.message)):
            yield Phrase("the pull request of commit {sha} is unknown", sha=commit.sha[:12])
    if not promoting and not machine_lines(event, facts):
        yield "the group claims to be coreloop's, but contains no promotion"


_GROUP_RULES: Final[tuple[Callable[[MergeGroupEvent, GuardFacts], Iterator[str]], ...]] = (
    _group_labels,
    _group_contents,
    _group_lines,
    _group_approved,
    _group_known,
)


# --- shared ----------------------------------------------------------------------------------------


def _refuse_contents(
    commit: Commit, files: tuple[PathChange, ...], sha: str, facts: GuardFacts
) -> Iterator[str]:
    yield from refuse_files(
        files,
        commit,
        settings=facts.settings,
        project=facts.project,
        width=facts.width,
        ours=facts.ours.get(sha, frozenset()),
        names=facts.names,
    )


def _refuse_unknown(pull: ReportedPull, commits: Sequence[Commit], facts: GuardFacts) -> Iterator[str]:
    """An approval cannot be told from a self-approval where it is unknown who made a commit."""
    listed = _listed(pull, facts)
    shas = (pull.head_sha, *(commit.sha for commit in commits), *(authorship.sha for authorship in listed))
    unknown = unaccounted(pull, shas, listed, facts.commits)
    if unknown and _approved_by(pull, commits, facts):
        yield (
            Phrase(
                "who pushed commit {unknown} of #{number} is unknown, and GitHub has not "
                "verified it, so an approval may be its author's own; push each commit by "
                "itself, or sign it",
                unknown=unknown[0][:12],
                number=pull.number,
            )
        )


def _approved_by(pull: ReportedPull, commits: Sequence[Commit], facts: GuardFacts) -> set[str]:
    """Logins of those whose approval counts."""
    reviews = [review for review in facts.reviews if review.pull in {None, pull.number}]
    listed = _listed(pull, facts)
    if nameless(commits, listed):
        return set()
    return approvers(reviews, head=pull.head_sha) - makers(pull, commits, listed)


def _unapproved(pull: ReportedPull, facts: GuardFacts) -> str:
    addresses = nameless(facts.commits, _listed(pull, facts))
    if not addresses:
        return Phrase(_UNAPPROVED)
    return Phrase(
        "GitHub names no account for the co-author {addresses}, who may be the approver; "
        "commit it again with the co-author's noreply address",
        addresses=printable(addresses[0]),
    )


def _listed(pull: ReportedPull, facts: GuardFacts) -> list[Authorship]:
    return [authorship for authorship in facts.authorships if authorship.pull in {None, pull.number}]
