"""Phase R: from proposals for a docstring to a draft pull request that a human can merge.

A branch is computed from the entries of its lines, each time: what an earlier run published is compared with
that, and written anew where it differs, as long as only coreloop has committed to it.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from itertools import chain, count
from typing import Final

from coreloop.base.errors import CoreloopError, HumanDecidesError, RefusedError
from coreloop.base.git.trailers import BRANCH_PREFIX, promoted_keys, read_promoted
from coreloop.base.github.connect import describe_fork
from coreloop.base.github.protocol import Forge, PullRequest
from coreloop.base.messages import number_of
from coreloop.promote.commits import WritableRepository
from coreloop.promote.plan import Plan, Promoting, base_commit, make_plan
from coreloop.promote.proposal_entry import read_by_keys
from coreloop.promote.replay import Replay, ReplayVerdict

_FIRST: Final = "merge or close its pull request first"
_LOOK_BACK_DAYS: Final = 365  # chosen: a closed pull request of last year still means no


@dataclass(frozen=True, slots=True)
class Done:
    """A branch, its pull request if there is a forge, whether this run wrote anything, and its commit."""

    branch: str
    pull_request: PullRequest | None
    fresh: bool
    sha: str = ""


@dataclass(frozen=True, slots=True)
class PublishedBranch:
    """A branch with a promotion of a docstring that is not merged.

    Attributes
    ----------
    sha, base_sha : str
        Its newest commit, and where it left the base branch.
    message : str
        Of its newest commit.
    groups : tuple of mapping
        The trailers of each candidate.
    is_ours : bool
        Whether it is a single commit of coreloop's.
    """

    name: str
    sha: str
    base_sha: str
    message: str
    groups: tuple[Mapping[str, str], ...]
    is_ours: bool

    @property
    def keys(self) -> frozenset[str]:
        """The keys of its candidates."""
        return frozenset(group["Candidate-Key"] for group in self.groups)

    @property
    def replay(self) -> Replay | None:
        """The verdict of the run that published it; None if it is no verdict on a commit."""
        verdicts = {group.get("Replay", "") for group in self.groups}
        known = [verdict for verdict in ReplayVerdict if verdicts == {verdict.value}]
        return Replay(known[0], ()) if known else None


def promote(promoting: Promoting, forge: Forge | None) -> tuple[Plan | None, Done]:
    """Promote proposals, or finish an earlier run.

    Returns
    -------
    tuple of Plan or None and Done
        The plan is None if there was nothing to do.

    Raises
    ------
    RefusedError, GitError, ReachError, ForgeError
        As for `make_plan`; or the plan has obstacles, another promotion of the docstring is open, too many
        are, no review is required, or the remote is a fork of the repository that pull requests go to. The
        error names the pushed branch, if any.
    """
    repository, settings = promoting.repository, promoting.workspace.settings.forge
    if (fork := describe_fork(repository, settings)) is not None:
        raise RefusedError(fork)
    pull = _pull_request(promoting, forge) if forge is not None else None
    base_sha = base_commit(repository, settings.base, fetch=True)
    branch = _find_branch(promoting, base_sha, forge, fetch=True)
    if forge is not None and branch is not None and pull is None:
        pulls = (forge.find_pull_request(key) for key in sorted(branch.keys))
        pull = next((pull for pull in pulls if pull is not None and pull.state == "open"), None)
    promoting = _joined(promoting, branch, pull)
    if forge is not None and pull is not None and _is_done(promoting, base_sha, branch, pull):
        forge.add_label(pull.number)
        return None, Done(pull.branch, pull, fresh=False)
    plan = _plan(promoting, base_sha, branch)
    with _naming(branch.name if branch is not None else ""):
        if plan.obstacles:
            raise RefusedError("; ".join(plan.obstacles))
        if forge is not None and pull is None:
            plan = _preflight(plan, promoting, forge)
    done = _publish(plan, repository, branch)
    if forge is None:
        return plan, done
    with _naming(done.branch):
        if pull is not None:
            forge.rewrite(pull.number, title=plan.title, body=plan.body)
        else:
            pull = forge.open_draft(branch=done.branch, base=plan.base, title=plan.title, body=plan.body)
        forge.add_label(pull.number)
    return plan, replace(done, pull_request=pull, fresh=True)


def preview(promoting: Promoting) -> Plan:
    """Plan what `promote` would do, from this clone alone, without fetching or asking a forge."""
    base_sha = base_commit(promoting.repository, promoting.workspace.settings.forge.base, fetch=False)
    branch = _find_branch(promoting, base_sha, None, fetch=False)
    plan = _plan(_joined(promoting, branch, None), base_sha, branch)
    fork = describe_fork(promoting.repository, promoting.workspace.settings.forge)
    return plan if fork is None else replace(plan, obstacles=(fork, *plan.obstacles))


def _plan(promoting: Promoting, base_sha: str, branch: PublishedBranch | None) -> Plan:
    name, replay = (branch.name, branch.replay) if branch is not None else ("", None)
    return make_plan(promoting, base_sha, branch=name, replay=replay)


def _pull_request(promoting: Promoting, forge: Forge) -> PullRequest | None:
    """The candidates' open pull request, if any; merged and closed pull requests are refused."""
    existing = None
    for proposal in promoting.proposals:
        since = datetime.combine(proposal.day, time(), UTC) - timedelta(days=_LOOK_BACK_DAYS)
        pull = forge.find_pull_request(proposal.key, since=since)
        if pull is not None and pull.state != "open":
            if not pull.merged and proposal.key in promoting.reopened:
                continue
            ended = "merged" if pull.merged else "closed without a merge"
            undo = "" if pull.merged else "; status records that as a V, and judging it P undoes it"
            raise HumanDecidesError(f"{proposal.id} was {ended}: {pull.url}{undo}")
        existing = existing or pull
    return existing


