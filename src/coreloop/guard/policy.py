"""The decision whether coreloop's rules let a pull request, or a merge group, merge.

A pure function of the event and the facts from git and the forge. Each rule is a function that yields a
reason for every violation.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from coreloop.errors import UsageError
from coreloop.guard.approval import is_approved, logins_of, needs_approval
from coreloop.guard.change import FileChange, Gained
from coreloop.guard.claims import (
    claims_of_commits,
    claims_of_event,
    claims_of_lines,
    claims_of_pull,
    is_promotion,
    labels_of_event,
    labels_of_pull,
)
from coreloop.guard.decision import Action, Decision
from coreloop.guard.event import (
    Authorship,
    Event,
    MergeGroupEvent,
    PullRequestEvent,
    PushEvent,
    ReportedPull,
    Review,
)
from coreloop.guard.figures import is_day
from coreloop.guard.gained import stray_lines
from coreloop.guard.labels import asks_to_merge
from coreloop.guard.letters import plain_letters
from coreloop.guard.promotion import engine_of, refuse_files, refuse_trailers, subject_of
from coreloop.history.repository import Commit
from coreloop.history.trailers import LABEL, SECTIONS, branch_start, promoted_keys, read_promoted
from coreloop.project.settings import Settings
from coreloop.text import printable

_ACTIONS: Final = frozenset(
    {"assigned", "auto_merge_disabled", "auto_merge_enabled", "closed", "converted_to_draft", "demilestoned"}
    | {"dequeued", "edited", "enqueued", "labeled", "locked", "milestoned", "opened", "ready_for_review"}
    | {"reopened", "review_request_removed", "review_requested", "synchronize", "unassigned", "unlabeled"}
    | {"unlocked", "submitted", "dismissed"}  # the last two are reviews
)
_APPROVE: Final = "have someone with write access approve it who neither wrote nor pushed it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All inputs of a decision except the event.

    Attributes
    ----------
    commits : tuple of Commit
        Commits of the head that are not in the base, newest first.
    files : mapping of str to tuple of FileChange
        Changed files by commit: the head of a pull request, each promotion of a group.
    repairs : mapping of str to tuple of tuple of FileChange
        By promotion of a group: the same, with each of the later commits while a single file changes.
    settings : Settings
        The base's coreloop.yaml.
    project : str
        Folder of coreloop.yaml below the repository's root: ``""``, or with a trailing slash.
    ours : mapping of str to frozenset of str
        By commit that removes lines: the docstring's lines from earlier promotions.
    landed : frozenset of str
        Commits with signs that are on a protected branch already, or repeat a promotion that is.
    gained : tuple of Gained
        Lines of coreloop's that docstrings gain.
    names : frozenset of str
        Names in the added lines that the base has in other files.
    reviews, pulls, authorships
        The API's answers.
    """

    commits: tuple[Commit, ...] = ()
    files: Mapping[str, tuple[FileChange, ...]]
    repairs: Mapping[str, tuple[tuple[FileChange, ...], ...]] = field(default_factory=dict)
    settings: Settings
    project: str = ""
    ours: Mapping[str, frozenset[str]] = field(default_factory=dict)
    landed: frozenset[str] = frozenset()
    gained: tuple[Gained, ...] = ()
    names: frozenset[str] = frozenset()
    reviews: tuple[Review, ...] = ()
    pulls: tuple[ReportedPull, ...] = ()
    authorships: tuple[Authorship, ...] = ()


def claims(event: Event, facts: Facts) -> tuple[str, ...]:
    """The signs that an event is about a promotion; a label alone is none."""
    if isinstance(event, PushEvent):
        return ()
    signs = [*_stated_claims(event, facts), *claims_of_lines(facts.gained)]
    if not signs:
        return ()
    if isinstance(event, PullRequestEvent):
        return (*signs, *labels_of_event(event))
    return (*signs, *(f"{label} of #{pull.number}" for pull in facts.pulls for label in labels_of_pull(pull)))


