"""The Stop hook of Claude Code, whole processes above ``python -S -c pass``: a run that goes on, and no run.

uv run python benchmarks/stop_hook.py
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import coreloop

ROUNDS = 60
HOOK = Path(coreloop.__file__).parent / "runs" / "claude_code" / "templates" / "stop_hook.py"
STATUS = {
    "run_id": "01KQ0000000000000000000000",
    "session": "s1",
    "status": "running",
    "goes_on": True,
    "iteration": 2,
    "max_iterations": 9,
    "deadline_at": None,
    "next": "answer q1",
}


def milliseconds(command: list[str], project: str) -> float:
    begun = time.perf_counter()
    subprocess.run(
        [sys.executable, *command],
        input=b'{"session_id": "s1"}',
        env={**os.environ, "CLAUDE_PROJECT_DIR": project},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return (time.perf_counter() - begun) * 1e3


def main() -> None:
    with tempfile.TemporaryDirectory() as going, tempfile.TemporaryDirectory() as empty:
        (Path(going) / ".research").mkdir()
        (Path(going) / ".research" / "status.json").write_text(json.dumps(STATUS))
        hook = ["-I", "-S", str(HOOK)]
        cases = {"pass": (["-S", "-c", "pass"], empty), "no run": (hook, empty), "blocks": (hook, going)}
        times: dict[str, list[float]] = {name: [] for name in cases}
        for _ in range(ROUNDS):
            for name, (command, project) in cases.items():
                times[name].append(milliseconds(command, project))
    medians = {name: statistics.median(values) for name, values in times.items()}
    for name, median in medians.items():
        print(f"{name:8} {median:6.1f} ms, {median - medians['pass']:+.1f} ms (goal: +30)")


if __name__ == "__main__":
    main()
