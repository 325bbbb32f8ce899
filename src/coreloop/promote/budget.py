"""The budget of a description: a line that no longer fits must displace one that is known to be weak."""

from collections.abc import Iterable, Sequence

from coreloop.base.errors import RefusedError
from coreloop.base.messages import Phrase
from coreloop.base.project.settings import DocstringSettings
from coreloop.learn.effect.effect import Effect
from coreloop.learn.effect.verdict import EffectVerdict


def weak_lines(effects: Iterable[Effect], target: str) -> tuple[str, ...]:
    """The lines of promotions in a description that are known to be weak, the weakest first.

    Parameters
    ----------
    effects : iterable of Effect
        Of all changes.
    target : str
        ``path.py::qualname``; a line number after it is ignored.
    """
    mine = (effect for effect in effects if _symbol(effect.change.target) == _symbol(target))
    weak = sorted((effect for effect in mine if effect.why_retire), key=_rank)
    return tuple(line for effect in weak for line in effect.change.added)


def displaced(
    ours: Sequence[str], lines: Sequence[str], weak: Sequence[str], budget: DocstringSettings
) -> list[str]:
    """The lines that must go so that new ones fit.

    Parameters
    ----------
    ours : sequence of str
        Lines of promotions that stand in the description.
    lines : sequence of str
        New ones.
    weak : sequence of str
        From `weak_lines`; a new line beats these and no other, since only they were measured to do little.
    budget : DocstringSettings
        Its ``max_lines`` and ``max_chars`` count lines of promotions; what people wrote is theirs.

    Raises
    ------
    RefusedError
        Without other lines than weak ones, they do not fit.
    """
    stay, gone = list(ours), list[str]()
    for line in weak:
        if fits([*stay, *lines], budget):
            break
        if line in stay:
            stay.remove(line)
            gone.append(line)
    if not fits([*stay, *lines], budget):
        limits = f"{budget.max_lines} lines and {budget.max_chars:,} characters"
        raise RefusedError(
            Phrase(
                "the description has its {limits} of promoted lines, and none of them is known "
                "to be weaker; dartlab-coreloop effect lists them: take one back with promote "
                "--revert, or raise docstring: max_lines or max_chars in coreloop.yaml",
                limits=limits,
            )
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


def _symbol(target: str) -> tuple[str, str]:
    file, _, symbol = target.partition("::")
    return file, symbol.partition(":")[0]
