"""What each change of a description did, and what was decided on each proposal: a part of Health."""

from collections.abc import Sequence
from typing import Final

from coreloop.base.errors import GitError
from coreloop.learn.effect.effect import Effect
from coreloop.learn.effect.estimate import Look
from coreloop.learn.effect.run import read_effects
from coreloop.learn.proposals.proposal_files import read_proposed
from coreloop.learn.verdicts.proposal_state import (
    GitPromotions,
    ProposalState,
    Standpoint,
    count_states,
    read_promoted,
    read_states,
)
from coreloop.observe.judgments import read_verdicts
from coreloop.web.pages.charts import Interval
from coreloop.web.pages.page_data import PageSource, View
from coreloop.web.pages.waiting_proposals import vocabulary


def read_kept_states(source: PageSource) -> tuple[Standpoint, ...]:
    """The state of every proposal; a verdict that was just given counts."""
    workspace = source.workspace
    folders = [workspace.candidates_dir, workspace.counterexamples_dir]
    proposed = source.snapshots.get("proposed", folders, lambda: read_proposed(workspace)).value
    promoted = source.snapshots.get("promoted", source.git_places, lambda: _read_promoted(source)).value
    judgments = read_verdicts(workspace.judgments_dir)
    effects = read_kept_effects(source) if promoted.promotions else ()
    return read_states(proposed, judgments, promoted, effects)


def read_state_words(source: PageSource) -> dict[str, str]:
    """Return the state of each proposal by its key, in the words of `count_states`."""
    return {one.key: next(iter(count_states([one]))) for one in read_kept_states(source)}


def read_kept_effects(source: PageSource) -> Sequence[Effect]:
    """The changes of descriptions with their effects; none where git has no history to read."""
    workspace = source.workspace
    places = [workspace.records_dir, workspace.judgments_dir, *source.git_places]
    return source.snapshots.get(
        "effects", places, lambda: read_effects(workspace, now=source.now).effects
    ).value


def _read_promoted(source: PageSource) -> GitPromotions:
    try:
        return read_promoted(source.workspace)
    except GitError:  # a shallow clone: promote refuses what is known, too
        return GitPromotions()


_MAX_SHOWN: Final = 100


def read_decided(source: PageSource) -> View:
    """List the decided proposals, and the changes of descriptions, the newest first."""
    states = read_kept_states(source)
    known = [one for one in states if one.promotion or one.state is ProposalState.REJECTED]
    shown = sorted(known, key=lambda one: (one.since, one.id), reverse=True)
    changes = read_changes(source)
    if source.is_shared:  # a rejected proposal may name what only the log does
        shown = [one for one in shown if one.effect is not None]
    return {
        "counts": count_states(states),
        "decided": shown[:_MAX_SHOWN],
        "n_more": max(0, len(shown) - _MAX_SHOWN),
        "changes": changes[:_MAX_SHOWN],
    }


def read_changes(source: PageSource) -> list[tuple[Effect, Sequence[Interval]]]:
    """Return the changes with charts, alarms first, then the newest; a shared page has declared tools."""
    effects: Sequence[Effect] = read_kept_effects(source)
    if source.is_shared:
        words = vocabulary(source.workspace, {effect.change.tool for effect in effects})
        effects = [effect for effect in effects if words.is_known(effect.change.tool)]
    ordered = sorted(effects, key=lambda effect: (effect.rank, -effect.change.place))
    return [(effect, before_and_after(effect.look)) for effect in ordered]


def before_and_after(look: Look | None) -> tuple[Interval, ...]:
    """Return the rows of a chart: the failing share before, without the change, and after, with intervals."""
    if look is None:
        return ()
    found = look.named
    rows = (
        ("before", (found.before,) * 3, True),
        ("expected without it", (found.expected,) * 3, True),
        ("after", (found.expected + found.low, found.after, found.expected + found.high), False),
    )
    return tuple(
        Interval(
            label=label, low=max(0.0, low), value=at, high=min(1.0, high), note=f"{at:.1%}", is_other=other
        )
        for label, (low, at, high), other in rows
    )
