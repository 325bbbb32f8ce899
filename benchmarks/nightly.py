"""What kept rollups save: a night with 29 of 30 days counted, a log that grew by 5 %, a counted year.

    uv run python benchmarks/nightly.py --megabytes 1000           # 30 days
    uv run python benchmarks/nightly.py --year FOLDER               # 365 days, made by benchmarks/logs.py

Each run is a process of its own, which mines P and F.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from logs import write_logs

MINER = Path(__file__).parent / "miners" / "ours.py"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--logs", type=Path, help="30 days of an earlier run; made anew when missing")
    parser.add_argument("--year", type=Path, help="365 days; the first run counts them all")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        month = chosen.logs or scratch / "logs"
        if not month.is_dir():
            write_logs(month, days=30, bytes_a_day=chosen.megabytes * 1_000_000 // 30)
        full = _month(month, scratch)
        if chosen.year:
            _year(chosen.year, scratch / "year", full)


def _month(logs: Path, scratch: Path) -> float:
    kept, today = scratch / "kept", max(logs.glob("*.jsonl"))
    own = scratch / "month"
    own.mkdir()
    for path in logs.glob("*.jsonl"):
        (own / path.name).symlink_to(path.absolute())
    (own / today.name).unlink()
    _run("29 of 30 days, nothing counted before", own, kept)
    content = today.read_bytes()
    cut = content.rindex(b"\n", 0, len(content) * 100 // 105) + 1
    (own / today.name).write_bytes(content[:cut])
    night = _run("a night: 29 of 30 days counted before", own, kept)
    with (own / today.name).open("ab") as file:
        file.write(content[cut:])
    _run("the log of today grew by 5 %", own, kept)
    full = _run("all 30 days, nothing counted before", own, scratch / "fresh")
    print(f"a night takes {night / full:.0%} of a full run")
    grown, fresh = (_tables(folder, today.stem) for folder in (kept, scratch / "fresh"))
    print(f"the grown rollup is {'the same, byte for byte' if grown == fresh else 'ANOTHER ONE'}")
    return full


def _year(logs: Path, kept: Path, full: float) -> None:
    _run("a year, nothing counted before", logs, kept)
    year = min(_run("a year, all counted before", logs, kept) for _ in range(3))
    print(f"a year that is counted takes {year / full:.0%} of a full run of 30 days")
    size = sum(path.stat().st_size for path in kept.rglob("*") if path.is_file())
    print(f"its rollups take {size / 1e6:,.0f} MB")
    shutil.rmtree(kept)


def _run(what: str, logs: Path, kept: Path) -> float:
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, MINER, logs, kept], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        sys.exit("the miner failed")
    facts = json.loads(out)
    megabytes = max(usage.ru_maxrss // 1024, facts["children_mb"])
    read = facts["read"] / 1e6
    print(f"{what:<42} {seconds:6.2f} s {megabytes:4} MB, read {read:8,.1f} MB, {facts['records']:,} records")
    return seconds


def _tables(kept: Path, stem: str) -> dict[str, bytes]:
    (folder,) = kept.glob(f"{stem}-*")
    return {path.name: path.read_bytes() for path in folder.glob("*.parquet")}


if __name__ == "__main__":
    main()
