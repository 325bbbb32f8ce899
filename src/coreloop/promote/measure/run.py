"""The use case: what lines do to a model's next call."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from coreloop.base.project.workspace import Workspace
from coreloop.promote.measure.ask_model import BudgetSpentError
from coreloop.promote.measure.contexts import CallContext, NextCall
from coreloop.promote.measure.measurement import Measurement, changes_since, fall, keep, measurement_before
from coreloop.promote.measure.prepare import N_FIRST, Prepared
from coreloop.promote.measure.verdict import (
    MeasureVerdict,
    Pair,
    compare_pairs,
    judge_difference,
    judge_model,
)
from coreloop.promote.measure.with_and_without import ToolText


@dataclass(frozen=True, slots=True)
class MeasureOutcome:
    """A measurement, and what is worse than in the one before it.

    Attributes
    ----------
    fallen : Phrase or None
        How much less the lines do; None if that is not certain.
    changes : list of Phrase
        What changed in between.
    """

    measured: Measurement
    fallen: str | None = None
    changes: list[str] = field(default_factory=list)

    @property
    def is_harm(self) -> bool:
        """Whether the lines hurt, or do less than they did."""
        return self.fallen is not None or self.measured.verdict is MeasureVerdict.HURTS


def measure_and_keep(
    workspace: Workspace,
    prepared: Prepared | Measurement,
    *,
    now: datetime,
    on_progress: Callable[[int], None],
) -> MeasureOutcome:
    """Ask the model unless the result is known, keep the measurement, and compare it with the one before.

    Raises
    ------
    ModelError
        As `measure`.
    WorkspaceError
        The file of measurements cannot be read or written.
    """
    measured = prepared
    if isinstance(measured, Prepared):
        measured = measure(measured, now=now, on_progress=on_progress)
    before = measurement_before(workspace.measured_file, measured)
    keep(workspace, measured)
    fallen = fall(before, measured)
    changes = changes_since(before, measured) if before is not None and fallen is not None else []
    return MeasureOutcome(measured, fallen, changes)


def measure(prepared: Prepared, *, now: datetime, on_progress: Callable[[int], None]) -> Measurement:
    """Ask the model, and weigh its answers.

    Parameters
    ----------
    prepared : Prepared
        See `prepare`.
    on_progress : callable
        Called after each context with the number of contexts that are done.

    Raises
    ------
    ModelError
        The endpoint gave no reply. Every reply until then is kept.
    """
    about, controls = prepared.contexts.about, prepared.contexts.controls
    first, subject = about[:N_FIRST], prepared.subject
    try:
        gold = [_share(prepared, item, prepared.base, stated=item.reference, turns=1) for item in first]
        base = [_share(prepared, item, prepared.base) for item in first]
        stated, verdict = sum(gold) / len(gold), judge_model(base, gold)
        told = f"{sum(base) / len(base):.0%} right without the line, {stated:.0%} if told the right call"
        if verdict is MeasureVerdict.TOO_WEAK:
            return subject.measured(verdict, now, gold=stated, reason=told)
        if verdict is MeasureVerdict.NOTHING_TO_GAIN:
            harm = compare_pairs(_pairs(prepared, first, on_progress))  # there is all the more to lose
            if judge_difference(harm) is MeasureVerdict.HURTS:
                return replace(subject.measured(MeasureVerdict.HURTS, now, gold=stated), about=harm)
            return subject.measured(verdict, now, gold=stated, reason=told)
        prepared, shares = _choose(prepared, on_progress)
        subject, n_chosen = prepared.subject, len(prepared.choosing)
        pairs = _pairs(prepared, about, lambda done: on_progress(n_chosen + done))
        other = _pairs(prepared, controls, lambda done: on_progress(n_chosen + len(about) + done))
    except BudgetSpentError:
        reason = "the budget is spent; run it again with another, and it goes on where it stopped"
        return subject.measured(MeasureVerdict.NOT_KNOWN, now, reason=reason)
    difference = compare_pairs(pairs)
    verdict = judge_difference(difference)
    needed = f"about {difference.n_missing} more contexts"
    more = needed if verdict is MeasureVerdict.NOT_KNOWN else ""
    return replace(
        subject.measured(verdict, now, gold=stated, reason=more),
        about=difference,
        controls=compare_pairs(other) if other else None,
        wordings=shares,
    )


def _choose(prepared: Prepared, on_progress: Callable[[int], None]) -> tuple[Prepared, dict[str, float]]:
    """The wording that is right most often on other contexts, the proposal's if several are; the shares."""
    right = {wording.line: 0.0 for wording in prepared.wordings}
    for done, context in enumerate(prepared.choosing, start=1):
        for wording in prepared.wordings:
            right[wording.line] += _share(prepared, context, wording.tools)
        on_progress(done)
    if not prepared.choosing:
        return prepared, {}
    best = max(prepared.wordings, key=lambda wording: right[wording.line])
    chosen = replace(prepared, edited=best.tools, subject=prepared.subject.worded(best))
    return chosen, {line: total / len(prepared.choosing) for line, total in right.items()}


def _pairs(
    prepared: Prepared, contexts: Sequence[CallContext], on_progress: Callable[[int], None]
) -> list[Pair]:
    pairs = list[Pair]()
    for context in contexts:
        base = _share(prepared, context, prepared.base)
        pairs.append(Pair(context.case, base, _share(prepared, context, prepared.edited)))
        on_progress(len(pairs))
    return pairs


def _share(
    prepared: Prepared,
    context: CallContext,
    tools: Sequence[ToolText],
    *,
    stated: NextCall | None = None,
    turns: int | None = None,
) -> float:
    """The share of a context's answers that are right."""
    turns = turns or prepared.turns
    calls = [prepared.asker.next_call(context, tools, stated=stated, turn=turn) for turn in range(turns)]
    return sum(prepared.right(call, context) for call in calls) / turns
