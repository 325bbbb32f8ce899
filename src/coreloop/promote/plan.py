"""The plan of a promotion, with a proven edit; reads only."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from coreloop.base.errors import GitError, HumanDecidesError
from coreloop.base.git.promotions import promotions
from coreloop.base.project.settings import Settings
from coreloop.descriptions.edit import Edited
from coreloop.promote.branch import PublishedBranch, refuse_other_evidence, refuse_other_text, restore
from coreloop.promote.commits import WritableRepository
from coreloop.promote.description_budget import NOTHING_KNOWN, Worth
from coreloop.promote.docstring_edit import diff_of, edit_lines, repository_path, section_of
from coreloop.promote.measure.measurement import Measurement
from coreloop.promote.measure.verdict import MeasureVerdict
from coreloop.promote.proposal_entry import Proposal
from coreloop.promote.pull_request_text import body, branch_name, commit_message, pull_request_title
from coreloop.promote.reach import Reach, Unmeasured, measure_reach
from coreloop.promote.replay import Replay, ReplayVerdict
from coreloop.promote.tool_schemas import schema_command

_GOES_ON: Final = frozenset({ReplayVerdict.REPRODUCED, ReplayVerdict.NOT_APPLICABLE, ReplayVerdict.NOT_ASKED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Overrides:
    """Failed checks that a human allows explicitly; the pull request lists each."""

    unreached: bool = False
    unverified: bool = False
    unprotected: bool = False
    harm: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A planned promotion.

    Attributes
    ----------
    proposals : tuple of Proposal
        All are for the same docstring; several proposals are statements.
    path : str
        The file below the repository's root.
    base, base_sha : str
        The target branch and its commit.
    section : str or None
        The section for the lines; None for the end of the first block of text.
    obstacles : tuple of str
        Why it cannot be carried out; empty if it can.
    notes : tuple of str
        Failed checks that were allowed.
    published : PublishedBranch, optional
        The branch, if an earlier run published it.
    measured : Measurement, optional
        What a model does with the lines, if they were measured.
    returned : frozenset of str
        As in `Promoting`.
    """

    proposals: tuple[Proposal, ...]
    path: str
    base: str
    base_sha: str
    section: str | None
    edited: Edited
    diff: str
    reach: Reach
    replay: Replay
    branch: str
    obstacles: tuple[str, ...]
    notes: tuple[str, ...]
    published: PublishedBranch | None = None
    measured: Measurement | None = None
    returned: frozenset[str] = frozenset()

    @property
    def proposal(self) -> Proposal:
        """The first proposal."""
        return self.proposals[0]

    @property
    def title(self) -> str:
        """The pull request's title and the commit's subject."""
        return pull_request_title(self.proposals)

    @property
    def message(self) -> str:
        """The commit's message."""
        measured = self.measured.verdict.value if self.measured is not None else ""
        return commit_message(self.proposals, self.replay, section=self.section, measured=measured)

    @property
    def body(self) -> str:
        """The pull request's text."""
        return self.body_with(self.notes)

    def body_with(self, notes: Sequence[str]) -> str:
        """The pull request's text with other notes."""
        return body(
            self.proposals,
            self.reach,
            self.replay,
            section=self.section,
            removed=self.edited.removed,
            notes=notes,
            measured=self.measured,
        )


def _ignore(_: Reach) -> None:
    pass


def _unmeasured(_keys: Collection[str], _lines: Collection[str]) -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Promoting:
    """The inputs of a promotion.

    Attributes
    ----------
    proposals : tuple of Proposal
        The lines to add, all to the same docstring.
    repository : WritableRepository
        The project's repository.
    project : Path
        Root of the proposals' paths.
    settings : Settings
        Base branch, reach, slugs.
    ask : callable
        Replays a proposal.
    overrides : Overrides
        Failed checks that are allowed.
    extend : bool
        Whether to add to an open promotion of the same docstring.
    reopened : frozenset of str
        Keys whose pull request was closed without a merge, and which a person accepted afterwards.
    returned : frozenset of str
        Keys that were merged and helped, until their failure came back.
    on_reach : callable, optional
        Called with the result of the reach check, in any case.
    measured : callable, optional
        The newest measurement of proposals, by their keys and lines.
    worth : Worth
        Which lines are weak.
    """

    proposals: tuple[Proposal, ...]
    repository: WritableRepository
    project: Path
    settings: Settings
    ask: Callable[[Proposal], Replay]
    overrides: Overrides = Overrides()
    extend: bool = False
    reopened: frozenset[str] = frozenset()
    returned: frozenset[str] = frozenset()
    worth: Worth = NOTHING_KNOWN
    on_reach: Callable[[Reach], None] = _ignore
    measured: Callable[[Collection[str], Collection[str]], Measurement | None] = _unmeasured

    @property
    def proposal(self) -> Proposal:
        """The first proposal."""
        return self.proposals[0]

    @property
    def path(self) -> str:
        """The file below the repository's root.

        Raises
        ------
        RefusedError
            It is not in the repository, or not a Python file.
        """
        return repository_path(self.repository, self.project, self.proposal.file)


