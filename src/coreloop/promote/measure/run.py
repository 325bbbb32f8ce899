"""The use case: what lines do to a model's next call."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from coreloop.base.messages import Phrase
from coreloop.promote.measure.arms import ToolText
from coreloop.promote.measure.ask import BudgetSpentError
from coreloop.promote.measure.contexts import CallContext, NextCall
from coreloop.promote.measure.measurement import Measurement
from coreloop.promote.measure.prepare import N_FIRST, Prepared
from coreloop.promote.measure.verdict import (
    MeasureVerdict,
    Pair,
    compare_pairs,
    judge_difference,
    judge_model,
)


def measure(prepared: Prepared, *, now: datetime, on_progress: Callable[[int], None]) -> Measurement:
    """Ask the model, and weigh its answers.

    Parameters
    ----------
    prepared : Prepared
        See `prepare`.
    now : datetime
        Aware.
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
        told = Phrase(
            "{without:.0%} right without the line, {stated:.0%} if told the right call",
            without=sum(base) / len(base),
            stated=stated,
        )
        if verdict is MeasureVerdict.TOO_WEAK:
            return subject.measured(verdict, now, gold=stated, reason=told)
        if verdict is MeasureVerdict.NOTHING_TO_GAIN:
            harm = compare_pairs(_pairs(prepared, first, on_progress))  # there is all the more to lose
            if judge_difference(harm) is MeasureVerdict.HURTS:
                return replace(subject.measured(MeasureVerdict.HURTS, now, gold=stated), about=harm)
            return subject.measured(verdict, now, gold=stated, reason=told)
        pairs = _pairs(prepared, about, on_progress)
        other = _pairs(prepared, controls, lambda done: on_progress(len(about) + done))
    except BudgetSpentError:
        reason = Phrase("the budget is spent; run it again with another, and it goes on where it stopped")
        return subject.measured(MeasureVerdict.NOT_KNOWN, now, reason=reason)
    difference = compare_pairs(pairs)
    verdict = judge_difference(difference)
    needed = Phrase("about {n} more contexts", n=difference.n_missing)
    more = needed if verdict is MeasureVerdict.NOT_KNOWN else ""
    return replace(
        subject.measured(verdict, now, gold=stated, reason=more),
        about=difference,
        controls=compare_pairs(other) if other else None,
    )


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
