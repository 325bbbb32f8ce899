"""The edit of a promotion: its lines in their docstring, as the base branch has it, with proof.

A description has a budget: a line that no longer fits must beat the weakest that promotions added.
"""

import difflib
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

from coreloop.base.errors import GitError, RefusedError
from coreloop.base.git.repository import Repository
from coreloop.base.project.promotion_settings import MAX_LINE_CHARS
from coreloop.base.project.python_source import UnprovenError, parse_source
from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import Workspace
from coreloop.descriptions.edit import Edited
from coreloop.descriptions.own_lines import docstring_bullets, promoted_lines, symbol_of, text_of
from coreloop.descriptions.place import Wanted
from coreloop.descriptions.texts import SUFFIXES, put_lines
from coreloop.learn.effect.effect import Effect
from coreloop.learn.effect.run import read_kept
from coreloop.learn.effect.verdict import EffectVerdict
from coreloop.learn.line import keys_of, parse_advice
from coreloop.learn.proposals.allowed_lines import Words, is_form, named, refuse_words
from coreloop.learn.proposals.draft import standing_at, standing_texts
from coreloop.promote.proposal_entry import Proposal, nights_by_age

_RANKS: Final = ("hurts", "to retire", "undecided", "helps")
"""The weakest first; from the third on, a line gives way only to one that is worth more."""


def edit_lines(
    workspace: Workspace, repository: Repository, base_sha: str, proposals: Sequence[Proposal]
) -> Edited:
    """Add the lines of proposals to their text in a commit; writes nothing.

    Raises
    ------
    RefusedError
        The file is not in the repository or of no known kind; the text has the lines already, cannot be
        edited with proof, or has no room for them; or the base does not declare a word of them.
    GitError
        The commit lacks the file.
    """
    settings, lead = workspace.settings, proposals[0]
    path = repository_path(repository, workspace.root, lead.file)
    source = repository.read(base_sha, path)
    if source is None:
        raise GitError(f"{path} is not a regular file in {base_sha[:12]}; commit it to the base branch first")
    where, section = f"{path}::{lead.symbol}", section_of(lead, settings)
    lines = [text for proposal in proposals for text in proposal.lines]
    texts = standing_texts(source, lead.symbol, path)
    for line in filter(None, map(parse_advice, lines)):
        if place := standing_at(line, texts):
            raise RefusedError(f"{str(line).removeprefix('- ')}: it already stands in {place}")

    def promoted() -> frozenset[str]:  # reads history, so only where a line may have to go
        return promoted_lines(repository, base_sha, path=path, target=lead.target, is_form=is_form)

    bullets = list(docstring_bullets(source, lead.target))
    subjects = {advice.subject() for text in lines if (advice := parse_advice(text)) is not None}
    pairs = ((text, parse_advice(text)) for text in bullets if text not in lines)
    replaced = [text for text, advice in pairs if advice is not None and advice.subject() in subjects]
    foreign = next((text for text in replaced if text not in promoted()), None)
    if foreign is not None:
        raise RefusedError(
            f"{where}: a person wrote {foreign!r}, on the same subject as {lead.id}; "
            "remove that line, or judge the proposal C"
        )
    standing = [text for text in bullets if text not in replaced]
    if not settings.docstring.fits([*standing, *lines]):
        ours = [text for text in standing if text in promoted()]
        replaced += _displaced(ours, proposals, workspace)
    try:
        wanted = Wanted(tuple(lines), section, settings.docstring.style, is_form)
        edited = put_lines(path, source, text_of(source, where), wanted, replaced=replaced)
        words = Words(repository, base_sha, settings, path, lead.engine, lead.symbol)
        reason = next((reason for line in lines for reason in refuse_words(line, words)), None)
    except UnprovenError as unproven:
        raise RefusedError(f"{where}: {unproven}; the line to paste: {' '.join(lines)}") from unproven
    if not edited.appended:
        raise RefusedError(f"{where}: the text has these lines already")
    if reason is not None:
        unknown = [its for its in chain.from_iterable(map(named, lines)) if not words.has(its)]
        slugs = ", ".join(f"{its.name}: {its.name}" for its in unknown if its.kind in ("value", "state"))
        todo = f"Commit `axis_slugs: {{{slugs}}}` in coreloop.yaml" if slugs else "Merge that first"
        raise RefusedError(f"{where}: the guard would stop it: {reason}. {todo}, or propose again")
    return edited


