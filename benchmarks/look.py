"""What `look` takes for 300 MB of Claude Code sessions in 2,000 files, against a loop of `json.loads`.

    uv run python benchmarks/look.py

A session is a question with ten calls, whose results are most of the bytes; one call in twenty fails.
Processor seconds and the largest resident memory, of a process each.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LOOP = """
import json, sys, pathlib
for path in pathlib.Path(sys.argv[1]).iterdir():
    for line in path.open("rb"):
        json.loads(line)
"""


def messages(number: int) -> Iterator[tuple[str, Any]]:
    draw = random.Random(number)
    yield "user", f"Please mend the tests of module {number}."
    for id in map(str, range(10)):
        is_bad = draw.random() < 0.05
        args = {"path": f"src/{draw.randrange(99)}.py", "limit": 5_000 if is_bad else draw.randrange(2_000)}
        text = "Limit is at most 2000." if is_bad else "x = call(1) # ok\n" * draw.choice([12, 120, 2_600])
        yield "assistant", [{"type": "tool_use", "id": id, "name": "Read", "input": args}]
        yield "user", [{"type": "tool_result", "tool_use_id": id, "is_error": is_bad, "content": text}]
    yield "assistant", [{"type": "text", "text": "Done."}]


def session(number: int) -> Iterator[str]:
    for step, (role, content) in enumerate(messages(number)):
        at = f"2026-{1 + number % 11:02}-{1 + number % 28:02}T09:00:{step:02}Z"
        line = {"type": role, "uuid": f"{number}-{step}", "sessionId": str(number), "timestamp": at}
        yield json.dumps({**line, "message": {"role": role, "content": content}}) + "\n"


def main() -> None:
    command = str(Path(sys.executable).with_name("dartlab-coreloop"))
    with tempfile.TemporaryDirectory() as name:
        for number in range(2_000):
            Path(name, f"{number}.jsonl").write_text("".join(session(number)))
        for argv in ([sys.executable, "-c", LOOP, name], [command, "look", name]):
            _, status, used = os.wait4(subprocess.Popen(argv, stdout=subprocess.DEVNULL).pid, 0)
            assert status == 0
            print(
                f"{argv[1]:5} {used.ru_utime + used.ru_stime:.1f} s, {used.ru_maxrss / 1024:.0f} MB of memory"
            )


if __name__ == "__main__":
    main()