def read_branches(
    repository: WritableRepository, target: str, base_sha: str, *, fetch: bool
) -> list[PublishedBranch]:
    """The branches with a promotion of a docstring that is not merged.

    With ``fetch``, these are the remote's branches; without it, the branches that this clone knows.
    """
    branches = []
    for name, sha in sorted(_heads(repository, fetch=fetch).items()):
        commits = list(repository.log(sha, exclude=base_sha))
        groups = tuple(group for commit in commits for group in read_promoted(commit.message))
        if not any(group.get("Target") == target for group in groups):
            continue
        parent, message = "".join(commits[-1].parents[:1]), commits[0].message.strip("\n")
        branch = PublishedBranch(name, sha, parent, message, groups, len(commits) == 1)
        since = repository.log(base_sha, exclude=sha)
        if not branch.keys <= {key for commit in since for key in promoted_keys(commit.message)}:
            branches.append(branch)
    return branches


def _heads(repository: WritableRepository, *, fetch: bool) -> dict[str, str]:
    """The promotion branches and their commits, fetched if they are missing."""
    remote = repository.remote()
    if not fetch:
        known = repository.promotion_heads(remote, BRANCH_PREFIX)
        return {name: commit.sha for name, commit in known.items()}
    heads = {name: sha for name, sha in repository.heads(remote).items() if name.startswith(BRANCH_PREFIX)}
    for name, sha in heads.items():
        if remote is not None and repository.resolve(sha) is None:
            repository.fetch(remote, name)
    return heads


def _find_branch(
    promoting: Promoting, base_sha: str, forge: Forge | None, *, fetch: bool
) -> PublishedBranch | None:
    """The branch of an open promotion of the docstring: this promotion's, or one that it may extend.

    Raises
    ------
    RefusedError
        There is another promotion, and it may not be extended.
    """
    target, wanted = promoting.lead.target, promoting.keys
    branches = read_branches(promoting.repository, target, base_sha, fetch=fetch)
    for branch in sorted(branches, key=lambda its: not wanted <= its.keys):
        is_own = wanted <= branch.keys
        if is_own and not branch.is_ours and forge is not None:
            continue  # its pull request is the answer
        if not is_own and forge is not None:
            pull = forge.find_pull_request(branch.groups[0]["Candidate-Key"])
            if pull is not None and pull.state != "open":
                continue
        changes = f"branch {branch.name} already changes {target}"
        if not branch.is_ours:
            raise HumanDecidesError(f"{changes}, and has other commits than coreloop's; {_FIRST}")
        if not is_own and not promoting.extend:
            raise HumanDecidesError(f"{changes}; {_FIRST}, or use --extend to add to it")
        return branch
    return None


