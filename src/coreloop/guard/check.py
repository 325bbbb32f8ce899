"""``guard check``: whether a pull request, or a merge group, may merge as far as coreloop is concerned.

A promotion is proved by making its edit again; it waits for a human without a part in it. Whatever is no
promotion is left to the branch's own rules.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from coreloop.base.errors import GitError, SettingsError
from coreloop.base.git.repository import Commit, Repository
from coreloop.base.git.trailers import promoted_keys, read_promoted
from coreloop.base.text import printable
from coreloop.guard.change import Change, CheckInputs, Pull, read_change, says_promotion

if TYPE_CHECKING:
    from coreloop.base.project.settings import Settings
    from coreloop.guard.proof import Proof

CONTEXT: Final = "block-coreloop-auto-merge"
# Words of the labels of merge bots and queues: Kodiak, Mergify, Bors, Homu, Bulldozer, Aviator, Tide, Zuul.
_ASKS: Final = re.compile(
    r"merg|queue|kodiak|bors|homu|bulldozer|aviator|tide|zuul|rultor|marge|lgtm|cq1|cqplus|병합|머지|マージ|合并|合併"
    r"|(?:auto|readyto)(?:land|ship|submit|approve|squash|rebase|deploy)|(?:land|ship|submit)(?:it|me|when|now)"
)
# "do not merge" and "merge conflict" do not ask for a merge.
_ASKS_NOT: Final = re.compile(
    r"(?:dont|donot|not|no|never|cannot|cant|block|blocked|hold|needs|请勿|請勿|不要|禁止)"
    r"(?:be|yet|to|from|ready|auto)*(?:merge|合并|合併)|emergenc(?:y|ies)"
    r"|(?:merge|병합|머지|マージ|合并|合併)(?:conflicts?|blocked|freeze|금지|보류|불가|충돌|禁止|不可|冲突|衝突)"
)
_APPROVES: Final = re.compile(r"(?<![^\W_])r(?: ?\+(?![^\W_])|=\w)")  # bors: "r+", "r=name"; not "C++"


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a change may merge.

    Attributes
    ----------
    coreloop : bool
        Whether it is a promotion.
    reasons, waits : tuple of str
        What stops it, and what keeps it pending.
    undo : tuple of (int, str, str)
        What lets a machine merge: the pull request, its name, and the label's, empty for auto-merge.
    notes : tuple of str
        What changes no decision, as what the rules of the base leave open.
    """

    coreloop: bool = False
    reasons: tuple[str, ...] = ()
    waits: tuple[str, ...] = ()
    undo: tuple[Any, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def state(self) -> Literal["success", "pending", "failure"]:
        return "failure" if self.reasons else "pending" if self.waits else "success"


def check_event(inputs: CheckInputs) -> Decision:
    """Decide on an event.

    Raises
    ------
    CoreloopError
        If a file, the event or the clone cannot be used.
    """
    return _Check(Repository(inputs.folder), read_change(inputs), inputs.folder).decide()


def asks_to_merge(label: str) -> bool:
    """Whether a label looks like a request to a bot to merge.

    For promotions alone: a false positive costs a click, a false negative the review.
    """
    name = unicodedata.normalize("NFKC", label).casefold()
    plain = re.sub(r"[\W_]+", "", name)
    return _APPROVES.search(name) is not None or _ASKS.search(_ASKS_NOT.sub("", plain)) is not None


class _Check:
    """A change in a clone."""

    def __init__(self, repository: Repository, change: Change, folder: Path) -> None:
        start = None if repository.is_shallow() else repository.merge_base(change.base, change.head)
        if start is None:
            raise GitError("this clone lacks the history of the change; fetch it with depth 0")
        self._repository, self._change, self._folder, self._start = repository, change, folder, start
        self._commits = tuple(repository.log(change.head, exclude=change.base))

    def decide(self) -> Decision:
        """Whether it is a promotion, is proved, can only be merged by a human, and is approved."""
        promoting, pulls = list(self._promoting()), list(self._promoting_pulls())
        if not promoting and not pulls:
            return Decision()
        pulls = pulls if self._change.is_group else list(self._change.pulls)
        names = [(pull.number, str(label.get("name"))) for pull in pulls for label in pull.labels]
        undo = [(number, f"the label {printable(its)}", its) for number, its in names if asks_to_merge(its)]
        undo += [(pull.number, "auto-merge", "") for pull in pulls if pull.auto_merge is not None]
        reasons = [f"{what} of #{number} lets a machine merge; take it off" for number, what, _ in undo]
        reasons += [f"#{its.number} comes from a fork; push its branch here" for its in pulls if its.is_fork]
        reasons += self._refuse_commits(promoting)
        waits = list(self._unapproved(pulls, promoting))
        if self._change.is_group:  # a queue drops what fails, and waits for what is pending
            reasons, waits = [*reasons, *waits], []
        notes = tuple(dict.fromkeys(note for pull in pulls for note in pull.notes))
        return Decision(True, tuple(dict.fromkeys(reasons)), tuple(waits), tuple(undo), notes)

    # --- what is a promotion ---------------------------------------------------------------------------

    def _promoting(self) -> Iterator[Commit]:
        """The commits that promote, newest first; not those that a protected branch has already."""
        for commit in filter(lambda its: says_promotion(its.message), self._commits):
            known = any(commit in log for log in self._logs.values())
            if not (known or self._is_merged(read_promoted(commit.message), *commit.parents[:1], commit.sha)):
                yield commit

    def _promoting_pulls(self) -> Iterator[Pull]:
        """The pull requests whose words say that they promote; of a group also those whose commits do."""
        promoted = [group for commit in self._commits for group in read_promoted(commit.message)]
        for pull in self._change.pulls:
            made = [its.message for its in self._change.made_for(pull) if self._change.is_group]
            # the title of a backport has no trailers
            said = [read_promoted(its) or promoted for its in (pull.message, *made) if says_promotion(its)]
            # whoever reads a promotion's title takes it for one
            is_own = not made and says_promotion(pull.title or "")
            ends = () if is_own else (self._change.base, self._change.head)
            if not all(self._is_merged(its, *ends) for its in said):
                yield pull

    def _is_merged(self, groups: Sequence[Mapping[str, str]], *ends: str) -> bool:
        """Whether promotions are merged and not brought again between two commits, as by a backport.

        On the branch that has them, they are brought again where their docstring gains a line, or if no ends
        are given.
        """
        ours, (own, known) = {_identity(group) for group in groups}, self._merged
        is_again = ours <= own and (not ends or any(self._gains(group, *ends) for group in groups))
        return bool(ours) and ours <= known and not is_again

    def _gains(self, group: Mapping[str, str], *ends: str) -> bool:
        """Whether a docstring gets bullets between two commits that the base does not have."""
        from coreloop.descriptions.own_lines import docstring_bullets  # loads what reads docstrings

        target = group.get("Target", "")
        path = self._project + target.partition("::")[0]
        shas = (self._change.base, self._change.head, *ends)
        base, head, *sides = (docstring_bullets(self._repository.read(sha, path), target) for sha in shas)
        return bool((head & sides[-1]) - sum(sides[:-1], base))

    @cached_property
    def _merged(self) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
        """The promotions that the base has, and all that it or a protected branch has."""
        merged = {
            tip: {_identity(group) for commit in log for group in read_promoted(commit.message)}
            for tip, log in self._logs.items()
        }
        return merged[self._change.base], set[tuple[str, str]]().union(*merged.values())

    @cached_property
    def _logs(self) -> dict[str, list[Commit]]:
        """The commits of the base, of the project's base branch and of the default branch, as fetched."""
        main = "HEAD" if isinstance(self._settings, str) else self._settings.forge.base
        refs = (f"refs/remotes/{self._repository.remote()}/{name}" for name in (main, "HEAD"))
        tips = (self._change.base, *map(self._repository.resolve, refs))
        return {sha: list(self._repository.log(sha)) for sha in dict.fromkeys(tips) if sha}

    @cached_property
    def _settings(self) -> "Settings | str":
        """The base's coreloop.yaml, or why it cannot be used; read for promotions only, as PyYAML is slow."""
        from coreloop.base.project.workspace import open_workspace

        try:
            return open_workspace(self._folder).settings
        except SettingsError as error:
            return str(error)

    @cached_property
    def _project(self) -> str:
        """The project's folder below the repository's root, with its slash."""
        from coreloop.base.project.workspace import find_root

        root, project = self._repository.root.resolve(), find_root(self._folder).resolve()
        if not project.is_relative_to(root):
            raise GitError(f"{project} is not in the repository {root}; run the guard in the project")
        return f"{project.relative_to(root).as_posix()}/".removeprefix("./")

    # --- is it proved, and approved --------------------------------------------------------------------

    def _refuse_commits(self, promoting: Sequence[Commit]) -> Iterator[str]:
        """Why it is not proved: of a pull request the whole change, of a group each of its promotions."""
        settings = self._settings
        if isinstance(settings, str):
            yield f"the base's coreloop.yaml cannot be used ({settings}); repair it in another pull request"
            return
        from coreloop.guard.proof import Proof  # loads what edits docstrings, for promotions only

        if len(promoting) != 1 and not self._change.is_group:
            yield f"it has {len(promoting)} promotions in its commits; a promotion's pull request has one"
            return
        for commit in promoting:
            old = (*commit.parents, self._start)[0]
            base = old if self._change.is_group else self._change.base
            proof = Proof(self._repository, commit, old, commit.sha, settings, self._project, base)
            yield from proof.refuse() if self._change.is_group else self._refuse_whole(proof)

    def _refuse_whole(self, proof: "Proof") -> Iterator[str]:
        """Why a pull request is more than its promotion, or than its promotion in a person's words."""
        whole = replace(proof, old=self._start, new=self._change.head)
        others = [its for its in self._commits if its.sha != proof.commit.sha]
        bots = {its.sha for its in self._change.made if not all(by.is_human for by in its.accounts.values())}
        bots.update(*(self._pushed(its) - self._pushed(its, by_people=True) for its in self._change.pulls))
        by_people = not any(its.sha in bots or "[bot]" in str(its.people) for its in others)
        for reason in whole.refuse():
            if not (by_people and whole.is_rewording_of(proof)):
                yield reason
        for pull in self._change.pulls:
            if read_promoted(pull.message) != proof.groups:
                yield "the trailers in its description are not its commit's; restore them"

    def _unapproved(self, pulls: Sequence[Pull], promoting: Sequence[Commit]) -> Iterator[str]:
        """The promotions that no approval counts for, and those of a group that no pull request brings."""
        for pull in pulls:
            made = self._change.made_for(pull)
            if not pull.approvers(self._change.reviews, made):
                yield f"#{pull.number} waits for the approval of a human without a part in it"
            elif unknown := pull.unknown_maker(made, self._pushed(pull)):
                yield f"the approval of #{pull.number} may be its maker's own: {unknown}"
        brought = {key for its in self._change.made for key in promoted_keys(its.message)}
        for commit in promoting if self._change.is_group else ():
            if not brought.issuperset(promoted_keys(commit.message)):
                yield f"commit {commit.sha[:12]} is a promotion of no known pull request; queue it again"

    def _pushed(self, pull: Pull, *, by_people: bool = False) -> set[str]:
        """The commits that known accounts brought to a branch: those from one end of a push to the other."""
        pushed = set[str]()
        for push in pull.activity:
            ends = [self._repository.resolve(end) for end in (push.after, push.before or push.after)]
            if push.actor is not None and ends[0] is not None and (push.actor.is_human or not by_people):
                log = self._repository.log(ends[0], exclude=ends[1] or self._start)
                pushed |= {push.after, *(commit.sha for commit in log)}
        return pushed


def _identity(group: Mapping[str, str]) -> tuple[str, str]:
    """The proposal and the docstring of a promotion."""
    return group["Candidate-Key"], group.get("Target", "")