def _stated_claims(event: PullRequestEvent | MergeGroupEvent, facts: Facts) -> Iterator[str]:
    """The signs in words: titles, branches, messages. Those of a backport are a landed promotion's."""
    titled = not _is_landed(facts)
    if isinstance(event, PullRequestEvent):
        yield from claims_of_event(event, titled=titled)
    else:
        for pull in facts.pulls:
            yield from (f"{claim} of #{pull.number}" for claim in claims_of_pull(pull, titled=titled))
    yield from claims_of_commits(_own(facts))


def _own(facts: Facts) -> tuple[Commit, ...]:
    """The commits that are not on a protected branch."""
    return tuple(commit for commit in facts.commits if commit.sha not in facts.landed)


def _is_landed(facts: Facts) -> bool:
    """Whether all that a change brings of promotions is on a protected branch."""
    return bool(facts.landed) and not facts.gained and not any(claims_of_commits(_own(facts)))


def decide(event: Event, facts: Facts) -> Decision:
    """Apply every rule to an event.

    Raises
    ------
    UsageError
        The event is about a promotion, and the guard does not handle its action.
    """
    signs = claims(event, facts)
    if isinstance(event, PushEvent) or not signs:
        return Decision()
    if isinstance(event, MergeGroupEvent):
        return _decide_group(event, facts, signs)
    if event.action not in _ACTIONS:
        raise UsageError(f"the guard does not handle the pull request action {printable(event.action)}")
    rules = _RULES if any(_stated_claims(event, facts)) else _RULES_OF_LINES
    reasons = [reason for rule in rules for reason in rule(event, facts)]
    decision = Decision(signs, tuple(dict.fromkeys(reasons)), tuple(_actions(event, facts)))
    return _explained(decision, [event.pull])


def _decide_group(event: MergeGroupEvent, facts: Facts, signs: tuple[str, ...]) -> Decision:
    if event.action == "destroyed":
        return Decision(signs)
    if event.action != "checks_requested":
        raise UsageError(f"the guard does not handle the merge group action {printable(event.action)}")
    reasons = [reason for rule in _GROUP_RULES for reason in rule(event, facts)]
    pulls = list(_promotions(facts))
    actions = (action for pull in pulls for action in _actions_on(pull))
    return _explained(Decision(signs, tuple(dict.fromkeys(reasons)), tuple(actions)), pulls)


def _explained(decision: Decision, pulls: Iterable[ReportedPull]) -> Decision:
    """A decision with what the base branch lets happen without it."""
    known = [(pull.base, pull.base_rules) for pull in pulls if pull.base_rules is not None]
    warnings = (warning for base, rules in known for warning in rules.warnings(base))
    unread = (printable(rules.unread) for _, rules in known if rules.unread)
    return replace(decision, warnings=tuple(dict.fromkeys(warnings)), unread=tuple(dict.fromkeys(unread)))


def _actions(event: PullRequestEvent, facts: Facts) -> Iterator[Action]:
    yield from _actions_on(_with_new_label(event))
    if _made_ready_by_bot(event, facts):
        yield Action("convert_to_draft", event.pull.number)


def _actions_on(pull: ReportedPull) -> Iterator[Action]:
    for label in filter(asks_to_merge, pull.labels):
        yield Action("remove_label", pull.number, label)
    if pull.auto_merge:
        yield Action("disable_auto_merge", pull.number)


# --- rules for a pull request ----------------------------------------------------------------------


def _labels(event: PullRequestEvent, facts: Facts) -> Iterator[str]:
    yield from _merging_labels(_with_new_label(event))


def _with_new_label(event: PullRequestEvent) -> ReportedPull:
    """The pull request, with the event's label added if the payload's list does not have it yet."""
    if event.live or event.action != "labeled" or event.label is None or event.label in event.pull.labels:
        return event.pull
    return replace(event.pull, labels=(*event.pull.labels, event.label))


