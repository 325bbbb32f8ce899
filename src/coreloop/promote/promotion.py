"""Phase R as one flow: from proposals for one docstring to a draft pull request that a human can merge."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from typing import Final

from coreloop.errors import CoreloopError, PullRequestExistsError, RefusedError
from coreloop.forge.protocol import Forge, PullRequest, ReviewNotRequired, ReviewRequired, ReviewRule
from coreloop.history.promotions import promotions
from coreloop.history.trailers import promoted_keys, read_promoted
from coreloop.promote.branch import (
    Published,
    free_name,
    published_keys,
    read_published,
    restore,
    taken_over,
)
from coreloop.promote.commits import WritableRepository
from coreloop.promote.plan import Leave, Plan, Promoting, base_commit, make_plan, refuse_other
from coreloop.promote.proposal import Proposal
from coreloop.proposals.advice import parse_advice

_LOOK_BACK_DAYS: Final = 365


@dataclass(frozen=True, slots=True)
class Done:
    """What a confirmed promotion left behind; ``fresh`` is false when an earlier run had done it."""

    branch: str
    pull_request: PullRequest | None
    fresh: bool


@dataclass(frozen=True, slots=True)
class _Start:
    """Where a promotion starts from.

    Attributes
    ----------
    promoting : Promoting
        With the proposals of the branch that it goes on from.
    base_sha : str
        Commit of the base branch.
    published : Published or None
        That branch.
    existing : PullRequest or None
        Its open pull request.
    """

    promoting: Promoting
    base_sha: str
    published: Published | None = None
    existing: PullRequest | None = None

    @property
    def must_rebuild(self) -> bool:
        """Whether the branch must be made again: it grows, or its base moved and nobody reviews it yet."""
        if self.published is None:
            return False
        grows = self.published.keys != {proposal.key for proposal in self.promoting.proposals}
        is_draft = self.existing is None or self.existing.draft
        return grows or (is_draft and self.published.base_sha != self.base_sha)

    @property
    def is_done(self) -> bool:
        """Whether the pull request is open and says what its branch holds; a run may have ended between."""
        if self.existing is None or self.must_rebuild:
            return False
        told = read_promoted(self.existing.body)
        return self.published is None or not self.existing.draft or told == self.published.groups


def promote(promoting: Promoting, forge: Forge | None) -> tuple[Plan | None, Done]:
    """Promote proposals, or finish what an earlier run began.

    The pull requests of the keys are looked for first, then the branches of the docstring; nothing is asked
    again for what an earlier run has published.

    Returns
    -------
    tuple of Plan or None and Done
        No plan where the pull request was open already, on the newest base.

    Raises
    ------
    RefusedError, GitError, ReachError, ForgeError
        As `make_plan` and `carry_out` do; another promotion of the docstring is open.
    """
    start = _start(promoting, forge)
    if start.existing is not None and forge is not None and start.is_done:
        forge.add_label(start.existing.number)
        return None, Done(start.existing.branch, start.existing, fresh=False)
    plan = make_plan(start.promoting, start.base_sha, published=start.published, rebuild=start.must_rebuild)
    if start.existing is None and not start.must_rebuild:
        max_open = promoting.settings.forge.max_open
        return plan, carry_out(plan, promoting.repository, forge, max_open=max_open, leave=promoting.leave)
    return plan, _renew(plan, start, forge)


def preview(promoting: Promoting) -> Plan:
    """What `promote` would do, as far as this clone knows: nothing is fetched, and no forge is asked."""
    base_sha = base_commit(promoting.repository, promoting.settings.forge.base, fetch=False)
    found = _open_branch(promoting, base_sha, None, fetch=False)
    if found is None or found.keys == {proposal.key for proposal in promoting.proposals}:
        if found is not None:
            refuse_other(promoting, found)
        return make_plan(promoting, base_sha)
    grown = replace(promoting, proposals=_joined(promoting, found))
    return make_plan(grown, base_sha, published=found, rebuild=True)


def carry_out(
    plan: Plan, repository: WritableRepository, forge: Forge | None, *, max_open: int, leave: Leave
) -> Done:
    """Commit, push and open the draft, or only the last of these where a branch is published.

    Raises
    ------
    RefusedError
        The base branch asks for no review, or too many promotions are open.
    GitError, ForgeError
        Git or GitHub said no; the message names the branch where one stays.
    """
    if plan.obstacles:
        raise RefusedError("; ".join(plan.obstacles))
    published = plan.published
    with _naming(published.branch if published is not None else None):
        allowed = _preflight(plan, forge, max_open=max_open, leave=leave) if forge is not None else ()
    branch = published.branch if published is not None else _publish(plan, repository)
    if forge is None:
        return Done(branch, None, fresh=published is None)
    with _naming(branch):
        pull = _open_draft(plan, forge, branch, (*plan.notes, *allowed))
        forge.add_label(pull.number)
    return Done(branch, pull, fresh=True)


def _renew(plan: Plan, start: _Start, forge: Forge | None) -> Done:
    """Make a branch again where it must be, and give its pull request the text of what it holds now."""
    if plan.obstacles:
        raise RefusedError("; ".join(plan.obstacles))
    published, existing, asked = plan.published, start.existing, start.promoting
    notes = plan.notes
    if forge is not None and existing is None:
        max_open = asked.settings.forge.max_open
        notes = (*notes, *_preflight(plan, forge, max_open=max_open, leave=asked.leave))
    if published is not None and start.must_rebuild:
        repository = asked.repository
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
    """Find what is open for the docstring."""
    repository, settings = promoting.repository, promoting.settings
    existing = _existing(promoting, forge) if forge is not None else None
    base_sha = base_commit(repository, settings.forge.base, fetch=True)
    found = _open_branch(promoting, base_sha, forge, fetch=True)
    if existing is None and found is not None and forge is not None:
        existing = _pull_request_of(forge, found)
    _refuse_others_work(promoting, found, existing)
    if found is None:
        return _Start(promoting, base_sha, None, existing)
    return _Start(replace(promoting, proposals=_joined(promoting, found)), base_sha, found, existing)


def _refuse_others_work(promoting: Promoting, found: Published | None, existing: PullRequest | None) -> None:
    """Refuse to add to a pull request that a human has taken over."""
    wanted = {proposal.key for proposal in promoting.proposals}
    if existing is None or wanted <= set(promoted_keys(existing.body)) | (found.keys if found else set()):
        return
    if found is None:
        raise RefusedError(f"{existing.url} has other commits than coreloop's; merge or close it first")
    if not existing.draft:
        raise RefusedError(f"{existing.url} is out of draft, so it stays as it is; merge or close it first")


def _joined(promoting: Promoting, found: Published) -> tuple[Proposal, ...]:
    """The proposals of a branch, and those of the new ones that it has not."""
    new = tuple(proposal for proposal in promoting.proposals if proposal.key not in found.keys)
    if not new and not all(map(_is_statement, promoting.proposals)):
        return promoting.proposals
    if not all(map(_is_statement, new)):
        raise RefusedError(
            f"branch {found.branch} changes this docstring already, and a sequence stands alone; "
            "merge or close its pull request first"
        )
    restored = restore(found, promoting.repository, promoting.proposal, path=promoting.path)
    subjects = {_subject(proposal) for proposal in new}
    restored = tuple(proposal for proposal in restored if _subject(proposal) not in subjects)
    known = {proposal.key: proposal for proposal in promoting.proposals}  # with all of their evidence
    return (*(_same_figures(one, known.get(one.key)) or one for one in restored), *new)


def _subject(proposal: Proposal) -> tuple[str, ...] | None:
    said = parse_advice(proposal.lines[0])
    return said.subject() if said is not None else None


def _is_statement(proposal: Proposal) -> bool:
    return not proposal.steps and len(proposal.lines) == 1


def _same_figures(restored: Proposal, known: Proposal | None) -> Proposal | None:
    return known if known is not None and known.figures == restored.figures else None


def _open_branch(
    promoting: Promoting, base_sha: str, forge: Forge | None, *, fetch: bool
) -> Published | None:
    """The branch of an open promotion of the docstring, which is this one or may grow by it.

    Raises
    ------
    RefusedError
        There is one, and nobody said that it may grow.
    """
    repository, wanted = promoting.repository, {proposal.key for proposal in promoting.proposals}
    target = promoting.proposal.target
    merged = {one.key for one in promotions(repository.log(base_sha))}
    branches = published_keys(repository, target, fetch=fetch)
    for branch, keys in branches.items():
        if wanted <= set(keys):
            return read_published(repository, branch, fetch=fetch)
    for branch, keys in branches.items():
        if merged.issuperset(keys) or (forge is not None and not _is_open(forge, keys[0])):
            continue
        if not promoting.extend:
            raise RefusedError(
                f"branch {branch} changes {target} already; merge or close its pull request first, "
                "or say --extend to add to it"
            )
        return read_published(repository, branch, fetch=fetch)
    if fetch:
        _refuse_taken_over(promoting, base_sha, forge)
    return None


def _refuse_taken_over(promoting: Promoting, base_sha: str, forge: Forge | None) -> None:
    """Refuse a docstring that a branch changes on which others have worked: that is theirs now."""
    wanted = {proposal.key for proposal in promoting.proposals}
    target = promoting.proposal.target
    for branch, keys in taken_over(promoting.repository, target, base_sha).items():
        if forge is not None and (wanted <= set(keys) or not _is_open(forge, keys[0])):
            continue  # its pull request is what the command ends with, or has ended
        raise RefusedError(
            f"branch {branch} changes {target} already, and has other commits than coreloop's; "
            "merge or close its pull request first"
        )


def _is_open(forge: Forge, key: str) -> bool:
    """Whether a branch still stands for something: its pull request is open, or was not opened yet."""
    found = forge.find_pull_request(key)
    return found is None or found.state == "open"


def _pull_request_of(forge: Forge, found: Published) -> PullRequest | None:
    pulls = (forge.find_pull_request(key) for key in sorted(found.keys))
    return next((pull for pull in pulls if pull is not None and pull.state == "open"), None)


def _publish(plan: Plan, repository: WritableRepository) -> str:
    branch = free_name(repository, [proposal.key for proposal in plan.proposals], plan.branch)
    target, remote = plan.proposal.target, repository.remote()
    known = published_keys(repository, target, fetch=True).keys()
    sha = repository.commit_file(plan.base_sha, plan.path, plan.edited.source, plan.message)
    repository.publish(sha, branch, remote=remote)
    # another clone may have looked before it was there, too: then each sees the other's now
    rivals = published_keys(repository, target, fetch=True).keys() - known - {branch}
    if rivals:
        repository.withdraw(sha, branch, remote=remote)
        raise RefusedError(
            f"branch {min(rivals)} was published for {target} at the same moment; run the same command again"
        )
    return branch


@contextmanager
def _naming(branch: str | None) -> Iterator[None]:
    """Name the branch that stays when what comes after it fails."""
    try:
        yield
    except CoreloopError as error:
        if branch is not None:
            error.add_note(f"branch {branch} is pushed; the same command goes on from there")
        raise


def _existing(promoting: Promoting, forge: Forge) -> PullRequest | None:
    """The candidates' pull request if it is open already; one that has ended stays so."""
    found = None
    for proposal in promoting.proposals:
        since = datetime.combine(proposal.day, time(), UTC) - timedelta(days=_LOOK_BACK_DAYS)
        pull = forge.find_pull_request(proposal.key, since=since)
        if pull is not None and pull.state != "open":
            ended = "merged" if pull.merged else "closed without a merge"
            raise RefusedError(f"{proposal.id} was {ended}: {pull.url}")
        found = found or pull
    return found


