"""Leaks and false positives of ``sanitize`` on planted records, and broken lines that leave no trace."""

import gzip
import json
import random
from math import ceil
from pathlib import Path

import pytest
from benchmarks.planted import PLAIN, make_samples
from benchmarks.privacy import missed, replaced

from coreloop.sanitize.export import Choices, check_dir, sanitize_dir
from coreloop.sanitize.sanitize_record import MODES
from logs import record, write_log

SEEDS = {"known": 20260425, "unseen": random.SystemRandom().getrandbits(32)}


@pytest.mark.slow
@pytest.mark.no_cover  # other tests run the same lines, and tracing them costs half as much again
@pytest.mark.parametrize("seed", SEEDS)
def test_planted_values_are_masked_and_look_alikes_are_kept(seed: str) -> None:
    samples = list(make_samples(SEEDS[seed], values=10))
    left = [value for value, _ in missed(samples, "mask")]
    plain = [value for value in left if value.form == PLAIN]
    n_values = sum(len(sample.planted) for sample in samples)
    # one in 2,000: a random key of 40 letters without a digit or sign is not known as one
    assert len(plain) <= ceil(n_values / 2_000), (SEEDS[seed], plain)
    assert len(left) <= n_values / 25, (SEEDS[seed], left)
    n_likes = sum(len(sample.harmless) for sample in samples)
    vain = list(replaced(samples))
    assert len(vain) <= n_likes / 100, (SEEDS[seed], vain)


@pytest.mark.slow
@pytest.mark.no_cover
@pytest.mark.parametrize("mode", ["hash", "drop"])
def test_nothing_planted_is_left_where_no_text_stays(mode) -> None:
    assert missed(list(make_samples(SEEDS["unseen"], values=5)), mode) == []


def test_check_finds_nothing_in_harmless_questions(tmp_path: Path) -> None:
    words = ("매출", "추이", "비교", "show", "the", "margin", "of", "last", "year", "and", "배당", "정책")
    chance = random.Random(SEEDS["known"])
    rows = (record(question=" ".join(chance.choices(words, k=8)), chunk_len=n) for n in range(300))
    write_log(tmp_path / "a.jsonl", rows)
    assert check_dir(tmp_path).findings == {}


MARK = "brokenCANARY"
_RECORD = f'{{"ts": "2026-04-25T09:30:00+00:00", "tool_calls": [], "question": "{MARK} 010-2345-6789"'
BROKEN = (
    _RECORD.encode()[:-9],
    f"{_RECORD}, ".encode() + b'"memo": "\xff\xfe\x80"}',
    f"{_RECORD}}}".encode("utf-16-le").replace(b"\n", b""),
    f"{_RECORD}, ".encode() + b'"args": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    f'{_RECORD}, "question": "{MARK} again"}}'.encode(),
    json.dumps([MARK]).encode(),
    b"\x00" * 40 + MARK.encode(),
)


@pytest.mark.parametrize("mode", MODES)
def test_broken_lines_are_counted_and_leave_no_trace(tmp_path: Path, mode) -> None:
    source, out = tmp_path / "in", tmp_path / "out"
    valid = json.dumps(record()).encode()
    source.mkdir()
    (source / "a.jsonl").write_bytes(b"\n".join(part for line in BROKEN for part in (valid, line)))
    (source / "b.jsonl").write_bytes(gzip.compress(f"{_RECORD}\n".encode()))
    report = sanitize_dir(source, out, Choices(mode=mode))
    assert (report.n_out, report.n_rejected) == (len(BROKEN), len(BROKEN) + 1)
    written = b"".join(path.read_bytes() for path in out.iterdir()) + json.dumps(report.to_dict()).encode()
    assert MARK.encode() not in written
    assert b"2345-6789" not in written
