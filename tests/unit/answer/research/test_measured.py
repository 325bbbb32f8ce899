"""The check of citations on claims that people judged."""

import json
import lzma
from hashlib import sha256
from pathlib import Path

import pytest

from coreloop.answer.text.claims import lack


@pytest.mark.slow
def test_macro_f1_on_the_half_that_did_not_fit(shared_data: Path):
    path = shared_data / "attribution_dev.jsonl.xz"
    if not path.is_file():
        pytest.skip(f"no {path}; name its folder with CORELOOP_SHARED_DATA")
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if sha256(row["claim"].encode()).digest()[0] % 2]
    pairs = [
        (row["attribution_label"] == "attributable", not lack(row["claim"], row["references"]))
        for row in rows
    ]
    assert (f1(pairs, True) + f1(pairs, False)) / 2 >= 0.70


def f1(pairs: list[tuple[bool, bool]], side: bool) -> float:
    return 2 * pairs.count((side, side)) / sum((truth is side) + (found is side) for truth, found in pairs)
