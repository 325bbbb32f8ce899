"""``guard check`` of a one-file promotion and of ordinary work, in a repository with a history.

As the command, and (``-m``) as the workflow runs it: ``python -I -m coreloop.guard``.

    uv run python benchmarks/guard.py
    uv run python benchmarks/guard.py OTHER/src    # another version's, in turns, and the ratio

The best of 9 runs in turns, to exclude the machine's other load, and the best processor time (user and
system, with git's), which a busy machine disturbs less.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from guarding import Payload, commit, edit, event, ordinary_event  # noqa: E402 - needs the path above
from promoting import FILE, SOURCE, make_project  # noqa: E402

RUNS = 9
GOAL_MS = 150
"""Above ``python -c pass``."""
N_COMMITS = 500
COMMAND = str(Path(sys.executable).with_name("dartlab-coreloop"))
FROM_SOURCE = (
    "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); "
    "runpy.run_module('coreloop.guard', run_name='__main__', alter_sys=True)"
)
# Lets Python cache bytecode, as for an installed package.
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}


def make_branches(folder: Path) -> tuple[Path, dict[str, Path]]:
    """Make a project with a history, and the payloads of a promotion and of ordinary work."""
    project = make_project(folder)
    start = "from refs/heads/main^0\n"
    stream = "".join(
        f"commit refs/heads/main\ncommitter A <a@b.c> {at} +0000\ndata 1\nx\n{start if at == 1 else ''}"
        f"M 100644 inline f{at}.txt\ndata 1\ny\n"
        for at in range(1, N_COMMITS)
    )
    project.git("fast-import", "--quiet", stdin=stream.encode())
    project.git("reset", "--quiet", "--hard", "main")
    project.git("push", "--quiet", "origin", "main")  # the base of a pull request is on GitHub
    base = project.git("rev-parse", "main")
    payloads = {}
    for name, make, files in (
        ("a promotion", event, {FILE: edit()}),
        ("ordinary work", ordinary_event, {"other.py": b"x = 1\n"}),
        ("a tool's docstring", ordinary_event, {FILE: SOURCE.replace(b"Ratios of", b"All ratios of")}),
    ):
        project.git("switch", "--quiet", "--detach", "main")
        sha = project.commit(dict(files), commit().message if make is event else "fix: x")
        payloads[name] = Payload(make(head_sha=sha, base_sha=base)).write(folder / f"{len(payloads)}.json")
    project.git("switch", "--quiet", "main")
    return project.root, payloads


def milliseconds(command: list[str], folder: Path) -> tuple[float, float]:
    """Elapsed time and processor time."""
    begun, used_before = time.perf_counter(), processor_s()
    subprocess.run(command, cwd=folder, env=ENVIRONMENT, check=False, capture_output=True)
    return (time.perf_counter() - begun) * 1e3, (processor_s() - used_before) * 1e3


def processor_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def commands_of(payloads: dict[str, Path], other: str | None) -> dict[str, list[str]]:
    """The commands to compare, by what they check."""
    about = ["guard", "check", "--event-name", "pull_request", "--event"]
    commands = {"python -c pass": [sys.executable, "-c", "pass"]}
    if other is None:
        commands |= {what: [COMMAND, *about, str(path)] for what, path in payloads.items()}
        alone = [sys.executable, "-I", "-m", "coreloop.guard", *about[1:]]
        return commands | {f"{what}, -m": [*alone, str(path)] for what, path in payloads.items()}
    for version, source in {"this": str(ROOT / "src"), "other": other}.items():
        start = [sys.executable, "-I", "-c", FROM_SOURCE, source, *about[1:]]
        commands |= {f"{what}, {version}": [*start, str(path)] for what, path in payloads.items()}
    return commands


def main(other: str | None = None) -> None:
    for role in ("AUTHOR", "COMMITTER"):
        os.environ |= {f"GIT_{role}_NAME": "A Tester", f"GIT_{role}_EMAIL": "tester@example.org"}
    with tempfile.TemporaryDirectory() as name:
        root, payloads = make_branches(Path(name))
        commands = commands_of(payloads, other)
        first = next(command for what, command in commands.items() if what.startswith("a promotion"))
        done = subprocess.run([*first, "--json"], cwd=root, env=ENVIRONMENT, check=False, capture_output=True)
        assert json.loads(done.stdout)["state"] == "pending"  # nobody has approved it
        best = dict.fromkeys(commands, (float("inf"), float("inf")))
        for _ in range(RUNS):
            for what, command in commands.items():
                elapsed_ms, used_ms = milliseconds(command, root)
                best[what] = min(best[what][0], elapsed_ms), min(best[what][1], used_ms)
    empty_ms, empty_used_ms = best.pop("python -c pass")
    print(f"python -c pass                      {empty_ms:7.1f} ms, processor {empty_used_ms:.1f} ms")
    for what, (elapsed_ms, used_ms) in best.items():
        above = f"{elapsed_ms - empty_ms:.0f} above it (goal: {GOAL_MS})"
        used = f"processor {used_ms:.0f} ms, {used_ms - empty_used_ms:.0f} above"
        print(f"guard check, {what:26} {elapsed_ms:7.1f} ms, {above}, {used}")
    for what in payloads if other is not None else ():
        ratio = best[f"{what}, this"][1] / best[f"{what}, other"][1]
        print(f"{what}: {ratio:.2f} times the processor time of {other}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
