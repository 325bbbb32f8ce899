"""A window's groups -> candidates: sequences of tools that keep succeeding, gated, tested and ranked."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

import msgspec
import polars as pl

from coreloop.base.project.settings import Gates
from coreloop.base.records import is_category, normalize_question
from coreloop.learn.facts.columns import NO_SEQUENCE
from coreloop.learn.facts.file import question_hash
from coreloop.learn.line import Step, statement_key, target_step
from coreloop.learn.mine.statistics import benjamini_hochberg, success_bound
from coreloop.learn.mine.window import IS_COUNTED, IS_SUCCESS, Window, draw_number, moment
from coreloop.learn.proposals.entry import GUIDE, Candidate, Search
from coreloop.learn.statements.cases import RequestKeys, case_numbers
from coreloop.learn.statements.compare_sides import rank_test

MAX_EXAMPLES: Final = 5
RELAXED_COUNT: Final = 2
"""Requests and questions that the gate needs if the playbook has a good bullet."""
MAX_QUESTIONS: Final = 200
"""Questions of a pattern that are read and compared, earliest first: enough for any gate."""
_ROWS_AT_ONCE: Final = 4_000_000
"""Requests whose questions and sessions are compared at once: about 200 MB."""
_MAX_REQUESTS: Final = 10_000
"""Of the candidates' categories; of more, a fixed draw is compared."""
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
    rows = count_patterns(window)
    n_groups, dropped = rows.height, dict[str, int]()
    advice = {label: _advice(label, playbook) for label in rows["category"].unique()}
    is_relaxed = pl.col("category").is_in([label for label, bullets in advice.items() if bullets])

    def at_least(count: int) -> pl.Expr:
        return pl.when(is_relaxed).then(min(count, RELAXED_COUNT)).otherwise(count)

    def keep(name: str, condition: pl.Expr) -> pl.DataFrame:
        passed = rows.filter(condition)
        dropped[name] = rows.height - passed.height
        return passed

    rows = keep("min_repeat", pl.col("n_observed") >= at_least(gate.min_repeat))
    rows = keep("min_success_rate", pl.col("success_rate") >= gate.min_success_rate)
    rows = count_distinct(window, rows)
    unique = at_least(gate.min_unique_questions)
    rows = keep("min_unique_questions", pl.col("n_question_hashes") >= unique)
    rows = keep("steps_not_recorded", pl.col("is_complete"))
    passed: list[Candidate] = []
    for candidate in _candidates(window, rows):
        bullets = advice[candidate.cat_hash]
        n_questions = candidate.n_unique_questions
        if n_questions < (
            min(gate.min_unique_questions, RELAXED_COUNT) if bullets else gate.min_unique_questions
        ):
            dropped["min_unique_questions"] += 1
        elif candidate.key in known:
            dropped["known"] = dropped.get("known", 0) + 1
        elif candidate.n_observed >= gate.min_repeat and n_questions >= gate.min_unique_questions:
            passed.append(candidate)
        else:
            passed.append(replace(candidate, bullets=bullets))
    return Search(tuple(sorted(passed, key=_rank)), n_groups, dropped)