def _merging_labels(pull: ReportedPull) -> Iterator[str]:
    for label in filter(asks_to_merge, pull.labels):
        yield f"the label {printable(label)} of #{pull.number} asks a bot to merge; remove it"


def _native_auto_merge(event: PullRequestEvent, facts: Facts) -> Iterator[str]:
    if event.pull.auto_merge or (event.action == "auto_merge_enabled" and not event.live):
        yield _auto_merge_is_on(event.pull)


def _auto_merge_is_on(pull: ReportedPull) -> str:
    return f"auto-merge of #{pull.number} is on; turn it off"


def _sticky_label(event: PullRequestEvent, facts: Facts) -> Iterator[str]:
    removed = event.action == "unlabeled" and plain_letters(event.label or "") == LABEL
    if removed and LABEL not in map(plain_letters, event.pull.labels):
        yield f"the label {LABEL} was removed; add it again"


def _ready(event: PullRequestEvent, facts: Facts) -> Iterator[str]:
    if _made_ready_by_bot(event, facts):
        sender = printable(event.sender.login) or "an unknown account"
        yield f"{sender}, not a human, marked it ready for review; make it a draft again, or {_APPROVE}"


def _made_ready_by_bot(event: PullRequestEvent, facts: Facts) -> bool:
    """Whether a machine took it out of draft; moot once a human has approved it, or it is a draft again."""
    readies = event.action in {"ready_for_review", "opened", "reopened"} and not event.pull.draft
    return readies and not event.sender.human and not _is_approved(event.pull, facts)


def _own_repository(event: PullRequestEvent, facts: Facts) -> Iterator[str]:
    if not event.pull.same_repo:
        yield "it comes from another repository; open it from a branch of this repository"


def _one_commit(event: PullRequestEvent, facts: Facts) -> Iterator[str]:
    """Besides "Update branch" and a reviewer's suggestions, which GitHub commits; `_contents` proves them."""
    commits = [commit for commit in facts.commits if is_promotion(commit) or not _by_github(commit)]
    if len(commits) != 1:
        yield f"it has {len(commits)} commits; a promotion has exactly one; promote it again"
    for commit in commits:
        if len(commit.parents) > 1:
            yield f"commit {commit.sha[:12]} is a merge; rebase instead"


def _by_github(commit: Commit) -> bool:
    """Whether it was committed on GitHub's pages, as its committer's address says."""
    return commit.people[-1:] != () and commit.people[-1].casefold().startswith("noreply@")


def promotion_of(facts: Facts) -> tuple[Commit, ...]:
    """The commit of a pull request that is the promotion: the oldest with its trailers, else the oldest."""
    return tuple([commit for commit in facts.commits if is_promotion(commit)] or facts.commits)[-1:]


def _trailers(event: PullRequestEvent, facts: Facts) -> Iterator[str]:
    for commit in promotion_of(facts):
        yield from refuse_trailers(commit, facts.settings)


def _title(event: PullRequestEvent, facts: Facts) -> Iterator[str]:
    for commit in promotion_of(facts):
        if event.pull.title != subject_of(commit):
            yield "its title is not its commit's subject; restore the title"


def _branch(event: PullRequestEvent, facts: Facts) -> Iterator[str]:
    for commit in promotion_of(facts):
        phases = {group.get("Phase", "") for group in read_promoted(commit.message)}
        starts = [branch_start(phase, engine_of(commit)) for phase in phases & SECTIONS.keys()]
        start = "|".join(map(re.escape, starts)) or "\n"
        match = re.fullmatch(rf"(?:{start})[a-z0-9-]+-([0-9]{{8}})(?:-[0-9]{{1,2}})?", event.pull.branch)
        if match is None or not is_day(match[1]):
            yield f"branch {printable(event.pull.branch)} does not match its commit; promote it again"


