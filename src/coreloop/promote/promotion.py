"""Phase R as one flow: from a proposal to a plan that proves itself, from that to a draft pull request."""

import difflib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Final

from coreloop.docstrings.edit import Edited, Refused, append_to_section
from coreloop.docstrings.source import read_source
from coreloop.errors import CoreloopError, GitError, PullRequestExistsError, RefusedError
from coreloop.forge.protocol import Forge, PullRequest, ReviewNotRequired, ReviewRequired, ReviewRule
from coreloop.history.promotions import promotions
from coreloop.project.settings import Settings
from coreloop.promote.branch import (
    Published,
    find_published,
    free_name,
    refuse_other_evidence,
    refuse_other_text,
)
from coreloop.promote.commits import WritableRepository
from coreloop.promote.proposal import Proposal
from coreloop.promote.pull_request import body, branch_name, commit_message, pull_request_title
from coreloop.promote.reach import Reach, command_reach, docstring_reach
from coreloop.promote.replay import Replay, ReplayVerdict
from coreloop.promote.statement import refuse_strange_words

_LOOK_BACK_DAYS: Final = 365
_GOES_ON: Final = frozenset({ReplayVerdict.REPRODUCED, ReplayVerdict.NOT_APPLICABLE, ReplayVerdict.NOT_ASKED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Leave:
    """What a human allows in so many words; each is written into the pull request."""

    unreached: bool = False
    unverified: bool = False
    unprotected: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that a promotion would do.

    Attributes
    ----------
    path : str
        The file below the repository's root.
    base, base_sha : str
        The branch that the change is for, and its commit.
    obstacles : tuple of str
        Why it may not go on; empty when it may.
    notes : tuple of str
        What was allowed although a check did not pass.
    published : Published, optional
        What an earlier run published: only the pull request is left to open.
    """

    proposal: Proposal
    path: str
    base: str
    base_sha: str
    edited: Edited
    diff: str
    reach: Reach
    replay: Replay
    branch: str
    title: str
    message: str
    body: str
    obstacles: tuple[str, ...]
    notes: tuple[str, ...]
    published: Published | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """What a confirmed promotion left behind; ``fresh`` is false when an earlier run had done it."""

    branch: str
    pull_request: PullRequest | None
    fresh: bool


def _ignore(_: Reach) -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Promoting:
    """What a promotion is made of.

    Attributes
    ----------
    proposal : Proposal
        What to append where.
    repository : WritableRepository
        The project's.
    project : Path
        Folder that the proposal's paths are below.
    settings : Settings
        Base branch, reach, slugs.
    ask : callable
        Replays the proposal.
    leave : Leave
        What is allowed.
    reached : callable, optional
        Called with the result of the reach check, in any case.
    """

    proposal: Proposal
    repository: WritableRepository
    project: Path
    settings: Settings
    ask: Callable[[Proposal], Replay]
    leave: Leave = Leave()
    reached: Callable[[Reach], None] = _ignore


def promote(promoting: Promoting, forge: Forge | None) -> tuple[Plan | None, Done]:
    """Promote a proposal, or finish what an earlier run began.

    The pull request of the key is looked for first, then its branch; nothing is asked again for what an
    earlier run has published.

    Returns
    -------
    tuple of Plan or None and Done
        No plan where the pull request was open already.

    Raises
    ------
    RefusedError, GitError, ReachError, ForgeError
        As `make_plan` and `carry_out` do.
    """
    proposal, repository, settings = promoting.proposal, promoting.repository, promoting.settings
    existing = _existing(proposal, forge) if forge is not None else None
    if forge is not None and existing is not None:
        forge.add_label(existing.number)
        return None, Done(existing.branch, existing, fresh=False)
    base_sha = base_commit(repository, settings.forge.base, fetch=True)
    plan = make_plan(promoting, base_sha, published=find_published(repository, proposal.key))
    max_open = settings.forge.max_open
    return plan, carry_out(plan, repository, forge, max_open=max_open, leave=promoting.leave)


def make_plan(promoting: Promoting, base_sha: str, *, published: Published | None = None) -> Plan:
    """Work out a promotion; reads only.

    Parameters
    ----------
    promoting : Promoting
        What to append where, and what is allowed.
    base_sha : str
        Commit that the change goes on top of, from `base_commit`.
    published : Published, optional
        What an earlier run published, from `find_published`: its verdict stands, and what was allowed then
        is allowed now.

    Raises
    ------
    RefusedError
        The docstring cannot be edited with proof, has the lines already, the key is on the base branch, or
        what was published is not this edit.
    GitError, ReachError
        The base branch or the file is missing; the schema command failed.
    """
    proposal, repository, settings = promoting.proposal, promoting.repository, promoting.settings
    leave = promoting.leave
    path = _repository_path(repository, promoting.project, proposal.file)
    _refuse_known(repository, base_sha, proposal)
    if published is not None:
        refuse_other_evidence(published, proposal)
        base_sha = published.base_sha
        leave = replace(leave, unreached=True, unverified=True)
    edited = _edit(repository, base_sha, path, proposal, settings)
    if published is not None:
        refuse_other_text(published, proposal, repository, path=path, edited=edited)
    reach = _reach(promoting, base_sha, path, edited)
    promoting.reached(reach)
    replay = published.replay if published is not None else promoting.ask(proposal)
    obstacles, notes = _weigh(reach, replay, leave)
    return Plan(
        proposal=proposal,
        path=path,
        base=settings.forge.base,
        base_sha=base_sha,
        edited=edited,
        diff=diff_of(edited, path),
        reach=reach,
        replay=replay,
        branch=published.branch if published is not None else branch_name(proposal, settings.axis_slugs),
        title=pull_request_title(proposal),
        message=commit_message(proposal, replay),
        body=body(proposal, reach, replay, notes=notes),
        obstacles=obstacles,
        notes=notes,
        published=published,
    )


def base_commit(repository: WritableRepository, base: str, *, fetch: bool) -> str:
    """The commit of the base branch: the remote's, or this clone's when there is no remote.

    Parameters
    ----------
    repository : WritableRepository
        The project's.
    base : str
        Name of the branch.
    fetch : bool
        Get what this clone does not have. Without it, the newest commit that this clone knows is taken.

    Raises
    ------
    GitError
        There is no such branch.
    """
    remote = repository.remote()
    if remote is None or not fetch:
        return repository.base(base)
    sha = repository.heads(remote).get(base)
    if sha is None:
        raise GitError(f"{remote} has no branch {base}; push it, or set forge: base in coreloop.yaml")
    if repository.resolve(sha) is None:
        repository.fetch(remote, base)
    return sha


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


def _publish(plan: Plan, repository: WritableRepository) -> str:
    branch = free_name(repository, plan.proposal.key, plan.branch)
    sha = repository.commit_file(plan.base_sha, plan.path, plan.edited.source, plan.message)
    repository.publish(sha, branch, remote=repository.remote())
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


def diff_of(edited: Edited, path: str) -> str:
    """Unified diff of the file; line ends are not shown."""
    end = edited.offset + len(edited.inserted)
    old = read_source(edited.source[: edited.offset] + edited.source[end:])
    new = read_source(edited.source)
    pair = (old.text.splitlines(), new.text.splitlines())
    return "\n".join(difflib.unified_diff(*pair, f"a/{path}", f"b/{path}", lineterm=""))


def _repository_path(repository: WritableRepository, project: Path, file: str) -> str:
    try:
        path = (project / file).resolve().relative_to(repository.root.resolve())
    except ValueError as error:
        raise RefusedError(f"{file} is not in the repository {repository.root}") from error
    if path.suffix != ".py":
        raise RefusedError(f"{file} is no Python file")
    return path.as_posix()


def _refuse_known(repository: WritableRepository, base_sha: str, proposal: Proposal) -> None:
    repository.require_history()
    key = proposal.key
    known = next((one for one in promotions(repository.log(base_sha)) if one.key == key), None)
    if known is not None:
        what = "was promoted and reverted" if known.reverted else "is promoted already"
        raise RefusedError(f"{proposal.id} {what}: commit {known.sha[:12]}")


def _edit(
    repository: WritableRepository, base_sha: str, path: str, proposal: Proposal, settings: Settings
) -> Edited:
    source = repository.read(base_sha, path)
    if source is None:
        raise GitError(f"{path} is not a regular file in {base_sha[:12]}; commit it to the base branch first")
    symbol, _, line = proposal.symbol.partition(":")
    place = int(line) if line.isdecimal() else None
    outcome = append_to_section(source, symbol, proposal.section, proposal.lines, line=place)
    if isinstance(outcome, Edited):
        refuse_strange_words(proposal.lines, source, f"{path}::{proposal.symbol}", settings)
        return outcome
    reason = outcome.reason if isinstance(outcome, Refused) else "the docstring has these lines already"
    raise RefusedError(f"{path}::{proposal.symbol}: {reason}")


def _reach(promoting: Promoting, base_sha: str, path: str, edited: Edited) -> Reach:
    proposal, settings = promoting.proposal, promoting.settings.reach
    if not settings.command:
        return docstring_reach(edited, providers=proposal.providers, caps=settings.caps)
    # The command runs in the project's folder, which may lie below the repository's.
    prefix = path.removesuffix(proposal.file)
    return command_reach(
        lambda folder: promoting.repository.export(base_sha, folder),
        prefix,
        proposal.file,
        edited,
        tool=proposal.engine,
        settings=settings,
        providers=proposal.providers,
    )


def _weigh(reach: Reach, replay: Replay, leave: Leave) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What stands in the way, and what was allowed to."""
    obstacles: list[str] = []
    notes: list[str] = []
    if not reach.ok:
        (notes if leave.unreached else obstacles).append(
            f"reach: {_unreached(reach)}" + ("" if leave.unreached else "; --allow-unreached goes on")
        )
    if replay.verdict is ReplayVerdict.NOT_REPRODUCED:
        obstacles.append(f"replay: {replay.summary}")
    elif replay.verdict not in _GOES_ON:
        (notes if leave.unverified else obstacles).append(
            f"replay: {replay.summary}" + ("" if leave.unverified else "; --allow-unverified goes on")
        )
    return tuple(obstacles), tuple(notes)


def _unreached(reach: Reach) -> str:
    if reach.missing:
        return (
            f"{len(reach.missing)} of the appended lines are not in the description that the model receives"
        )
    cap = next(cap for cap in reach.caps if cap.binds and cap.lost)
    return f"{cap.provider} reads {cap.limit:,} characters, which cuts {len(cap.lost)} of the appended lines"


def _existing(proposal: Proposal, forge: Forge) -> PullRequest | None:
    """The candidate's pull request if it is open already; one that has ended stays so."""
    since = datetime.combine(proposal.day, time(), UTC) - timedelta(days=_LOOK_BACK_DAYS)
    existing = forge.find_pull_request(proposal.key, since=since)
    if existing is not None and existing.state == "open":
        return existing
    if existing is not None:
        ended = "merged" if existing.merged else "closed without a merge"
        raise RefusedError(f"{proposal.id} was {ended}: {existing.url}")
    return None


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
    text = body(plan.proposal, plan.reach, plan.replay, notes=notes)
    try:
        return forge.open_draft(branch=branch, base=plan.base, title=plan.title, body=text)
    except PullRequestExistsError:
        found = forge.find_pull_request(plan.proposal.key)
        if found is None:
            raise
        return found
