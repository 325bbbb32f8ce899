"""What ``runs plan`` and ``runs read`` print: JSON for an agent, with lines to show to the person."""

from collections.abc import Iterator
from typing import Any

from coreloop.answer.agent.plan import PlannedIteration, order_of
from coreloop.answer.agent.read import Shown
from coreloop.answer.research.knowledge import knowledge_of
from coreloop.base.messages import say
from coreloop.cli.show_iteration import duplicate_lines, focus_lines


def plan_json(planned: PlannedIteration) -> dict[str, Any]:
    """Build the answer of a plan."""
    state, order = planned.state, order_of(planned.state)
    return {
        "run_id": state.run_id,
        "iteration": state.iteration + 1,
        "execute": [
            {
                "query": one.query,
                "intent": one.intent,
                "strategy": list(one.strategy),
                "for": one.part,
                "against": one.against,
            }
            for one in planned.execute
        ],
        "duplicates": [
            {"query": query, "already_searched": similar} for query, similar in planned.duplicates.items()
        ],
        "left_out": list(planned.left_out),
        "strategy": list(order.after if order else state.last_strategy),
        "must_change": order is not None,
        "sub_questions": [{"id": part.id, "text": part.text} for part in state.sub_questions],
        "show": list(_lines(planned)),
    }


def _lines(planned: PlannedIteration) -> Iterator[str]:
    yield from focus_lines(planned.state.question, knowledge_of(planned.state))
    for query, similar in planned.duplicates.items():
        yield from duplicate_lines(query, similar)
    for one in planned.execute:
        yield say("✓ NEW: '{query}'", query=one.query)
    if not planned.execute:
        yield "⚠️ All queries duplicate. Changing search angle..."


def source_json(shown: Shown) -> dict[str, Any]:
    """Build the answer of a read source."""
    source = shown.read.source
    return {
        "source": shown.read.number,
        "trust": shown.trust,
        "note": shown.note,
        "title": source.title,
        "location": source.location,
        "published": source.published,
        "characters": len(source.text),
        "passages": [{"from": part.start, "text": part.text} for part in shown.passages],
        "goes_on_at": shown.following,
    }
