"""The facts that a decision on a possible promotion is based on: git, coreloop.yaml and the API's answers."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from coreloop.base.errors import GitError, SettingsError
from coreloop.base.git.promotions import History, Promotion, read_history, reread, reverted_in
from coreloop.base.git.repository import Commit, Repository
from coreloop.base.git.trailers import promoted_keys, read_promoted
from coreloop.base.messages import Phrase, text_of
from coreloop.base.project.line_length import line_length
from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import find_root, open_workspace
from coreloop.descriptions.own_lines import promoted_lines
from coreloop.guard.added_lines import Lines, gained_lines, own_lines, read_added_lines
from coreloop.guard.approval import authorships_of, machines, unaccounted
from coreloop.guard.change import EMPTY, AddedLine, CommitRange, PathChange, read_files, read_texts
from coreloop.guard.claims import claims_of_commits
from coreloop.guard.event import MergeGroupEvent, PullRequestEvent, ReportedPull
from coreloop.guard.inputs import Answers
from coreloop.guard.makers import machine_made
from coreloop.guard.markers import GuardFacts, claims, promoting_of, promotion_of
from coreloop.guard.promotion import lines_of
from coreloop.learn.proposals.allowed_lines import is_form
from coreloop.learn.proposals.declared_words import BaseNames

_Versions: TypeAlias = tuple[tuple[PathChange, ...], ...]
"""The files that a promotion changes: alone, then with later commits."""
_Patch: TypeAlias = tuple[str, Counter[AddedLine]]


def read_facts(
    repository: Repository,
    event: PullRequestEvent | MergeGroupEvent,
    change: CommitRange,
    *,
    folder: Path,
    answers: Answers,
) -> GuardFacts:
    """The facts about a change; its files only if something is a sign of a promotion.

    Without settings that can be used these are the only facts: they block no other work.

    Parameters
    ----------
    folder : Path
        A checkout of the base: its coreloop.yaml counts, and no code of the pull request runs.
    """
    pulls = (event.pull,) if isinstance(event, PullRequestEvent) else answers.pulls
    settings, unusable = _settings(folder)
    facts = GuardFacts(
        commits=change.commits,
        files={},
        settings=settings,
        unusable=unusable,
        reviews=answers.reviews,
        pulls=answers.pulls,
        authorships=answers.authorships,
        machines=dict(machines(change.commits, answers.authorships, pulls)),
        unknown=frozenset(_unknown(event, change, answers)),
    )
    facts = _with_signs(repository, change, facts, pulls, default_branch=event.default_branch)
    if unusable or not claims(event, facts):
        return facts
    if isinstance(event, PullRequestEvent):
        promoting, versions = _of_pull(repository, change, facts)
    else:
        promoting, versions = _of_group(repository, facts)
    project = _below(repository.root, find_root(folder))
    added = list(_added(promoting, versions))
    return replace(
        facts,
        files={sha: files[0] for sha, files in versions.items()},
        repairs={sha: files[1:] for sha, files in versions.items()},
        touched={commit.sha: _touched(repository, commit, facts.commits) for commit in facts.commits},
        project=project,
        width=line_length(lambda name: repository.read(change.merge_base, f"{project}{name}")),
        ours=_ours(repository, promoting, versions, project),
        names=BaseNames(repository, change.base, settings).among(
            (line for _, line in added), {path for path, _ in added}
        ),
    )


def _settings(folder: Path) -> tuple[Settings, str]:
    """The settings of a checkout; the defaults, and why, if its coreloop.yaml cannot be used."""
    try:
        return open_workspace(folder).settings, ""
    except SettingsError as error:
        return Settings(), text_of(error)


def _unknown(
    event: PullRequestEvent | MergeGroupEvent, change: CommitRange, answers: Answers
) -> Iterator[str]:
    """The commits that may be anybody's; of a group those that its pull requests have, as they are there."""
    for pull in (event.pull,) if isinstance(event, PullRequestEvent) else answers.pulls:
        listed = authorships_of(pull, answers.authorships)
        shas = (its.sha for its in (change.commits if isinstance(event, PullRequestEvent) else listed))
        yield from unaccounted(pull, shas, listed, change.commits)


