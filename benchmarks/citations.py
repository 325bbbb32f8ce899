"""The check of citations: choose its threshold on half of the judged claims, report the other half.

    uv run python benchmarks/citations.py --data ../shared/data

AttributionBench's claims are split by a hash of the claim. The threshold of the overlap, in hundredths, is
the one with the best macro-F1; the package keeps its own until another one is better by `WORTH_A_MOVE`. The
interval is a bootstrap of 2,000 draws. The Korean part changes one detail of sentences of KorQuAD, and checks
them against their paragraph.
Exits with 1 if the package should have another threshold.
"""

import argparse
import json
import lzma
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from coreloop.answer.models.sentences import split_sentences
from coreloop.answer.research.claim import read_statement
from coreloop.answer.research.findings import Supported
from coreloop.answer.research.support import SUPPORTED_AT, CitedTexts, check_support

DRAWS = 2_000
PLANTED = 1_000
WORTH_A_MOVE = 0.005
"""Macro-F1 of the half that chooses: a seventh of half the width of its interval; less is chance."""
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Claim:
    text: str
    references: tuple[str, ...]
    is_supported: bool
    corpus: str

    @property
    def fits(self) -> bool:
        return sha256(self.text.encode()).digest()[0] % 2 == 0


@dataclass(frozen=True, slots=True)
class Checked:
    """A claim; ``settled``: what is missing, or that it is quoted; else its overlap counts."""

    claim: Claim
    settled: str
    overlap: float


def read_claims(data: Path) -> list[Claim]:
    with lzma.open(data / "attribution_dev.jsonl.xz", "rt", encoding="utf-8") as lines:
        rows = map(json.loads, lines)
        return [
            Claim(
                row["claim"],
                tuple(row["references"]),
                row["attribution_label"] == "attributable",
                row["src_dataset"],
            )
            for row in rows
        ]


def check(claim: Claim) -> Checked:
    evidence, statement = CitedTexts(claim.references), read_statement(claim.text)
    lack = evidence.lack(statement)
    settled = lack.missing if lack else "quoted" if evidence.quotes(claim.text) else ""
    return Checked(claim, settled, evidence.overlap(statement))


def choose(checked: list[Checked]) -> float:
    """The threshold with the best macro-F1; the lowest of equal ones."""
    truth = np.array([one.claim.is_supported for one in checked])
    thresholds = [hundredth / 100 for hundredth in range(10, 100, 2)]
    return max(thresholds, key=lambda at: macro_f1(truth, passes(checked, at)))


def passes(checked: Iterable[Checked], threshold: float) -> Flags:
    return np.array(
        [one.settled == "quoted" or (not one.settled and one.overlap >= threshold) for one in checked]
    )


def macro_f1(truth: Flags, found: Flags) -> float:
    return float(
        np.mean(
            [
                2
                * ((truth == side) & (found == side)).sum()
                / ((truth == side).sum() + (found == side).sum())
                for side in (True, False)
            ]
        )
    )


def precision(truth: Flags, found: Flags) -> float:
    return float(truth[found].mean())


def interval(measure: Callable[[Flags, Flags], float], truth: Flags, found: Flags) -> str:
    draws = np.random.default_rng(1).integers(0, len(truth), (DRAWS, len(truth)))
    low, high = np.percentile([measure(truth[draw], found[draw]) for draw in draws], [2.5, 97.5])
    return f"{measure(truth, found):.3f} ({low:.3f}–{high:.3f})"


def report(label: str, checked: list[Checked], found: Flags) -> None:
    truth = np.array([one.claim.is_supported for one in checked])
    scores = f"macro-F1 {interval(macro_f1, truth, found)}, precision {interval(precision, truth, found)}"
    let = f"{found.sum()} of {len(found)} let through, {found[truth].mean():.1%} of the supported"
    print(f"{label}: {scores}; {let}")


def show_settled(checked: list[Checked]) -> None:
    counts = Counter((one.settled or "by score", one.claim.is_supported) for one in checked)
    for kind in sorted({kind for kind, _ in counts}):
        print(f"  {kind}: {counts[kind, True]} supported, {counts[kind, False]} not")


