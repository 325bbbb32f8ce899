"""Phase R: from proposals for a docstring to a draft pull request that a human can merge."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from typing import Final

from coreloop.base.errors import CoreloopError, HumanDecidesError, PullRequestExistsError, RefusedError
from coreloop.base.git.promotions import promotions
from coreloop.base.git.trailers import promoted_keys, read_promoted
from coreloop.base.github.connect import describe_fork
from coreloop.base.github.protocol import Forge, PullRequest, ReviewNotRequired, ReviewRequired, ReviewRule
from coreloop.base.messages import number_of
from coreloop.learn.line import parse_advice
from coreloop.promote.branch import (
    PublishedBranch,
    free_name,
    published_head,
    published_keys,
    read_published,
    restore,
    taken_over,
)
from coreloop.promote.commits import WritableRepository
from coreloop.promote.plan import Overrides, Plan, Promoting, base_commit, make_plan, refuse_other
from coreloop.promote.proposal_entry import Proposal

_LOOK_BACK_DAYS: Final = 365  # chosen: a closed pull request of last year still means no


@dataclass(frozen=True, slots=True)
class Done:
    """The result of a confirmed promotion; ``fresh`` is false if an earlier run had already completed it."""

    branch: str
    pull_request: PullRequest | None
    fresh: bool


@dataclass(frozen=True, slots=True)
class _Start:
    """The state that a promotion starts from.

    Attributes
    ----------
    promoting : Promoting
        Includes the proposals of the published branch.
    base_sha : str
        Commit of the base branch.
    published : PublishedBranch or None
        The branch of an earlier run.
    existing : PullRequest or None
        Its open pull request.
    """

    promoting: Promoting
    base_sha: str
    published: PublishedBranch | None = None
    existing: PullRequest | None = None

    @property
    def must_rebuild(self) -> bool:
        """Whether to rebuild the branch: it gets more lines, or its base moved while it is a draft."""
        if self.published is None:
            return False
        grows = self.published.keys != {proposal.key for proposal in self.promoting.proposals}
        is_draft = self.existing is None or self.existing.draft
        return grows or (is_draft and self.published.base_sha != self.base_sha)

    @property
    def is_done(self) -> bool:
        """Whether the pull request is open and describes its branch, with no step left to do."""
        if self.existing is None or self.must_rebuild:
            return False
        described = read_promoted(self.existing.message)
        return self.published is None or not self.existing.draft or described == self.published.groups


def promote(promoting: Promoting, forge: Forge | None) -> tuple[Plan | None, Done]:
    """Promote proposals, or finish an earlier run.

    Looks for pull requests of the keys first, then for branches of the docstring. Published candidates are
    not replayed again.

    Returns
    -------
    tuple of Plan or None and Done
        The plan is None if the pull request was already open, on the newest base.

    Raises
    ------
    RefusedError, GitError, ReachError, ForgeError
        As for `make_plan` and `carry_out`; or another promotion of the docstring is open, or the remote is a
        fork of the repository that pull requests go to.
    """
    fork = describe_fork(promoting.repository, promoting.settings.forge)
    if fork is not None:
        raise RefusedError(fork)
    start = _start(promoting, forge)
    if start.existing is not None and forge is not None and start.is_done:
        forge.add_label(start.existing.number)
        return None, Done(start.existing.branch, start.existing, fresh=False)
    plan = make_plan(start.promoting, start.base_sha, published=start.published, rebuild=start.must_rebuild)
    if start.existing is None and not start.must_rebuild:
        max_open = promoting.settings.forge.max_open
        return plan, carry_out(
            plan, promoting.repository, forge, max_open=max_open, overrides=promoting.overrides
        )
    return plan, _renew(plan, start, forge)


def preview(promoting: Promoting) -> Plan:
    """Plan what `promote` would do, from this clone alone, without fetching or asking a forge."""
    plan = _preview(promoting)
    fork = describe_fork(promoting.repository, promoting.settings.forge)
    return plan if fork is None else replace(plan, obstacles=(fork, *plan.obstacles))


def _preview(promoting: Promoting) -> Plan:
    base_sha = base_commit(promoting.repository, promoting.settings.forge.base, fetch=False)
    published = _open_branch(promoting, base_sha, None, fetch=False)
    if published is None or published.keys == {proposal.key for proposal in promoting.proposals}:
        if published is not None:
            promoting = replace(promoting, proposals=_as_published(promoting, published))
            refuse_other(promoting, published)
        return make_plan(promoting, base_sha)
    extended = replace(promoting, proposals=_joined(promoting, published))
    return make_plan(extended, base_sha, published=published, rebuild=True)


def carry_out(
    plan: Plan, repository: WritableRepository, forge: Forge | None, *, max_open: int, overrides: Overrides
) -> Done:
    """Commit, push and open the draft, or only open the draft for a published branch.

    Raises
    ------
    RefusedError
        The base branch requires no review, or too many promotions are open.
    GitError, ForgeError
        Git or GitHub failed; the message names the pushed branch, if any.
    """
    if plan.obstacles:
        raise RefusedError("; ".join(plan.obstacles))
    published = plan.published
    with _naming(published.branch if published is not None else None):
        allowed = _preflight(plan, forge, max_open=max_open, overrides=overrides) if forge is not None else ()
    branch = published.branch if published is not None else _publish(plan, repository)
    if forge is None:
        return Done(branch, None, fresh=published is None)
    with _naming(branch):
        pull = _open_draft(plan, forge, branch, (*plan.notes, *allowed))
        forge.add_label(pull.number)
    return Done(branch, pull, fresh=True)


def _renew(plan: Plan, start: _Start, forge: Forge | None) -> Done:
    """Rebuild the branch if necessary, and update its pull request."""
    if plan.obstacles:
        raise RefusedError("; ".join(plan.obstacles))
    published, existing, promoting = plan.published, start.existing, start.promoting
    notes = plan.notes
    if forge is not None and existing is None:
        max_open = promoting.settings.forge.max_open
        notes = (*notes, *_preflight(plan, forge, max_open=max_open, overrides=promoting.overrides))
    if published is not None and start.must_rebuild:
        repository = promoting.repository
        sha = repository.commit_file(plan.base_sha, plan.path, plan.edited.source, plan.message)
        repository.publish(sha, published.branch, remote=repository.remote(), instead_of=published.sha)
    if forge is None:
        return Done(plan.branch, None, fresh=True)
    with _naming(plan.branch):
        if existing is not None:
            forge.rewrite(existing.number, title=plan.title, body=plan.body)
        pull = existing or _open_draft(plan, forge, plan.branch, notes)
        forge.add_label(pull.number)
    return Done(plan.branch, pull, fresh=True)


def _start(promoting: Promoting, forge: Forge | None) -> _Start:
    """Find the docstring's open branch and pull request."""
    repository, settings = promoting.repository, promoting.settings
    existing = _existing(promoting, forge) if forge is not None else None
    base_sha = base_commit(repository, settings.forge.base, fetch=True)
    published = _open_branch(promoting, base_sha, forge, fetch=True)
    if existing is None and published is not None and forge is not None:
        existing = _pull_request_of(forge, published)
    _refuse_others_work(promoting, published, existing)
    if published is None:
        return _Start(promoting, base_sha, None, existing)
    extended = replace(promoting, proposals=_joined(promoting, published))
    return _Start(extended, base_sha, published, existing)


