"""The sentence that answers a question: fit the weights, choose the threshold, report other questions.

    uv run python benchmarks/answers.py --data ../shared/data

KorQuAD's questions, in the order of their identifiers' hashes: 2,000 report, 1,200 fit the weights, the
others choose the threshold. Each is asked twice: of a search over all paragraphs (BM25 over pairs of
syllables, the five best), and of the same search without its own paragraph. A sentence is right if the
answer string stands in it.
Exits with 1 if a constant of the package is not what is chosen.
"""

import argparse
import json
import lzma
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from coreloop.answer.models.ranking import (
    ANSWER_AT,
    BIAS,
    WEIGHTS,
    RankedSentence,
    rank_sentences,
    text_letters,
)
from coreloop.answer.models.sentences import read_sentences

REPORTED, FITTED, PASSAGES = 2_000, 1_200, 5
MOST_INVENTED = 0.09
"""Of the questions that choose the threshold: a point less than the goal for others."""
CURVE = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
PLAIN_CURVE = (0.3, 0.4, 0.5, 0.6)
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Paragraph:
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    id: str
    text: str
    answers: tuple[str, ...]
    paragraph: int


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and the sentences of what a search found; ``missing``: its paragraph is not in the index."""

    question: Question
    missing: bool
    candidates: list[RankedSentence]

    @property
    def score(self) -> float:
        return self.candidates[0].score if self.candidates else 0.0

    @property
    def is_right(self) -> bool:
        best = self.candidates[0].sentence.text if self.candidates else ""
        return any(answer in best for answer in self.question.answers)


class Index:
    """BM25 over pairs of syllables, in memory."""

    def __init__(self, paragraphs: list[Paragraph]) -> None:
        self.sentences = [read_sentences(place, one.title, one.text) for place, one in enumerate(paragraphs)]
        counts = [Counter(text_letters(f"{one.title}\n{one.text}")) for one in paragraphs]
        self.lengths = [count.total() for count in counts]
        self.postings: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for place, count in enumerate(counts):
            for letter, times in count.items():
                self.postings[letter].append((place, times))

    def search(self, question: str) -> list[int]:
        scores: Counter[int] = Counter()
        mean = sum(self.lengths) / len(self.lengths)
        for letter in sorted(text_letters(question)):
            found = self.postings.get(letter, [])
            rarity = math.log(1 + (len(self.lengths) - len(found) + 0.5) / (len(found) + 0.5))
            for place, times in found:
                damped = times + 1.2 * (0.25 + 0.75 * self.lengths[place] / mean)
                scores[place] += rarity * times * 2.2 / damped  # type: ignore[assignment]
        return [place for place, _ in scores.most_common(80)]


def read(data: Path) -> tuple[list[Paragraph], list[Question]]:
    with lzma.open(data / "korquad_dev.json.xz", "rt", encoding="utf-8") as file:
        articles = json.load(file)["data"]
    paragraphs: list[Paragraph] = []
    questions: list[Question] = []
    for article in articles:
        for paragraph in article["paragraphs"]:
            for asked in paragraph["qas"]:
                answers = tuple(answer["text"] for answer in asked["answers"])
                questions.append(Question(asked["id"], asked["question"], answers, len(paragraphs)))
            paragraphs.append(Paragraph(article["title"], paragraph["context"]))
    return paragraphs, sorted(questions, key=lambda question: sha256(question.id.encode()).digest())


def ask(questions: Iterable[Question], index: Index) -> list[Asked]:
    asked = []
    for question in questions:
        found = index.search(question.text)
        others = [place for place in found if place != question.paragraph]
        for missing, places in ((False, found), (True, others)):
            sentences = [one for place in places[:PASSAGES] for one in index.sentences[place]]
            asked.append(Asked(question, missing, rank_sentences(question.text, sentences)))
    return asked


def fit(asked: list[Asked]) -> tuple[Floats, float]:
    """Softmax over a question's sentences and 'no evidence', whose score is 0 (L2)."""
    tables = []
    for one in asked:
        found = [[candidate.features[name] for name in WEIGHTS] + [1.0] for candidate in one.candidates]
        rows = np.array(found).reshape(-1, len(WEIGHTS) + 1)
        texts = [candidate.sentence.text for candidate in one.candidates]
        right = [not one.missing and any(answer in text for answer in one.question.answers) for text in texts]
        if one.missing or any(right):
            tables.append((np.vstack([rows, np.zeros(rows.shape[1])]), np.array([*right, one.missing])))

    def loss(point: Floats) -> tuple[float, Floats]:
        total, slope = 0.0, np.zeros_like(point)
        for rows, right in tables:
            shares = np.exp(rows @ point - (rows @ point).max())
            shares /= shares.sum()
            share = shares[right].sum() + 1e-12
            total -= math.log(share)
            slope -= rows.T @ (shares * right / share - shares)
        plain = np.append(point[:-1], 0.0)
        return total / len(tables) + 1e-3 * plain @ plain, slope / len(tables) + 2e-3 * plain

    point = minimize(loss, np.zeros(len(WEIGHTS) + 1), jac=True, method="L-BFGS-B").x.round(1)
    return point[:-1], float(point[-1])


