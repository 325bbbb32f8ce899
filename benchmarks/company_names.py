"""How much of ordinary Korean text the public listing of companies takes in vain.

    uv run python benchmarks/company_names.py             # the texts of CORELOOP_SHARED_DATA, in two halves
    uv run python benchmarks/company_names.py TEXT ...    # any text with one sentence per line
    uv run python benchmarks/company_names.py --show      # and every sentence that counts as "in vain"

A sentence counts if a name in it is replaced, and as "in vain" unless that name is in `MEANT`: read by hand,
the companies that these sentences speak of. The list of names that are everyday words
(`names._ORDINARY_TEXT`) was made with the listing and these texts in sight; any TEXT is unseen.
"""

import argparse
import json
import lzma
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from coreloop.sanitize.company_names import companies
from coreloop.sanitize.detectors.detection import Detection

DATA = Path(os.environ.get("CORELOOP_SHARED_DATA", "../shared/data"))
_MEANT_TEXT = """
네이버 카카오 대한항공 진에어 삼성전자 현대건설 현대자동차 현대백화점 유성기업 기업은행 서울보증보험
금호타이어 한화 한섬 한진 SK SBS YTN LG 넥센 LG생활건강 HS애드 예스24 코리아나 일신방직 성신양회 삼부토건
"""
MEANT = frozenset(_MEANT_TEXT.split())
_SENTENCE = re.compile(r"(?<=[.?!])\s+|\n+")


def load(name: str) -> Any:
    with lzma.open(DATA / name, "rt", encoding="utf-8") as file:
        return json.load(file)


def korquad() -> Iterator[list[str]]:
    for article in load("korquad_dev.json.xz")["data"]:
        texts = []
        for paragraph in article["paragraphs"]:
            texts += [text for text in _SENTENCE.split(paragraph["context"]) if text.strip()]
            texts += [question["question"] for question in paragraph["qas"]]
        yield texts


def klue() -> Iterator[list[str]]:
    for pair in load("klue_sts_dev.json.xz"):
        yield [pair["sentence1"], pair["sentence2"]]


def parakqc() -> Iterator[list[str]]:
    with lzma.open(DATA / "parakqc_first_half.tsv.xz", "rt", encoding="utf-8") as lines:
        questions = [line.rstrip("\n").split("\t")[-1] for line in lines]
    for at in range(0, len(questions), 20):  # sets are neighbours; two share a topic
        yield questions[at : at + 20]


def halves(groups: Iterable[list[str]]) -> tuple[list[str], list[str]]:
    """Groups in turns, so that no article or set of questions is in both halves."""
    parts: tuple[list[str], list[str]] = ([], [])
    for number, group in enumerate(groups):
        parts[number % 2].extend(group)
    return parts


def measure(name: str, texts: list[str], *, show: bool) -> None:
    names = companies(None, Detection())
    assert names is not None
    replaced = vain = 0
    for text in texts:
        found = [text[name.start : name.end] for name in names.find(text)]
        others = [word for word in found if "".join(word.split()) not in MEANT]
        replaced += bool(found)
        vain += bool(others)
        if others and show:
            print(f"    {', '.join(others)}: {text[:120]}")
    print(f"| {name} | {len(texts):,} | {replaced / len(texts):.2%} | {vain / len(texts):.2%} ({vain}) |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("texts", nargs="*", type=Path)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    print("| text | sentences | with a company replaced | in vain |\n|---|---|---|---|")
    for path in options.texts:
        measure(path.stem, path.read_text(encoding="utf-8").splitlines(), show=options.show)
    if options.texts:
        return
    for read in (korquad, klue, parakqc):
        for half, texts in zip(("first", "second"), halves(read()), strict=True):
            measure(f"{read.__name__}, {half} half", texts, show=options.show)


if __name__ == "__main__":
    main()