def _refuse_others_work(
    promoting: Promoting, published: PublishedBranch | None, existing: PullRequest | None
) -> None:
    """Refuse to add to a pull request that a human has taken over."""
    wanted = {proposal.key for proposal in promoting.proposals}
    on_branch = published.keys if published is not None else frozenset[str]()
    if existing is None or wanted <= {*promoted_keys(existing.message), *on_branch}:
        return
    if published is None:
        raise HumanDecidesError(f"{existing.url} has other commits than coreloop's; merge or close it first")
    if not existing.draft:
        raise HumanDecidesError(
            f"{existing.url} is ready for review and cannot grow; merge or close it first"
        )


def _joined(promoting: Promoting, published: PublishedBranch) -> tuple[Proposal, ...]:
    """The proposals of a branch, followed by the new proposals."""
    new = tuple(proposal for proposal in promoting.proposals if proposal.key not in published.keys)
    if not new and not all(map(_is_statement, promoting.proposals)):
        return promoting.proposals
    if not all(map(_is_statement, new)):
        raise HumanDecidesError(
            f"branch {published.branch} already changes this docstring, and a sequence is "
            "promoted alone; merge or close its pull request first"
        )
    restored = restore(published, promoting.repository, promoting.proposal, path=promoting.path)
    subjects = {_subject(proposal) for proposal in new}
    restored = tuple(proposal for proposal in restored if _subject(proposal) not in subjects)
    known = {proposal.key: proposal for proposal in _as_published(promoting, published)}  # with all evidence
    return (*(_same_metrics(proposal, known.get(proposal.key)) or proposal for proposal in restored), *new)


