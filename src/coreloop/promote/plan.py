"""What a promotion would do, worked out and proven: reads only."""

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from coreloop.docstrings.edit import Edited, Refused, put_lines
from coreloop.docstrings.ownership import docstring_bullets, existing_bullets, promoted_lines
from coreloop.docstrings.source import read_source
from coreloop.errors import GitError, RefusedError
from coreloop.history.promotions import promotions
from coreloop.history.repository import Repository
from coreloop.project.line_length import line_length
from coreloop.project.settings import Settings
from coreloop.promote.branch import Published, refuse_other_evidence, refuse_other_text, restore
from coreloop.promote.commits import WritableRepository
from coreloop.promote.proposal import Proposal
from coreloop.promote.pull_request import body, branch_name, commit_message, pull_request_title
from coreloop.promote.reach import Reach, Unmeasured, measure_reach
from coreloop.promote.replay import Replay, ReplayVerdict
from coreloop.promote.schema import schema_command
from coreloop.promote.statement import refuse_strange_words
from coreloop.proposals.advice import parse_advice
from coreloop.proposals.lines import is_form

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
    proposals : tuple of Proposal
        For one docstring; several are statements.
    path : str
        The file below the repository's root.
    base, base_sha : str
        The branch that the change is for, and its commit.
    section : str or None
        Where the lines go; None for the end of the first block of text.
    obstacles : tuple of str
        Why it may not go on; empty when it may.
    notes : tuple of str
        What was allowed although a check did not pass.
    published : Published, optional
        The branch that an earlier run published, which is this one's.
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
    published: Published | None = None

    @property
    def proposal(self) -> Proposal:
        """The first."""
        return self.proposals[0]

    @property
    def title(self) -> str:
        """Of the pull request, and the commit's subject."""
        return pull_request_title(self.proposals)

    @property
    def message(self) -> str:
        """Of the commit."""
        return commit_message(self.proposals, self.replay, section=self.section)

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
        )


def _ignore(_: Reach) -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Promoting:
    """What a promotion is made of.

    Attributes
    ----------
    proposals : tuple of Proposal
        What to add where, all to one docstring.
    repository : WritableRepository
        The project's.
    project : Path
        Folder that the proposals' paths are below.
    settings : Settings
        Base branch, reach, slugs.
    ask : callable
        Replays a proposal.
    leave : Leave
        What is allowed.
    extend : bool
        Whether an open promotion of the same docstring may grow.
    reached : callable, optional
        Called with the result of the reach check, in any case.
    """

    proposals: tuple[Proposal, ...]
    repository: WritableRepository
    project: Path
    settings: Settings
    ask: Callable[[Proposal], Replay]
    leave: Leave = Leave()
    extend: bool = False
    reached: Callable[[Reach], None] = _ignore

    @property
    def proposal(self) -> Proposal:
        """The first."""
        return self.proposals[0]

    @property
    def path(self) -> str:
        """The file below the repository's root.

        Raises
        ------
        RefusedError
            It is not in the repository, or no Python file.
        """
        return _repository_path(self.repository, self.project, self.proposal.file)


