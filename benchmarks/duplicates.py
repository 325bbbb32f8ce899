"""Duplicate queries: choose weights and threshold on half of real paraphrases, report the other half.

    uv run python benchmarks/duplicates.py --data ../shared/data

ParaKQC's sets come in blocks of ten; even blocks choose, odd blocks report. Positives are the pairs within a
set, negatives all 100 pairs of a set with the next one. KLUE-STS alternates, by its binary label.
The threshold is the lowest with a precision of 0.97 on the choosing half of ParaKQC. `--ablate` chooses again
without each table, feature and rule. Exits with 1 if a constant of the package is not what is chosen.
"""

import argparse
import json
import lzma
import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from unittest import mock

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from coreloop.base.language import words
from coreloop.base.language.guards import differing_guards, read_guards
from coreloop.base.language.similarity import (
    BIAS,
    DUPLICATE_AT,
    WEIGHTS,
    features,
    is_other_subject,
    similarity,
)
from coreloop.base.language.words import read_query
from coreloop.runs.duplicates import QueryHistory, Search

PRECISION = 0.97
BLOCK_SETS = 10
KLUE_WEIGHT = 5
"""A pair of KLUE-STS counts as five of ParaKQC, of which there are a hundred times as many."""
NEVER = -99.0
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Pair:
    one: str
    other: str
    same: bool


@dataclass(frozen=True, slots=True)
class Table:
    """Pairs as numbers; ``refused`` are those that a guard or another subject tells apart."""

    values: Floats
    refused: Flags
    same: Flags


@dataclass(frozen=True, slots=True)
class Chosen:
    weights: Floats
    bias: float
    threshold: float

    def scores(self, table: Table) -> Floats:
        return np.where(table.refused, NEVER, table.values @ self.weights + self.bias)


def paraphrase_sets(data: Path) -> list[list[str]]:
    with lzma.open(data / "parakqc_first_half.tsv.xz", "rt", encoding="utf-8") as lines:
        texts = [line.rstrip("\n").split("\t")[2] for line in lines]
    return [texts[start : start + 10] for start in range(0, len(texts), 10)]


