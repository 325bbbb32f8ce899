"""The section on effect: what each change of a description did, and what was decided on each proposal."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from coreloop.learn.effect.effect import Effect
from coreloop.learn.effect.verdict import Look
from coreloop.learn.mine.statistics import wilson_interval
from coreloop.learn.verdicts.proposal_state import count_states, decided
from coreloop.web.pages.charts import Interval
from coreloop.web.pages.kept_states import read_kept_effects, read_kept_states
from coreloop.web.pages.page_data import PageSource
from coreloop.web.pages.section import PageSection, View
from coreloop.web.pages.waiting_proposals import vocabulary

_MAX_SHOWN: Final = 100


@dataclass(frozen=True, slots=True)
class DisplayedChange:
    """A change of a description, and the chart of before and after; no rows without an estimate."""

    effect: Effect
    rows: tuple[Interval, ...]


def read_section(source: PageSource) -> View:
    """List the decided proposals, and the changes of descriptions, the newest first."""
    states = read_kept_states(source)
    shown = decided(states)
    changes = read_changes(source)
    if source.is_shared:  # a rejected proposal may name what only the log does
        shown = [one for one in shown if one.effect is not None]
    return {
        "counts": count_states(states),
        "decided": shown[:_MAX_SHOWN],
        "n_more": max(0, len(shown) - _MAX_SHOWN),
        "changes": changes[:_MAX_SHOWN],
    }


def read_changes(source: PageSource) -> list[DisplayedChange]:
    """Return the changes of descriptions, the newest first; a shared page has those of declared tools."""
    effects: Sequence[Effect] = read_kept_effects(source)
    if source.is_shared:
        words = vocabulary(source.workspace, {effect.change.tool for effect in effects})
        effects = [effect for effect in effects if words.is_known(effect.change.tool)]
    return [DisplayedChange(effect, before_and_after(effect.look)) for effect in reversed(effects)]


def before_and_after(look: Look | None) -> tuple[Interval, ...]:
    """Return the rows of a chart: the failing share before, without the change, and after, with intervals."""
    if look is None:
        return ()
    found = look.estimate
    low, high = wilson_interval(round(found.before * found.n_before), found.n_before)
    after = (max(0.0, found.expected + look.low), found.after, min(1.0, found.expected + look.high))
    return (
        _row("before", low, found.before, high, is_other=True),
        _row("expected without it", found.expected, found.expected, found.expected, is_other=True),
        _row("after", *after),
    )


def _row(label: str, low: float, value: float, high: float, *, is_other: bool = False) -> Interval:
    return Interval(label=label, low=low, value=value, high=high, note=f"{value:.1%}", is_other=is_other)


CHANGES: Final = PageSection(name="changes", title="Effect", read=read_section)
