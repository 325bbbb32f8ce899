"""A window's groups -> candidates: sequences of tools that keep succeeding, gated, tested and ranked."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Final

import msgspec
import polars as pl

from coreloop.base.records import is_category, normalize_question
from coreloop.learn.effect.named_failure import fails_as, named_failure, places_of
from coreloop.learn.line import Step, statement_key, target_step
from coreloop.learn.mine.frames import IS_COUNTED, IS_SUCCESS
from coreloop.learn.mine.requests import Request, Requests
from coreloop.learn.mine.window import NO_SEQUENCE, Window, moment
from coreloop.learn.proposals.entry import GUIDE, MAX_EXAMPLES, Candidate, Search
from coreloop.learn.statements.cases import case_numbers, rank_test, rates_of
from coreloop.learn.statements.logged_calls import read_requests
from coreloop.learn.statistics import benjamini_hochberg, wilson_interval
from coreloop.observe.reading.outcome import RequestOutcome

RELAXED_COUNT: Final = 2
"""Requests and questions that the gate needs if the playbook has a good bullet."""
MAX_QUESTIONS: Final = 200
"""Questions of a pattern that are read and compared, earliest first: enough for any gate."""
_MAX_REQUESTS: Final = 10_000
"""Of the candidates' categories; of more, a fixed draw is compared."""
_SUCCESS: Final = RequestOutcome.SUCCESS
# Matches `analysis(axis=a)` of `analysis(axis=a)>show()`; a step may hold `"a>b"` and `<other>`.
_FIRST_STEP: Final = re.compile(r'(?:"(?:[^"\\]|\\.)*"|<other>|[^">])+')
_MIN_CASES: Final = 2  # the least that the playbook's relaxed gate lets through