def _preflight(plan: Plan, forge: Forge, *, max_open: int, leave: Leave) -> tuple[str, ...]:
    """Whether a new pull request may be opened; gives what was allowed."""
    unreviewed = _unreviewed(forge.review_rule(plan.base))
    if unreviewed and not leave.unprotected:
        raise RefusedError(f"{unreviewed}; protect {plan.base}, or say --allow-unprotected")
    count = len(forge.open_pull_requests())
    if count >= max_open:
        open_now = "1 promotion is" if count == 1 else f"{count} promotions are"
        raise RefusedError(f"{open_now} open, max_open is {max_open}; merge or close one first")
    return (unreviewed,) if unreviewed else ()


def _unreviewed(rule: ReviewRule) -> str:
    if isinstance(rule, ReviewRequired):
        return ""
    known = isinstance(rule, ReviewNotRequired)
    return f"{'no review is required' if known else 'nobody knows whether a review is'}: {rule.reason}"


def _open_draft(plan: Plan, forge: Forge, branch: str, notes: tuple[str, ...]) -> PullRequest:
    text = plan.body_with(notes)
    try:
        return forge.open_draft(branch=branch, base=plan.base, title=plan.title, body=text)
    except PullRequestExistsError:
        found = forge.find_pull_request(plan.proposal.key)
        if found is None:
            raise
        return found
