"""Start-up: the command's help, two imports, and the 690 real episodes mined.

    uv run python benchmarks/startup.py [FOLDER_WITH_REAL_DATA]

Wall-clock time of whole processes; the best of 15 runs in turns, to exclude the machine's other load.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 15
# Lets Python cache bytecode, as for an installed package.
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
COMMAND = str(Path(sys.executable).with_name("dartlab-coreloop"))


def milliseconds(command: list[str], folder: Path) -> float:
    begun = time.perf_counter()
    subprocess.run(command, cwd=folder, env=ENVIRONMENT, check=True, capture_output=True)
    return (time.perf_counter() - begun) * 1e3


def main() -> None:
    shared = Path(
        sys.argv[1] if len(sys.argv) > 1 else os.environ.get("CORELOOP_SHARED_DATA", "../shared/data")
    )
    episodes = shared.resolve() / "tau_retail_gpt4o_gpt41.jsonl"
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "import coreloop": [sys.executable, "-c", "import coreloop"],
        "import coreloop.observe": [sys.executable, "-c", "import coreloop.observe"],
        "import coreloop.answer.models.model": [sys.executable, "-c", "import coreloop.answer.models.model"],
        "--help": [COMMAND, "--help"],
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if episodes.exists():
            records = folder / "data" / "audit" / "ai-ask"
            records.mkdir(parents=True)
            shutil.copy(episodes, records / "2025-08.jsonl")
            options = ["--since", "2025-07-01", "--min-chunk-len", "0", "--min-success-rate", "0.9"]
            commands["pattern, 690 episodes"] = [COMMAND, "pattern", *options]
        else:
            print(f"skipped: the 690 episodes, {episodes} is absent")
        best = dict.fromkeys(commands, float("inf"))
        for _ in range(RUNS):
            for label, command in commands.items():
                best[label] = min(best[label], milliseconds(command, folder))
    for label, elapsed_ms in best.items():
        print(
            f"{label:24} {elapsed_ms:7.1f} ms   {elapsed_ms / best['python -c pass']:5.1f} x python -c pass"
        )
    for module, goal_ms in (("coreloop.observe", 40), ("coreloop.answer.models.model", 30)):
        added_ms = best[f"import {module}"] - best["python -c pass"]
        print(f"import {module} adds {added_ms:.1f} ms (goal: {goal_ms})")
    print(f"--help takes {best['--help']:.1f} ms (goal: 150)")


if __name__ == "__main__":
    main()