def parakqc(data: Path, *, chooses: bool) -> list[Pair]:
    sets = paraphrase_sets(data)
    pairs = []
    for place, texts_of_set in enumerate(sets):
        if (place // BLOCK_SETS % 2 == 0) is chooses:
            pairs += [Pair(one, other, True) for one, other in combinations(texts_of_set, 2)]
            following = sets[place + 1] if place + 1 < len(sets) else []
            pairs += [Pair(one, other, False) for one, other in product(texts_of_set, following)]
    return pairs


def klue(data: Path, *, chooses: bool) -> list[Pair]:
    with lzma.open(data / "klue_sts_dev.json.xz", "rt", encoding="utf-8") as file:
        rows = json.load(file)[0 if chooses else 1 :: 2]
    return [Pair(row["sentence1"], row["sentence2"], row["labels"]["binary-label"] == 1) for row in rows]


def is_duplicate(pair: Pair) -> bool:
    """As a history of one search says."""
    return QueryHistory([Search(pair.one, 1, 1, True)]).is_duplicate_query(pair.other)[0]


def precision_and_recall(pairs: Iterable[Pair], found: Iterable[bool]) -> tuple[float, float]:
    counts = np.array([(pair.same and hit, hit, pair.same) for pair, hit in zip(pairs, found, strict=True)])
    both, hits, same = counts.sum(axis=0)
    return both / max(1, hits), both / max(1, same)


def measured(pairs: list[Pair]) -> Table:
    values, refused = [], []
    for pair in pairs:
        one, other = read_query(pair.one), read_query(pair.other)
        values.append([features(one, other)[name] for name in WEIGHTS])
        guarded = differing_guards(read_guards(pair.one), read_guards(pair.other))
        wordless = not one.words or not other.words
        refused.append(
            bool(guarded) or (similarity(one, other) < 1 and (wordless or is_other_subject(one, other)))
        )
    return Table(np.array(values), np.array(refused), np.array([pair.same for pair in pairs]))


def fit(questions: Table, sentences: Table, *, used: Flags) -> Chosen:
    """Logistic regression (L2, C = 1) on the pairs that nothing refuses; the threshold is of all."""
    kept = [table for table in (questions, sentences) if not table.refused.all()]
    rows = np.concatenate([table.values[~table.refused] * used for table in kept])
    signs = np.concatenate([np.where(table.same[~table.refused], 1.0, -1.0) for table in kept])
    counts = np.concatenate(
        [np.full((~table.refused).sum(), 1.0 if table is questions else KLUE_WEIGHT) for table in kept]
    )

    def loss(point: Floats) -> tuple[float, Floats]:
        margins = signs * (rows @ point[:-1] + point[-1])
        pull = -counts * signs / (1 + np.exp(margins))
        slope = np.append(rows.T @ pull + point[:-1], pull.sum())
        return float(counts @ np.logaddexp(0, -margins) + point[:-1] @ point[:-1] / 2), slope

    point = minimize(loss, np.zeros(rows.shape[1] + 1), jac=True, method="L-BFGS-B").x.round(1)
    chosen = Chosen(point[:-1] * used, float(point[-1]), 0.0)
    return Chosen(chosen.weights, chosen.bias, lowest(chosen.scores(questions), questions.same))


def lowest(scores: Floats, same: Flags) -> float:
    """The lowest threshold that reaches `PRECISION`."""
    order = np.argsort(-scores, kind="stable")
    reached = np.cumsum(same[order]) / np.arange(1, len(order) + 1) >= PRECISION
    return float(scores[order][np.flatnonzero(reached)[-1]])


def report(label: str, chosen: Chosen, tables: dict[str, Table]) -> None:
    figures = []
    for table in tables.values():
        found = chosen.scores(table) >= chosen.threshold
        right = (found & table.same).sum()
        figures.append(f"{right / max(1, found.sum()):.3f} {right / table.same.sum():.3f}")
    print(f"{label:36} " + "   ".join(figures))


@contextmanager
def without(module: object, **changes: object) -> Iterator[None]:
    for cached in (read_query, words._read_token):
        cached.cache_clear()
    with mock.patch.multiple(module, **changes):
        yield
    for cached in (read_query, words._read_token):
        cached.cache_clear()


def ablate(pairs: dict[str, list[Pair]]) -> None:
    every = np.ones(len(WEIGHTS), bool)

    def again(label: str, used: Flags = every) -> None:
        tables = {name: measured(of_half) for name, of_half in pairs.items()}
        first, second, *_ = tables.values()
        report(label, fit(first, second, used=used), tables)

    for place, name in enumerate(WEIGHTS):
        used = every.copy()
        used[place] = False
        again(f"without {name}", used)
    with without(words, _TAILS=frozenset(), SPOKEN=frozenset()):
        again("without particles and endings")
    with without(words, FUNCTION_WORDS=frozenset()):
        again("without function words")
    with mock.patch(f"{__name__}.is_other_subject", return_value=False):
        again("without the rule on other subjects")
    with mock.patch(f"{__name__}.differing_guards", return_value=()):
        again("without guards")


def show_guards(pairs: list[Pair]) -> None:
    for label, same in (("paraphrases", True), ("others", False)):
        guards = [(read_guards(pair.one), read_guards(pair.other)) for pair in pairs if pair.same is same]
        counts = Counter(name for one, other in guards for name in differing_guards(one, other))
        shares = ", ".join(f"{name} {count / len(guards):.2%}" for name, count in sorted(counts.items()))
        print(f"guards refuse of {label}: {shares}")


def show_plain(pairs: list[Pair]) -> None:
    """The measures that the package does without."""
    rules: dict[str, Callable[[Pair], bool]] = {
        "plain words, Jaccard 0.3": lambda pair: (
            overlap(set(pair.one.split()), set(pair.other.split())) >= 0.3
        ),
        "character bigrams, Dice 0.95": lambda pair: dice(bigrams(pair.one), bigrams(pair.other)) >= 0.95,
    }
    for label, rule in rules.items():
        precision, recall = precision_and_recall(pairs, map(rule, pairs))
        print(f"{label:36} {precision:.3f} {recall:.3f}")


def overlap(one: set[str], other: set[str]) -> float:
    return len(one & other) / max(1, len(one | other))


def dice(one: set[str], other: set[str]) -> float:
    return 2 * len(one & other) / max(1, len(one) + len(other))


def bigrams(text: str) -> set[str]:
    joined = "".join(text.split())
    return {joined[start : start + 2] for start in range(len(joined) - 1)}


def show_history(data: Path) -> None:
    """In a history of 250 questions, how many other questions, and how many paraphrases, are duplicates."""
    sets = paraphrase_sets(data)
    history = QueryHistory(Search(texts[0], place, 1, True) for place, texts in enumerate(sets[::2]))
    for label, asked in (("other questions", sets[1::2]), ("paraphrases", sets[::2])):
        found = [history.is_duplicate_query(text)[0] for texts in asked for text in texts[1:]]
        share = f"{np.mean(found):.2%} of {len(found):,} {label}"
        print(f"{len(history.searches)} searches: {share} are duplicates")


def show_speed(data: Path) -> None:
    texts = list(dict.fromkeys(pair.one for half in (True, False) for pair in parakqc(data, chooses=half)))
    joined = (f"{one} {other}" for gap in (7, 99) for one, other in zip(texts, texts[gap:], strict=False))
    queries = list(dict.fromkeys([*texts, *joined]))[:10_000]
    begun = time.perf_counter()
    history = QueryHistory(Search(query, number, 1, True) for number, query in enumerate(queries))
    history.is_duplicate_query("")
    built_s = time.perf_counter() - begun
    times_ms = []
    for text in texts[::20]:
        begun = time.perf_counter()
        history.is_duplicate_query(f"{text} 서울")
        times_ms.append((time.perf_counter() - begun) * 1e3)
    median, high = np.percentile(times_ms, [50, 99])
    searches = f"{len(history.searches):,} searches: indexed in {built_s:.1f} s"
    print(f"{searches}, a query {median:.1f} ms, 99th percentile {high:.1f} ms")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--ablate", action="store_true")
    options = parser.parse_args()
    pairs = {
        f"{corpus.__name__} {'chosen' if chooses else 'reported'}": corpus(options.data, chooses=chooses)
        for chooses in (True, False)
        for corpus in (parakqc, klue)
    }
    tables = {name: measured(of_half) for name, of_half in pairs.items()}
    first, second, *_ = tables.values()
    chosen = fit(first, second, used=np.ones(len(WEIGHTS), bool))
    for name, table in tables.items():
        print(f"{name}: {table.same.sum():,} pairs ask the same, {(~table.same).sum():,} do not")
    print(f"{'precision and recall':36} " + "   ".join(tables))
    report("chosen", chosen, tables)
    at = math.ceil(1e3 / (1 + math.exp(-chosen.threshold))) / 1e3
    weights = dict(zip(WEIGHTS, chosen.weights.tolist(), strict=True))
    print(f"weights {weights}, bias {chosen.bias}, threshold {at}")
    show_guards(pairs["parakqc reported"])
    show_plain(pairs["parakqc reported"])
    show_history(options.data)
    show_speed(options.data)
    if options.ablate:
        ablate(pairs)
    is_current = (weights, chosen.bias, at) == (WEIGHTS, BIAS, DUPLICATE_AT)
    print("the package has these constants" if is_current else "the package has other constants")
    return 0 if is_current else 1


if __name__ == "__main__":
    sys.exit(main())
