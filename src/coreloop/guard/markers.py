"""All inputs of a decision but the event, and what in them says that a change is coreloop's."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from coreloop.base.git.repository import Commit
from coreloop.base.git.trailers import promoted_keys, read_promoted
from coreloop.base.project.line_length import DEFAULT
from coreloop.base.project.settings import Settings
from coreloop.base.text import printable
from coreloop.guard.change import AddedLine, PathChange
from coreloop.guard.claims import (
    claims_of_commits,
    claims_of_pull,
    is_branch,
)
from coreloop.guard.event import (
    Authorship,
    Event,
    MergeGroupEvent,
    PullRequestEvent,
    PushEvent,
    ReportedPull,
    Review,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardFacts:
    """All inputs of a decision except the event.

    Attributes
    ----------
    commits : tuple of Commit
        Commits of the head that are not in the base, newest first.
    files : mapping of str to tuple of PathChange
        Changed files by commit: the head of a pull request, each promotion of a group.
    repairs : mapping of str to tuple of tuple of PathChange
        Of a pull request, by its head: what its promotion's commit alone changes. Of a group, by promotion:
        the changed files with each of the later commits while a single file changes.
    touched : mapping of str to tuple of str
        The files that each commit changes.
    settings : Settings
        The base's coreloop.yaml; the defaults if it cannot be used.
    unusable : str
        Why it cannot be used, or "".
    project : str
        Folder of coreloop.yaml below the repository's root: ``""``, or with a trailing slash.
    width : int
        Columns at which the base's lines are wrapped.
    ours : mapping of str to frozenset of str
        By commit that removes lines: the docstring's lines from earlier promotions.
    landed : frozenset of str
        Commits with signs that are on a protected branch already, or repeat a promotion that is.
    merged : tuple of mapping of str to str
        The trailers of the merged promotions that the commits or the descriptions name, as merged.
    false_reverts : tuple of str
        What messages and descriptions say of a revert that is not so.
    added_lines : tuple of AddedLine
        Lines of coreloop's that docstrings gain.
    machine_made : mapping of AddedLine to str
        Those that a machine's commit brings, and that commit.
    machines : mapping of str to str
        Commits that a machine wrote, co-authored, committed or pushed, and its name.
    unknown : frozenset of str
        Commits that GitHub has not verified, and whose pusher is unknown.
    names : frozenset of str
        What the base's other files have of the names in lines, as in
        `coreloop.learn.proposals.declared_words.Words`.
    reviews, pulls, authorships
        The API's answers.
    """

    commits: tuple[Commit, ...] = ()
    files: Mapping[str, tuple[PathChange, ...]]
    repairs: Mapping[str, tuple[tuple[PathChange, ...], ...]] = field(default_factory=dict)
    touched: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    settings: Settings
    unusable: str = ""
    project: str = ""
    width: int = DEFAULT
    ours: Mapping[str, frozenset[str]] = field(default_factory=dict)
    landed: frozenset[str] = frozenset()
    merged: tuple[Mapping[str, str], ...] = ()
    false_reverts: tuple[str, ...] = ()
    added_lines: tuple[AddedLine, ...] = ()
    machine_made: Mapping[AddedLine, str] = field(default_factory=dict)
    machines: Mapping[str, str] = field(default_factory=dict)
    unknown: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    reviews: tuple[Review, ...] = ()
    pulls: tuple[ReportedPull, ...] = ()
    authorships: tuple[Authorship, ...] = ()

    def repeats(self, text: str) -> bool:
        """Whether all trailers of a text are those of merged promotions."""
        groups = read_promoted(text)
        return bool(groups) and all(group in self.merged for group in groups)


def claims(event: Event, facts: GuardFacts) -> tuple[str, ...]:
    """The signs that an event is about a promotion: words, or lines that a machine brings."""
    if isinstance(event, PushEvent):
        return ()
    paths = dict.fromkeys(line.path for line in machine_lines(event, facts))
    lines = (f"coreloop's lines in {printable(path)}" for path in paths)
    return (*stated_claims(event, facts), *lines)


def stated_claims(event: PullRequestEvent | MergeGroupEvent, facts: GuardFacts) -> Iterator[str]:
    """The signs in words: titles, branches, messages."""
    pulls = _pulls(event, facts)
    named = _is_named(pulls, facts)
    if isinstance(event, PullRequestEvent):
        yield from _claims_of(event.pull, facts, named=named)
    else:
        for pull in pulls:
            yield from (f"{claim} of #{pull.number}" for claim in _claims_of(pull, facts, named=named))
    is_merging = isinstance(event, MergeGroupEvent)  # there the pull request of each merge is known
    yield from claims_of_commits(own_commits(facts), named=named or not is_merging)


def _pulls(event: PullRequestEvent | MergeGroupEvent, facts: GuardFacts) -> tuple[ReportedPull, ...]:
    return (event.pull,) if isinstance(event, PullRequestEvent) else facts.pulls


def _is_named(pulls: Sequence[ReportedPull], facts: GuardFacts) -> bool:
    """Whether a promotion's branch name is a sign: not if people made it all, and no line of coreloop's."""
    by_people = pulls and not facts.machines and not facts.unknown
    return bool(facts.added_lines) or not by_people or not all(pull.author.human for pull in pulls)


def _claims_of(pull: ReportedPull, facts: GuardFacts, *, named: bool) -> Iterator[str]:
    """The signs of a pull request; a backport's title, and its commits' trailers, are none."""
    landed = (its.message for its in facts.commits if its.sha in facts.landed)
    known = [group for message in landed for group in read_promoted(message)]
    repeats = all(group in known for group in read_promoted(pull.message))
    return claims_of_pull(pull, titled=not (repeats and is_landed(facts)), named=named)


def machine_lines(event: PullRequestEvent | MergeGroupEvent, facts: GuardFacts) -> tuple[AddedLine, ...]:
    """The gained lines that are no human's: of a machine's pull request, or of a machine's commit."""
    if any(_machine_pulls(event, facts)):
        return facts.added_lines
    return tuple(line for line in facts.added_lines if line in facts.machine_made)


