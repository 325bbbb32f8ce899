"""The plan of a promotion: a proven edit, and what its checks say of it; reads only."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from inspect import cleandoc
from typing import Final

from coreloop.base.errors import GitError, HumanDecidesError
from coreloop.base.git.promotions import read_history
from coreloop.base.github.connect import pull_request_repo
from coreloop.base.project.workspace import Workspace
from coreloop.base.text import printable
from coreloop.descriptions.edit import Edited
from coreloop.descriptions.texts import named
from coreloop.promote.commits import WritableRepository
from coreloop.promote.docstring_edit import diff_of, edit_lines, repository_path, section_of
from coreloop.promote.measure.measurement import Measurement, MeasureVerdict, newest_measurement
from coreloop.promote.proposal_entry import Proposal
from coreloop.promote.pull_request_text import body, branch_name, commit_message, pull_request_title
from coreloop.promote.reach import UNMEASURED, Measured, compare_descriptions, measure_reach, unread_lines
from coreloop.promote.replay import Replay, ReplayVerdict
from coreloop.promote.schema_patch import alternatives
from coreloop.promote.tool_schemas import schema_command

_GOES_ON: Final = frozenset({ReplayVerdict.REPRODUCED, ReplayVerdict.NOT_APPLICABLE, ReplayVerdict.NOT_ASKED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Promoting:
    """The inputs of a promotion.

    Attributes
    ----------
    workspace, repository
        The project, and its repository.
    proposals : tuple of Proposal
        The lines to add, all to the same docstring; several proposals are statements.
    ask : callable
        Replays a proposal.
    overrides : collection of str
        Failed checks that a human allows explicitly, and the pull request lists: ``unreached``,
        ``unverified``, ``unprotected``, ``harm``.
    extend : bool
        Whether to add to an open promotion of the same docstring.
    reopened : frozenset of str
        Keys whose pull request was closed without a merge, and which a person accepted afterwards.
    on_reach : callable, optional
        Called with the result of the reach check, in any case.
    """

    workspace: Workspace
    repository: WritableRepository
    proposals: tuple[Proposal, ...]
    ask: Callable[[Proposal], Replay]
    overrides: Collection[str] = ()
    extend: bool = False
    reopened: frozenset[str] = frozenset()
    on_reach: Callable[[Measured | None], None] = lambda _: None

    @property
    def lead(self) -> Proposal:
        """The first proposal."""
        return self.proposals[0]

    @property
    def keys(self) -> frozenset[str]:
        """The proposals' keys."""
        return frozenset(proposal.key for proposal in self.proposals)

    @property
    def path(self) -> str:
        """The file below the repository's root.

        Raises
        ------
        RefusedError
            It is not in the repository, or of no kind that can be edited.
        """
        return repository_path(self.repository, self.workspace.root, self.lead.file)

    def edit(self, base_sha: str) -> Edited:
        """Add the lines to a commit's docstring; raises as `edit_lines` does."""
        return edit_lines(self.workspace, self.repository, base_sha, self.proposals)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A planned promotion.

    Attributes
    ----------
    path : str
        The file below the repository's root.
    base, base_sha : str
        The target branch and its commit.
    section : str or None
        The section for the lines; None for the end of the first block of text.
    obstacles : tuple of str
        Why it cannot be carried out; empty if it can.
    notes : tuple of str
        Failed checks that were allowed, and what clients may not read.
    reach : Measured or None
        What the model receives; None if coreloop.yaml does not say how to read it.
    measured : Measurement, optional
        What a model does with the lines, if they were measured.
    schema : tuple of str and list of str
        Of `coreloop.promote.schema_patch.alternatives`.
    remote : str or None
        Where the branch is pushed; None if the repository has no remote, so that it is only here.
    on_github : bool
        Whether the repository on GitHub is known.
    """

    proposals: tuple[Proposal, ...]
    path: str
    base: str
    base_sha: str
    section: str | None
    edited: Edited
    reach: Measured | None
    replay: Replay
    branch: str
    obstacles: tuple[str, ...]
    notes: tuple[str, ...]
    measured: Measurement | None = None
    schema: tuple[str, list[str]] = ("", [])
    remote: str | None = None
    on_github: bool = False

    @property
    def proposal(self) -> Proposal:
        """The first proposal."""
        return self.proposals[0]

    @property
    def diff(self) -> str:
        """The change of the file."""
        return diff_of(self.path, self.edited.old, self.edited.source)

    @property
    def shown(self) -> str:
        """The change for a screen: outside Python that of the text, as JSON may be one long line."""
        is_python, own = self.path.endswith(".py"), (self.edited.before, self.edited.after)
        name, sides = f"{self.path}::{self.proposal.symbol}", (f"{side}\n".encode() for side in own)
        return self.diff if is_python else diff_of(name, *sides)

    def lines(self) -> Iterator[str]:
        """Yield what the promotion would do, its checks, and what stops it."""
        place = "the end of its first block of text" if self.section is None else f"section {self.section}"
        yield f"target   {self.path}::{self.proposal.symbol}, {place}"
        yield f"base     {self.base} at {self.base_sha[:12]}"
        yield f"\n{self.shown}\n"
        yield from self.reach.lines() if self.reach is not None else ["reach    unmeasured"]
        yield f"replay   {self.replay.summary}"
        yield f"measured {self.measured.summary if self.measured is not None else 'not yet; see measure'}"
        yield f"branch   {self.branch}"
        yield from (printable(f"evidence {its.id}: {its.evidence[0]}") for its in self.proposals)
        yield from (printable(f"note     {text}") for text in self.notes)
        yield from (printable(f"stops    {text}") for text in self.obstacles)

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
        return body(
            self.proposals,
            self.reach,
            self.replay,
            section=self.section,
            removed=self.edited.removed,
            notes=self.notes,
            measured=self.measured,
            schema=self.schema,
        )


def make_plan(promoting: Promoting, base_sha: str, *, branch: str = "", replay: Replay | None = None) -> Plan:
    """Plan a promotion; reads only.

    Parameters
    ----------
    promoting : Promoting
        The lines to add, and the allowed checks.
    base_sha : str
        Parent of the new commit.
    branch : str, optional
        The branch that an earlier run published.
    replay : Replay, optional
        The verdict of the run that published it: questions are asked once.

    Raises
    ------
    RefusedError
        The docstring has the lines already or cannot be edited with proof, or a key is on the base branch.
    GitError, ReachError
        The base branch or the file is missing, or the description cannot be read.
    """
    settings, lead = promoting.workspace.settings, promoting.lead
    _refuse_known(promoting, base_sha)
    edited = promoting.edit(base_sha)
    reach = _reach(promoting, base_sha, edited)
    promoting.on_reach(reach)
    replay = replay or promoting.ask(lead)
    lines = [line for proposal in promoting.proposals for line in proposal.lines]
    measured = newest_measurement(promoting.workspace.measured_file, promoting.keys, lines)
    obstacles, notes = _weigh(reach, replay, measured, promoting.overrides)
    description = reach.after if reach is not None else cleandoc(edited.after)
    notes += unread_lines(description, edited.appended, settings.reach.framework)
    return Plan(
        proposals=promoting.proposals,
        path=promoting.path,
        base=settings.forge.base,
        base_sha=base_sha,
        section=section_of(lead, settings),
        edited=edited,
        reach=reach,
        replay=replay,
        branch=branch or branch_name(lead, settings.axis_slugs),
        obstacles=tuple(obstacles),
        notes=tuple(notes),
        measured=measured,
        schema=alternatives(promoting.workspace, promoting.path, edited.old, promoting.proposals),
        remote=promoting.repository.remote(),
        on_github=pull_request_repo(promoting.repository, settings.forge) is not None,
    )


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
    known = {its.key: its for its in read_history(repository, base_sha).promotions()}
    for proposal in promoting.proposals:
        if (promotion := known.get(proposal.key)) is not None:
            state = "was promoted and reverted" if promotion.reverted else "is already promoted"
            raise HumanDecidesError(f"{proposal.id} {state}: commit {promotion.sha[:12]}")


def _reach(promoting: Promoting, base_sha: str, edited: Edited) -> Measured | None:
    lead, settings = promoting.lead, promoting.workspace.settings.reach
    command = schema_command(settings, promoting.workspace.root)
    argument = lead.symbol.partition("[")[2].removesuffix("]")
    caps = settings.caps if not argument else {}  # they are of a tool's own text
    if command is None or (argument and command.reader):  # readers print the tools' own texts
        sides, source = (edited.before, edited.after, edited.appended), f"as {lead.file} says it"
        return compare_descriptions(*sides, caps=caps, source=source) if edited.is_literal else None
    return measure_reach(
        command,
        lambda folder: promoting.repository.export(base_sha, folder),
        promoting.path.removesuffix(lead.file),  # the project may be below the repository's root
        lead.file,
        edited,
        tool=named(lead.engine, argument),
        caps=caps,
    )


def _weigh(
    reach: Measured | None, replay: Replay, measured: Measurement | None, overrides: Collection[str]
) -> tuple[list[str], list[str]]:
    """The obstacles, and the notes about allowed checks."""
    forbidden, doubted = (reach.forbidden, reach.doubts) if reach is not None else ((), (UNMEASURED,))
    obstacles, doubts = list(forbidden), [(doubt, "unreached") for doubt in doubted]
    if replay.verdict is ReplayVerdict.NOT_REPRODUCED:
        obstacles.append(f"replay: {replay.summary}")
    elif replay.verdict not in _GOES_ON:
        doubts.append((f"replay: {replay.summary}", "unverified"))
    if measured is not None and measured.verdict is MeasureVerdict.HURTS:
        doubts.append((f"measured: {measured.summary}", "harm"))
    obstacles += [f"{doubt}; --allow-{option} goes on" for doubt, option in doubts if option not in overrides]
    return obstacles, [doubt for doubt, option in doubts if option in overrides]
