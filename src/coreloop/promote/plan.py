"""The plan of a promotion, with a proven edit; reads only."""

import difflib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from coreloop.base.errors import GitError, HumanDecidesError, RefusedError
from coreloop.base.git.promotions import promotions
from coreloop.base.git.repository import Repository
from coreloop.base.messages import Phrase
from coreloop.base.project.line_length import line_length
from coreloop.base.project.settings import Settings
from coreloop.descriptions.edit import Edited, Refused, put_lines
from coreloop.descriptions.ownership import docstring_bullets, existing_bullets, promoted_lines
from coreloop.descriptions.source import read_source
from coreloop.learn.proposals.advice import parse_advice
from coreloop.learn.proposals.lines import is_form
from coreloop.learn.proposals.words import BaseNames
from coreloop.promote.branch import PublishedBranch, refuse_other_evidence, refuse_other_text, restore
from coreloop.promote.budget import NOTHING_KNOWN, Worth, displaced, fits, weak_lines
from coreloop.promote.commits import WritableRepository
from coreloop.promote.elsewhere import described_by
from coreloop.promote.measure.measurement import Measurement
from coreloop.promote.measure.verdict import MeasureVerdict
from coreloop.promote.proposal import Proposal
from coreloop.promote.pull_request import body, branch_name, commit_message, pull_request_title
from coreloop.promote.reach import Reach, Unmeasured, measure_reach
from coreloop.promote.replay import Replay, ReplayVerdict
from coreloop.promote.schema import schema_command
from coreloop.promote.statement import refuse_undeclared

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
        section=_section(promoting.proposal, settings),
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
        raise GitError(
            Phrase(
                "{remote} has no branch {base}; push it, or set forge: base in coreloop.yaml",
                remote=remote,
                base=base,
            )
        )
    if repository.resolve(sha) is None:
        repository.fetch(remote, base)
    return sha


def diff_of(edited: Edited, path: str) -> str:
    """Unified diff of the file; line ends are not shown."""
    old, new = read_source(edited.old), read_source(edited.source)
    pair = (old.text.splitlines(), new.text.splitlines())
    return "\n".join(difflib.unified_diff(*pair, f"a/{path}", f"b/{path}", lineterm=""))


def repository_path(repository: Repository, project: Path, file: str) -> str:
    """A Python file's path below the repository's root.

    Raises
    ------
    RefusedError
        It is not in the repository, or not a Python file.
    """
    try:
        path = (project / file).resolve().relative_to(repository.root.resolve())
    except ValueError as error:
        raise RefusedError(
            Phrase("{file} is not in the repository {root}", file=file, root=repository.root)
        ) from error
    if path.suffix != ".py":
        raise RefusedError(Phrase("{file} is not a Python file", file=file))
    return path.as_posix()


def _refuse_known(promoting: Promoting, base_sha: str) -> None:
    promoting.repository.require_history()
    known = {promotion.key: promotion for promotion in promotions(promoting.repository.log(base_sha))}
    for proposal in promoting.proposals:
        promotion = known.get(proposal.key)
        if promotion is not None and (promotion.reverted or proposal.key not in promoting.returned):
            state = Phrase("was promoted and reverted" if promotion.reverted else "is already promoted")
            raise HumanDecidesError(
                Phrase("{id} {state}: commit {sha}", id=proposal.id, state=state, sha=promotion.sha[:12])
            )


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


def _section(proposal: Proposal, settings: Settings) -> str | None:
    return proposal.section if settings.docstring.placement == "section" else None