def make_plan(
    promoting: Promoting, base_sha: str, *, published: PublishedBranch | None = None, rebuild: bool = False
) -> Plan:
    """Plan a promotion; reads only.

    Parameters
    ----------
    promoting : Promoting
        The lines to add, and the allowed checks.
    base_sha : str
        Parent of the new commit.
    published : PublishedBranch, optional
        The branch that an earlier run published. Its replay verdict stays valid, and so do its allowed checks
        unless it is rebuilt.
    rebuild : bool
        Whether to rebuild the published branch on top of ``base_sha``.

    Raises
    ------
    RefusedError
        The docstring has the lines already or cannot be edited with proof, a key is on the base branch, or
        the published branch does not match this edit.
    GitError, ReachError
        The base branch or the file is missing, or the description cannot be read.
    """
    repository, settings, overrides = promoting.repository, promoting.settings, promoting.overrides
    path = promoting.path
    _refuse_known(promoting, base_sha)
    if published is not None:
        # a rebuilt branch is measured again, so the earlier permission does not apply
        overrides = replace(overrides, unreached=overrides.unreached or not rebuild, unverified=True)
        refuse_other(promoting, published)
        base_sha = base_sha if rebuild else published.base_sha
    edited = edit_lines(repository, base_sha, path, promoting.proposals, settings, promoting.worth)
    reach = _reach(promoting, base_sha, path, edited)
    promoting.on_reach(reach)
    replay = published.replay if published is not None else promoting.ask(promoting.proposal)
    measured = _measured(promoting, published if not rebuild else None)
    obstacles, notes = _weigh(reach, replay, measured, overrides)
    return Plan(
        proposals=promoting.proposals,
        path=path,
        base=settings.forge.base,
        base_sha=base_sha,
        section=section_of(promoting.proposal, settings),
        edited=edited,
        diff=diff_of(edited, path),
        reach=reach,
        replay=replay,
        branch=published.branch if published else branch_name(promoting.proposal, settings.axis_slugs),
        obstacles=obstacles,
        notes=notes,
        published=published,
        measured=measured,
        returned=promoting.returned,
    )


def _measured(promoting: Promoting, published: PublishedBranch | None) -> Measurement | None:
    """The newest measurement; for a published branch the one that its commit names."""
    keys = [proposal.key for proposal in promoting.proposals]
    newest = promoting.measured(keys, [line for proposal in promoting.proposals for line in proposal.lines])
    if published is None:
        return newest
    if newest is not None and newest.verdict == published.measured:
        return newest
    return Measurement.named(published.measured, promoting.proposal.engine) if published.measured else None


def base_commit(repository: WritableRepository, base: str, *, fetch: bool) -> str:
    """The commit of the base branch: the remote's, or this clone's without a remote.

    Parameters
    ----------
    repository : WritableRepository
        The project's repository.
    base : str
        Name of the branch.
    fetch : bool
        Fetch missing commits; if false, use the newest commit that this clone knows.

    Raises
    ------
    GitError
        The branch does not exist.
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


def _refuse_known(promoting: Promoting, base_sha: str) -> None:
    repository = promoting.repository
    repository.require_history()
    known = {its.key: its for its in promotions(repository, repository.log(base_sha))}
    for proposal in promoting.proposals:
        promotion = known.get(proposal.key)
        if promotion is not None and (promotion.reverted or proposal.key not in promoting.returned):
            state = "was promoted and reverted" if promotion.reverted else "is already promoted"
            raise HumanDecidesError(f"{proposal.id} {state}: commit {promotion.sha[:12]}")


def refuse_other(promoting: Promoting, published: PublishedBranch) -> None:
    """Refuse a branch that differs from what would be promoted for its candidates now.

    Raises
    ------
    RefusedError
        Its text or figures differ.
    """
    repository, path = promoting.repository, promoting.path
    own = promoting.proposals
    if published.keys != {proposal.key for proposal in own}:
        own = restore(published, repository, promoting.proposal, path=path)
    refuse_other_evidence(published, own)
    edited = edit_lines(repository, published.base_sha, path, own, promoting.settings, promoting.worth)
    refuse_other_text(published, own[0], repository, path=path, edited=edited)


def _reach(promoting: Promoting, base_sha: str, path: str, edited: Edited) -> Reach:
    proposal, settings = promoting.proposal, promoting.settings.reach
    command = schema_command(settings, promoting.project)
    if command is None:
        return Unmeasured()
    return measure_reach(
        command,
        lambda folder: promoting.repository.export(base_sha, folder),
        path.removesuffix(proposal.file),  # the project's folder, which may be below the repository's root
        proposal.file,
        edited,
        tool=proposal.engine,
        caps=settings.caps,
    )


def _weigh(
    reach: Reach, replay: Replay, measured: Measurement | None, overrides: Overrides
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The obstacles, and the notes about allowed checks."""
    obstacles = list(reach.forbidden)
    notes: list[str] = []
    for doubt in reach.doubts:
        (notes if overrides.unreached else obstacles).append(
            doubt if overrides.unreached else f"{doubt}; --allow-unreached goes on"
        )
    if replay.verdict is ReplayVerdict.NOT_REPRODUCED:
        obstacles.append(f"replay: {replay.summary}")
    elif replay.verdict not in _GOES_ON:
        doubt = f"replay: {replay.summary}"
        (notes if overrides.unverified else obstacles).append(
            doubt if overrides.unverified else f"{doubt}; --allow-unverified goes on"
        )
    if measured is not None and measured.verdict is MeasureVerdict.HURTS:
        doubt = f"measured: {measured.summary}"
        (notes if overrides.harm else obstacles).append(
            doubt if overrides.harm else f"{doubt}; --allow-harm goes on"
        )
    return tuple(obstacles), tuple(notes)