def _body(event: PullRequestEvent, facts: Facts) -> Iterator[str]:
    """A squash merge copies the trailers from the body."""
    groups = read_promoted(event.pull.body)
    for commit in promotion_of(facts):
        if groups != read_promoted(commit.message):
            yield "the trailers in its description are not its commit's; restore them"


def _contents(event: PullRequestEvent, facts: Facts) -> Iterator[str]:
    head = event.pull.head_sha
    for commit in promotion_of(facts):
        yield from _refuse_contents(commit, facts.files.get(head, ()), head, facts)


def _lines(event: PullRequestEvent, facts: Facts) -> Iterator[str]:
    if not any(map(is_promotion, _own(facts))):
        yield from map(_outside, facts.gained)


def _outside(line: Gained) -> str:
    return (
        f"{printable(line.path)}: {printable(line.line)} is a line of coreloop's and comes without its "
        "promotion; remove it, or promote it in a pull request of its own"
    )


def _approved(event: PullRequestEvent, facts: Facts) -> Iterator[str]:
    if needs_approval(event) and not _made_ready_by_bot(event, facts):
        state = "queued" if event.action == "enqueued" else "not a draft"
        yield from _refuse_unapproved(event.pull, facts, state=state)


_RULES: Final[tuple[Callable[[PullRequestEvent, Facts], Iterator[str]], ...]] = (
    _labels,
    _native_auto_merge,
    _sticky_label,
    _ready,
    _own_repository,
    _one_commit,
    _trailers,
    _title,
    _branch,
    _body,
    _contents,
    _lines,
    _approved,
)
# For a pull request that only its lines give away: the other rules are about words that it does not have.
_RULES_OF_LINES: Final = (_labels, _native_auto_merge, _lines)


# --- rules for a merge group -----------------------------------------------------------------------


def _group_labels(event: MergeGroupEvent, facts: Facts) -> Iterator[str]:
    for pull in _promotions(facts):
        yield from _merging_labels(pull)
        if pull.auto_merge:
            yield _auto_merge_is_on(pull)


def _group_contents(event: MergeGroupEvent, facts: Facts) -> Iterator[str]:
    for commit in _promoting(facts):
        yield from refuse_trailers(commit, facts.settings)
        yield from _refuse_contents(commit, _brought(commit, facts), commit.sha, facts)


def _brought(commit: Commit, facts: Facts) -> tuple[FileChange, ...]:
    """What a promotion of a group changes; with later commits, such as a suggestion, if only they prove it.

    Whoever wrote these: from the promotion's parent on, the bytes are those of a proved promotion. Without
    known pull requests nobody has approved the later commits.
    """
    own = facts.files.get(commit.sha, ())
    versions = (own, *(facts.repairs.get(commit.sha, ()) if facts.pulls else ()))
    proved = (files for files in versions if not any(_refuse_contents(commit, files, commit.sha, facts)))
    return next(proved, own)


def _group_lines(event: MergeGroupEvent, facts: Facts) -> Iterator[str]:
    promoting = {commit.sha: _brought(commit, facts) for commit in _promoting(facts)}
    yield from map(_outside, stray_lines(facts.gained, promoting))


def _group_approved(event: MergeGroupEvent, facts: Facts) -> Iterator[str]:
    for pull in _promotions(facts):
        yield from _refuse_unapproved(pull, facts, state="queued")


def _group_known(event: MergeGroupEvent, facts: Facts) -> Iterator[str]:
    """Every promotion must have a known pull request, and every promoting pull request a promotion."""
    if event.number is None:
        yield "the queue's branch names no pull request"
    elif facts.pulls and event.number not in {pull.number for pull in facts.pulls}:
        yield f"#{event.number} is in the group, but --pulls does not list it"
    marks = [_marks(commit.sha, commit.message) for commit in _promoting(facts)]
    for pull in _promotions(facts):
        if not any(map(_marks(pull.head_sha, pull.body).intersection, marks)):
            yield f"#{pull.number} contains no promotion"
    pull_marks = set[str]().union(*(_marks(pull.head_sha, pull.body) for pull in _promotions(facts)))
    for commit in _promoting(facts) if facts.pulls else ():
        if pull_marks.isdisjoint(_marks(commit.sha, commit.message)):
            yield f"the pull request of commit {commit.sha[:12]} is unknown"


