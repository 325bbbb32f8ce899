"""Time saved by stored facts: 29 of 30 days cached, a log that grew by 5 %, a cached year.

    uv run python benchmarks/nightly.py --megabytes 1000           # 30 days
    uv run python benchmarks/nightly.py --year FOLDER               # 365 days, made by benchmarks/logs.py

Each run is a separate process that mines P and F. Seconds are processor time of all its processes, since
others may use the machine.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

from logs import write_logs

MINER = Path(__file__).parent / "miners" / "ours.py"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--logs", type=Path, help="30 days of an earlier run; generated if absent")
    parser.add_argument("--year", type=Path, help="365 days; the first run reads them all")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        month = options.logs or scratch / "logs"
        if not month.is_dir():
            write_logs(month, days=30, bytes_a_day=options.megabytes * 1_000_000 // 30)
        full = _month(month, scratch)
        if options.year:
            _year(options.year, scratch / "year", full)


def _month(logs: Path, scratch: Path) -> float:
    cache, today = scratch / "cache", max(logs.glob("*.jsonl"))
    own = scratch / "month"
    own.mkdir()
    for path in logs.glob("*.jsonl"):
        (own / path.name).symlink_to(path.absolute())
    (own / today.name).unlink()
    _run("29 of 30 days, empty cache", own, cache)
    content = today.read_bytes()
    cut = content.rindex(b"\n", 0, len(content) * 100 // 105) + 1
    (own / today.name).write_bytes(content[:cut])
    night = _run("a night: 29 of 30 days cached", own, cache)
    with (own / today.name).open("ab") as file:
        file.write(content[cut:])
    _run("the log of today grew by 5 %", own, cache)
    full = _run("all 30 days, empty cache", own, scratch / "fresh")
    print(f"a night takes {night / full:.0%} of a full run")
    size = sum(path.stat().st_size for path in (scratch / "fresh").rglob("*.parquet"))
    log = sum(path.stat().st_size for path in own.glob("*.jsonl"))
    print(f"facts take {size / log:.1%} of the log")
    grown, fresh = (_tables(folder, today.stem) for folder in (cache, scratch / "fresh"))
    print(f"the tables of the grown file are {'the same' if grown == fresh else 'DIFFERENT'}")
    return full


def _year(logs: Path, cache: Path, full: float) -> None:
    _run("a year, empty cache", logs, cache)
    year = min(_run("a year, all cached", logs, cache) for _ in range(3))
    print(f"a cached year takes {year / full:.0%} of a full run of 30 days")
    size = sum(path.stat().st_size for path in cache.rglob("*") if path.is_file())
    print(f"its files take {size / 1e6:,.0f} MB")
    shutil.rmtree(cache)


def _run(label: str, logs: Path, cache: Path) -> float:
    process = subprocess.Popen([sys.executable, MINER, logs, cache], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = usage.ru_utime + usage.ru_stime
    if status:
        sys.exit("the miner failed")
    facts = json.loads(out)
    megabytes = max(usage.ru_maxrss // 1024, facts["children_mb"])
    read = facts["read"] / 1e6
    print(
        f"{label:<42} {seconds:6.2f} s {megabytes:4} MB, read {read:8,.1f} MB, {facts['records']:,} records"
    )
    return seconds


def _tables(cache: Path, stem: str) -> dict[str, str]:
    """A digest of each table, without the texts that segments repeat."""
    import polars as pl

    (folder,) = cache.glob(f"{stem}-*")
    segments = sorted((path for path in folder.iterdir() if path.is_dir()), key=lambda path: int(path.name))
    digests = {}
    for name in (path.stem for path in segments[0].glob("*.parquet")):
        table = pl.concat(pl.read_parquet(segment / f"{name}.parquet") for segment in segments)
        table = table.unique().sort(pl.all()) if name == "texts" else table
        digests[name] = sha256(table.hash_rows().to_numpy().tobytes()).hexdigest()
    return digests


if __name__ == "__main__":
    main()
