"""From a window's groups to candidates: the gates, the ranking, and what a reviewer needs to see."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import msgspec
import polars as pl

from coreloop.mine.bounds import success_bound
from coreloop.mine.rollup import question_at
from coreloop.mine.window import PATTERN_KEYS, Window, count_patterns, count_questions, count_values, moment
from coreloop.pattern.questions import distinct_questions
from coreloop.pattern.success import Gate
from coreloop.proposals import SuggestedAppend
from coreloop.wording import Step, target_step

SECTION: Final = "Guide"
MAX_EXAMPLES: Final = 5
FROM_RECORDS: Final = 1
"""Evidence rank of the audit log itself, the best there is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A pattern that passed the gate. ``id``, ``suggested_append`` and ``refused`` come with the draft."""

    id: str = ""
    key: str
    engine: str
    axis: str | None
    cat_hash: str
    seq_hash: str
    tool_pattern: tuple[Step, ...]
    n_observed: int
    n_unique_questions: int
    n_sessions: int
    success_rate: float
    success_low: float
    base_rate: float
    avg_chunk_len: float
    first_seen: datetime
    last_seen: datetime
    example_questions: tuple[str, ...]
    providers: dict[str, int]
    evidence_rank: int = FROM_RECORDS
    suggested_append: SuggestedAppend | None = None
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """Candidates, best first; of how many groups; and how many fell at which gate."""

    candidates: tuple[Candidate, ...]
    n_groups: int
    fell: Mapping[str, int]


def find_candidates(window: Window, gate: Gate, *, known: frozenset[str] = frozenset()) -> Found:
    """Find the patterns of a window that keep succeeding.

    Parameters
    ----------
    window : Window
        Merged rollups.
    gate : Gate
        Least figures.
    known : frozenset of str
        Keys that are not proposed again: promoted, in an open pull request, or rejected.

    Returns
    -------
    Found
        Candidates by how far the lower bound of their success rate is above their category's base rate, then
        by number of requests. Groups are counted at the first gate that they fail.
    """
    patterns = count_patterns(window.rows).collect()
    sieve = _Sieve(patterns)
    sieve.keep("min_repeat", pl.col("n_observed") >= gate.min_repeat)
    sieve.keep("min_success_rate", pl.col("success_rate") >= gate.min_success_rate)
    sieve.keep("min_unique_questions", pl.col("n_question_hashes") >= gate.min_unique_questions)
    sieve.keep_with_steps(window)
    details = _Details(window, sieve.rows)
    passed: list[Candidate] = []
    for row in sieve.rows.iter_rows(named=True):
        candidate = details.candidate(row)
        if candidate.n_unique_questions < gate.min_unique_questions:
            sieve.fell["min_unique_questions"] += 1
        elif candidate.key in known:
            sieve.fell["known"] = sieve.fell.get("known", 0) + 1
        else:
            passed.append(candidate)
    return Found(tuple(sorted(passed, key=_rank)), patterns.height, sieve.fell)


def candidate_key(category: str, sequence: str, section: str) -> str:
    """The same on every night: 16 hex digits of SHA-256 of category, sequence and section."""
    return sha256(f"{category}\n{sequence}\n{section}".encode("utf-8", "replace")).hexdigest()[:16]


def _rank(candidate: Candidate) -> tuple[float, int, str]:
    return (candidate.base_rate - candidate.success_low, -candidate.n_observed, candidate.key)


class _Sieve:
    def __init__(self, rows: pl.DataFrame) -> None:
        self.rows = rows
        self.fell: dict[str, int] = {}

    def keep(self, gate: str, condition: pl.Expr) -> None:
        kept = self.rows.filter(condition)
        self.fell[gate] = self.rows.height - kept.height
        self.rows = kept

    def keep_with_steps(self, window: Window) -> None:
        """Keep the patterns of which a record in the window holds every call."""
        shapes = count_values(window.rows, self.rows.lazy().select(PATTERN_KEYS), "shape")
        whole = shapes.filter(pl.col("shape").is_in(list(window.shapes))).collect()
        kept = self.rows.join(whole, on=PATTERN_KEYS, how="semi", maintain_order="left")
        self.fell["steps_not_recorded"] = self.rows.height - kept.height
        self.rows = kept


class _Details:
    """What is looked up only for the groups that are left: texts, steps, providers."""

    def __init__(self, window: Window, kept: pl.DataFrame) -> None:
        keys = kept.lazy().select(PATTERN_KEYS)
        self._window = window
        self._questions = _by_pattern(count_questions(window.rows, keys))
        self._shapes = _by_pattern(count_values(window.rows, keys, "shape"))
        self._providers = _by_pattern(count_values(window.rows, keys, "provider"))
        self._texts = _read_questions(self._questions.values(), window.paths)

    def candidate(self, row: Mapping[str, Any]) -> Candidate:
        pattern = (row["category"], row["sequence"])
        steps = self._steps(pattern)
        target = target_step(steps)
        distinct = self._distinct(pattern)
        sequence = self._window.sequences[row["sequence"]]
        return Candidate(
            key=candidate_key(row["category"], sequence, SECTION),
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
            avg_chunk_len=row["avg_chunk_len"],
            first_seen=moment(row["first_us"]),
            last_seen=moment(row["last_us"]),
            example_questions=tuple(text for text in distinct if text)[:MAX_EXAMPLES],
            providers={one["provider"]: one["n"] for one in self._providers[pattern] if one["provider"]},
        )

    def _steps(self, pattern: tuple[str, int]) -> tuple[Step, ...]:
        texts = (self._window.shapes.get(one["shape"]) for one in self._shapes[pattern])
        return msgspec.json.decode(next(text for text in texts if text), type=tuple[Step, ...])

    def _distinct(self, pattern: tuple[str, int]) -> list[str]:
        """Texts of the questions that differ; of those that cannot be read any more, each hash is one."""
        texts = [self._texts.get((one["file"], one["offset"])) for one in self._questions[pattern]]
        readable = [text for text in texts if text is not None]
        kept = [readable[index] for index in distinct_questions(readable)]
        return kept + [""] * (len(texts) - len(readable))


def _by_pattern(rows: pl.LazyFrame) -> dict[tuple[str, int], list[dict[str, Any]]]:
    """Rows by pattern, in their order."""
    parts = rows.collect().partition_by(PATTERN_KEYS, as_dict=True, maintain_order=True)
    return {(str(category), int(sequence)): part.to_dicts() for (category, sequence), part in parts.items()}


def _read_questions(
    questions: Iterable[list[dict[str, Any]]], paths: tuple[Path, ...]
) -> dict[tuple[int, int], str]:
    """Question texts by file and offset; a line or a file that is no longer what was mined has none."""
    wanted = sorted((one["file"], one["offset"], one["question"]) for rows in questions for one in rows)
    texts = {}
    for file, places in groupby(wanted, key=lambda place: place[0]):
        with suppress(OSError), paths[file].open("rb") as lines:
            for _, offset, expected in places:
                text = question_at(lines, offset, expected)
                if text is not None:
                    texts[file, offset] = text
    return texts
