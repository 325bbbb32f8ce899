"""A window's groups -> candidates: sequences of tools that keep succeeding, gated, tested and ranked."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

import msgspec
import polars as pl

from coreloop.base.project.settings import Gates
from coreloop.base.records import is_category, normalize_question
from coreloop.learn.facts.schema import NO_LENGTH
from coreloop.learn.line import Step, statement_key, target_step
from coreloop.learn.mine.frames import IS_COUNTED, IS_SUCCESS
from coreloop.learn.mine.window import NO_SEQUENCE, Window, moment
from coreloop.learn.proposals.entry import GUIDE, Candidate, Search
from coreloop.learn.statements.cases import case_numbers, rank_test, rates_of
from coreloop.learn.statements.logged_calls import read_requests
from coreloop.learn.statistics import benjamini_hochberg, success_bound
from coreloop.observe.reading.outcome import RequestOutcome

MAX_EXAMPLES: Final = 5
RELAXED_COUNT: Final = 2
"""Requests and questions that the gate needs if the playbook has a good bullet."""
MAX_QUESTIONS: Final = 200
"""Questions of a pattern that are read and compared, earliest first: enough for any gate."""
_MAX_REQUESTS: Final = 10_000
"""Of the candidates' categories; of more, a fixed draw is compared."""
_SUCCESS: Final = RequestOutcome.SUCCESS
_MIN_CASES: Final = 2  # the least that the playbook's relaxed gate lets through


def find_candidates(
    window: Window,
    gate: Gates,
    *,
    known: frozenset[str] = frozenset(),
    playbook: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
) -> Search[Candidate]:
    """Find the patterns of a window that keep succeeding.

    Parameters
    ----------
    window : Window
        Facts of some days.
    gate : Gates
        Minimum figures.
    known : frozenset of str
        Keys that are not proposed again: promoted, in an open pull request, or rejected.
    playbook : mapping of str to tuple of str
        Intent to good bullets. A pattern whose category has the intent as its topic part needs only two
        requests and two different questions; the gate's success rate still applies.

    Returns
    -------
    Search
        Candidates by how far the lower bound of their success rate is above their category's base rate, then
        by number of requests. Each dropped pattern is counted at the first gate that it fails.
    """
    gates = ("min_repeat", "min_success_rate", "steps_not_recorded", "min_unique_questions")
    dropped = Counter(dict.fromkeys(gates, 0))
    rows = count_patterns(window).to_dicts()
    advice = {label: _advice(label, playbook) for label in {row["category"] for row in rows}}

    def least(count: int, category: str) -> int:
        return min(count, RELAXED_COUNT) if advice[category] else count

    passing = []
    for row in rows:
        if row["n_observed"] < least(gate.min_repeat, row["category"]):
            dropped["min_repeat"] += 1
        elif row["success_rate"] < gate.min_success_rate:
            dropped["min_success_rate"] += 1
        elif row["shape"] is None:
            dropped["steps_not_recorded"] += 1
        else:
            passing.append(row)
    found: list[Candidate] = []
    for candidate in _candidates(window, passing):
        n_questions, category = candidate.n_unique_questions, candidate.cat_hash
        if n_questions < least(gate.min_unique_questions, category):
            dropped["min_unique_questions"] += 1
        elif candidate.key in known:
            dropped["known"] += 1
        else:
            is_relaxed = candidate.n_observed < gate.min_repeat or n_questions < gate.min_unique_questions
            found.append(replace(candidate, bullets=advice[category]) if is_relaxed else candidate)
    found.sort(key=lambda one: (one.base_rate - one.success_low, -one.n_observed, one.key))
    return Search(tuple(found), len(rows), dropped)