def _of_pull(
    repository: Repository, change: CommitRange, facts: GuardFacts
) -> tuple[dict[str, Commit], dict[str, _Versions]]:
    """The promotion of a pull request by the head's hash, and what the pull request and it alone change."""
    commits = promotion_of(facts)
    files = [read_files(repository, change.merge_base, change.head)]
    files += [read_files(repository, commit.parents[0], commit.sha) for commit in commits if commit.parents]
    promoting = [replace(commit, parents=(change.merge_base,)) for commit in commits]
    return dict(zip([change.head], promoting, strict=False)), {change.head: tuple(files)}


def _of_group(repository: Repository, facts: GuardFacts) -> tuple[dict[str, Commit], dict[str, _Versions]]:
    """The promotions of a group and what each changes, with later commits as well, by hash."""
    promoting = {commit.sha: commit for commit in promoting_of(facts)}
    children: dict[str, list[str]] = {}
    for commit in facts.commits:
        for parent in commit.parents:
            children.setdefault(parent, []).append(commit.sha)
    versions = {sha: tuple(_versions(repository, commit, children)) for sha, commit in promoting.items()}
    return promoting, versions


def _versions(
    repository: Repository, promotion: Commit, children: Mapping[str, Sequence[str]]
) -> Iterator[tuple[PathChange, ...]]:
    """The files that a promotion changes, alone and with each later commit while it is a single file."""
    following: Sequence[str] = (promotion.sha,)
    while len(following) == 1:
        files = read_files(repository, promotion.parents[0], following[0])
        yield files
        if len(files) != 1:
            return
        following = children.get(following[0], ())


def _touched(repository: Repository, commit: Commit, commits: Sequence[Commit]) -> tuple[str, ...]:
    """The files that a commit changes; a merge of the base is compared with the base that it merged."""
    own = {other.sha for other in commits}
    parents = [parent for parent in commit.parents if parent not in own] or commit.parents
    return tuple(repository.changed_files(parents[0], commit.sha)) if parents else ()


def _added(promoting: Mapping[str, Commit], versions: Mapping[str, _Versions]) -> Iterator[tuple[str, str]]:
    """The lines that the docstrings of promotions gain, with their files."""
    for sha, commit in promoting.items():
        for files in versions[sha]:
            yield from ((files[0].path, line) for line in lines_of(files, commit)[1])


def _ours(
    repository: Repository,
    promoting: Mapping[str, Commit],
    versions: Mapping[str, _Versions],
    project: str,
) -> dict[str, frozenset[str]]:
    """Lines of merged promotions by commit, read only for promotions that remove lines."""
    lines = {}
    for sha, commit in promoting.items():
        if any(lines_of(files, commit)[0] for files in versions[sha]):
            target, base = read_promoted(commit.message)[0]["Target"], commit.parents[0]
            path = project + target.partition("::")[0]
            lines[sha] = promoted_lines(repository, base, path=path, target=target, is_form=is_form)
    return lines


def _below(root: Path, project: Path) -> str:
    try:
        below = project.resolve().relative_to(root.resolve()).as_posix()
    except ValueError as error:
        raise GitError(
            Phrase(
                "{project} is not in the repository {root}; run the guard in the project",
                project=project,
                root=root,
            )
        ) from error
    return "" if below == "." else f"{below}/"


# --- what has landed, and what docstrings gain ------------------------------------------------------


