"""The branch of a promotion: the one that an earlier run published, or a free name for a new one."""

from collections.abc import Mapping
from dataclasses import dataclass

from coreloop.docstrings.edit import Edited
from coreloop.errors import GitError, RefusedError
from coreloop.history.trailers import BRANCH_PREFIX, read_trailers
from coreloop.promote.commits import WritableRepository
from coreloop.promote.proposal import Proposal
from coreloop.promote.pull_request import trailers
from coreloop.promote.replay import Replay, ReplayVerdict


@dataclass(frozen=True, slots=True)
class Published:
    """What an earlier run published and did not finish: a branch with one commit.

    Attributes
    ----------
    sha, base_sha : str
        The commit, and the one below it.
    replay : Replay
        The verdict of that run: a question is not asked twice for one commit.
    """

    branch: str
    sha: str
    base_sha: str
    trailers: Mapping[str, str]
    replay: Replay


def find_published(repository: WritableRepository, key: str) -> Published | None:
    """The branch that an earlier run made for a candidate, whatever its day.

    Raises
    ------
    RefusedError
        The branch has a commit that coreloop cannot have made.
    """
    remote = repository.remote()
    for name, sha in sorted(repository.heads(remote).items()):
        if name.startswith(BRANCH_PREFIX) and _key_at(repository, remote, name, sha) == key:
            return _read(repository, name, sha)
    return None


def refuse_other_evidence(found: Published, proposal: Proposal) -> None:
    """Refuse a branch whose commit says other things of the candidate: the same key on another night.

    A pull request for it would describe what the branch does not hold.
    """
    if dict(found.trailers) != read_trailers(trailers(proposal, found.replay)):
        raise _other(found, proposal)


def refuse_other_text(
    found: Published, proposal: Proposal, repository: WritableRepository, *, path: str, edited: Edited
) -> None:
    """Refuse a branch whose commit is not exactly the planned edit."""
    same = repository.read(found.sha, path) == edited.source
    if not same or repository.changed_files(found.base_sha, found.sha) != [path]:
        raise _other(found, proposal)


def free_name(repository: WritableRepository, key: str, wanted: str) -> str:
    """A branch name that nobody has: `wanted`, or with a number.

    Raises
    ------
    GitError
        The name is taken by what is not coreloop's, or another run published this key by now.
    """
    remote = repository.remote()
    heads = repository.heads(remote)
    for name in (wanted, *(f"{wanted}-{number}" for number in range(2, 100))):
        if name not in heads:
            return name
        there = _key_at(repository, remote, name, heads[name])
        if there is None:
            raise GitError(f"branch {name} exists and is not coreloop's; rename or delete it first")
        if there == key:
            raise GitError(f"branch {name} was published by another run; the same command goes on from there")
    raise GitError(f"there are a hundred branches {wanted}-…; delete some")


def _read(repository: WritableRepository, branch: str, sha: str) -> Published:
    known = read_trailers(repository.message(sha))
    base_sha = repository.resolve(f"{sha}^")
    said = known.get("Replay", "")
    if base_sha is None or said not in set(ReplayVerdict) - {ReplayVerdict.NOT_ASKED}:
        raise RefusedError(f"the commit on branch {branch} is not one that coreloop makes; delete the branch")
    return Published(branch, sha, base_sha, known, Replay(ReplayVerdict(said), ()))


def _other(found: Published, proposal: Proposal) -> RefusedError:
    return RefusedError(
        f"branch {found.branch} holds another text or other figures of {proposal.key} than {proposal.id}; "
        "promote the candidate that it was made from, or delete the branch"
    )


def _key_at(repository: WritableRepository, remote: str | None, branch: str, sha: str) -> str | None:
    if repository.resolve(sha) is None and remote is not None:
        repository.fetch(remote, branch)
    return read_trailers(repository.message(sha)).get("Candidate-Key")