def _as_published(promoting: Promoting, published: PublishedBranch) -> tuple[Proposal, ...]:
    """The proposals in the wordings that a branch has, whichever was measured since."""
    if not all(map(_is_statement, promoting.proposals)):
        return promoting.proposals
    restored = restore(published, promoting.repository, promoting.proposal, path=promoting.path)
    lines = {proposal.key: proposal.lines for proposal in restored}
    return tuple(
        replace(proposal, lines=lines.get(proposal.key, proposal.lines)) for proposal in promoting.proposals
    )


def _subject(proposal: Proposal) -> tuple[str, ...] | None:
    advice = parse_advice(proposal.lines[0])
    return advice.subject() if advice is not None else None


def _is_statement(proposal: Proposal) -> bool:
    return not proposal.steps and len(proposal.lines) == 1


def _same_metrics(restored: Proposal, known: Proposal | None) -> Proposal | None:
    return known if known is not None and known.metrics == restored.metrics else None


def _open_branch(
    promoting: Promoting, base_sha: str, forge: Forge | None, *, fetch: bool
) -> PublishedBranch | None:
    """The branch of an open promotion of the docstring: this promotion's, or a branch that it may extend.

    Raises
    ------
    RefusedError
        There is such a branch, and ``extend`` is false.
    """
    repository, wanted = promoting.repository, {proposal.key for proposal in promoting.proposals}
    target = promoting.proposal.target
    branches = {
        branch: keys
        for branch, keys in published_keys(repository, target, fetch=fetch).items()
        if not _was_merged(repository, base_sha, branch, keys, fetch=fetch)
    }
    for branch, keys in branches.items():
        if wanted <= set(keys):
            return read_published(repository, branch, fetch=fetch)
    for branch, keys in branches.items():
        if forge is not None and not _is_open(forge, keys[0]):
            continue
        if not promoting.extend:
            raise HumanDecidesError(
                f"branch {branch} already changes {target}; merge or close its pull request first, or "
                "use --extend to add to it"
            )
        return read_published(repository, branch, fetch=fetch)
    if fetch:
        _refuse_taken_over(promoting, base_sha, forge)
    return None


def _was_merged(
    repository: WritableRepository, base_sha: str, branch: str, keys: Collection[str], *, fetch: bool
) -> bool:
    """Whether the base branch got a branch's keys since it began: a key that returned is merged twice."""
    parent = repository.resolve(f"{published_head(repository, branch, fetch=fetch)}^")
    since = promotions(repository, repository.log(base_sha, exclude=parent))
    return {promotion.key for promotion in since}.issuperset(keys)


def _refuse_taken_over(promoting: Promoting, base_sha: str, forge: Forge | None) -> None:
    """Refuse a docstring that is changed by a promotion's branch with other commits."""
    wanted = {proposal.key for proposal in promoting.proposals}
    target = promoting.proposal.target
    for branch, keys in taken_over(promoting.repository, target, base_sha).items():
        if forge is not None and (wanted <= set(keys) or not _is_open(forge, keys[0])):
            continue  # its pull request is the result of the command, or is closed
        raise HumanDecidesError(
            f"branch {branch} already changes {target}, and has other commits than coreloop's; "
            "merge or close its pull request first"
        )