def _advice(category: str, playbook: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The bullets for a category's topic, the second part of ``FIN-profitability-KR``."""
    parts = category.split("-")
    return playbook.get(parts[1], ()) if len(parts) > 1 and is_category(category) else ()


def count_patterns(window: Window) -> pl.DataFrame:
    """Sum a window's requests to one row per pattern.

    Returns
    -------
    polars.DataFrame
        A row per category and sequence with at least one counted record: pattern (a number), category,
        sequence, shape (the most frequent; null if all records have omitted calls), n_observed (successes and
        failures), n_success, success_rate, n_sessions, n_peers and n_peers_success (all counted records of
        the category, those without a sequence included), base_rate (their rate), avg_chunk_len (characters;
        0.0 if unknown), first_us, last_us (microseconds since 1970).
    """
    frames = window.frames
    counted = frames.requests.lazy().filter(IS_COUNTED)
    length, session = pl.col("length"), pl.col("session")
    patterns = counted.group_by("pattern").agg(
        n_observed=pl.len(),
        n_success=IS_SUCCESS.sum(),
        n_sessions=session.filter(session != 0).n_unique(),
        avg_chunk_len=length.filter(length != NO_LENGTH).mean().fill_null(0.0),
        first_us=pl.col("us").min(),
        last_us=pl.col("us").max(),
    )
    known = frames.groups.lazy().filter(pl.col("shape") != 0)
    shapes = counted.group_by("group").len().join(known, on="group").group_by("pattern", "shape")
    frequent = shapes.agg(pl.col("len").sum()).sort("len", "shape", descending=[True, False])
    return (
        patterns.collect()
        .join(frames.patterns, on="pattern")
        .with_columns(
            n_peers=pl.col("n_observed").sum().over("category"),
            n_peers_success=pl.col("n_success").sum().over("category"),
        )
        .filter(pl.col("sequence") != NO_SEQUENCE)
        .with_columns(
            success_rate=pl.col("n_success") / pl.col("n_observed"),
            base_rate=pl.col("n_peers_success") / pl.col("n_peers"),
        )
        .join(
            frequent.unique("pattern", keep="first", maintain_order=True).drop("len").collect(),
            on="pattern",
            how="left",
        )
    )


def _candidates(window: Window, patterns: Sequence[Mapping[str, Any]]) -> Iterator[Candidate]:
    """The patterns with their texts and steps."""
    distinct = _distinct(window, [row["pattern"] for row in patterns])
    for row in patterns:
        questions = distinct[row["pattern"]]
        steps = msgspec.json.decode(window.frames.shapes[row["shape"]], type=tuple[Step, ...])
        target = target_step(steps)
        yield Candidate(
            key=statement_key(row["category"], window.texts[row["sequence"]], GUIDE),
            engine=target.name,
            axis=next(iter(target.selectors.values()), None),
            cat_hash=row["category"],
            seq_hash=row["sequence"],
            tool_pattern=steps,
            n_observed=row["n_observed"],
            n_unique_questions=len(questions),
            n_sessions=row["n_sessions"],
            success_rate=row["success_rate"],
            success_low=success_bound(row["n_success"], row["n_observed"]),
            base_rate=row["base_rate"],
            rest_ok=row["n_peers_success"] - row["n_success"],
            rest_n=row["n_peers"] - row["n_observed"],
            avg_chunk_len=row["avg_chunk_len"],
            first_seen=moment(row["first_us"]),
            last_seen=moment(row["last_us"]),
            example_questions=tuple(filter(None, questions))[:MAX_EXAMPLES],
        )


def _distinct(window: Window, patterns: Sequence[int]) -> dict[int, list[str]]:
    """The different questions by pattern, of the `MAX_QUESTIONS` earliest; empty where its line is gone."""
    asked = (
        window.frames.requests.lazy()
        .filter(IS_COUNTED, pl.col("pattern").is_in(patterns))
        .sort("us", "file", "at")
        .unique(("pattern", "question"), keep="first", maintain_order=True)
        .group_by("pattern")
        .agg(pl.col("file", "at").head(MAX_QUESTIONS))
        .collect()
    )
    places = {pattern: list(zip(files, at, strict=True)) for pattern, files, at in asked.iter_rows()}
    texts = window.question_texts(place for of_pattern in places.values() for place in of_pattern)
    distinct: dict[int, list[str]] = {}
    for pattern, of_pattern in places.items():
        readable = [texts[place] for place in of_pattern if place in texts]
        distinct[pattern] = distinct_questions(readable) + [""] * (len(of_pattern) - len(readable))
    return distinct


_NUMBER: Final = re.compile(r"(?<![0-9a-z])[a-z]*[0-9][0-9a-z]*")  # from the start of a word: linear
"""An id, a number or a date in a normalised question: ``a1000`` of ``a1000은``, ``20260425``, ``3``."""


def distinct_questions(questions: Iterable[str]) -> list[str]:
    """The questions that are not near duplicates of an earlier question in the result.

    Two questions are near duplicates if the word sets of their normalised texts have a Jaccard similarity of
    at least 0.8. Ids, numbers and dates are ignored. All questions without a word are duplicates.

    Parameters
    ----------
    questions : iterable of str
        Raw texts; of two near duplicates, the first is distinct.
    """
    distinct: dict[frozenset[str], str] = {}
    for text in questions:
        words = frozenset(_NUMBER.sub("0", normalize_question(text)).split())
        if not any(5 * len(words & other) >= 4 * len(words | other) for other in distinct):
            distinct[words] = text
    return list(distinct.values())


def with_q_values(window: Window, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Test each candidate against the rest of its category (Mann–Whitney on the cases' success rates)."""
    n, n_ok = defaultdict[Any, Counter[int]](Counter), defaultdict[Any, Counter[int]](Counter)
    for category, sequence, case, succeeded in _rows(window, {one.cat_hash for one in candidates}):
        for key in (category, (category, sequence)):
            n[key][case] += 1
            n_ok[key][case] += succeeded
    p_values = []
    for one in candidates:
        category, own = one.cat_hash, (one.cat_hash, one.seq_hash)
        own_rates = rates_of(n[own], n_ok[own])
        rest = rates_of(n[category] - n[own], n_ok[category] - n_ok[own])
        is_tested = min(len(own_rates), len(rest)) >= _MIN_CASES
        p_values.append(rank_test(own_rates, rest) if is_tested else 1.0)
    q_values = benjamini_hochberg(p_values)
    return [replace(one, q_value=q_value) for one, q_value in zip(candidates, q_values, strict=True)]


def _rows(window: Window, categories: set[str]) -> list[tuple[str, str, int, bool]]:
    """Category, sequence, case, and whether it succeeded, of each request that is compared."""
    groups = (group for group in window.requests if group.alike.category in categories)
    counted = window.drawn(groups, _MAX_REQUESTS, least=RequestOutcome.FAILURE)
    sequences = [window.steps(one.group).sequence for one in counted]
    read = zip(sequences, read_requests(window, counted), strict=True)
    cases, _ = case_numbers([replace(keys, calls=sequence) for sequence, (_, keys) in read])
    return [
        (one.group.alike.category, sequence, case, one.outcome == _SUCCESS)
        for one, sequence, case in zip(counted, sequences, cases, strict=True)
    ]