def _joined(promoting: Promoting, branch: PublishedBranch | None, pull: PullRequest | None) -> Promoting:
    """The promotion with what its branch has already, as the proposals' files have it.

    Raises
    ------
    RefusedError
        A human has taken over the branch or its pull request, or it cannot grow.
    """
    if branch is None:
        if pull is not None and not promoting.keys <= {*promoted_keys(pull.message)}:
            raise HumanDecidesError(f"{pull.url} has other commits than coreloop's; merge or close it first")
        return promoting
    own = {proposal.key: proposal for proposal in promoting.proposals}
    known = own | read_by_keys(promoting.workspace, branch.keys - own.keys())
    if not branch.keys <= known.keys():
        missing = "has lines of proposals whose files are not here"
        raise HumanDecidesError(f"branch {branch.name} {missing}; {_FIRST}")
    published = tuple(known[group["Candidate-Key"]] for group in branch.groups)
    _refuse_other_text(replace(promoting, proposals=published), branch)
    new = [proposal for proposal in promoting.proposals if proposal.key not in branch.keys]
    if not new:
        return replace(promoting, proposals=published)
    if pull is not None and not pull.draft:
        raise HumanDecidesError(f"{pull.url} is ready for review and cannot grow; merge or close it first")
    if any(proposal.subject is None for proposal in (*published, *new)):
        alone = "already changes this docstring, and a sequence is promoted alone"
        raise HumanDecidesError(f"branch {branch.name} {alone}; {_FIRST}")
    subjects = {proposal.subject for proposal in new}
    kept = (proposal for proposal in published if proposal.subject not in subjects)
    return replace(promoting, proposals=(*kept, *new))


def _refuse_other_text(published: Promoting, branch: PublishedBranch) -> None:
    """Refuse a branch that is not exactly the edit of its proposals: a human may have changed it."""
    repository, path = published.repository, published.path
    edited = published.edit(branch.base_sha)
    is_same = repository.read(branch.sha, path) == edited.source
    if not is_same or repository.changed_files(branch.base_sha, branch.sha) != [path]:
        raise HumanDecidesError(
            f"branch {branch.name} has other text than {published.lead.id}; "
            "promote the proposal that it was made from, or delete the branch"
        )


def _is_done(promoting: Promoting, base_sha: str, branch: PublishedBranch | None, pull: PullRequest) -> bool:
    """Whether an open pull request describes its branch, on the newest base, or is a human's already."""
    if branch is None or not pull.draft:
        return True
    is_current = promoting.keys == branch.keys and branch.base_sha == base_sha
    return is_current and read_promoted(pull.message) == branch.groups


def _preflight(plan: Plan, promoting: Promoting, forge: Forge) -> Plan:
    """Refuse a pull request without required reviews or above the limit; notes what was allowed."""
    unreviewed = forge.unreviewed(plan.base)
    if unreviewed and "unprotected" not in promoting.overrides:
        raise RefusedError(f"{unreviewed}; protect {plan.base}, or use --allow-unprotected")
    n_open, max_open = len(forge.open_pull_requests()), promoting.workspace.settings.forge.max_open
    if n_open >= max_open:
        raise HumanDecidesError(
            f"{number_of(n_open, 'promotion')} {'is' if n_open == 1 else 'are'} open, max_open is "
            f"{max_open}; merge or close a pull request first"
        )
    return replace(plan, notes=(*plan.notes, unreviewed)) if unreviewed else plan


def _publish(plan: Plan, repository: WritableRepository, branch: PublishedBranch | None) -> Done:
    """Commit and push, unless the branch has this commit."""
    remote, name = repository.remote(), plan.branch
    if branch is not None and (branch.base_sha, branch.message) == (plan.base_sha, plan.message.strip("\n")):
        return Done(name, None, fresh=False, sha=branch.sha)
    if branch is None:
        heads = repository.heads(remote)
        names = chain([name], (f"{name}-{number}" for number in count(2)))
        name = next(free for free in names if free not in heads)
    sha = repository.commit_file(plan.base_sha, plan.path, plan.edited.source, plan.message)
    repository.publish(sha, name, remote=remote, instead_of=branch.sha if branch is not None else "")
    return Done(name, None, fresh=True, sha=sha)


@contextmanager
def _naming(branch: str) -> Iterator[None]:
    """Add the name of the pushed branch to errors of later steps."""
    try:
        yield
    except CoreloopError as error:
        if branch:
            error.add_note(f"branch {branch} is pushed; run the same command to continue")
        raise
