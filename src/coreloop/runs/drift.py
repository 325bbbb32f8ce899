"""When a run goes in circles, and which way it must go instead: pure, so a restart changes nothing."""

from typing import Final

from coreloop.runs.events import Rule, Turned
from coreloop.runs.state import State

MOST_SAME_ACTIONS: Final = 3
"""An action taken this often in a row must change."""
MOST_ITERATIONS_WITHOUT_NEWS: Final = 5
"""After this many iterations in a row without new information the approach must change."""
Rotation = tuple[tuple[str, str], ...]
"""Rows ``(label, label that replaces it)``."""
ROTATION: Final[Rotation] = (
    ("academic", "web"),
    ("web", "academic"),
    ("positive", "counter-evidence"),
    ("recent", "historical"),
    ("broad", "niche"),
    ("niche", "broad"),
    ("English", "Korean"),
    ("Korean", "Chinese"),
    ("web", "code search"),
    ("hypothesis test", "counter-evidence"),
    ("forward", "backward"),
    ("historical", "first principles"),
    ("Chinese", "first principles"),
    ("code search", "first principles"),
    ("technical", "business"),
)
LABELS: Final = frozenset(label for row in ROTATION for label in row)
"""An agent may label its actions otherwise, too; no order says such a label."""


def check_drift(state: State) -> Turned | None:
    """Look for drift, the worst first; whoever acts on the order records it.

    Parameters
    ----------
    state : State
        After an action was taken, after the duplicates among its queries were dropped, or after an iteration
        was committed.

    Returns
    -------
    Turned or None
        The strategies differ. None if the run may go on as it does.
    """
    rule = _rule(state)
    if rule is None:
        return None
    before = state.last_strategy
    rows = _without_last(state.last_order)
    after = next_strategy(before, rows, start=state.turns)
    return Turned(at=state.clock, rule=rule, before=before, after=after)


def _without_last(last: Turned | None) -> Rotation:
    """Leave out the row of the last order, so that no two orders in a row are the same."""
    if last is None:
        return ROTATION
    rows = tuple((one, other) for one, other in ROTATION if not (one in last.before and other in last.after))
    return rows or ROTATION


def next_strategy(strategy: tuple[str, ...], rotation: Rotation, *, start: int) -> tuple[str, ...]:
    """Replace one label of a strategy.

    Parameters
    ----------
    strategy : tuple of str
        Labels; unknown ones are kept.
    rotation : tuple of (str, str)
        The first row that applies is used, from row ``start`` on and around the end. If none applies, the
        row's own replacement is added to the strategy.
    start : int
        How often the run has turned already.

    Returns
    -------
    tuple of str
        Never ``strategy`` itself.
    """
    rows = [rotation[(start + place) % len(rotation)] for place in range(len(rotation))]
    for before, after in rows:
        if before in strategy and after not in strategy:
            return tuple(after if label == before else label for label in strategy)
    new = next((after for _, after in rows if after not in strategy), None)
    return (*strategy, new) if new is not None else strategy[:-1]


def _rule(state: State) -> Rule | None:
    if state.no_new_info_count >= MOST_ITERATIONS_WITHOUT_NEWS:
        return "no_new_information"
    if state.consecutive_same_action >= MOST_SAME_ACTIONS:
        return "same_action"
    if state.progress.queries_dropped and not state.progress.queries:
        return "duplicates"
    return None