def _marks(sha: str, text: str) -> set[str]:
    """Identifiers that a commit shares with its pull request, squashed or not."""
    return {sha, *promoted_keys(text)}


def _group_seen(event: MergeGroupEvent, facts: Facts) -> Iterator[str]:
    """Without known pull requests, the promotion's commit itself must be approved."""
    if facts.pulls:
        return
    for commit in _promoting(facts):
        if not is_approved(facts.reviews, head=commit.sha, authors=_authors(commit.sha, facts)):
            yield f"no human other than its author has approved commit {commit.sha[:12]}; {_APPROVE}"
    if not any(_promoting(facts)) and not facts.gained:
        yield "the group claims to be coreloop's, but contains no promotion"


_GROUP_RULES: Final[tuple[Callable[[MergeGroupEvent, Facts], Iterator[str]], ...]] = (
    _group_labels,
    _group_contents,
    _group_lines,
    _group_approved,
    _group_known,
    _group_seen,
)


def _promotions(facts: Facts) -> Iterator[ReportedPull]:
    """The pull requests of a group that are coreloop's, by their signs, their head commit or their text."""
    own = [commit for commit in _own(facts) if is_promotion(commit)]
    marks = set[str]().union(*(_marks(commit.sha, commit.message) for commit in own))
    for pull in facts.pulls:
        named = any(claims_of_pull(pull, titled=not _is_landed(facts)))
        if named or not marks.isdisjoint(_marks(pull.head_sha, pull.body)):
            yield pull


def _promoting(facts: Facts) -> Iterator[Commit]:
    """The commits of a group that carry a promotion; merge commits only repeat trailers."""
    return (commit for commit in _own(facts) if is_promotion(commit) and len(commit.parents) < 2)


# --- shared ----------------------------------------------------------------------------------------


def _refuse_contents(commit: Commit, files: tuple[FileChange, ...], sha: str, facts: Facts) -> Iterator[str]:
    yield from refuse_files(
        files,
        commit,
        settings=facts.settings,
        project=facts.project,
        ours=facts.ours.get(sha, frozenset()),
        names=facts.names,
    )


def _refuse_unapproved(pull: ReportedPull, facts: Facts, *, state: str) -> Iterator[str]:
    if not _is_approved(pull, facts):
        unapproved = "no human other than its author has approved its head commit"
        yield f"#{pull.number} is {state}, but {unapproved}; {_APPROVE}"


def _is_approved(pull: ReportedPull, facts: Facts) -> bool:
    reviews = [review for review in facts.reviews if review.pull in {None, pull.number}]
    marks = _marks(pull.head_sha, pull.body)
    own = [commit.sha for commit in facts.commits if marks & _marks(commit.sha, commit.message)]
    # not the head alone: "Update branch" puts a commit of somebody else's on top of the promotion
    authors = {login for sha in (pull.head_sha, *own) for login in _authors(sha, facts)}
    return is_approved(reviews, head=pull.head_sha, authors={pull.author.login.casefold(), *authors})


def _authors(sha: str, facts: Facts) -> Collection[str]:
    """Logins of a commit's author, committer and pusher, from git's addresses and the API."""
    authorships = (authorship for authorship in facts.authorships if authorship.sha == sha)
    logins = {login.casefold() for authorship in authorships for login in authorship.logins}
    people = (commit.people for commit in facts.commits if commit.sha == sha)
    return logins.union(*map(logins_of, people))