def _machine_pulls(event: PullRequestEvent | MergeGroupEvent, facts: GuardFacts) -> Iterator[ReportedPull]:
    """The pull requests that a machine opened; of a group those that are no promotion's."""
    pulls, promoting = _pulls(event, facts), set[int]()
    if isinstance(event, MergeGroupEvent):
        promoting = {pull.number for pull in promotions_of(facts)}
    yield from (pull for pull in pulls if not pull.author.human and pull.number not in promoting)


def whose(line: AddedLine, event: PullRequestEvent | MergeGroupEvent, facts: GuardFacts) -> str:
    """What makes a line a machine's, or a promotion's."""
    for pull in _machine_pulls(event, facts):
        return _opened(pull)
    sha = facts.machine_made.get(line)
    return "its pull request is said to be a promotion" if sha is None else _maker(sha, facts)


def is_repeated(pull: ReportedPull, commits: Iterable[Commit], facts: GuardFacts) -> bool:
    """Whether a pull request's only signs are the trailers of merged promotions, exactly as merged.

    Its change is another than theirs, as in a backport that a conflict changed: it is no promotion, and
    nothing of it is proved.
    """
    own = [commit for commit in commits if commit.sha not in facts.landed]
    texts = [commit.message for commit in own if any(claims_of_commits([commit]))]
    texts += [pull.message] if promoted_keys(pull.message) else []
    return bool(texts) and all(map(facts.repeats, texts)) and not is_branch(pull.branch)


def refuse_repeated(pull: ReportedPull, shas: Iterable[str], facts: GuardFacts) -> Iterator[str]:
    """Why the words of a merged promotion are not a person's to repeat: the change is a machine's."""
    machine_made = [sha for sha in shas if sha in facts.machines or sha in facts.unknown]
    if machine_made or not pull.author.human:
        yield (
            f"#{pull.number} has the trailers of a merged promotion on another change ("
            f"{_maker(machine_made[0], facts) if pull.author.human else _opened(pull)}); have a "
            "person commit, push and open it as their own (git commit --amend --reset-author)"
        )


def _opened(pull: ReportedPull) -> str:
    return f"{printable(pull.author.login or '?')} opened #{pull.number}"


def _maker(sha: str, facts: GuardFacts) -> str:
    if sha not in facts.machines:
        return f"who pushed commit {sha[:12]} is unknown"
    return f"{printable(facts.machines[sha] or '?')} made or pushed commit {sha[:12]}"


def outside(line: AddedLine, event: PullRequestEvent | MergeGroupEvent, facts: GuardFacts) -> str:
    return (
        f"{printable(line.path)}: {printable(line.line)} is a line of coreloop's and comes "
        f"without its promotion ({whose(line, event, facts)}); promote it in a pull request "
        "of its own, reword it, or have a person write, push and open it"
    )


def usable_settings(event: PullRequestEvent | MergeGroupEvent, facts: GuardFacts) -> Iterator[str]:
    if facts.unusable:
        yield (
            f"the base's coreloop.yaml cannot be used ({facts.unusable}), so what claims to be "
            "coreloop's cannot be checked; repair coreloop.yaml in a pull request of its own, "
            "merge that, then re-run this job"
        )


def own_commits(facts: GuardFacts) -> tuple[Commit, ...]:
    """The commits that are not on a protected branch."""
    return tuple(commit for commit in facts.commits if commit.sha not in facts.landed)


def is_landed(facts: GuardFacts) -> bool:
    """Whether all that a change brings of promotions is on a protected branch."""
    return bool(facts.landed) and not facts.added_lines and not any(claims_of_commits(own_commits(facts)))


def promotion_of(facts: GuardFacts) -> tuple[Commit, ...]:
    """The commit of a pull request that is the promotion: the oldest with its trailers, else the oldest."""
    return tuple([commit for commit in facts.commits if promoted_keys(commit.message)] or facts.commits)[-1:]


def promotions_of(facts: GuardFacts) -> Iterator[ReportedPull]:
    """The pull requests of a group that are coreloop's, by their signs, their head commit or their text."""
    own = [commit for commit in own_commits(facts) if promoted_keys(commit.message)]
    marks = set[str]().union(*(marks_of(commit.sha, commit.message) for commit in own))
    named = _is_named(facts.pulls, facts)
    for pull in facts.pulls:
        claimed = any(_claims_of(pull, facts, named=named))
        if claimed or not marks.isdisjoint(marks_of(pull.head_sha, pull.message)):
            yield pull


def promoting_of(facts: GuardFacts) -> Iterator[Commit]:
    """The commits of a group that carry a promotion; merge commits only repeat trailers."""
    return (
        commit for commit in own_commits(facts) if promoted_keys(commit.message) and len(commit.parents) == 1
    )


def marks_of(sha: str, text: str) -> set[str]:
    """Identifiers that a commit shares with its pull request, squashed or not."""
    return {sha, *promoted_keys(text)}