def best_scores(asked: list[Asked]) -> tuple[Floats, Flags]:
    scores = np.array([one.score for one in asked])
    return scores, np.array([one.missing for one in asked])


def lowest(asked: list[Asked]) -> float:
    """The lowest threshold, in hundredths, that answers at most `MOST_INVENTED` of the missing."""
    scores, missing = best_scores(asked)
    return math.ceil(float(np.quantile(scores[missing], 1 - MOST_INVENTED)) * 100) / 100


def wilson(successes: float, count: int) -> str:
    share, z = successes / count, 1.96
    centre = share + z * z / 2 / count
    half = z * math.sqrt(share * (1 - share) / count + z * z / 4 / count**2)
    low, high = (centre - half) / (1 + z * z / count), (centre + half) / (1 + z * z / count)
    return f"{share:.1%} ({low:.1%}–{high:.1%})"


def show_curve(asked: list[Asked], scores: Floats, thresholds: Iterable[float]) -> None:
    missing = np.array([one.missing for one in asked])
    right = np.array([one.is_right for one in asked])
    for at in thresholds:
        answered = scores >= at
        absent, there = answered[missing].mean(), answered[~missing].mean()
        print(f"| {at:.2f} | {absent:.1%} | {there:.1%} | {right[answered & ~missing].mean():.1%} |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    options = parser.parse_args()
    paragraphs, questions = read(options.data)
    index = Index(paragraphs)
    reported, fitted = ask(questions[:REPORTED], index), ask(questions[REPORTED:][:FITTED], index)
    weights, bias = fit(fitted)
    chosen = dict(zip(WEIGHTS, weights.tolist(), strict=True))
    threshold = lowest(ask(questions[REPORTED + FITTED :], index))
    print(f"weights {chosen}, bias {bias}, threshold {threshold}")
    there = [one for one in reported if not one.missing]
    print(f"right sentence without a threshold: {wilson(sum(one.is_right for one in there), len(there))}")
    scores, missing = best_scores(reported)
    answered = scores >= ANSWER_AT
    print(f"answered though missing: {wilson(answered[missing].sum(), missing.sum())}")
    print(f"answered otherwise: {wilson(answered[~missing].sum(), (~missing).sum())}")
    print("| threshold | answered though missing | answered otherwise | right among these |")
    show_curve(reported, scores, sorted({*CURVE, ANSWER_AT}))
    print("plain overlap: the share of the question's letters in the best sentence")
    show_curve(reported, np.array([overlap(one) for one in reported]), PLAIN_CURVE)
    is_current = (chosen, bias, threshold) == (WEIGHTS, BIAS, ANSWER_AT)
    print("the package has these constants" if is_current else "the package has other constants")
    return 0 if is_current else 1


def overlap(asked: Asked) -> float:
    letters = text_letters(asked.question.text)
    texts = [text_letters(candidate.sentence.text) for candidate in asked.candidates]
    return max((len(letters & text) for text in texts), default=0) / max(1, len(letters))


if __name__ == "__main__":
    sys.exit(main())
