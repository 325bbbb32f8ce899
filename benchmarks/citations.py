"""The check of citations: its threshold on half of the judged claims, its macro-F1 on the other half.

    uv run python benchmarks/citations.py --data ../shared/data

AttributionBench's claims are split by a hash of the claim. The interval is a bootstrap of 2,000 draws.
Exits with 1 if another threshold, in hundredths, is better by `WORTH_A_MOVE` on the half that chooses.
"""

import argparse
import json
import lzma
import random
import sys
from hashlib import sha256
from pathlib import Path

from coreloop.answer.text import claims

WORTH_A_MOVE = 0.005
"""Macro-F1 of the half that chooses: a seventh of half the width of its interval; less is chance."""
DRAWS = 2_000
Pair = tuple[bool, bool]


def judged(rows: list[dict], threshold: float) -> list[Pair]:
    """Whether people find each claim supported, and whether the check does."""
    claims.SAID_AT = threshold
    return [
        (row["attribution_label"] == "attributable", not claims.lack(row["claim"], row["references"]))
        for row in rows
    ]


def macro_f1(pairs: list[Pair]) -> float:
    return sum(_f1(pairs, side) for side in (True, False)) / 2


def _f1(pairs: list[Pair], side: bool) -> float:
    all_ = sum((truth is side) + (found is side) for truth, found in pairs)
    return 2 * pairs.count((side, side)) / all_ if all_ else 0.0


def interval(pairs: list[Pair]) -> tuple[float, float]:
    chance = random.Random(5)
    drawn = sorted(macro_f1(chance.choices(pairs, k=len(pairs))) for _ in range(DRAWS))
    return drawn[DRAWS // 40], drawn[-DRAWS // 40]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    path = parser.parse_args().data / "attribution_dev.jsonl.xz"
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    halves = [
        [row for row in rows if sha256(row["claim"].encode()).digest()[0] % 2 == half] for half in (0, 1)
    ]
    own = claims.SAID_AT
    by_threshold = {at / 100: macro_f1(judged(halves[0], at / 100)) for at in range(16, 45, 4)}
    best = max(by_threshold, key=lambda at: by_threshold[at])
    reported = judged(halves[1], own)
    low, high = interval(reported)
    right = reported.count((True, True)) / max(1, sum(found for _, found in reported))
    print(f"{len(halves[1])} claims: macro-F1 {macro_f1(reported):.3f} ({low:.3f}-{high:.3f})")
    print(f"right of what is let through: {right:.1%}")
    print(f"threshold {own}; the other half chooses {best} ({by_threshold[best]:.3f})")
    return int(by_threshold[best] > macro_f1(judged(halves[0], own)) + WORTH_A_MOVE)


if __name__ == "__main__":
    sys.exit(main())
