"""Start-up: processor time of imports and short commands, and of the 690 real episodes mined.

    uv run python benchmarks/startup.py [FOLDER_WITH_REAL_DATA]

User and system time of whole processes, and of the git commands that they start, above that of an empty
Python; the best of 15 runs in turns, to exclude the machine's other load.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

RUNS = 15
# Lets Python cache bytecode, as for an installed package.
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
PYTHON, COMMAND = sys.executable, str(Path(sys.executable).with_name("dartlab-coreloop"))
PASS = "python -c pass"
COMMANDS = {
    PASS: ([PYTHON, "-c", "pass"], ".", None),
    "import coreloop": ([PYTHON, "-c", "import coreloop"], ".", None),
    "import coreloop.observe": ([PYTHON, "-c", "import coreloop.observe"], ".", 40),
    "--help": ([COMMAND, "--help"], ".", 150),
    "status, the demo": ([COMMAND, "status"], "demo", 150),
    "ask, 40 pages": ([COMMAND, "ask", "What does room 7 cost?"], "pages", 250),
    "search, 40 pages": ([COMMAND, "search", "room 7"], "pages", 150),
}
"""What is run, in which folder, and the goal in milliseconds."""
OPTIONS = ("--since", "2025-07-01", "--min-chunk-len", "0", "--min-success-rate", "0.9")
PATTERN = {"pattern, 690 episodes": ([COMMAND, "pattern", *OPTIONS], "episodes", 1000)}


def milliseconds(command: list[str], folder: Path) -> float:
    before = getrusage(RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, env=ENVIRONMENT, check=True, capture_output=True)
    after = getrusage(RUSAGE_CHILDREN)
    return 1e3 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def make_projects(folder: Path, episodes: Path) -> None:
    subprocess.run([COMMAND, "demo", "--out", "demo"], cwd=folder, check=True, capture_output=True)
    pages = folder / "pages" / "docs"
    pages.mkdir(parents=True)
    for number in range(40):
        (pages / f"{number}.md").write_text(
            f"# Room {number}\n\nRoom {number} costs {number + 50} a night.\n"
        )
    if episodes.exists():
        records = folder / "episodes" / "data" / "audit" / "ai-ask"
        records.mkdir(parents=True)
        shutil.copy(episodes, records / "2025-08.jsonl")


def main() -> None:
    shared = Path(
        sys.argv[1] if len(sys.argv) > 1 else os.environ.get("CORELOOP_SHARED_DATA", "../shared/data")
    )
    episodes = shared.resolve() / "tau_retail_gpt4o_gpt41.jsonl"
    commands = COMMANDS | (PATTERN if episodes.exists() else {})
    best = dict.fromkeys(commands, float("inf"))
    with tempfile.TemporaryDirectory() as name:
        make_projects(Path(name), episodes)
        for _ in range(RUNS):
            for label, (command, place, _goal) in commands.items():
                best[label] = min(best[label], milliseconds(command, Path(name, place)))
    for label, (_, _, goal_ms) in commands.items():
        goal = f"   (goal: {goal_ms})" if goal_ms else ""
        print(f"{label:24} {best[label] - (label != PASS) * best[PASS]:7.1f} ms{goal}")


if __name__ == "__main__":
    main()
