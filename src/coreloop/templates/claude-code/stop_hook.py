"""Stop hook of Claude Code, written by `dartlab-coreloop runs install claude-code`.

Keeps the session at work whose run goes on, as .research/status.json says. Standard library only.
"""

# ruff: noqa: PTH108, PTH113, PTH118, PTH123
# os.path, since pathlib takes longer to import than the hook takes to run
import json
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LEASE_S = 1800.0


def main(arguments: list[str], stdin: bytes) -> str:
    """Return what to print: a decision to go on, or "" to let the turn end."""
    lease_s = float(arguments[arguments.index("--lease") + 1]) if "--lease" in arguments else LEASE_S
    given = json.loads(stdin)
    if not isinstance(given, dict):
        raise TypeError("the input is not an object")
    folder = os.path.join(os.environ.get("CLAUDE_PROJECT_DIR") or given.get("cwd") or ".", ".research")
    path = os.path.join(folder, "status.json")
    if not os.path.isfile(path):  # also not a pipe, which would keep the session waiting
        return ""
    with open(path, encoding="utf-8") as file:
        age_s = time.time() - os.fstat(file.fileno()).st_mtime
        status = json.load(file)
    if age_s > lease_s or not goes_on(status) or given.get("background_tasks"):
        return ""
    if not status["session"] or status["session"] != given.get("session_id"):
        return ""
    return block(folder, status, is_repeated=bool(given.get("stop_hook_active")))


def goes_on(status: "dict[str, Any]") -> bool:
    """Whether the run is neither over nor paused nor over a limit."""
    deadline_at = status["deadline_at"]
    return (
        status["status"] == "running"
        and status["goes_on"] is True
        and status["iteration"] < status["max_iterations"]
        and (deadline_at is None or time.time() < deadline_at)
    )


def block(folder: str, status: "dict[str, Any]", is_repeated: bool) -> str:
    """Build the decision; a second one in the same turn needs progress since the first."""
    path = os.path.join(folder, "last-block.json")
    now = [status["run_id"], status["iteration"]]
    if is_repeated and last_block(path) == now:
        return ""
    if os.path.lexists(path):  # a pipe would keep the session waiting, a link would lead elsewhere
        os.unlink(path)
    with open(path, "x", encoding="utf-8") as file:
        json.dump(now, file)
    run_id, number = now[0], now[1] + 1
    reason = (
        f"Run {run_id} goes on with iteration {number} of {status['max_iterations']}: {status['next']}. "
        f"Run dartlab-coreloop runs next {run_id}, do what it says, and pipe the report to "
        f"dartlab-coreloop runs record {run_id}."
    )
    return json.dumps({"decision": "block", "reason": reason})


def last_block(path: str) -> "Any":
    """Return the run and the iteration of the last block, or None."""
    if not os.path.isfile(path):
        return None
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except ValueError:
        return None


if __name__ == "__main__":
    try:
        decision = main(sys.argv[1:], sys.stdin.buffer.read())
    except Exception as error:  # never a block: the session would not end
        problem = " ".join(f"{type(error).__name__}: {error}".split())
        sys.stderr.write(f"coreloop stop hook: {problem}\n")
        sys.exit(1)
    if decision:
        sys.stdout.write(decision + "\n")
