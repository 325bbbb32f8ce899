"""A proposal has one of eleven states: from what is proposed, judged, merged and measured."""

from dataclasses import replace
from datetime import UTC, date, datetime

import msgspec
import pytest

from coreloop.base.git.promotions import Promotion
from coreloop.learn.effect.description_changes import Change
from coreloop.learn.effect.effect import Effect
from coreloop.learn.effect.verdict import EffectVerdict
from coreloop.learn.proposals.entry import Statement
from coreloop.learn.proposals.proposal_files import Proposed
from coreloop.learn.verdicts.proposal_state import GitPromotions, ProposalState, pending, read_states
from coreloop.observe.judgments import HumanVerdict, HumanVerdicts
from coreloop.observe.judgments import VerdictLetter as Judged
from promoting import statement

AT = datetime(2026, 4, 25, tzinfo=UTC)
LINE = msgspec.convert(statement(), Statement)
ENTRY = Proposed("ce-2026-04-25-001", "k", date(2026, 4, 25), LINE)
MERGED = Promotion("k", ENTRY.id, "F", "a.py::pay", "sha", AT, reverted=False)
CHANGE = Change(
    tool="pay",
    target="a.py::pay",
    sha="sha",
    subject="x",
    place=1,
    merged_at=AT,
    keys=("k",),
    added=("- Always pass reason",),
)


def _state(
    *, entries=(ENTRY,), verdict=None, open_keys=(), requested=(), promotions=(), effects=()
) -> ProposalState:
    judged = {"id": ENTRY.id, "key": "k", "cause": None, "judged_at": AT, "judged_by": "Ann"}
    given = (HumanVerdict(verdict=verdict, **judged),) if verdict else ()
    promoted = GitPromotions(tuple(promotions), frozenset(open_keys), frozenset(requested))
    (standpoint,) = read_states(entries, HumanVerdicts(given), promoted, effects)
    return standpoint.state


def _effect(verdict: EffectVerdict, **changes: object) -> Effect:
    return replace(Effect(change=CHANGE, verdict=verdict), **changes)  # type: ignore[arg-type]


LATER = Effect(
    change=replace(CHANGE, sha="b", place=2, keys=(), added=(), removed=CHANGE.added),
    verdict=EffectVerdict.TOO_EARLY,
)
ROWS = {
    "found": (ProposalState.FOUND, {"entries": (replace(ENTRY, entry=None),)}),
    "waiting": (ProposalState.WAITING, {}),
    "rejected": (ProposalState.REJECTED, {"verdict": Judged.VIOLATION}),
    "open, whatever was judged": (
        ProposalState.OPEN,
        {"open_keys": ("k",), "requested": ("k",), "verdict": Judged.VIOLATION},
    ),
    "on a branch": (ProposalState.OPEN, {"open_keys": ("k",)}),
    "rejected, its branch left": (ProposalState.REJECTED, {"open_keys": ("k",), "verdict": Judged.VIOLATION}),
    "merged": (ProposalState.MERGED, {"promotions": (MERGED,)}),
    "merged, whatever was judged": (
        ProposalState.MERGED,
        {"promotions": (MERGED,), "verdict": Judged.VIOLATION},
    ),
    "helps": (ProposalState.HELPS, {"promotions": (MERGED,), "effects": (_effect(EffectVerdict.HELPS),)}),
    "no effect": (
        ProposalState.NO_EFFECT,
        {"promotions": (MERGED,), "effects": (_effect(EffectVerdict.NO_EFFECT),)},
    ),
    "hurts": (ProposalState.HURTS, {"promotions": (MERGED,), "effects": (_effect(EffectVerdict.HURTS),)}),
    "stale": (
        ProposalState.STALE,
        {"promotions": (MERGED,), "effects": (_effect(EffectVerdict.HELPS, is_stale=True),)},
    ),
    "a person took the line out": (
        ProposalState.RETIRED,
        {"promotions": (MERGED,), "effects": (_effect(EffectVerdict.HELPS), LATER)},
    ),
    "promoted again": (
        ProposalState.MERGED,
        {
            "promotions": (MERGED,),
            "effects": (
                _effect(EffectVerdict.HELPS),
                LATER,
                Effect(change=replace(CHANGE, sha="c", place=3), verdict=EffectVerdict.TOO_EARLY),
            ),
        },
    ),
    "reverted": (
        ProposalState.REVERTED,
        {"promotions": (replace(MERGED, reverted=True),), "effects": (_effect(EffectVerdict.HURTS), LATER)},
    ),
}


@pytest.mark.parametrize(("state", "facts"), ROWS.values(), ids=ROWS)
def test_the_state_of_a_proposal(state: ProposalState, facts: dict[str, object]):
    assert _state(**facts) is state  # type: ignore[arg-type]


def test_an_accepted_one_is_not_pending():
    judged = {"id": ENTRY.id, "key": "k", "cause": None, "judged_at": AT, "judged_by": "Ann"}
    accepted = HumanVerdicts((HumanVerdict(verdict=Judged.PASS, **judged),))
    assert [one.id for one in pending(read_states([ENTRY], HumanVerdicts()))] == [ENTRY.id]
    assert pending(read_states([ENTRY], accepted)) == []