def _with_signs(
    repository: Repository,
    change: CommitRange,
    facts: GuardFacts,
    pulls: Sequence[ReportedPull],
    *,
    default_branch: str,
) -> GuardFacts:
    """The facts, with the commits whose signs do not count and the gained lines.

    The default branch and ``forge: base``, as fetched from the remote, are the protected branches.
    """
    texts = read_texts(repository, change.merge_base, change.head)
    # a line that the base has lost since, as by a revert, does not move from there: it comes back
    added = read_added_lines(texts, lambda path: repository.followed(change.base, path))
    texts_of = (*(commit.message for commit in change.commits), *(pull.message for pull in pulls))
    keys = {key for text in texts_of for key in promoted_keys(text)}
    says_revert = any(map(reverted_in, texts_of))
    if not added and not keys and not says_revert and not any(claims_of_commits(change.commits)):
        return facts
    landing = _Landing(repository, change, _tips(repository, default_branch, facts.settings.forge.base))
    added = tuple(line for line in added if not landing.has(line))
    return replace(
        facts,
        landed=frozenset(landing.commits(copies=not added)),
        merged=tuple(landing.trailers(keys)),
        false_reverts=tuple(landing.false_reverts(pulls)) if says_revert else (),
        added_lines=added,
        machine_made=dict(
            machine_made(repository, change.commits, facts.machines.keys() | facts.unknown, added)
        ),
    )


def _tips(repository: Repository, *branches: str) -> set[str]:
    """Commits of the remote's branches in this clone."""
    remote = repository.remote()
    refs = (f"refs/remotes/{remote}/{branch}" for branch in set(branches))
    return {sha for ref in refs if (sha := repository.resolve(ref)) is not None}


