"""A window's groups -> candidates: the gates, the ranking, and the details for a reviewer."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

import msgspec
import polars as pl

from coreloop.base.project.settings import Gates
from coreloop.base.records import is_category, normalize_question
from coreloop.learn.facts.file import question_hash
from coreloop.learn.line import statement_key
from coreloop.learn.mine.statistics import success_bound
from coreloop.learn.mine.window import (
    Window,
    count_distinct,
    count_patterns,
    count_values,
    find_questions,
    group_by_first_tool,
    moment,
)
from coreloop.learn.proposals.entry import FROM_PLAYBOOK, GUIDE, Candidate
from coreloop.learn.proposals.step import Step, target_step

MAX_EXAMPLES: Final = 5
RELAXED_COUNT: Final = 2
"""Requests and questions that the gate needs if the playbook has a good bullet."""


@dataclass(frozen=True, slots=True)
class CandidateSearch:
    """Result of `find_candidates`.

    Attributes
    ----------
    candidates : tuple of Candidate
        Best first.
    n_groups : int
        Patterns that were examined.
    dropped : mapping of str to int
        How many failed each gate.
    """

    candidates: tuple[Candidate, ...]
    n_groups: int
    dropped: Mapping[str, int]


def find_candidates(
    window: Window,
    gate: Gates,
    *,
    known: frozenset[str] = frozenset(),
    playbook: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    by_first_tool: bool = False,
    enough_questions: int | None = None,
) -> CandidateSearch:
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
    by_first_tool : bool
        For projects without categories: compare patterns that begin with the same tool.
    enough_questions : int, optional
        If given, a candidate's different questions are counted only as far as this, so that few are read. The
        gates' result is the same if it is at least ``gate.min_unique_questions``.

    Returns
    -------
    CandidateSearch
        Candidates by how far the lower bound of their success rate is above their category's base rate, then
        by number of requests. Each dropped pattern is counted at the first gate that it fails.
    """
    patterns = count_patterns(window)
    if by_first_tool:
        patterns = group_by_first_tool(window, patterns)
    advice = {label: _advice(label, playbook) for label in patterns["category"].unique()}
    relaxed = [label for label, bullets in advice.items() if bullets]
    sieve = _Sieve(patterns)
    sieve.keep("min_repeat", pl.col("n_observed") >= _at_least(gate.min_repeat, relaxed))
    sieve.keep("min_success_rate", pl.col("success_rate") >= gate.min_success_rate)
    sieve.rows = count_distinct(window, sieve.rows)
    unique = _at_least(gate.min_unique_questions, relaxed)
    sieve.keep("min_unique_questions", pl.col("n_question_hashes") >= unique)
    sieve.keep("steps_not_recorded", pl.col("is_complete"))
    details = _Details(window, sieve.rows, enough_questions)
    passed: list[Candidate] = []
    for row in sieve.rows.iter_rows(named=True):
        candidate = _ranked(details.candidate(row), gate, advice[row["category"]])
        if candidate.n_unique_questions < _relax(gate.min_unique_questions, bool(advice[row["category"]])):
            sieve.dropped["min_unique_questions"] += 1
        elif candidate.key in known:
            sieve.dropped["known"] = sieve.dropped.get("known", 0) + 1
        else:
            passed.append(candidate)
    return CandidateSearch(tuple(sorted(passed, key=_rank)), patterns.height, sieve.dropped)


