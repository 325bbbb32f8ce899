"""The budget of a description: a line that no longer fits must beat the weakest that stand there."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Final

from coreloop.base.errors import RefusedError
from coreloop.base.project.promotion_settings import DocstringSettings
from coreloop.base.project.workspace import Workspace
from coreloop.descriptions.own_lines import symbol_of
from coreloop.learn.effect.effect import Effect
from coreloop.learn.effect.verdict import EffectVerdict
from coreloop.learn.line import keys_of
from coreloop.learn.proposals.proposal_files import read_every_night

_UNDECIDED: Final = 4  # after the ranks of `_rank`
_HELPS: Final = 5  # the last: gives way only to a line that is worth more


@dataclass(frozen=True, slots=True)
class Worth:
    """What is known of the worth of lines.

    Attributes
    ----------
    effects : sequence of Effect
        Of the merged changes, as they were last judged.
    read_wasted : callable
        Calls wasted per 1,000 requests without a statement, by its key; called only if a place is full.
    """

    effects: Sequence[Effect] = ()
    read_wasted: Callable[[], Mapping[str, float]] = field(default=dict)


NOTHING_KNOWN: Final = Worth()


@dataclass(frozen=True, slots=True)
class Weak:
    """Lines that stand in a description and may give way together, and what a new line must be worth for it.

    ``worth`` is in calls wasted per 1,000 requests; below all numbers where the lines are known to do little.
    """

    lines: tuple[str, ...]
    worth: float = -inf


def wasted_by_key(workspace: Workspace) -> dict[str, float]:
    """Calls wasted per 1,000 requests, by the key of each statement as it was last proposed."""
    nights = read_every_night(workspace.candidates_dir, workspace.counterexamples_dir).files.values()
    documents = sorted(nights, key=lambda document: document.generated_at)
    return {entry.key: entry.wasted for document in documents for entry in document.statements}


def weak_lines(
    ours: Sequence[str], worth: Worth, wasted: Mapping[str, float], *, tool: str, target: str
) -> list[Weak]:
    """The lines of promotions in a description, the weakest first.

    First those that were measured to hurt, to be stale, to have no effect or no verdict for too long; then by
    their worth those without a verdict, then those that help. A line of unknown worth gives way to none.

    Parameters
    ----------
    ours : sequence of str
        Lines of promotions that stand in the description.
    worth : Worth
        Effects of all changes.
    wasted : mapping of str to float
        From ``worth.read_wasted``.
    tool, target : str
        The tool, and ``path.py::qualname``; a line number after it is ignored.
    """
    ranked = sorted(
        _ranked(ours, worth.effects, wasted, tool, target), key=lambda entry: (entry[0], entry[1].worth)
    )
    return [weak for _, weak in ranked]


def _ranked(
    ours: Sequence[str], effects: Sequence[Effect], wasted: Mapping[str, float], tool: str, target: str
) -> Iterator[tuple[int, Weak]]:
    mine = [effect for effect in effects if symbol_of(effect.change.target) == symbol_of(target)]
    newest = {line: effect for effect in mine if effect.change.is_in_force for line in effect.change.added}
    seen = set[str]()
    for line in ours:
        effect = newest.get(line)
        if effect is not None and effect.why_retire:
            together = tuple(own for own in effect.change.added if own in ours and own not in seen)
            seen.update(together)
            if together:
                yield _rank(effect), Weak(together)
            continue
        known = next((wasted[key] for key in keys_of(tool, line) if key in wasted), None)
        if known is not None:
            helps = effect is not None and effect.verdict is EffectVerdict.HELPS
            yield _HELPS if helps else _UNDECIDED, Weak((line,), known)


def displaced(
    ours: Sequence[str],
    lines: Sequence[str],
    weak: Sequence[Weak],
    budget: DocstringSettings,
    *,
    worth: float = 0.0,
) -> list[str]:
    """The lines that must go so that new ones fit.

    Parameters
    ----------
    ours : sequence of str
        Lines of promotions that stand in the description.
    lines : sequence of str
        New ones.
    weak : sequence of Weak
        From `weak_lines`.
    budget : DocstringSettings
        Its ``max_lines`` and ``max_chars`` count lines of promotions; what people wrote is theirs.
    worth : float
        Of the least of the new lines; only what is worth less gives way.

    Raises
    ------
    RefusedError
        Without the weaker lines, they do not fit.
    """
    stay, gone = list(ours), list[str]()
    for candidate in weak:
        if fits([*stay, *lines], budget):
            break
        if candidate.worth < worth or candidate.worth == -inf:
            stay = [line for line in stay if line not in candidate.lines]
            gone.extend(line for line in candidate.lines if line in ours)
    if not fits([*stay, *lines], budget):
        raise RefusedError(
            f"the description has its {budget.max_lines} lines and {budget.max_chars:,} "
            "characters of promoted lines, and none of them is known to be weaker; "
            "dartlab-coreloop effect lists them: take one back with promote --revert, or raise "
            "docstring: max_lines or max_chars in coreloop.yaml"
        )
    return gone


def fits(lines: Sequence[str], budget: DocstringSettings) -> bool:
    """Whether lines are within a budget."""
    return len(lines) <= budget.max_lines and sum(map(len, lines)) <= budget.max_chars


def _rank(effect: Effect) -> int:
    """0 for the weakest."""
    if effect.verdict is EffectVerdict.HURTS:
        return 0
    if effect.is_stale:
        return 1
    return 2 if effect.verdict is EffectVerdict.NO_EFFECT else 3