def show_claims(claims: list[Claim]) -> bool:
    checked = [check(claim) for claim in claims]
    own = [one for one in checked if one.claim.fits]
    other = [one for one in checked if not one.claim.fits]
    report("the other half", other, passes(other, SUPPORTED_AT))
    report("the half that chooses", own, passes(own, SUPPORTED_AT))
    report("halves exchanged", own, passes(own, choose(other)))
    for corpus in sorted({claim.corpus for claim in claims}):
        part = [one for one in other if one.claim.corpus == corpus]
        report(f"the other half, {corpus}", part, passes(part, SUPPORTED_AT))
    show_settled(other)
    best = choose(own)
    truth = np.array([one.claim.is_supported for one in own])
    gain = macro_f1(truth, passes(own, best)) - macro_f1(truth, passes(own, SUPPORTED_AT))
    print(f"threshold {SUPPORTED_AT}; the half that chooses would gain {gain:.4f} with {best}")
    report(f"the other half with {best}", other, passes(other, best))
    return gain < WORTH_A_MOVE


def read_paragraphs(data: Path) -> list[tuple[str, tuple[str, ...]]]:
    """Texts of KorQuAD and the answers that stand in them."""
    with lzma.open(data / "korquad_dev.json.xz", "rt", encoding="utf-8") as file:
        articles = json.load(file)["data"]
    return [
        (part["context"], tuple(answer["text"] for asked in part["qas"] for answer in asked["answers"]))
        for article in articles
        for part in article["paragraphs"]
    ]


def show_planted(data: Path) -> None:
    paragraphs = read_paragraphs(data)
    chance = random.Random(1)
    names = sorted({answer for _, answers in paragraphs for answer in answers if _is_name(answer)})
    counts: Counter[tuple[str, bool]] = Counter()
    for text, answers in chance.sample(paragraphs, len(paragraphs)):
        for sentence in split_sentences(text)[:2]:
            for kind, planted in changed(sentence, answers, names, chance):
                if sum(counts[kind, passed] for passed in (True, False)) < PLANTED:
                    counts[kind, isinstance(check_support(planted, [text]), Supported)] += 1
        whole = split_sentences(text)[0]
        counts[
            "another paragraph", isinstance(check_support(whole, [chance.choice(paragraphs)[0]]), Supported)
        ] += 1
    for kind in dict.fromkeys(kind for kind, _ in counts):
        of = counts[kind, True] + counts[kind, False]
        print(f"  {kind}: {counts[kind, True]} of {of} let through ({counts[kind, True] / of:.1%})")


def changed(
    sentence: str, answers: tuple[str, ...], names: list[str], chance: random.Random
) -> Iterable[tuple[str, str]]:
    """The sentence, and the sentence with one detail changed."""
    yield "verbatim", sentence
    clauses = sentence.rsplit(", ", 1)
    if len(clauses) == 2 and len(clauses[1]) > 20:
        yield "its last clause", clauses[1]
    if number := re.search(r"(?<![\d.,])\d{1,3}(?![\d,.]\d|\d)", sentence):
        other = str(int(number[0]) + chance.randint(1, 9))
        yield "another number", sentence[: number.start()] + other + sentence[number.end() :]
    if year := re.search(r"(?<!\d)(?:1[5-9]|20)\d\d(?=년)", sentence):
        other = str(int(year[0]) + chance.randint(1, 9))
        yield "another year", sentence[: year.start()] + other + sentence[year.end() :]
    name = next((answer for answer in answers if _is_name(answer) and answer in sentence), None)
    if name:
        yield "another name", sentence.replace(name, chance.choice(names))
    if re.search(r"하였다\.$|했다\.$", sentence):
        yield "denied", re.sub(r"하였다\.$|했다\.$", "하지 않았다.", sentence)


def _is_name(answer: str) -> bool:
    return re.fullmatch(r"[가-힣]{3,6}", answer) is not None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    options = parser.parse_args()
    is_current = show_claims(read_claims(options.data))
    print("Korean sentences with one detail changed, against their own paragraph:")
    show_planted(options.data)
    print("the threshold stays" if is_current else "the package should have another threshold")
    return 0 if is_current else 1


if __name__ == "__main__":
    sys.exit(main())
