"""What each miner hands in, so that all are seen to find the same: candidates and counterexamples.

The miners count; what is left to do for each of a few hundred groups is done here, for the loop and for
DuckDB alike, by parts of coreloop that are not measured. Times are microseconds since 1970.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from coreloop.failures import CLASSES, LABELS
from coreloop.pattern.questions import distinct_questions
from coreloop.project.settings import Gates
from coreloop.proposals.candidates import Candidate
from coreloop.proposals.counterexamples import Counterexample
from coreloop.proposals.step import Step

GATE = Gates()
MIN_FAILURES = 2
MAX_EXAMPLES = 5
MAX_QUESTIONS = 200
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Shape = tuple[str, tuple[tuple[str, str], ...], tuple[str, ...]]
"""Of a call: tool, selectors, names of the arguments in order."""


@dataclass(frozen=True)
class Pattern:
    """A category and a sequence.

    Attributes
    ----------
    n, n_success, n_sessions, n_questions, chunk_len, first_us, last_us, providers
        Of the records that count; ``chunk_len`` is a sum.
    questions : sequence of str
        The earliest different ones; needed only where the pattern passes the gate.
    shapes : dict
        How often, and since when, the steps had these shapes.
    failed_at : tuple of int
        The first and the last time at which it failed.
    failed_questions : sequence of str
        The earliest that failed, in order.
    failed_providers, labels
        Of those that failed.
    """

    category: str
    sequence: str
    n: int
    n_success: int
    n_sessions: int
    n_questions: int
    chunk_len: int
    first_us: int
    last_us: int
    providers: Mapping[str, int]
    questions: Sequence[str]
    shapes: Mapping[tuple[Shape, ...], tuple[int, int]]
    failed_at: tuple[int | None, int | None]
    failed_questions: Sequence[str]
    failed_providers: Mapping[str, int]
    labels: frozenset[str]


@dataclass(frozen=True)
class Failing:
    """Calls of one shape that failed in one way; ``wasted_ms`` is a sum."""

    shape: Shape
    error_class: str
    template: str
    n: int
    wasted_ms: float
    first_us: int
    last_us: int
    providers: Mapping[str, int]
    question: str


def passes(pattern: Pattern) -> bool:
    """Whether a pattern is a candidate."""
    return (
        pattern.n >= GATE.min_repeat
        and pattern.n_success / pattern.n >= GATE.min_success_rate
        and pattern.n_questions >= GATE.min_unique_questions
    )


def fails(pattern: Pattern) -> bool:
    """Whether a pattern is a counterexample."""
    n_failures = pattern.n - pattern.n_success
    has_signs = not pattern.labels.isdisjoint({*LABELS} - {"tool_error"})
    return n_failures >= MIN_FAILURES and (has_signs or n_failures > pattern.n_success)


def of_groups(
    patterns: Iterable[Pattern],
    base_rates: Mapping[str, float],
    failing: Iterable[Failing],
    calls: Mapping[Shape, int],
) -> dict[str, Any]:
    """The findings of a miner that counted groups."""
    every = list(patterns)
    candidates = [_candidate(one, base_rates[one.category]) for one in every if passes(one)]
    sequences = [_sequence(one) for one in every if fails(one)]
    others: dict[str, int] = defaultdict(int)
    for (tool, _, _), n in calls.items():
        others[tool] += n
    failed = [
        _call(one, calls[one.shape], others[one.shape[0]] - calls[one.shape])
        for one in failing
        if one.n >= MIN_FAILURES
    ]
    return _digest(candidates, failed + sequences)


def of_coreloop(candidates: Iterable[Candidate], counterexamples: Iterable[Counterexample]) -> dict[str, Any]:
    """The findings of coreloop."""
    found = [
        [
            *(one.cat_hash, one.seq_hash, [_step(step) for step in one.tool_pattern], one.n_observed),
            *(one.n_unique_questions, one.n_sessions, round(one.success_rate, 9), round(one.base_rate, 9)),
            *(round(one.avg_chunk_len, 6), _us(one.first_seen), _us(one.last_seen)),
            *(one.example_questions, one.providers),
        ]
        for one in candidates
    ]
    failing = [
        [
            *(one.tool, one.selectors, one.arg_keys, [_step(step) for step in one.steps], one.cat_hash),
            *(one.labels, one.error_class, one.error_template, one.n_failures, one.n_calls),
            *(one.n_without.n_calls, round(100 * one.wasted_ms), _us(one.first_seen), _us(one.last_seen)),
            *(one.providers, [example.question for example in one.examples][: None if one.steps else 1]),
        ]
        for one in counterexamples
    ]
    return _digest(found, failing)


def _candidate(one: Pattern, base_rate: float) -> list[Any]:
    steps = _most_often(one.shapes)
    distinct = [one.questions[place] for place in distinct_questions(one.questions)]
    return [
        *(one.category, one.sequence, [_shape(step) for step in steps], one.n, len(distinct), one.n_sessions),
        *(round(one.n_success / one.n, 9), round(base_rate, 9), round(one.chunk_len / one.n, 6)),
        *(one.first_us, one.last_us, distinct[:MAX_EXAMPLES], one.providers),
    ]


def _sequence(one: Pattern) -> list[Any]:
    steps = min(one.shapes, key=lambda shape: one.shapes[shape][1])
    target = next((step for step in reversed(steps) if step[1]), steps[-1])
    classes = [name for name in CLASSES if name in one.labels]
    return [
        *(target[0], dict(target[1]), target[2], [_shape(step) for step in steps], one.category),
        [name for name in LABELS if name in one.labels],
        *(classes[0] if len(classes) == 1 else None, None, one.n - one.n_success, one.n, 0, 0),
        *(*one.failed_at, one.failed_providers, one.failed_questions[:MAX_EXAMPLES]),
    ]


def _call(one: Failing, n_calls: int, n_others: int) -> list[Any]:
    tool, selectors, arguments = one.shape
    return [
        *(tool, dict(selectors), arguments, [], None, ["tool_error"], one.error_class, one.template, one.n),
        *(
            n_calls,
            n_others,
            round(100 * one.wasted_ms),
            one.first_us,
            one.last_us,
            one.providers,
            [one.question],
        ),
    ]


def _most_often(shapes: Mapping[tuple[Shape, ...], tuple[int, int]]) -> tuple[Shape, ...]:
    return max(shapes, key=lambda shape: shapes[shape][0])


def _shape(step: Shape) -> list[Any]:
    tool, selectors, arguments = step
    return [tool, dict(selectors), arguments]


def _step(step: Step) -> list[Any]:
    return [step.name, step.selectors, step.arg_keys]


def _us(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(microseconds=1)


def _digest(candidates: list[list[Any]], counterexamples: list[list[Any]]) -> dict[str, Any]:
    """How many they are, and a digest of all that they say."""
    lines = [json.dumps(one, sort_keys=True, ensure_ascii=False) for one in [*candidates, *counterexamples]]
    return {
        "candidates": len(candidates),
        "counterexamples": len(counterexamples),
        "digest": sha256("\n".join(sorted(lines)).encode()).hexdigest()[:16],
    }