def section_of(proposal: Proposal, settings: Settings) -> str | None:
    """The section for a proposal's lines; None for the end of the first block of text."""
    is_docstring = proposal.file.endswith(".py") and "[" not in proposal.symbol
    return proposal.section if is_docstring and settings.docstring.placement == "section" else None


def _displaced(ours: Sequence[str], proposals: Sequence[Proposal], workspace: Workspace) -> list[str]:
    """The lines of promotions in a description that must go so that new ones fit, the weakest first.

    A line of unknown worth gives way to none. The budget counts lines of promotions; what people wrote is
    theirs.

    Raises
    ------
    RefusedError
        Without the weaker lines, they do not fit.
    """
    nights, budget = nights_by_age(workspace), workspace.settings.docstring
    wasted = {entry.key: entry.wasted for night in nights for entry in night.statements}
    lines = [text for proposal in proposals for text in proposal.lines]
    least = min(wasted.get(proposal.key, 0.0) for proposal in proposals)
    stay, gone, effects = list(ours), list[str](), read_kept(workspace).effects
    for rank, known, line in sorted(_ranked(ours, effects, wasted, proposals[0])):
        if not budget.fits([*stay, *lines]) and (rank < _RANKS.index("undecided") or known < least):
            stay.remove(line)
            gone.append(line)
    if not budget.fits([*stay, *lines]):
        raise RefusedError(
            f"the description has its {budget.max_lines} lines and {MAX_LINE_CHARS:,} characters of "
            "promoted lines, and none of them is known to be weaker; dartlab-coreloop effect lists them: "
            "take one back with promote --revert, or raise docstring: max_lines in coreloop.yaml"
        )
    return gone


def _ranked(
    ours: Sequence[str], effects: Sequence[Effect], wasted: Mapping[str, float], lead: Proposal
) -> list[tuple[int, float, str]]:
    """Rank, calls wasted without it, and text of each line of known worth."""
    mine = [effect for effect in effects if symbol_of(effect.change.target) == symbol_of(lead.target)]
    newest = {line: effect for effect in mine if effect.change.is_in_force for line in effect.change.added}
    ranked = []
    for line in ours:
        effect = newest.get(line)
        verdict = effect.verdict if effect is not None else None
        known = next((wasted[key] for key in keys_of(lead.engine, line) if key in wasted), None)
        if effect is not None and effect.why_retire:
            rank = "hurts" if verdict is EffectVerdict.HURTS else "to retire"
            ranked.append((_RANKS.index(rank), 0.0, line))
        elif known is not None:
            rank = "helps" if verdict is EffectVerdict.HELPS else "undecided"
            ranked.append((_RANKS.index(rank), known, line))
    return ranked


def diff_of(path: str, *sides: bytes) -> str:
    """Unified diff of a file before and after, as git applies it; of line ends, only a missing last."""
    is_python, sources = path.endswith(".py"), list[list[str]]()
    for raw in sides:
        text = parse_source(raw).text if is_python else raw.decode(errors="replace")
        lines = text.splitlines() or [""]
        lines[-1] += "" if text.endswith("\n") else "\n\\ No newline at end of file"
        sources.append(lines)
    return "\n".join(difflib.unified_diff(sources[0], sources[1], f"a/{path}", f"b/{path}", lineterm=""))


def repository_path(repository: Repository, project: Path, file: str) -> str:
    """A file's path below the repository's root.

    Raises
    ------
    RefusedError
        It is not in the repository, or of no kind that can be edited.
    """
    try:
        path = (project / file).resolve().relative_to(repository.root.resolve())
    except ValueError as error:
        raise RefusedError(f"{file} is not in the repository {repository.root}") from error
    if path.suffix not in SUFFIXES:
        raise RefusedError(f"{file} is of no kind that can be edited")
    return path.as_posix()
