"""The branch of a promotion: what is published for a docstring, or a free name for a new one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from coreloop.docstrings.edit import Edited
from coreloop.docstrings.ownership import docstring_bullets
from coreloop.errors import GitError, RefusedError
from coreloop.history.trailers import (
    BRANCH_PREFIX,
    CANDIDATE_ID,
    NAMES,
    SECTIONS,
    promoted_keys,
    read_promoted,
)
from coreloop.promote.commits import WritableRepository
from coreloop.promote.proposal import Proposal
from coreloop.promote.pull_request import trailers
from coreloop.promote.replay import Replay, ReplayVerdict
from coreloop.promote.statement import restored_row
from coreloop.proposals.advice import statement_key
from coreloop.proposals.figures import read_statement_evidence


@dataclass(frozen=True, slots=True)
class Published:
    """A branch with one commit that promotes candidates of one docstring.

    Attributes
    ----------
    sha, base_sha : str
        The commit, and the one below it.
    groups : tuple of mapping
        The trailers of each candidate.
    replay : Replay
        The verdict of the run that published it: a question is not asked twice for one commit.
    """

    branch: str
    sha: str
    base_sha: str
    groups: tuple[Mapping[str, str], ...]
    replay: Replay

    @property
    def keys(self) -> frozenset[str]:
        """Of its candidates."""
        return frozenset(group["Candidate-Key"] for group in self.groups if "Candidate-Key" in group)


def published_keys(repository: WritableRepository, target: str, *, fetch: bool) -> dict[str, tuple[str, ...]]:
    """Keys by branch, of the branches that promote candidates of a docstring.

    With ``fetch``, the remote is asked for its branches; without it, those that this clone knows count.
    """
    remote = repository.remote()
    messages = {
        name: message
        for name, message in _messages(repository, remote, fetch=fetch)
        if any(group.get("Target") == target for group in read_promoted(message))
    }
    return {name: promoted_keys(message) for name, message in messages.items()}


def taken_over(repository: WritableRepository, target: str, base_sha: str) -> dict[str, tuple[str, ...]]:
    """Keys by branch, of the branches on which others have worked on top of a promotion of a docstring."""
    remote, found = repository.remote(), dict[str, tuple[str, ...]]()
    for name, message in _messages(repository, remote, fetch=True):
        if promoted_keys(message):
            continue
        commits = repository.log(repository.heads(remote)[name], exclude=base_sha)
        groups = [group for commit in commits for group in read_promoted(commit.message)]
        if any(group.get("Target") == target for group in groups):
            found[name] = tuple(group.get("Candidate-Key", "") for group in groups)
    return found


def _messages(
    repository: WritableRepository, remote: str | None, *, fetch: bool
) -> Iterator[tuple[str, str]]:
    if not fetch:
        heads = repository.promotion_heads(remote, BRANCH_PREFIX)
        yield from sorted((name, commit.message) for name, commit in heads.items())
        return
    for name, sha in sorted(repository.heads(remote).items()):
        if name.startswith(BRANCH_PREFIX):
            yield name, _message(repository, remote, name, sha)


def read_published(repository: WritableRepository, branch: str, *, fetch: bool) -> Published:
    """A branch that coreloop made; without ``fetch``, as this clone knows it.

    Raises
    ------
    RefusedError
        It has a commit that coreloop cannot have made.
    """
    remote = repository.remote()
    if fetch:
        sha = repository.heads(remote)[branch]
        groups = read_promoted(_message(repository, remote, branch, sha))
    else:
        known = repository.promotion_heads(remote, BRANCH_PREFIX)[branch]
        sha, groups = known.sha, read_promoted(known.message)
    base_sha = repository.resolve(f"{sha}^")
    said = {group.get("Replay", "") for group in groups}
    verdicts = set(ReplayVerdict) - {ReplayVerdict.NOT_ASKED}
    if base_sha is None or len(said) != 1 or not said <= verdicts or not all(map(_is_whole, groups)):
        raise RefusedError(f"the commit on branch {branch} is not one that coreloop makes; delete the branch")
    return Published(branch, sha, base_sha, groups, Replay(ReplayVerdict(said.pop()), ()))


def _is_whole(group: Mapping[str, str]) -> bool:
    is_named = CANDIDATE_ID.fullmatch(group.get("Candidate-Id", ""))
    return all(map(group.get, NAMES)) and group["Phase"] in SECTIONS and is_named is not None


def restore(
    found: Published, repository: WritableRepository, like: Proposal, *, path: str
) -> tuple[Proposal, ...]:
    """The statements that a branch holds, from its trailers and its lines.

    Parameters
    ----------
    found : Published
        The branch.
    repository : WritableRepository
        Holds it.
    like : Proposal
        Another proposal for the same docstring.
    path : str
        The file below the repository's root.

    Raises
    ------
    RefusedError
        It holds something else, which cannot be joined with other candidates.
    """
    before, after = (
        docstring_bullets(repository.read(sha, path), like.target) for sha in (found.base_sha, found.sha)
    )
    lines = list((after - before).elements())
    return tuple(_restored(found, group, lines, like) for group in found.groups)


def _restored(found: Published, group: Mapping[str, str], lines: Sequence[str], like: Proposal) -> Proposal:
    phase, key, id = (group.get(name, "") for name in ("Phase", "Candidate-Key", "Candidate-Id"))
    evidence = read_statement_evidence(group.get("Evidence", ""))
    section = SECTIONS.get(phase, "")
    line = next((text for text in lines if statement_key(like.engine, text, section) == key), None)
    if evidence is None or line is None:
        raise RefusedError(
            f"branch {found.branch} holds more than statements, which stand alone; merge or close it first"
        )
    figures = {name: group[name] for name in ("Evidence", "Observed", "Unique-Questions", "Success-Rate")}
    try:
        day = date.fromisoformat(id.partition("-")[2][:10])
    except ValueError as error:
        raise RefusedError(f"branch {found.branch} has the id {id}, of no day; delete the branch") from error
    return Proposal(
        phase="R" if phase == "R" else "F",
        id=id,
        key=key,
        engine=like.engine,
        axis=None,
        file=like.file,
        symbol=like.symbol,
        section=section,
        lines=(line,),
        day=day,
        figures=figures,
        row=restored_row(evidence, group["Unique-Questions"]),
    )


def refuse_other_evidence(found: Published, proposals: Sequence[Proposal]) -> None:
    """Refuse a branch whose commit says other things of the candidates: the same keys on another night.

    A pull request for it would describe what the branch does not hold.
    """
    if found.groups != read_promoted(trailers(proposals, found.replay)):
        raise _other(found, proposals[0])


def refuse_other_text(
    found: Published, proposal: Proposal, repository: WritableRepository, *, path: str, edited: Edited
) -> None:
    """Refuse a branch whose commit is not exactly the planned edit."""
    same = repository.read(found.sha, path) == edited.source
    if not same or repository.changed_files(found.base_sha, found.sha) != [path]:
        raise _other(found, proposal)


def free_name(repository: WritableRepository, keys: Sequence[str], wanted: str) -> str:
    """A branch name that nobody has: `wanted`, or with a number.

    Raises
    ------
    GitError
        The name is taken by what is not coreloop's, or another run published one of the keys by now.
    """
    remote = repository.remote()
    heads = repository.heads(remote)
    for name in (wanted, *(f"{wanted}-{number}" for number in range(2, 100))):
        if name not in heads:
            return name
        there = promoted_keys(_message(repository, remote, name, heads[name]))
        if not there:
            raise GitError(f"branch {name} exists and is not coreloop's; rename or delete it first")
        if not {*keys}.isdisjoint(there):
            raise GitError(f"branch {name} was published by another run; the same command goes on from there")
    raise GitError(f"there are a hundred branches {wanted}-…; delete some")


def _other(found: Published, proposal: Proposal) -> RefusedError:
    return RefusedError(
        f"branch {found.branch} holds another text or other figures of {proposal.key} than {proposal.id}; "
        "promote the candidate that it was made from, or delete the branch"
    )


def _message(repository: WritableRepository, remote: str | None, branch: str, sha: str) -> str:
    if repository.resolve(sha) is None and remote is not None:
        repository.fetch(remote, branch)
    return repository.message(sha)