def _advice(category: str, playbook: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The bullets for a category's topic, the second part of ``FIN-profitability-KR``."""
    parts = category.split("-")
    return playbook.get(parts[1], ()) if len(parts) > 1 and is_category(category) else ()


def _rank(candidate: Candidate) -> tuple[float, int, str]:
    return (candidate.base_rate - candidate.success_low, -candidate.n_observed, candidate.key)


def count_patterns(window: Window) -> pl.DataFrame:
    """Sum a window's groups to one row per pattern.

    Returns
    -------
    polars.DataFrame
        A row per category and sequence with at least one counted record: pattern, category, sequence,
        n_observed (successes and failures), n_success, success_rate, n_peers and n_peers_success (all counted
        records of the category, those without a sequence included), base_rate (their rate), avg_chunk_len
        (characters; 0.0 if unknown), is_complete (some record has no omitted calls), first_us, last_us
        (microseconds since 1970).
    """
    counted = window.groups.filter(IS_COUNTED)
    n_success = pl.col("n").filter(IS_SUCCESS).sum()
    peers = counted.group_by("category").agg(n_peers=pl.col("n").sum(), n_peers_success=n_success)
    patterns = (
        counted.filter(pl.col("sequence") != NO_SEQUENCE)
        .group_by("pattern", "category", "sequence")
        .agg(
            n_observed=pl.col("n").sum(),
            n_success=n_success,
            avg_chunk_len=pl.col("chunk_len").sum() / pl.col("n_chunk_len").sum().clip(1),
            is_complete=(pl.col("shape") != 0).any(),
            first_us=pl.col("first_us").min(),
            last_us=pl.col("last_us").max(),
        )
    )
    return (
        patterns.join(peers, on="category")
        .with_columns(
            success_rate=pl.col("n_success") / pl.col("n_observed"),
            base_rate=pl.col("n_peers_success") / pl.col("n_peers"),
        )
        .collect()
    )


def count_distinct(window: Window, patterns: pl.DataFrame) -> pl.DataFrame:
    """Count the different questions (by their hash) and sessions of some patterns.

    Returns
    -------
    polars.DataFrame
        ``patterns`` with n_question_hashes and n_sessions.
    """
    ordered = patterns.sort("pattern").with_columns(
        part=((pl.col("n_observed").cum_sum() - pl.col("n_observed")) // _ROWS_AT_ONCE)
    )
    of_parts = (pl.col("pattern").is_in(part["pattern"].implode()) for part in ordered.partition_by("part"))
    counts = [
        window.requests.filter(IS_COUNTED, of_part)
        .group_by("pattern")
        .agg(
            n_question_hashes=pl.col("question").n_unique(),
            n_sessions=pl.col("session").filter(pl.col("session") != 0).n_unique(),
        )
        for of_part in of_parts
    ]
    schema = {"pattern": pl.UInt64, "n_question_hashes": pl.UInt32, "n_sessions": pl.UInt32}
    counted = pl.concat([pl.DataFrame(schema=schema), *(part.collect() for part in counts)])
    return patterns.join(counted, on="pattern", maintain_order="left")


def find_questions(window: Window, patterns: pl.DataFrame) -> pl.DataFrame:
    """Find the different questions of some patterns: of each, the `MAX_QUESTIONS` earliest.

    Returns
    -------
    polars.DataFrame
        A row per pattern and question (hash): first_us, and file and offset of the earliest line that asked
        it; in the order of first_us.
    """
    of_patterns = pl.col("pattern").is_in(patterns["pattern"].implode())
    place = ("first_us", "file", "offset")
    return window.keep(
        lambda rows: rows.filter(IS_COUNTED, of_patterns).select(
            "pattern", "question", "file", "offset", first_us="ts_us"
        ),
        lambda rows: (
            rows.sort(place)
            .unique(("pattern", "question"), keep="first", maintain_order=True)
            .group_by("pattern", maintain_order=True)
            .head(MAX_QUESTIONS)
        ),
    )


def count_shapes(window: Window, patterns: pl.DataFrame) -> pl.DataFrame:
    """Count each shape of some patterns, most frequent first."""
    return (
        window.groups.filter(IS_COUNTED, pl.col("pattern").is_in(patterns["pattern"].implode()))
        .group_by("pattern", "shape")
        .agg(n=pl.col("n").sum())
        .sort("n", "shape", descending=[True, False])
        .collect()
    )


def _candidates(window: Window, patterns: pl.DataFrame) -> list[Candidate]:
    """The patterns with their texts and steps."""
    shapes = count_shapes(window, patterns).filter(pl.col("shape") != 0)
    texts, by_pattern = window.texts_of("shape", shapes["shape"]), _by_pattern(shapes)
    sequences = window.texts_of("sequence", patterns["sequence"])
    distinct = _distinct(window, find_questions(window, patterns))
    candidates = []
    for row in patterns.iter_rows(named=True):
        pattern = row["pattern"]
        steps = msgspec.json.decode(texts[by_pattern[pattern][0]["shape"]], type=tuple[Step, ...])
        target, questions = target_step(steps), distinct[pattern]
        candidate = Candidate(
            key=statement_key(row["category"], sequences[row["sequence"]], GUIDE),
            engine=target.name,
            axis=next(iter(target.selectors.values()), None),
            cat_hash=row["category"],
            seq_hash=f"seq:{row['sequence']:016x}",
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
        candidates.append(candidate)
    return candidates


def _distinct(window: Window, questions: pl.DataFrame) -> dict[int, list[str]]:
    """Texts of the different questions by pattern; empty where the line was changed since it was mined."""
    hashes = {(row["file"], row["offset"]): row["question"] for row in questions.iter_rows(named=True)}
    texts = {
        place: read.question
        for place, read in window.questions(hashes).items()
        if read.question is not None and question_hash(read) == hashes[place]
    }
    distinct: dict[int, list[str]] = {}
    for pattern, rows in _by_pattern(questions).items():
        places = [(row["file"], row["offset"]) for row in rows]
        readable = [texts[place] for place in places if place in texts]
        different = [readable[index] for index in distinct_questions(readable)]
        distinct[pattern] = different + [""] * (len(places) - len(readable))
    return distinct


def _by_pattern(rows: pl.DataFrame) -> dict[int, list[dict[str, Any]]]:
    """Rows by pattern, in their order."""
    parts = rows.partition_by("pattern", as_dict=True, maintain_order=True)
    return {int(pattern): part.to_dicts() for (pattern,), part in parts.items()}


_NUMBER: Final = re.compile(r"(?<![0-9a-z])[a-z]*[0-9][0-9a-z]*")  # from the start of a word: linear
"""An id, a number or a date in a normalised question: ``a1000`` of ``a1000은``, ``20260425``, ``3``."""


def distinct_questions(questions: Sequence[str]) -> list[int]:
    """Indices of the questions that are not near duplicates of an earlier question in the result.

    Two questions are near duplicates if the word sets of their normalised texts have a Jaccard similarity of
    at least 0.8. Ids, numbers and dates are ignored. All questions without a word are duplicates.

    Parameters
    ----------
    questions : sequence of str
        Raw texts; of two near duplicates, the first is distinct.

    Returns
    -------
    list of int
        Ascending.

    Notes
    -----
    Prefix filtering, a quarter of the time of comparing every pair of 200: of two sets with a Jaccard
    similarity of at least t, the first ``len - ceil(t * len) + 1`` words of each, rarest first, share one.

    References
    ----------
    Chaudhuri, Ganti, Kaushik (2006), A primitive operator for similarity joins in data cleaning, ICDE.
    """
    word_sets = [frozenset(_NUMBER.sub("0", normalize_question(text)).split()) for text in questions]
    frequency = Counter(word for words in word_sets for word in words)
    distinct: list[int] = []
    distinct_by_word: defaultdict[str, list[int]] = defaultdict(list)
    for index, words in enumerate(word_sets):
        rarest = sorted(words, key=lambda word: (frequency[word], word))
        prefix = rarest[: len(words) - -(-4 * len(words) // 5) + 1] or [""]
        similar = {other for word in prefix for other in distinct_by_word[word]}
        if not any(
            5 * len(words & word_sets[other]) >= 4 * len(words | word_sets[other]) for other in similar
        ):
            distinct.append(index)
            for word in prefix:
                distinct_by_word[word].append(index)
    return distinct


_Tally = dict[int, tuple[int, int]]
"""Requests and successes of each case."""


def with_q_values(window: Window, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Test each candidate against the rest of its category (Mann–Whitney on the cases' success rates)."""
    by_category: defaultdict[str, _Tally] = defaultdict(dict)
    by_sequence: defaultdict[tuple[str, str], _Tally] = defaultdict(dict)
    for category, sequence, case, succeeded in _rows(window, {one.cat_hash for one in candidates}):
        for tally in (by_category[category], by_sequence[category, sequence]):
            n, n_ok = tally.get(case, (0, 0))
            tally[case] = (n + 1, n_ok + succeeded)
    rates = {category: _rates(tally) for category, tally in by_category.items()}
    p_values = []
    for candidate in candidates:
        category = candidate.cat_hash
        own = by_sequence[category, candidate.seq_hash]
        rest = _without(own, by_category[category], rates.get(category, Counter()))
        is_tested = min(len(own), rest.total()) >= _MIN_CASES
        p_values.append(rank_test(_rates(own), rest) if is_tested else 1.0)
    q_values = benjamini_hochberg(p_values)
    return [replace(one, q_value=q_value) for one, q_value in zip(candidates, q_values, strict=True)]


def _rates(tally: _Tally) -> Counter[float]:
    return Counter(n_ok / n for n, n_ok in tally.values())


def _without(own: _Tally, group: _Tally, rates: Counter[float]) -> Counter[float]:
    """The rates of a group's cases without the requests of one sequence; only its cases are counted anew."""
    rest = rates.copy()
    for case, (own_n, own_ok) in own.items():
        n, n_ok = group[case]
        rest[n_ok / n] -= 1
        if n > own_n:
            rest[(n_ok - own_ok) / (n - own_n)] += 1
    return rest


def _rows(window: Window, categories: set[str]) -> list[tuple[str, str, int, bool]]:
    """Category, sequence, case, and whether it succeeded, of each request that is compared."""
    of_categories = pl.col("category").is_in(sorted(categories))
    columns = ("category", "sequence", "session", "case", "template")
    drawn = window.keep(
        lambda rows: rows.filter(IS_COUNTED, of_categories).select(
            *columns, ok=IS_SUCCESS, number=draw_number()
        ),
        lambda rows: rows.bottom_k(_MAX_REQUESTS, by="number"),
    )
    rows = drawn.select(*columns, "ok").rows()
    keys = [
        RequestKeys(session, tuple(case or ()), template, sequence)
        for _, sequence, session, case, template, _ in rows
    ]
    return [
        (row[0], f"seq:{row[1]:016x}", case, row[-1])
        for row, case in zip(rows, case_numbers(keys)[0], strict=True)
    ]