def make_plan(
    promoting: Promoting, base_sha: str, *, published: Published | None = None, rebuild: bool = False
) -> Plan:
    """Work out a promotion; reads only.

    Parameters
    ----------
    promoting : Promoting
        What to add where, and what is allowed.
    base_sha : str
        Commit that the change goes on top of.
    published : Published, optional
        The branch that an earlier run published: its verdict stands, and what was allowed then is allowed
        while it is not made again.
    rebuild : bool
        Whether the published branch is made again, on top of ``base_sha``.

    Raises
    ------
    RefusedError
        The docstring cannot be edited with proof, has the lines already, a key is on the base branch, or
        what was published is not this edit.
    GitError, ReachError
        The base branch or the file is missing; the description cannot be read.
    """
    repository, settings, leave = promoting.repository, promoting.settings, promoting.leave
    path = promoting.path
    _refuse_known(repository, base_sha, promoting.proposals)
    if published is not None:
        # what is measured again is not what was allowed then
        leave = replace(leave, unreached=leave.unreached or not rebuild, unverified=True)
        refuse_other(promoting, published)
        base_sha = base_sha if rebuild else published.base_sha
    edited = _edit(repository, base_sha, path, promoting.proposals, settings)
    reach = _reach(promoting, base_sha, path, edited)
    promoting.reached(reach)
    replay = published.replay if published is not None else promoting.ask(promoting.proposal)
    obstacles, notes = _weigh(reach, replay, leave)
    return Plan(
        proposals=promoting.proposals,
        path=path,
        base=settings.forge.base,
        base_sha=base_sha,
        section=_section(promoting.proposal, settings),
        edited=edited,
        diff=diff_of(edited, path),
        reach=reach,
        replay=replay,
        branch=published.branch if published else branch_name(promoting.proposal, settings.axis_slugs),
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


def diff_of(edited: Edited, path: str) -> str:
    """Unified diff of the file; line ends are not shown."""
    old, new = read_source(edited.old), read_source(edited.source)
    pair = (old.text.splitlines(), new.text.splitlines())
    return "\n".join(difflib.unified_diff(*pair, f"a/{path}", f"b/{path}", lineterm=""))


def _repository_path(repository: Repository, project: Path, file: str) -> str:
    try:
        path = (project / file).resolve().relative_to(repository.root.resolve())
    except ValueError as error:
        raise RefusedError(f"{file} is not in the repository {repository.root}") from error
    if path.suffix != ".py":
        raise RefusedError(f"{file} is no Python file")
    return path.as_posix()


def _refuse_known(repository: WritableRepository, base_sha: str, proposals: Sequence[Proposal]) -> None:
    repository.require_history()
    known = {one.key: one for one in promotions(repository.log(base_sha))}
    for proposal in proposals:
        if (found := known.get(proposal.key)) is not None:
            what = "was promoted and reverted" if found.reverted else "is promoted already"
            raise RefusedError(f"{proposal.id} {what}: commit {found.sha[:12]}")


def refuse_other(promoting: Promoting, published: Published) -> None:
    """Refuse a branch that holds anything but its candidates, as they would be promoted now.

    Raises
    ------
    RefusedError
        It holds another text or other figures.
    """
    repository, path = promoting.repository, promoting.path
    own = promoting.proposals
    if published.keys != {proposal.key for proposal in own}:
        own = restore(published, repository, promoting.proposal, path=path)
    refuse_other_evidence(published, own)
    edited = _edit(repository, published.base_sha, path, own, promoting.settings)
    refuse_other_text(published, own[0], repository, path=path, edited=edited)


def _section(proposal: Proposal, settings: Settings) -> str | None:
    return proposal.section if settings.docstring.placement == "section" else None


def _edit(
    repository: WritableRepository,
    base_sha: str,
    path: str,
    proposals: Sequence[Proposal],
    settings: Settings,
) -> Edited:
    source, lead = repository.read(base_sha, path), proposals[0]
    if source is None:
        raise GitError(f"{path} is not a regular file in {base_sha[:12]}; commit it to the base branch first")
    symbol, _, line = lead.symbol.partition(":")
    folder = path.removesuffix(lead.file)
    lines = [text for proposal in proposals for text in proposal.lines]
    standing = docstring_bullets(source, lead.target)  # wherever in it: a model reads it twice
    if any(len(proposal.lines) == 1 and proposal.lines[0] in standing for proposal in proposals):
        raise RefusedError(f"{path}::{lead.symbol}: the docstring has these lines already")
    outcome = put_lines(
        source,
        symbol,
        lines,
        section=_section(lead, settings),
        style=settings.docstring.style,
        width=line_length(lambda name: repository.read(base_sha, f"{folder}{name}")),
        is_ours=is_form,
        replaced=_going(repository, base_sha, path, source, lead, lines, _section(lead, settings)),
        line=int(line) if line.isdecimal() else None,
    )
    if isinstance(outcome, Edited):
        for text in lines:
            refuse_strange_words(text, source, f"{path}::{lead.symbol}", settings)
        return outcome
    reason = outcome.reason if isinstance(outcome, Refused) else "the docstring has these lines already"
    raise RefusedError(f"{path}::{lead.symbol}: {reason}")


def _going(
    repository: Repository,
    base_sha: str,
    path: str,
    source: bytes,
    proposal: Proposal,
    lines: Sequence[str],
    section: str | None,
) -> list[str]:
    """Lines of earlier promotions that are about the same as a new one; a person's stay, and are told."""
    subjects = {said.subject() for text in lines if (said := parse_advice(text)) is not None}
    there = [
        text
        for text in existing_bullets(source, proposal.target, section)
        if text not in lines and (said := parse_advice(text)) is not None and said.subject() in subjects
    ]
    if not there:  # history is read only where a line would go
        return []
    ours = promoted_lines(repository, base_sha, path=path, target=proposal.target, is_form=is_form)
    foreign = next((text for text in there if text not in ours), None)
    if foreign is not None:
        raise RefusedError(
            f"{path}::{proposal.symbol}: a person wrote {foreign!r} there, which is about the same; "
            "decide which of the two holds, and take that line out or judge this one C"
        )
    return there


def _reach(promoting: Promoting, base_sha: str, path: str, edited: Edited) -> Reach:
    proposal, settings = promoting.proposal, promoting.settings.reach
    command = schema_command(settings, promoting.project)
    if command is None:
        return Unmeasured()
    return measure_reach(
        command,
        lambda folder: promoting.repository.export(base_sha, folder),
        path.removesuffix(proposal.file),  # the project's folder, which may lie below the repository's
        proposal.file,
        edited,
        tool=proposal.engine,
        caps=settings.caps,
    )


def _weigh(reach: Reach, replay: Replay, leave: Leave) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What stands in the way, and what was allowed to."""
    obstacles = list(reach.forbidden)
    notes: list[str] = []
    for doubt in reach.doubts:
        (notes if leave.unreached else obstacles).append(
            doubt if leave.unreached else f"{doubt}; --allow-unreached goes on"
        )
    if replay.verdict is ReplayVerdict.NOT_REPRODUCED:
        obstacles.append(f"replay: {replay.summary}")
    elif replay.verdict not in _GOES_ON:
        (notes if leave.unverified else obstacles).append(
            f"replay: {replay.summary}" + ("" if leave.unverified else "; --allow-unverified goes on")
        )
    return tuple(obstacles), tuple(notes)
