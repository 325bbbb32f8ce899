"""Odd logs and real ones, read in several ways; the plain loop finds the same patterns in the real ones."""

import json
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from miners.ours import mine
from miners.plain_loop import find

from logs import write_logs

MARK = b"\xef\xbb\xbf"
ODD = (None, True, -1, 1.5, 1e308, 10**400, "", "12", "false", "\ud800", [], ["x", 1], {}, {"a": {"b": 1}})
N_STEPS = 10


def main(data: Path, scratch: Path) -> None:
    logs = {f"odd {seed}": mutated(seed, scratch / f"{seed}") for seed in range(20)}
    episodes = data / "tau_retail_gpt4o_gpt41.jsonl"
    if episodes.exists():
        lines = episodes.read_bytes().splitlines(keepends=True)
        logs |= {"690 episodes": lines, "690 episodes, 20 times": repeated(lines, 20)}
    else:
        print(f"skipped: the 690 episodes, {episodes} is absent")
    n_different = 0
    for name, lines in logs.items():
        whole, *others = read_in_ways(lines, scratch / name)
        if "episodes" in name:  # whose errors name values of arguments, which the loop does not know
            loop = find(scratch / name / "whole")
            others.append({**whole, "records": loop["records"], "patterns": loop["patterns"]})
        if any(other != whole for other in others):
            n_different += 1
            print(f"{name}: {whole}, but {others}")
    print(f"{len(logs) - n_different} of {len(logs)} logs: the same at once, again, in two files, and grown")
    sys.exit(n_different > 0)


def read_in_ways(lines: Sequence[bytes], folder: Path) -> Iterator[dict[str, Any]]:
    """Yield what is found in a log at once, once more, in two files, and when it grew."""
    text, half, cache = b"".join(lines), len(lines) // 2, folder / "cache"
    yield mine(written(folder / "whole", text), cache)
    yield mine(folder / "whole", cache)
    yield mine(written(folder / "halves", b"".join(lines[:half]), b"".join(lines[half:])), cache)
    grown = written(folder / "grown")
    for step in range(N_STEPS):
        with (grown / "2026-04-01.jsonl").open("ab") as file:
            file.write(text[len(text) * step // N_STEPS : len(text) * (step + 1) // N_STEPS])
        found = mine(grown, cache)
    yield found


def written(folder: Path, *files: bytes) -> Path:
    folder.mkdir(parents=True)
    for number, text in enumerate(files, 1):
        (folder / f"2026-04-{number:02}.jsonl").write_bytes(text)
    return folder


def repeated(lines: Sequence[bytes], times: int) -> list[bytes]:
    """Repeat requests, a day later each time, with ids of their own."""
    repeats = []
    for number in range(times):
        for record in map(json.loads, lines):
            at = datetime.fromisoformat(record["ts"]) + timedelta(days=number)
            again = {**record, "ts": at.isoformat(), "request_id": f"{record['request_id']}-{number}"}
            repeats.append(json.dumps(again, ensure_ascii=False).encode() + b"\n")
    return repeats


def mutated(seed: int, folder: Path) -> list[bytes]:
    """Return a megabyte of a log in which every third line is odd, and which may begin with a mark."""
    write_logs(folder, days=1, bytes_a_day=1_000_000, seed=seed)
    [path] = folder.iterdir()
    draw = Random(seed)
    lines = path.read_bytes().splitlines(keepends=True)
    odd = [mutated_line(line, draw) if draw.random() < 0.3 else line for line in lines]
    odd[len(odd) // 2] = lines[len(odd) // 2]  # begins the second file, where a mark is none of the line
    return [MARK * draw.randrange(2) + odd[0], *odd[1:]]


def mutated_line(line: bytes, draw: Random) -> bytes:
    record, place = json.loads(line), draw.randrange(len(line))
    part = draw.choice([record, record, record["judgment"], *record["tool_calls"]])
    name, value = draw.choice(list(part)), draw.choice(ODD)
    if draw.random() < 0.4:
        part[name] = value
        if draw.random() < 0.2:
            del part[name]
        return json.dumps(record).encode() + b"\n"
    foreign = draw.choice((b"\xff", b"\xed\xa0\x80", b"\x00", MARK))
    twice = f', "{name}": {json.dumps(value)}}}\n'.encode()
    torn, cut_in = line[:place] + b"\n", line[:place] + foreign + line[place:]
    return draw.choice((torn, cut_in, b"\n \t\n" + line, line[:-1] + b"\r\n", line[:-2] + twice))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