def _advice(category: str, playbook: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The bullets for a category's topic, the second part of ``FIN-profitability-KR``."""
    parts = category.split("-")
    return playbook.get(parts[1], ()) if len(parts) > 1 and is_category(category) else ()


def _relax(count: int, is_relaxed: bool) -> int:
    return min(count, RELAXED_COUNT) if is_relaxed else count


def _at_least(count: int, relaxed: list[str]) -> pl.Expr:
    is_relaxed = pl.col("category").is_in(relaxed)
    return pl.when(is_relaxed).then(_relax(count, True)).otherwise(count)


def _ranked(candidate: Candidate, gate: Gates, bullets: tuple[str, ...]) -> Candidate:
    """The candidate, with the playbook's bullets if it passed only the relaxed gate."""
    passed = (
        candidate.n_observed >= gate.min_repeat and candidate.n_unique_questions >= gate.min_unique_questions
    )
    return candidate if passed else replace(candidate, evidence_rank=FROM_PLAYBOOK, bullets=bullets)


def _rank(candidate: Candidate) -> tuple[float, int, str]:
    return (candidate.base_rate - candidate.success_low, -candidate.n_observed, candidate.key)


class _Sieve:
    def __init__(self, rows: pl.DataFrame) -> None:
        self.rows = rows
        self.dropped: dict[str, int] = {}

    def keep(self, gate: str, condition: pl.Expr) -> None:
        passed = self.rows.filter(condition)
        self.dropped[gate] = self.rows.height - passed.height
        self.rows = passed


class _Details:
    """Texts, steps and providers of the patterns that passed the gates."""

    def __init__(self, window: Window, patterns: pl.DataFrame, enough_questions: int | None) -> None:
        shapes = count_values(window, patterns, "shape").filter(pl.col("shape") != 0)
        self._distinct = _enough_distinct(window, find_questions(window, patterns), enough_questions)
        self._shapes = _by_pattern(shapes)
        self._providers = _by_pattern(count_values(window, patterns, "provider"))
        self._shape_texts = window.texts_of("shape", shapes["shape"])
        self._sequences = window.texts_of("sequence", patterns["sequence"])

    def candidate(self, row: Mapping[str, Any]) -> Candidate:
        pattern = row["pattern"]
        steps = self._steps(pattern)
        target = target_step(steps)
        distinct = self._distinct[pattern]
        sequence = self._sequences[row["sequence"]]
        return Candidate(
            key=statement_key(row["category"], sequence, GUIDE),
            engine=target.name,
            axis=next(iter(target.selectors.values()), None),
            cat_hash=row["category"],
            seq_hash=f"seq:{row['sequence']:016x}",
            tool_pattern=steps,
            n_observed=row["n_observed"],
            n_unique_questions=len(distinct),
            n_sessions=row["n_sessions"],
            success_rate=row["success_rate"],
            success_low=success_bound(row["n_success"], row["n_observed"]),
            base_rate=row["base_rate"],
            rest_ok=row["n_peers_success"] - row["n_success"],
            rest_n=row["n_peers"] - row["n_observed"],
            avg_chunk_len=row["avg_chunk_len"],
            first_seen=moment(row["first_us"]),
            last_seen=moment(row["last_us"]),
            example_questions=tuple(text for text in distinct if text)[:MAX_EXAMPLES],
            providers={row["provider"]: row["n"] for row in self._providers[pattern] if row["provider"]},
        )

    def _steps(self, pattern: int) -> tuple[Step, ...]:
        most_frequent = self._shapes[pattern][0]["shape"]
        return msgspec.json.decode(self._shape_texts[most_frequent], type=tuple[Step, ...])


def _enough_distinct(window: Window, questions: pl.DataFrame, enough: int | None) -> dict[int, list[str]]:
    """The different questions of each pattern; only the earliest are read where these are enough."""
    if enough is None:
        return _distinct(window, questions)
    # Whether a question differs from earlier ones does not depend on later ones: a part's count is exact.
    distinct = _distinct(window, questions.group_by("pattern", maintain_order=True).head(2 * enough))
    few = [pattern for pattern, texts in distinct.items() if len(texts) < enough]
    return distinct | _distinct(window, questions.filter(pl.col("pattern").is_in(few)))


def _distinct(window: Window, questions: pl.DataFrame) -> dict[int, list[str]]:
    """Texts of the different questions by pattern; an empty text for each that is no longer readable."""
    texts = _read_questions(window, questions.select("file", "offset", "question"))
    places = questions.select("pattern", "file", "offset")
    distinct: dict[int, list[str]] = {}
    for pattern, rows in _by_pattern(places).items():
        found = [texts.get((row["file"], row["offset"])) for row in rows]
        readable = [text for text in found if text is not None]
        different = [readable[index] for index in distinct_questions(readable)]
        distinct[pattern] = different + [""] * (len(found) - len(readable))
    return distinct


def _by_pattern(rows: pl.DataFrame) -> dict[int, list[dict[str, Any]]]:
    """Rows by pattern, in their order."""
    parts = rows.partition_by("pattern", as_dict=True, maintain_order=True)
    return {int(pattern): part.to_dicts() for (pattern,), part in parts.items()}


def _read_questions(window: Window, questions: pl.DataFrame) -> dict[tuple[int, int], str]:
    """Question texts by file and offset, without lines that were changed since they were mined."""
    hashes = {(file, offset): hashed for file, offset, hashed in questions.iter_rows()}
    return {
        place: read.question
        for place, read in window.questions(hashes).items()
        if read.question is not None and question_hash(read) == hashes[place]
    }


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
    Prefix filtering: of two sets with a Jaccard similarity of at least t, the first
    ``len - ceil(t * len) + 1`` words of each, rarest first, share a word. So few pairs are compared.

    References
    ----------
    Chaudhuri, Ganti, Kaushik (2006), A primitive operator for similarity joins in data cleaning, ICDE.
    """
    word_sets = [_words(question) for question in questions]
    frequency = Counter(word for words in word_sets for word in words)
    distinct: list[int] = []
    distinct_by_word: defaultdict[str, list[int]] = defaultdict(list)
    for index, words in enumerate(word_sets):
        ordered = sorted(words, key=lambda word: (frequency[word], word))
        prefix = ordered[: len(words) - -(-4 * len(words) // 5) + 1] or [""]
        similar = {other for word in prefix for other in distinct_by_word[word]}
        if any(_are_near(words, word_sets[other]) for other in similar):
            continue
        distinct.append(index)
        for word in prefix:
            distinct_by_word[word].append(index)
    return distinct


def _words(question: str) -> frozenset[str]:
    return frozenset(_NUMBER.sub("0", normalize_question(question)).split())


def _are_near(words: frozenset[str], others: frozenset[str]) -> bool:
    return 5 * len(words & others) >= 4 * len(words | others)
