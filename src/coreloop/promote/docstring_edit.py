"""The edit of a promotion: its lines in their docstring, as the base branch has it, with proof."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from coreloop.base.errors import GitError, RefusedError
from coreloop.base.git.repository import Repository
from coreloop.base.project.line_length import line_length
from coreloop.base.project.settings import Settings
from coreloop.descriptions.edit import Edited, Refused, Unchanged, put_lines
from coreloop.descriptions.own_lines import docstring_bullets, existing_bullets, promoted_lines
from coreloop.descriptions.sections import Style
from coreloop.descriptions.source import read_source
from coreloop.learn.line import parse_advice
from coreloop.learn.proposals.allowed_lines import is_form
from coreloop.learn.proposals.declared_words import BaseNames
from coreloop.promote.check_statement import refuse_undeclared
from coreloop.promote.commits import WritableRepository
from coreloop.promote.defined_elsewhere import described_by
from coreloop.promote.description_budget import NOTHING_KNOWN, Worth, displaced, fits, weak_lines
from coreloop.promote.proposal_entry import Proposal


@dataclass(frozen=True, slots=True)
class _Place:
    """The docstring of a proposal in a commit, and the section in which lines go."""

    repository: WritableRepository
    base_sha: str
    path: str
    source: bytes
    lead: Proposal
    section: str | None

    @property
    def symbol(self) -> tuple[str, int | None]:
        """The definition's name, and its line where the file has the name more than once."""
        name, _, line = self.lead.symbol.partition(":")
        return name, int(line) if line.isdecimal() else None

    def bullets(self) -> tuple[str, ...]:
        return existing_bullets(self.source, self.lead.target, self.section)

    def promoted(self) -> frozenset[str]:
        """The lines that promotions added. Reads history, so only where a line may have to go."""
        return promoted_lines(
            self.repository, self.base_sha, path=self.path, target=self.lead.target, is_form=is_form
        )

    def put(
        self, lines: Sequence[str], replaced: Sequence[str], style: Style
    ) -> Edited | Unchanged | Refused:
        name, line = self.symbol
        folder = self.path.removesuffix(self.lead.file)
        return put_lines(
            self.source,
            name,
            lines,
            section=self.section,
            style=style,
            width=line_length(lambda file: self.repository.read(self.base_sha, f"{folder}{file}")),
            is_ours=is_form,
            replaced=replaced,
            line=line,
        )


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
    RefusedError
        The docstring has the lines already, cannot be edited with proof, or has no room for them.
    GitError
        The commit lacks the file.
    """
    place = _place(repository, base_sha, path, proposals[0], settings)
    _refuse_present(place, proposals)
    lines = [text for proposal in proposals for text in proposal.lines]
    replaced = _on_same_subject(place, lines)
    replaced += _weaker(place, lines, replaced, proposals, settings, worth)
    outcome = place.put(lines, replaced, settings.docstring.style)
    if not isinstance(outcome, Edited):
        raise _refusal(place, outcome, lines)
    names = BaseNames(repository, base_sha, settings)
    where = f"{path}::{place.lead.symbol}"
    refuse_undeclared(lines, place.source, where, tool=place.lead.engine, settings=settings, names=names)
    return outcome


def section_of(proposal: Proposal, settings: Settings) -> str | None:
    """The section for a proposal's lines; None for the end of the first block of text."""
    return proposal.section if settings.docstring.placement == "section" else None


def _place(
    repository: WritableRepository, base_sha: str, path: str, lead: Proposal, settings: Settings
) -> _Place:
    source = repository.read(base_sha, path)
    if source is None:
        raise GitError(f"{path} is not a regular file in {base_sha[:12]}; commit it to the base branch first")
    return _Place(repository, base_sha, path, source, lead, section_of(lead, settings))


def _refuse_present(place: _Place, proposals: Sequence[Proposal]) -> None:
    """Refuse a line that stands in any section: the model would read it twice."""
    existing = docstring_bullets(place.source, place.lead.target)
    if any(len(proposal.lines) == 1 and proposal.lines[0] in existing for proposal in proposals):
        raise RefusedError(f"{place.path}::{place.lead.symbol}: the docstring has these lines already")


def _on_same_subject(place: _Place, lines: Sequence[str]) -> list[str]:
    """Lines of earlier promotions on the same subject as a new line; a person's line is refused."""
    subjects = {advice.subject() for text in lines if (advice := parse_advice(text)) is not None}
    replaced = [
        text
        for text in place.bullets()
        if text not in lines and (advice := parse_advice(text)) is not None and advice.subject() in subjects
    ]
    ours = place.promoted() if replaced else frozenset()
    foreign = next((text for text in replaced if text not in ours), None)
    if foreign is not None:
        raise RefusedError(
            f"{place.path}::{place.lead.symbol}: a person wrote {foreign!r}, on the same subject "
            f"as {place.lead.id}; remove that line, or judge the proposal C"
        )
    return replaced


def _weaker(
    place: _Place,
    lines: Sequence[str],
    replaced: Sequence[str],
    proposals: Sequence[Proposal],
    settings: Settings,
    worth: Worth,
) -> list[str]:
    """The weaker lines of promotions that must go, where the docstring is full."""
    bullets = [text for text in place.bullets() if text not in replaced]
    if fits([*bullets, *lines], settings.docstring):
        return []
    ours = place.promoted()
    standing = [text for text in bullets if text in ours]
    wasted = worth.read_wasted()
    weak = weak_lines(standing, worth, wasted, tool=place.lead.engine, target=place.lead.target)
    least = min(wasted.get(proposal.key, 0.0) for proposal in proposals)
    return displaced(standing, lines, weak, settings.docstring, worth=least)


def _refusal(place: _Place, outcome: Unchanged | Refused, lines: Sequence[str]) -> RefusedError:
    known = "the docstring has these lines already"
    reason: str = outcome.reason if isinstance(outcome, Refused) else known
    if reason.endswith("has no docstring") and (text := described_by(place.source, *place.symbol)):
        reason = f"{reason}: its description is set by {text}; paste there: {' '.join(lines)}"
    return RefusedError(f"{place.path}::{place.lead.symbol}: {reason}")


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
        raise RefusedError(f"{file} is not in the repository {repository.root}") from error
    if path.suffix != ".py":
        raise RefusedError(f"{file} is not a Python file")
    return path.as_posix()
