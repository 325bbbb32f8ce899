"""Scores of other systems, in the forms in which traces hold them."""

from collections.abc import Mapping
from typing import Any, Final

from coreloop.base.project.score_rule import Score
from coreloop.observe.importers.trace_values import first, objects, text

_LISTS: Final = ("scores", "annotations", "span_annotations", "evaluations", "assessments")


def scores_in(holder: Mapping[str, Any]) -> tuple[Score, ...]:
    """Read the scores that an exported trace, span or chat has in a list or object of its own."""
    scores: list[Score | None] = []
    for key in _LISTS:
        given = holder.get(key)
        if isinstance(given, dict):
            named = [
                (name, item if isinstance(item, dict) else {"value": item}) for name, item in given.items()
            ]
            given = [{**item, "name": name} for name, item in named]
        scores += map(score_of, objects(given))
    return tuple(score for score in scores if score is not None)


def evaluations_in(attributes: Mapping[str, Any]) -> tuple[Score, ...]:
    """Read the evaluation in the attributes of a span, or of an event: ``gen_ai.evaluation.…``."""
    start = "gen_ai.evaluation"
    name, label = (text(attributes.get(f"{start}.{key}")) for key in ("name", "score.label"))
    value = _number(attributes.get(f"{start}.score.value"))
    return () if name is None else (Score(name, value, label),)


def score_of(item: Mapping[str, Any]) -> Score | None:
    """Read an object that is a score itself, as in an export of scores; None if it is not."""
    if item.get("valid") is False:  # MLflow keeps an assessment that another one replaced
        return None
    result = first(item, "result", "feedback")
    holder = {**item, **result} if isinstance(result, dict) else item
    name = text(first(item, "name", "assessment_name", "assessmentName"))
    raw = first(holder, "value", "score", "avg")
    label = text(first(holder, "stringValue", "string_value", "label")) or text(raw)
    if name is None or (_number(raw) is None and label is None):
        return None
    at = text(first(item, "timestamp", "createdAt", "created_at", "create_time"))
    return Score(name, _number(raw), label, None if at is None else at[:40])


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and abs(value) < 1e300 else None
