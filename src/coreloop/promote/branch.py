"""The branch of a promotion: published branches of a docstring, and names for new branches."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from coreloop.base.errors import GitError, HumanDecidesError, RefusedError
from coreloop.base.git.trailers import (
    BRANCH_PREFIX,
    CANDIDATE_ID,
    MEASURED,
    NAMES,
    SECTIONS,
    promoted_keys,
    read_promoted,
)
from coreloop.descriptions.edit import Edited
from coreloop.descriptions.own_lines import docstring_bullets
from coreloop.learn.line import keys_of
from coreloop.learn.proposals.figures import read_statement_evidence
from coreloop.promote.check_statement import restored_row
from coreloop.promote.commits import WritableRepository
from coreloop.promote.proposal_entry import Proposal
from coreloop.promote.pull_request_text import trailers
from coreloop.promote.replay import Replay, ReplayVerdict


@dataclass(frozen=True, slots=True)
class PublishedBranch:
    """A branch with a single commit that promotes candidates of a docstring.

    Attributes
    ----------
    sha, base_sha : str
        The commit and its parent.
    groups : tuple of mapping
        The trailers of each candidate.
    replay : Replay
        The verdict of the run that published it; a commit's questions are asked only once.
    measured : str
        The verdict of the measurement before, or empty.
    """

    branch: str
    sha: str
    base_sha: str
    groups: tuple[Mapping[str, str], ...]
    replay: Replay
    measured: str = ""

    @property
    def keys(self) -> frozenset[str]:
        """The keys of its candidates."""
        return frozenset(group["Candidate-Key"] for group in self.groups)


def published_keys(repository: WritableRepository, target: str, *, fetch: bool) -> dict[str, tuple[str, ...]]:
    """Keys by branch, for the branches that promote candidates of a docstring.

    With ``fetch``, these are the remote's branches; without it, the branches that this clone knows.
    """
    remote = repository.remote()
    messages = {
        name: message
        for name, message in _messages(repository, remote, fetch=fetch)
        if any(group.get("Target") == target for group in read_promoted(message))
    }
    return {name: promoted_keys(message) for name, message in messages.items()}


def taken_over(repository: WritableRepository, target: str, base_sha: str) -> dict[str, tuple[str, ...]]:
    """Keys by branch, for the branches with other commits on top of a promotion of a docstring."""
    remote, keys = repository.remote(), dict[str, tuple[str, ...]]()
    for name, message in _messages(repository, remote, fetch=True):
        if promoted_keys(message):
            continue
        commits = repository.log(repository.heads(remote)[name], exclude=base_sha)
        groups = [group for commit in commits for group in read_promoted(commit.message)]
        if any(group.get("Target") == target for group in groups):
            keys[name] = tuple(group["Candidate-Key"] for group in groups)
    return keys


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


def published_head(repository: WritableRepository, branch: str, *, fetch: bool) -> str:
    """The commit of a branch from `published_keys`."""
    remote = repository.remote()
    return (
        repository.heads(remote)[branch]
        if fetch
        else repository.promotion_heads(remote, BRANCH_PREFIX)[branch].sha
    )


def read_published(repository: WritableRepository, branch: str, *, fetch: bool) -> PublishedBranch:
    """Read a branch that coreloop published; without ``fetch``, as this clone knows it.

    Raises
    ------
    RefusedError
        Its commit is not coreloop's.
    """
    sha = published_head(repository, branch, fetch=fetch)
    groups = read_promoted(_message(repository, repository.remote(), branch, sha))
    base_sha = repository.resolve(f"{sha}^")
    verdicts = {group.get("Replay", "") for group in groups}
    measured = {group.get(MEASURED, "") for group in groups}
    allowed = set(ReplayVerdict) - {ReplayVerdict.NOT_ASKED}
    is_ours = len(verdicts) == len(measured) == 1 and verdicts <= allowed and all(map(_is_complete, groups))
    if base_sha is None or not is_ours:
        raise RefusedError(f"the commit on branch {branch} is not coreloop's; delete the branch")
    return PublishedBranch(
        branch, sha, base_sha, groups, Replay(ReplayVerdict(verdicts.pop()), ()), measured.pop()
    )


def _is_complete(group: Mapping[str, str]) -> bool:
    has_id = CANDIDATE_ID.fullmatch(group.get("Candidate-Id", "")) is not None
    return all(map(group.get, NAMES)) and group["Phase"] in SECTIONS and has_id


def restore(
    published: PublishedBranch, repository: WritableRepository, sibling: Proposal, *, path: str
) -> tuple[Proposal, ...]:
    """The statements on a branch, restored from its trailers and lines.

    Parameters
    ----------
    published : PublishedBranch
        The branch.
    repository : WritableRepository
        The repository of the branch.
    sibling : Proposal
        Another proposal for the same docstring.
    path : str
        The file below the repository's root.

    Raises
    ------
    RefusedError
        The branch has candidates other than statements, which cannot be joined with others.
    """
    before, after = (
        docstring_bullets(repository.read(sha, path), sibling.target)
        for sha in (published.base_sha, published.sha)
    )
    lines = list((after - before).elements())
    return tuple(_restored(published, group, lines, sibling) for group in published.groups)


def _restored(
    published: PublishedBranch, group: Mapping[str, str], lines: Sequence[str], sibling: Proposal
) -> Proposal:
    phase, key, id = (group.get(name, "") for name in ("Phase", "Candidate-Key", "Candidate-Id"))
    evidence = read_statement_evidence(group.get("Evidence", ""))
    section = SECTIONS.get(phase, "")
    line = next((text for text in lines if key in keys_of(sibling.engine, text, section)), None)
    if evidence is None or line is None:
        raise HumanDecidesError(
            f"branch {published.branch} has a sequence or caveat, which is promoted alone; merge "
            "or close its pull request first"
        )
    metrics = {name: group[name] for name in ("Evidence", "Observed", "Unique-Questions", "Success-Rate")}
    try:
        day = date.fromisoformat(id.partition("-")[2][:10])
    except ValueError as error:
        raise RefusedError(
            f"branch {published.branch} has the id {id}, without a valid date; delete the branch"
        ) from error
    return Proposal(
        phase="R" if phase == "R" else "F",
        id=id,
        key=key,
        engine=sibling.engine,
        axis=None,
        file=sibling.file,
        symbol=sibling.symbol,
        section=section,
        lines=(line,),
        day=day,
        metrics=metrics,
        row=restored_row(evidence, group["Unique-Questions"]),
    )


def refuse_other_evidence(published: PublishedBranch, proposals: Sequence[Proposal]) -> None:
    """Refuse a branch with the same candidates but other evidence, such as another night's.

    Its pull request would not describe the branch.
    """
    if published.groups != read_promoted("\n" + trailers(proposals, published.replay, published.measured)):
        raise _mismatch(published, proposals[0])


def refuse_other_text(
    published: PublishedBranch,
    proposal: Proposal,
    repository: WritableRepository,
    *,
    path: str,
    edited: Edited,
) -> None:
    """Refuse a branch whose commit is not exactly the planned edit."""
    same = repository.read(published.sha, path) == edited.source
    if not same or repository.changed_files(published.base_sha, published.sha) != [path]:
        raise _mismatch(published, proposal)


def free_name(repository: WritableRepository, keys: Sequence[str], wanted: str) -> str:
    """An unused branch name: `wanted`, if necessary with a number.

    Raises
    ------
    GitError
        A branch of this name is not coreloop's, or another run has published one of the keys.
    """
    remote = repository.remote()
    heads = repository.heads(remote)
    for name in (wanted, *(f"{wanted}-{number}" for number in range(2, 100))):
        if name not in heads:
            return name
        existing_keys = promoted_keys(_message(repository, remote, name, heads[name]))
        if not existing_keys:
            raise GitError(f"branch {name} exists and is not coreloop's; rename or delete it first")
        if not {*keys}.isdisjoint(existing_keys):
            raise GitError(f"branch {name} was published by another run; run the same command to continue")
    raise GitError(f"there are already 100 branches {wanted}-…; delete some")


def _mismatch(published: PublishedBranch, proposal: Proposal) -> HumanDecidesError:
    return HumanDecidesError(
        f"branch {published.branch} has other text or figures for {proposal.key} than "
        f"{proposal.id}; promote the proposal that it was made from, or delete the branch"
    )


def _message(repository: WritableRepository, remote: str | None, branch: str, sha: str) -> str:
    if repository.resolve(sha) is None and remote is not None:
        repository.fetch(remote, branch)
    return repository.message(sha)