def _is_open(forge: Forge, key: str) -> bool:
    """Whether a branch's pull request is open or not yet opened."""
    pull = forge.find_pull_request(key)
    return pull is None or pull.state == "open"


def _pull_request_of(forge: Forge, published: PublishedBranch) -> PullRequest | None:
    pulls = (forge.find_pull_request(key) for key in sorted(published.keys))
    return next((pull for pull in pulls if pull is not None and pull.state == "open"), None)


def _publish(plan: Plan, repository: WritableRepository) -> str:
    keys = [proposal.key for proposal in plan.proposals if proposal.key not in plan.returned]
    branch = free_name(repository, keys, plan.branch)
    target, remote = plan.proposal.target, repository.remote()
    known = published_keys(repository, target, fetch=True).keys()
    sha = repository.commit_file(plan.base_sha, plan.path, plan.edited.source, plan.message)
    repository.publish(sha, branch, remote=remote)
    # another clone may have published at the same time: now each sees the other's branch
    rivals = published_keys(repository, target, fetch=True).keys() - known - {branch}
    if rivals:
        repository.withdraw(sha, branch, remote=remote)
        raise RefusedError(
            f"branch {min(rivals)} was published for {target} at the same moment; run the same command again"
        )
    return branch


@contextmanager
def _naming(branch: str | None) -> Iterator[None]:
    """Add the name of the pushed branch to errors of later steps."""
    try:
        yield
    except CoreloopError as error:
        if branch is not None:
            error.add_note(f"branch {branch} is pushed; run the same command to continue")
        raise


def _existing(promoting: Promoting, forge: Forge) -> PullRequest | None:
    """The candidates' open pull request, if any; merged and closed pull requests are refused."""
    existing = None
    for proposal in promoting.proposals:
        since = datetime.combine(proposal.day, time(), UTC) - timedelta(days=_LOOK_BACK_DAYS)
        pull = forge.find_pull_request(proposal.key, since=since)
        if pull is not None and pull.state != "open":
            if proposal.key in (promoting.returned if pull.merged else promoting.reopened):
                continue
            ended = "merged" if pull.merged else "closed without a merge"
            undo = "" if pull.merged else "; status records that as a V, and judging it P undoes it"
            raise HumanDecidesError(f"{proposal.id} was {ended}: {pull.url}{undo}")
        existing = existing or pull
    return existing


def _preflight(plan: Plan, forge: Forge, *, max_open: int, overrides: Overrides) -> tuple[str, ...]:
    """Refuse a pull request without required reviews or above the limit; returns notes on allowed checks."""
    unreviewed = _unreviewed(forge.review_rule(plan.base))
    if unreviewed and not overrides.unprotected:
        raise RefusedError(f"{unreviewed}; protect {plan.base}, or use --allow-unprotected")
    count = len(forge.open_pull_requests())
    if count >= max_open:
        raise HumanDecidesError(
            f"{number_of(count, 'promotion')} {'is' if count == 1 else 'are'} open, max_open is "
            f"{max_open}; merge or close a pull request first"
        )
    return (unreviewed,) if unreviewed else ()


def _unreviewed(rule: ReviewRule) -> str:
    if isinstance(rule, ReviewRequired):
        return ""
    if isinstance(rule, ReviewNotRequired):
        return f"no review is required: {rule.reason}"
    return f"it is unknown whether a review is required: {rule.reason}"


def _open_draft(plan: Plan, forge: Forge, branch: str, notes: tuple[str, ...]) -> PullRequest:
    text = plan.body_with(notes)
    try:
        return forge.open_draft(branch=branch, base=plan.base, title=plan.title, body=text)
    except PullRequestExistsError:
        pull = forge.find_pull_request(plan.proposal.key)
        if pull is None:
            raise
        return pull
