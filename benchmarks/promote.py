"""A docstring edit in a file of 1,000 lines, and dry-run promotions without replay as whole processes.

    uv run python benchmarks/promote.py

The promotions run in copies of examples/retail that differ only in the reach: unmeasured, or measured by the
shop's schema command (which runs before and after the edit). The best of 9 runs in turns, to exclude the
machine's other load.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from docstring_edit import FILE_LINES, GOAL_MS, edit_ms, nearest_files

from coreloop.observe import AuditCollector, dropped

RUNS = 9
PROMOTE_GOAL_MS = 1_000
SHOP = Path(__file__).parents[1] / "examples" / "retail"
# Lets Python cache bytecode, as for an installed package. A dry run needs no token.
_UNWANTED = ("PYTHONDONTWRITEBYTECODE", "GITHUB_TOKEN", "GH_TOKEN")
ENVIRONMENT = {
    **{key: value for key, value in os.environ.items() if key not in _UNWANTED},
    "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
}
COMMAND = str(Path(sys.executable).with_name("dartlab-coreloop"))
QUESTIONS = (
    "I would like to return my lamp",
    "how do I return this kettle",
    "return the backpack from last week, it is too small",
)
CALLS = (
    ("get_user_details", ("user_id",)),
    ("get_order_details", ("order_id",)),
    ("return_delivered_order_items", ("order_id", "item_ids", "payment_method_id")),
)


def run(command: list[str], folder: Path, *, ok: tuple[int, ...] = (0,)) -> str:
    done = subprocess.run(
        command, cwd=folder, env=ENVIRONMENT, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode in ok, done.stderr
    return done.stdout


def make_shop(folder: Path, *, schema_command: bool) -> list[str]:
    """Make a repository with a mined candidate and return the command that promotes it."""
    shutil.copytree(SHOP, folder, ignore=shutil.ignore_patterns("__pycache__", "data"))
    settings = folder / "coreloop.yaml"
    if not schema_command:
        lines = settings.read_text(encoding="utf-8").splitlines(keepends=True)
        settings.write_text(
            "".join(line for line in lines if not line.startswith("reach:")), encoding="utf-8"
        )
    run(["git", "init", "--quiet", "--initial-branch=main"], folder)
    run(["git", "add", "."], folder)
    identity = ["-c", "user.name=benchmark", "-c", "user.email=benchmark@example.com"]
    run(["git", *identity, "commit", "--quiet", "--message=A shop"], folder)
    for question in QUESTIONS:
        audit = AuditCollector(question, provider="openai", model="m", data_dir=folder / "data")
        for name, arguments in CALLS:
            audit.observe_tool_call(name, dict.fromkeys(arguments, "1"))
        audit.flush(chunk_len=1_000)
    for number in range(20):  # failed requests, so that the candidate is better than its category
        audit = AuditCollector(f"return {'x' * number}", data_dir=folder / "data")
        audit.observe_tool_call("calculate", {"expression": "1"})
        audit.flush(chunk_len=0)
    assert not dropped()
    run([COMMAND, "pattern", "--since", "2d"], folder)
    (candidates,) = (folder / "data" / "audit" / "candidates").glob("*.json")
    return [
        COMMAND,
        "promote",
        "--candidate",
        str(candidates),
        "--id",
        f"cand-{datetime.now(UTC):%Y-%m-%d}-001",
    ]


def milliseconds(command: list[str], folder: Path) -> float:
    # a promotion without a replay exits with 1
    begun = time.perf_counter()
    run(command, folder, ok=(0, 1))
    return (time.perf_counter() - begun) * 1e3


def edits() -> None:
    files = nearest_files(FILE_LINES)
    best = {path: min(edit_ms(path) for _ in range(3)) for path in files}
    for path, (lines, elapsed_ms) in best.items():
        name = f"{path.parent.name}/{path.name}, {lines} lines"
        print(f"append_to_section, {name:32} {elapsed_ms:7.1f} ms   (goal: {GOAL_MS})")


def promotions() -> None:
    with tempfile.TemporaryDirectory() as name:
        plain, measured = Path(name, "plain"), Path(name, "measured")
        commands = {
            "python -c pass": ([sys.executable, "-c", "pass"], plain),
            "python -m retail.schema": (["python", "-m", "retail.schema"], measured),
            "promote, reach unmeasured": (make_shop(plain, schema_command=False), plain),
            "promote, reach by the schema command": (make_shop(measured, schema_command=True), measured),
        }
        outputs = [run(*commands[label], ok=(0, 1)) for label in list(commands)[2:]]
        assert "reach    unmeasured" in outputs[0]
        assert "from the schema command" in outputs[1]
        best = dict.fromkeys(commands, float("inf"))
        for _ in range(RUNS):
            for label, (command, folder) in commands.items():
                best[label] = min(best[label], milliseconds(command, folder))
    for label, elapsed_ms in best.items():
        goal = f"   (goal: {PROMOTE_GOAL_MS:,})" if label.startswith("promote") else ""
        print(f"{label:51} {elapsed_ms:7.1f} ms{goal}")


def main() -> None:
    edits()
    promotions()


if __name__ == "__main__":
    main()
