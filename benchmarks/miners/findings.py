"""The findings that each miner returns, to compare them: candidates and counterexamples.

The miners count. The remaining work on a few hundred groups is done here for the loop and for DuckDB, with
parts of coreloop that are not measured. Times are microseconds since 1970.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from coreloop.base.error_classes import CLASSES, LABELS
from coreloop.base.project.settings import Gates
from coreloop.learn.line import Step
from coreloop.learn.proposals.entry import Candidate, Counterexample
from coreloop.learn.sequences import distinct_questions

GATE = Gates()
MIN_FAILURES = 2
MAX_EXAMPLES = 5
MAX_QUESTIONS = 200
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Shape = tuple[str, tuple[tuple[str, str], ...], tuple[str, ...]]
"""A call's tool, selectors and argument names in order."""


@dataclass(frozen=True)
class Pattern:
    """A category and a sequence.

    Attributes
    ----------
    n, n_success, n_sessions, n_questions, chunk_len, first_us, last_us
        Figures of the counted records; ``chunk_len`` is a sum.
    questions : sequence of str
        The earliest distinct questions; needed only if the pattern passes the gate.
    shapes : dict
        Shapes of the steps -> count and first time.
    failed_at : tuple of int
        Times of the first and the last failure.
    failed_questions : sequence of str
        The earliest questions that failed, in order.
    labels
        Of the failed records.
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
    questions: Sequence[str]
    shapes: Mapping[tuple[Shape, ...], tuple[int, int]]
    failed_at: tuple[int | None, int | None]
    failed_questions: Sequence[str]
    labels: frozenset[str]


@dataclass(frozen=True)
class Failing:
    """Failed calls of the same shape, class and template; ``wasted_ms`` is a sum."""

    shape: Shape
    error_class: str
    template: str
    n: int
    wasted_ms: float
    first_us: int
    last_us: int
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


def from_groups(
    patterns: Iterable[Pattern],
    base_rates: Mapping[str, float],
    failing: Iterable[Failing],
    calls: Mapping[Shape, int],
) -> dict[str, Any]:
    """Return the findings of a miner that counted groups."""
    patterns = list(patterns)
    candidates = [
        _candidate(pattern, base_rates[pattern.category]) for pattern in patterns if passes(pattern)
    ]
    sequences = [_sequence(pattern) for pattern in patterns if fails(pattern)]
    tool_calls: dict[str, int] = defaultdict(int)
    for (tool, _, _), n in calls.items():
        tool_calls[tool] += n
    failed = [
        _call(group, calls[group.shape], tool_calls[group.shape[0]] - calls[group.shape])
        for group in failing
        if group.n >= MIN_FAILURES
    ]
    return _digest(candidates, failed + sequences)


def from_coreloop(
    candidates: Iterable[Candidate], counterexamples: Iterable[Counterexample]
) -> dict[str, Any]:
    """Return the findings of coreloop."""
    successful = [
        [
            *(entry.cat_hash, entry.seq_hash, [_step(step) for step in entry.tool_pattern], entry.n_observed),
            *(entry.n_unique_questions, entry.n_sessions),
            *(round(entry.success_rate, 9), round(entry.base_rate, 9)),
            *(round(entry.avg_chunk_len, 6), _us(entry.first_seen), _us(entry.last_seen)),
            entry.example_questions,
        ]
        for entry in candidates
    ]
    failing = [
        [
            *(entry.tool, entry.selectors, entry.arg_keys, [_step(step) for step in entry.steps]),
            *(entry.cat_hash, entry.labels, entry.error_class, entry.error_template),
            *(entry.n_failures, entry.n_calls, entry.n_without.n_calls, round(100 * entry.wasted_ms)),
            *(_us(entry.first_seen), _us(entry.last_seen)),
            [example.question for example in entry.examples][: None if entry.steps else 1],
        ]
        for entry in counterexamples
    ]
    return _digest(successful, failing)


def _candidate(pattern: Pattern, base_rate: float) -> list[Any]:
    n = pattern.n
    steps = _most_frequent(pattern.shapes)
    distinct = [pattern.questions[place] for place in distinct_questions(pattern.questions)]
    return [
        *(pattern.category, pattern.sequence, [_shape(step) for step in steps], n, len(distinct)),
        *(pattern.n_sessions, round(pattern.n_success / n, 9), round(base_rate, 9)),
        *(round(pattern.chunk_len / n, 6), pattern.first_us, pattern.last_us),
        distinct[:MAX_EXAMPLES],
    ]


def _sequence(pattern: Pattern) -> list[Any]:
    steps = min(pattern.shapes, key=lambda shape: pattern.shapes[shape][1])
    target = next((step for step in reversed(steps) if step[1]), steps[-1])
    classes = [name for name in CLASSES if name in pattern.labels]
    return [
        *(target[0], dict(target[1]), target[2], [_shape(step) for step in steps], pattern.category),
        [name for name in LABELS if name in pattern.labels],
        *(classes[0] if len(classes) == 1 else None, None),
        *(pattern.n - pattern.n_success, pattern.n, 0, 0),
        *(*pattern.failed_at, pattern.failed_questions[:MAX_EXAMPLES]),
    ]


def _call(group: Failing, n_calls: int, n_others: int) -> list[Any]:
    tool, selectors, arguments = group.shape
    return [
        *(tool, dict(selectors), arguments, [], None, ["tool_error"]),
        *(group.error_class, group.template, group.n, n_calls, n_others, round(100 * group.wasted_ms)),
        *(group.first_us, group.last_us, [group.question]),
    ]


def _most_frequent(shapes: Mapping[tuple[Shape, ...], tuple[int, int]]) -> tuple[Shape, ...]:
    return max(shapes, key=lambda shape: shapes[shape][0])


def _shape(step: Shape) -> list[Any]:
    tool, selectors, arguments = step
    return [tool, dict(selectors), arguments]


def _step(step: Step) -> list[Any]:
    return [step.name, step.selectors, step.arg_keys]


def _us(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(microseconds=1)


def _digest(candidates: list[list[Any]], counterexamples: list[list[Any]]) -> dict[str, Any]:
    """Return the counts and a digest of all values."""
    entries = [*candidates, *counterexamples]
    lines = [json.dumps(entry, sort_keys=True, ensure_ascii=False) for entry in entries]
    return {
        "candidates": len(candidates),
        "counterexamples": len(counterexamples),
        "digest": sha256("\n".join(sorted(lines)).encode()).hexdigest()[:16],
    }