def edit_lines(
    repository: WritableRepository,
    base_sha: str,
    path: str,
    proposals: Sequence[Proposal],
    settings: Settings,
    worth: Worth = NOTHING_KNOWN,
) -> Edited:
    """Add the lines of proposals to their docstring in a commit; writes nothing.

    Raises
    ------
    RefusedError, GitError
        As `make_plan` does.
    """
    source, lead = repository.read(base_sha, path), proposals[0]
    if source is None:
        raise GitError(
            Phrase(
                "{path} is not a regular file in {base_sha}; commit it to the base branch first",
                path=path,
                base_sha=base_sha[:12],
            )
        )
    symbol, _, line = lead.symbol.partition(":")
    folder = path.removesuffix(lead.file)
    lines = [text for proposal in proposals for text in proposal.lines]
    existing = docstring_bullets(source, lead.target)  # in any section: the model would read the line twice
    if any(len(proposal.lines) == 1 and proposal.lines[0] in existing for proposal in proposals):
        raise RefusedError(
            Phrase("{path}::{symbol}: the docstring has these lines already", path=path, symbol=lead.symbol)
        )
    number = int(line) if line.isdecimal() else None
    section = _section(lead, settings)
    replaced = _replaced(repository, base_sha, path, source, lead, lines, section)
    bullets = [text for text in existing_bullets(source, lead.target, section) if text not in replaced]
    if not fits([*bullets, *lines], settings.docstring):
        ours = promoted_lines(repository, base_sha, path=path, target=lead.target, is_form=is_form)
        standing = [text for text in bullets if text in ours]
        wasted = worth.read_wasted()
        weak = weak_lines(standing, worth, wasted, tool=lead.engine, target=lead.target)
        least = min(wasted.get(proposal.key, 0.0) for proposal in proposals)
        replaced += displaced(standing, lines, weak, settings.docstring, worth=least)
    outcome = put_lines(
        source,
        symbol,
        lines,
        section=section,
        style=settings.docstring.style,
        width=line_length(lambda name: repository.read(base_sha, f"{folder}{name}")),
        is_ours=is_form,
        replaced=replaced,
        line=number,
    )
    if isinstance(outcome, Edited):
        names = BaseNames(repository, base_sha, settings)
        where = f"{path}::{lead.symbol}"
        refuse_undeclared(lines, source, where, tool=lead.engine, settings=settings, names=names)
        return outcome
    known = Phrase("the docstring has these lines already")
    reason: str = outcome.reason if isinstance(outcome, Refused) else known
    if reason.endswith("has no docstring") and (text := described_by(source, symbol, number)):
        reason = Phrase(
            "{reason}: its description is set by {text}; paste there: {lines}",
            reason=reason,
            text=text,
            lines=" ".join(lines),
        )
    raise RefusedError(Phrase("{path}::{symbol}: {reason}", path=path, symbol=lead.symbol, reason=reason))


def _replaced(
    repository: Repository,
    base_sha: str,
    path: str,
    source: bytes,
    proposal: Proposal,
    lines: Sequence[str],
    section: str | None,
) -> list[str]:
    """Lines of earlier promotions on the same subject as a new line; a person's line is refused."""
    subjects = {advice.subject() for text in lines if (advice := parse_advice(text)) is not None}
    replaced = [
        text
        for text in existing_bullets(source, proposal.target, section)
        if text not in lines and (advice := parse_advice(text)) is not None and advice.subject() in subjects
    ]
    if not replaced:  # history is read only if a line would be removed
        return []
    ours = promoted_lines(repository, base_sha, path=path, target=proposal.target, is_form=is_form)
    foreign = next((text for text in replaced if text not in ours), None)
    if foreign is not None:
        raise RefusedError(
            Phrase(
                "{path}::{symbol}: a person wrote {foreign!r}, on the same subject as {id}; "
                "remove that line, or judge the proposal C",
                path=path,
                symbol=proposal.symbol,
                foreign=foreign,
                id=proposal.id,
            )
        )
    return replaced


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
            doubt if overrides.unreached else Phrase("{doubt}; --allow-unreached goes on", doubt=doubt)
        )
    if replay.verdict is ReplayVerdict.NOT_REPRODUCED:
        obstacles.append(Phrase("replay: {summary}", summary=replay.summary))
    elif replay.verdict not in _GOES_ON:
        doubt = Phrase("replay: {summary}", summary=replay.summary)
        (notes if overrides.unverified else obstacles).append(
            doubt if overrides.unverified else Phrase("{doubt}; --allow-unverified goes on", doubt=doubt)
        )
    if measured is not None and measured.verdict is MeasureVerdict.HURTS:
        doubt = Phrase("measured: {summary}", summary=measured.summary)
        (notes if overrides.harm else obstacles).append(
            doubt if overrides.harm else Phrase("{doubt}; --allow-harm goes on", doubt=doubt)
        )
    return tuple(obstacles), tuple(notes)
