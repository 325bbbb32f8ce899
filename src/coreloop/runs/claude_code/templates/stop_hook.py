"""Hook of Claude Code, written by `dartlab-coreloop runs install claude-code`. Standard library only.

Stop: keeps the session at work whose run goes on, as .research/agents/SESSION.json says.
UserPromptSubmit: a person begins a turn, so that a run waits until the session works on it again.
"""

# ruff: noqa: PTH108, PTH113, PTH114, PTH118, PTH123
# os.path, since pathlib takes longer to import than the hook takes to run
import json
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LEASE_S = 1800.0
SKEW_S = 60.0  # a file server's clock may be ahead; a time further in the future is no sign of life
MOST_BLOCKS = 3  # without an iteration in between, for a harness that never sends stop_hook_active


def main(arguments: list[str], stdin: bytes) -> str:
    """Return what to print: a decision to go on, a note for the model, or "" to let the turn end."""
    lease_s = float(arguments[arguments.index("--lease") + 1]) if "--lease" in arguments else LEASE_S
    given = json.loads(stdin)
    if not isinstance(given, dict):
        raise TypeError("the input is not an object")
    session = given.get("session_id")
    project = os.environ.get("CLAUDE_PROJECT_DIR") or given.get("cwd") or "."
    folder = os.path.join(project, ".research", "agents")
    if not session or not isinstance(session, str) or os.path.islink(folder):
        return ""
    path = os.path.join(folder, file_name(session))
    if not os.path.isfile(path):  # also not a pipe, which would keep the session waiting
        return ""
    with open(path, encoding="utf-8") as file:
        stat = os.fstat(file.fileno())
        status = json.load(file)
    if status["session"] != session:
        return ""
    version = [stat.st_ino, stat.st_mtime_ns]
    waits = path[: -len("json")] + "waits"
    if given.get("hook_event_name") == "UserPromptSubmit":
        return wait(waits, version, status)
    age_s = time.time() - stat.st_mtime
    if not -SKEW_S <= age_s <= lease_s or not goes_on(status) or given.get("background_tasks"):
        return ""
    if noted(waits) == version:  # a person's turn, in which nothing was done for the run
        return ""
    return block(path[: -len("json")] + "block", status, is_repeated=bool(given.get("stop_hook_active")))


def wait(path: str, version: "list[int]", status: "dict[str, Any]") -> str:
    """Let the run wait until its file is written again; returns a note that says so."""
    note(path, version)
    return str(status["note"]) if goes_on(status) else ""


def file_name(session: str) -> str:
    """Return the name of a session's file, as coreloop writes it."""
    if session.isascii() and session.replace("-", "").replace("_", "").isalnum() and len(session) <= 100:
        return session + ".json"
    import hashlib

    return "x" + hashlib.sha256(session.encode("utf-8", "replace")).hexdigest()[:32] + ".json"


def goes_on(status: "dict[str, Any]") -> bool:
    """Whether the run is neither over nor paused nor over a limit."""
    deadline_at = status["deadline_at"]
    return (
        status["status"] == "running"
        and status["goes_on"] is True
        and status["iteration"] < status["max_iterations"]
        and (status["budget_usd"] is None or status["cost_usd"] < status["budget_usd"])
        and (deadline_at is None or time.time() < deadline_at)
    )


def block(path: str, status: "dict[str, Any]", is_repeated: bool) -> str:
    """Build the decision; a second one in the same turn, and a fourth one, needs progress since the first."""
    now = [status["run_id"], status["iteration"]]
    known = noted(path)
    number = known[-1] + 1 if known and known[:-1] == now else 1
    if number > (1 if is_repeated else MOST_BLOCKS):
        return ""
    note(path, [*now, number])
    return json.dumps({"decision": "block", "reason": status["reason"]})


def note(path: str, facts: "list[Any]") -> None:
    """Write a note beside the session's file."""
    if os.path.lexists(path):  # a pipe would keep the session waiting, a link would lead elsewhere
        os.unlink(path)
    with open(path, "x", encoding="utf-8") as file:
        json.dump(facts, file)


def noted(path: str) -> "Any":
    """Read a note; None without one that can be read."""
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