@dataclass(frozen=True)
class _Landing:
    """What a change brings that is on the base or a protected branch already."""

    repository: Repository
    change: CommitRange
    tips: set[str]

    def commits(self, *, copies: bool) -> Iterator[str]:
        """Commits that a protected branch has, and those that repeat its promotions."""
        for its in self.change.commits:
            if its.sha not in self._new or (copies and self._is_copy(its)):
                yield its.sha

    @cached_property
    def _new(self) -> set[str]:
        """The commits that no protected branch has."""
        new = {commit.sha for commit in self.change.commits}
        for tip in self.tips - {self.change.base}:
            new &= {commit.sha for commit in self.repository.log(self.change.head, exclude=tip)}
        return new

    def false_reverts(self, pulls: Iterable[ReportedPull]) -> Iterator[str]:
        """Sentences that make history forget a promotion whose line stays, or count one without its line."""
        new = (its.message for its in self.change.commits if its.sha in self._new)
        for sha, state in self._false_states("\n\n".join((*new, *(pull.message for pull in pulls)))):
            yield Phrase(
                '"This reverts commit" in a message or the description is about the promotion {sha}, whose '
                "line is {state}; take the sentence out, or do what it says",
                sha=sha[:12],
                state=state,
            )

    def _false_states(self, text: str) -> Iterator[tuple[str, str]]:
        """A promotion that a text reverts is not merged, or history would read it otherwise than it is.

        What a protected branch has reverted counts, too, unless that branch has promoted the key again.
        """
        base, commits = list(self.repository.log(self.change.base)), self.change.commits
        known = {its.sha for its in (*base, *commits)}
        for sha in set(map(self.repository.resolve, reverted_in(text))) - known:
            if sha and promoted_keys(self.repository.message(sha)):
                yield sha, Phrase("not merged")
        landed = [its for its in commits if its.sha not in self._new]
        again = set[str]().union(*(promoted_keys(its.message) for its in landed))
        onto = Commit("", 0, "", (self.change.base, *(its.sha for its in landed)))
        brought = reread(self.repository, base, (onto, *landed))
        merge = Commit("", 0, text, (self.change.base, self.change.head))
        for its in reread(self.repository, base, (merge, *commits)):
            if its.key not in again and self._keeps(its, landed=its in brought) is not its.reverted:
                yield its.sha, Phrase("not there again") if its.reverted else Phrase("still there")

    def _keeps(self, promotion: Promotion, *, landed: bool) -> bool:
        """Whether a line of a promotion stands anywhere once the change is merged.

        Of a reverted one: whether all are in their place again. A revert that has ``landed`` on a protected
        branch may come with the same line of another tool there.
        """
        sha, base = promotion.sha, self.change.base
        parent, merged = self._parent(sha), self.repository.merged_tree(base, self.change.head)
        own, there = +self._gained(parent, sha), +self._gained(parent, merged)
        if promotion.reverted:
            return own <= there
        brought = self._gained(base, merged)
        moved = {its.line for its in +brought if not (landed and self.has(its))}
        taken = {its for its in own.keys() - there if brought[its] < 0 and its.line not in moved}
        return not {its.line for its in own.keys() - taken}.isdisjoint(its.line for its in there)

    def _is_copy(self, commit: Commit) -> bool:
        """Whether a commit has exactly the patch of a promotion in effect, and no other's trailers."""
        patch, groups = self._patch(commit.sha), read_promoted(commit.message)
        return any(patch == its and all(group in known for group in groups) for its, known in self._patches)

    @cached_property
    def _patches(self) -> list[tuple[_Patch, tuple[dict[str, str], ...]]]:
        """What each promotion in effect changed, as proposed and as merged, and its trailers."""
        merges = (its for history in self._histories.values() for its in history.merges)
        ends = ((its.promotion.sha, its.landing) for its in merges if not its.promotion.reverted)
        pairs = {(sha, end) for sha, landing in ends for end in (sha, landing)}
        return [(self._patch(end), read_promoted(self.repository.message(sha))) for sha, end in pairs]

    def trailers(self, keys: Iterable[str]) -> Iterator[dict[str, str]]:
        """The trailers of the promotions with these keys, as merged; reverted ones if none is in effect."""
        merged = (its for history in self._histories.values() for its in history.promotions())
        newest = {its.key: its.sha for its in sorted(merged, key=lambda its: not its.reverted)}
        for key in newest.keys() & keys:
            yield from read_promoted(self.repository.message(newest[key]))

    def has(self, line: AddedLine) -> bool:
        """Whether a protected branch has a line there, or undoing a promotion restores it."""
        place = (line.qualname, line.line)
        known = (self._lines(revision, line.path) for revision in self._revisions)
        return any(place in lines for lines in known) or line in self._restored

    @cached_property
    def _histories(self) -> dict[str, History]:
        """The histories of the base and of each protected branch."""
        return {
            tip: read_history(self.repository, self.repository.log(tip))
            for tip in {self.change.base, *self.tips}
        }

    def _parent(self, sha: str) -> str:
        return self.repository.resolve(f"{sha}^") or EMPTY

    def _patch(self, sha: str, *, undone: bool = False) -> _Patch:
        """What a commit changes, wherever in the files, and how many lines of coreloop's docstrings gain."""
        ends = (self._parent(sha), sha)
        old, new = ends[::-1] if undone else ends
        return self.repository.patch(old, new), self._gained(old, new)

    def _gained(self, old: str, new: str) -> Counter[AddedLine]:
        return gained_lines(read_texts(self.repository, old, new))

    @cached_property
    def _revisions(self) -> set[str | None]:
        """The base, the protected branches, and where the change left these."""
        tips = self.tips - {self.change.base}
        left = (self.repository.merge_base(tip, self.change.head) for tip in tips)
        return {self.change.base, *tips, *left}

    @cached_property
    def _restored(self) -> set[AddedLine]:
        """What docstrings regain by commits that do nothing but undo a promotion, whose line is then gone."""
        own = [self._patch(its.sha) for its in self.change.commits]
        merged = self._histories[self.change.base].promotions()
        undone = (self._patch(its.sha, undone=True) for its in merged)
        gains = [its[1] for its in undone if its in own]
        return {line for its in gains if all(map(self._is_gone, -its)) for line in +its}

    def _is_gone(self, line: AddedLine) -> bool:
        """Whether the change takes a line out of a docstring."""
        place, path = (line.qualname, line.line), line.path
        start, head = (self._lines(its, path) for its in (self.change.merge_base, self.change.head))
        return place in start and place not in head

    def _lines(self, revision: str | None, path: str) -> Lines:
        return own_lines((self.repository.followed(revision, path) if revision else None) or b"")
