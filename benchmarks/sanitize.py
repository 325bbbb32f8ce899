"""Sanitizing and checking ordinary records against a plain loop of ``json.loads`` over the same lines.

    uv run python benchmarks/sanitize.py [RECORDS]

Each round runs the loop and the commands' functions in turns, so that all see the same machine. Prints for
the best round the records per second by wall-clock time and by processor time on two cores, including
process start (on a busy machine use the processor time), and the peak memory for a tenth of the input and
for all of it.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from coreloop.sanitize.folder import Choices, check_dir, sanitize_dir

from coreloop.base.project.settings import Settings
from coreloop.sanitize.vocabulary import learn

ROUNDS, JOBS = 3, 2
COMPANIES = ("들찬푸드", "한빛테크", "새론화학", "누리해운", "가온건설", "다솜제약", "미르전기", "바른유통")
TOPICS = (
    "최근 5년 수익성 추이를 동종 업계 평균과 비교해서 설명해줘",
    "배당 정책이 어떻게 바뀌었고 주주환원율은 얼마나 되는지 알려줘",
    "부채비율과 이자보상배율을 보고 재무 안정성을 판단해줘",
    "영업현금흐름이 순이익보다 적은 이유가 무엇인지 찾아줘",
    "compare the operating margin with its peers and explain what changed last year",
)


def record(n: int, chance: random.Random) -> dict[str, object]:
    """Make an ordinary request of about one kilobyte; every tenth contains private data."""
    company = chance.choice(COMPANIES)
    private = f" 결과는 user{n}@example.com 으로" if n % 10 == 0 else ""
    question = (
        f"{company} {chance.choice(TOPICS)} ({n}번째, 매출 {chance.randrange(10**11):,}원 기준){private}"
    )
    calls = [
        {
            "name": name,
            "args": {
                "company": company,
                "axis": "수익성",
                "years": chance.randrange(1, 9),
                "memo": question[:40],
            },
            "args_hash": f"{chance.getrandbits(64):016x}",
            "ok": True,
            "error": None,
            "duration_ms": chance.randrange(5000),
            "result_size_bytes": chance.randrange(50_000),
            "overrides_used": None,
            "extreme_flags": [],
        }
        for name in ("analysis",)
    ]
    return {
        "schema_version": 2,
        "ts": f"2026-04-25T{n % 24:02d}:{n % 60:02d}:07.{n % 1_000_000:06d}+00:00",
        "request_id": f"req-{chance.getrandbits(64):016x}",
        "question": question,
        "question_hash": f"sha256:{chance.getrandbits(64):016x}",
        "category_hash": "FIN-profitability-KR",
        "stockCode_hint": None,
        "provider": "openai",
        "model": "gpt-5",
        "tool_calls": calls,
        "tool_sequence_hash": f"seq:{chance.getrandbits(64):016x}",
        "override_calls": [],
        "rounds": 2,
        "chunk_len": chance.randrange(5000),
        "error": None,
        "violation": None,
        "skill_used": None,
        "duration_total_ms": chance.randrange(9000),
        "judgment": {"verdict": None, "judged_at": None, "judged_by": None, "pr_url": None},
    }


def write(path: Path, count: int) -> Path:
    chance = random.Random(7)
    path.parent.mkdir()
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(record(n, chance), ensure_ascii=False) + "\n" for n in range(count))
    return path


def seconds(work: Callable[[], object]) -> tuple[float, float]:
    """Return wall-clock time and processor time."""
    begun, used = time.perf_counter(), sum(os.times()[:4])
    work()
    return time.perf_counter() - begun, sum(os.times()[:4]) - used


def plain_loop(path: Path) -> None:
    with path.open("rb") as lines:
        for line in lines:
            json.loads(line)


def peak_mebibytes(path: Path) -> float:
    code = (
        "import resource, sys; from pathlib import Path; from coreloop.sanitize.folder import Choices, "
        "sanitize_dir\n"
        "sanitize_dir(Path(sys.argv[1]), Path(sys.argv[2]), Choices(mode='mask'))\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    out = path.parent.with_name(f"{path.parent.name}-out")
    done = subprocess.run([sys.executable, "-c", code, str(path), str(out)], capture_output=True, check=True)
    return int(done.stdout) / 1024


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = write(folder / "in" / "a.jsonl", count)
        words = learn([path], Settings(), folder)
        runs = iter(range(10**6))
        work: dict[str, Callable[[], object]] = {
            "json.loads, one process": lambda: plain_loop(path),
            "--check": lambda: check_dir(path, jobs=JOBS),
            "--mode mask": lambda: sanitize_dir(
                path, folder / str(next(runs)), Choices(mode="mask", jobs=JOBS)
            ),
            "--mode hash": lambda: sanitize_dir(
                path, folder / str(next(runs)), Choices(mode="hash", vocabulary=words, jobs=JOBS)
            ),
        }
        best = dict.fromkeys(work, (float("inf"), float("inf")))
        for _ in range(ROUNDS):
            for label, run in work.items():
                best[label] = min(best[label], seconds(run), key=lambda times: times[1])
        small = write(folder / "small" / "a.jsonl", count // 10)
        peaks = peak_mebibytes(small), peak_mebibytes(path)
        size = path.stat().st_size / count
    load = os.getloadavg()[0]
    print(
        f"{count:,} records of {size:,.0f} bytes; {os.cpu_count()} cores, {JOBS} processes, load {load:.1f}"
    )
    loop = best["json.loads, one process"][1]
    for label, (clock, used) in best.items():
        cores = 1 if label.startswith("json") else JOBS
        speed = (
            f"{count / clock:9,.0f} records/s by the clock, {count * cores / used:9,.0f} by processor time"
        )
        print(f"{label:24} {speed}; {used / loop:5.1f} x json.loads")
    print(
        f"peak memory, one process: {peaks[0]:.0f} MiB for {count // 10:,} records, {peaks[1]:.0f} MiB "
        f"for {count:,}"
    )


if __name__ == "__main__":
    main()