def find_candidates(
    window: Window,
    *,
    min_repeat: int = 3,
    min_unique_questions: int = 3,
    min_success_rate: float = 1.0,
    known: frozenset[str] = frozenset(),
    playbook: Collection[str] = (),
) -> Search[Candidate]:
    """Find the patterns of a window that keep succeeding.

    Parameters
    ----------
    window : Window
        Facts of some days.
    min_repeat, min_unique_questions : int
        Requests, and different questions, that a pattern needs.
    min_success_rate : float
        Share of its counted requests that must succeed.
    known : frozenset of str
        Keys that are not proposed again: promoted, in an open pull request, or rejected.
    playbook : collection of str
        Intents with good bullets. A pattern whose category has the intent as its topic part needs only two
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

    def least(count: int, category: str) -> int:
        return min(count, RELAXED_COUNT) if _topic(category) in playbook else count

    passing = []
    for row in rows:
        if row["n_observed"] < least(min_repeat, row["category"]):
            dropped["min_repeat"] += 1
        elif row["success_rate"] < min_success_rate:
            dropped["min_success_rate"] += 1
        elif row["shape"] is None:
            dropped["steps_not_recorded"] += 1
        else:
            passing.append(row)
    found: list[Candidate] = []
    for candidate in _candidates(window, passing):
        if candidate.n_unique_questions < least(min_unique_questions, candidate.cat_hash):
            dropped["min_unique_questions"] += 1
        elif candidate.key in known:
            dropped["known"] += 1
        else:
            found.append(candidate)
    found.sort(key=lambda one: (one.base_rate - one.success_low, -one.n_observed, one.key))
    return Search(tuple(found), len(rows), dropped)


def _topic(category: str) -> str:
    """The second part of ``FIN-profitability-KR``."""
    parts = category.split("-")
    return parts[1] if len(parts) > 1 and is_category(category) else ""


def count_patterns(window: Window) -> pl.DataFrame:
    """Sum a window's requests to one row per pattern.

    Returns
    -------
    polars.DataFrame
        A row per category and sequence with at least one counted record: pattern (a number), category,
        sequence, shape (the most frequent; null if all records have omitted calls), n_observed (successes and
        failures), n_success, success_rate, n_sessions, n_peers and n_peers_success (all counted records of
        the category, those without a sequence included), base_rate (their rate), first_us, last_us
        (microseconds since 1970).
    """
    session = pl.col("session")
    return (
        window.frames.requests.lazy()
        .filter(IS_COUNTED)
        .group_by("pattern")
        .agg(
            n_observed=pl.len(),
            n_success=IS_SUCCESS.sum(),
            n_sessions=session.filter(session != 0).n_unique(),
            first_us=pl.col("us").min(),
            last_us=pl.col("us").max(),
        )
        .join(window.frames.patterns, on="pattern")
        .with_columns(
            n_peers=pl.col("n_observed").sum().over("category"),
            n_peers_success=pl.col("n_success").sum().over("category"),
        )
        .filter(pl.col("sequence") != NO_SEQUENCE)
        .with_columns(
            success_rate=pl.col("n_success") / pl.col("n_observed"),
            base_rate=pl.col("n_peers_success") / pl.col("n_peers"),
        )
        .collect()
    )


def _candidates(window: Window, patterns: Sequence[Mapping[str, Any]]) -> Iterator[Candidate]:
    """The patterns with their texts and steps."""
    distinct = _distinct(window, [row["pattern"] for row in patterns])
    n, n_ok = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for group in window.requests:
        succeeded, failed = map(group.n_of, (_SUCCESS, RequestOutcome.FAILURE))
        n.update(dict.fromkeys(_began(group), succeeded + failed))
        n_ok.update(dict.fromkeys(_began(group), succeeded))
    for row in patterns:
        questions = distinct[row["pattern"]]
        began = _began_by(row["category"], window.texts[row["sequence"]])
        steps = _steps(row["shape"])
        target = target_step(steps)
        yield Candidate(
            key=statement_key(row["category"], window.texts[row["sequence"]], GUIDE),
            engine=target.name,
            axis=next(iter(target.selectors.values()), None),
            cat_hash=row["category"],
            seq_hash=row["sequence"],
            tool_pattern=steps,
            n_observed=row["n_observed"],
            n_begun=n[began],
            n_unique_questions=len(questions),
            n_sessions=row["n_sessions"],
            success_rate=row["success_rate"],
            success_low=wilson_interval(row["n_success"], n[began])[0],
            base_rate=row["base_rate"],
            rest_ok=row["n_peers_success"] - n_ok[began],
            rest_n=row["n_peers"] - n[began],
            first_seen=moment(row["first_us"]),
            last_seen=moment(row["last_us"]),
            example_questions=tuple(filter(None, questions))[:MAX_EXAMPLES],
        )


_steps: Final = cache(msgspec.json.Decoder(tuple[Step, ...]).decode)


def _began(requests: Requests) -> set[tuple[str, str]]:
    """The category with the first step that they tried, and with the first that worked."""
    first = (*requests.calls[:1], *[call for call in requests.calls if call.ok][:1])
    return {(requests.alike.category, call.step) for call in first}


def _began_by(category: str, sequence: str) -> tuple[str, str]:
    """The category with the first step of a sequence."""
    first = _FIRST_STEP.match(sequence)
    return category, first[0] if first else sequence


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
    """Test each candidate against the rest of its category (Mann–Whitney on the cases' success rates).

    Of the requests that began its sequence, those that went on so and succeeded are successes.
    """
    n, n_ok = defaultdict[Any, Counter[int]](Counter), defaultdict[Any, Counter[int]](Counter)
    for request, case in _cases(window, {one.cat_hash for one in candidates}):
        category, succeeded = request.group.alike.category, request.outcome == _SUCCESS
        for key in (category, *_began(request.group)):
            n[key][case] += 1
            n_ok[key][case] += succeeded
        n_ok[category, window.steps(request.group).sequence][case] += succeeded
    p_values = []
    for one in candidates:
        category, began = one.cat_hash, _began_by(one.cat_hash, window.texts[one.seq_hash])
        own_rates = rates_of(n[began], n_ok[category, one.seq_hash])
        rest = rates_of(n[category] - n[began], n_ok[category] - n_ok[began])
        is_tested = min(len(own_rates), len(rest)) >= _MIN_CASES
        p_values.append(rank_test(own_rates, rest) if is_tested else 1.0)
    q_values = benjamini_hochberg(p_values)
    return [replace(one, q_value=q_value) for one, q_value in zip(candidates, q_values, strict=True)]


def _cases(window: Window, categories: set[str]) -> Iterator[tuple[Request, int]]:
    """Each request that is compared, and its case."""
    groups = (group for group in window.requests if group.alike.category in categories)
    counted = window.drawn(groups, _MAX_REQUESTS, least=RequestOutcome.FAILURE)
    read = zip(counted, read_requests(window, counted), strict=True)
    keys = [keys._replace(calls=window.steps(one.group).sequence) for one, (_, keys) in read]
    return zip(counted, case_numbers(keys)[0], strict=True)


def refuse_against(
    candidate: Candidate, window: Window, lines: Iterable[tuple[str, str]], names: Mapping[str, str]
) -> Candidate:
    """Refuse a candidate if most of its requests have a call against a line.

    Parameters
    ----------
    lines : iterable of (str, str)
        Tools, and lines about them.
    names : mapping of str to str
        The project's names of logged tools.
    """
    own = (
        group
        for group in window.requests
        if (group.alike.category, window.steps(group).sequence) == (candidate.cat_hash, candidate.seq_hash)
        and _steps(window.steps(group).shape) == candidate.tool_pattern
    )
    read = read_requests(window, window.drawn(own, _MAX_REQUESTS, least=_SUCCESS), names)
    for tool, line in lines if candidate.suggested_append is not None else ():
        failure = named_failure([line])
        called = (places_of(request, tool) for request, _ in read if failure)
        n_against = sum(any(its.call.ok and fails_as(failure, its) for its in places) for places in called)
        if 2 * n_against > len(read):
            refused = f"its calls are against {tool}: {line.removeprefix('- ')}"
            return replace(candidate, suggested_append=None, refused=refused)
    return candidate
