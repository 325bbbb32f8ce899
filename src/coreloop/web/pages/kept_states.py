"""The states of proposals and the effects of changes, kept until records, verdicts or branches change."""

from collections.abc import Sequence

from coreloop.base.errors import GitError
from coreloop.learn.effect.effect import Effect
from coreloop.learn.effect.run import read_effects
from coreloop.learn.verdicts.judge import read_proposed
from coreloop.learn.verdicts.proposal_state import GitPromotions, Standpoint, read_promoted, read_states
from coreloop.observe.judgments import read_verdicts
from coreloop.web.pages.page_data import PageSource


def read_kept_states(source: PageSource) -> tuple[Standpoint, ...]:
    """The state of every proposal; a verdict that was just given counts."""
    workspace = source.workspace
    folders = [workspace.candidates_dir, workspace.counterexamples_dir]
    proposed = source.snapshots.get("proposed", folders, lambda: read_proposed(workspace)).value
    promoted = source.snapshots.get("promoted", source.git_places, lambda: _read_promoted(source)).value
    judgments = read_verdicts(workspace.judgments_dir)
    return read_states(
        proposed, judgments, promoted, read_kept_effects(source) if promoted.promotions else ()
    )


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
