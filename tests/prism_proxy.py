"""Prism between a client and the GitHub stand-in: holds what passes against the official API description.

What does not fit the description is answered 500. tests/prism/install.sh fetches it.
"""

import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue

HERE = Path(__file__).parent
PRISM = HERE / ".prism/node_modules/@stoplight/prism-cli/dist/index.js"
SPEC = HERE / ".prism/github.json"
END_WITH_PARENT = HERE / "prism/end_with_parent.cjs"
LONGEST_START_S = 60


def why_no_prism() -> str | None:
    if shutil.which("node") is None:
        return "Node is not installed"
    if not PRISM.exists() or not SPEC.exists():
        return "Prism is not installed: run tests/prism/install.sh"
    return None


@contextmanager
def prism_proxy(upstream: str) -> Iterator[str]:
    """Run Prism before `upstream`; gives its address, and ends it whatever happens."""
    command = ["node", "--require", str(END_WITH_PARENT), str(PRISM), "proxy", "--errors", "--port", "0"]
    process = subprocess.Popen(
        [*command, str(SPEC), upstream],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    )
    lines: SimpleQueue[str | None] = SimpleQueue()
    drain = threading.Thread(target=_drain, args=(process, lines), daemon=True)
    with process:
        drain.start()
        try:
            yield _address(lines)
        finally:
            process.kill()
            drain.join()


def _address(lines: "SimpleQueue[str | None]") -> str:
    """Wait for the line that says where Prism listens."""
    said = []
    try:
        while (line := lines.get(timeout=LONGEST_START_S)) is not None:
            if found := re.search(r"listening on (http://\S+)", line):
                return found[1]
            said.append(line)
    except Empty:
        said.append(f"no word for {LONGEST_START_S} s")
    raise RuntimeError("Prism did not start:\n" + "".join(said))


def _drain(process: subprocess.Popen[str], lines: "SimpleQueue[str | None]") -> None:
    # to the end, else Prism stops at a full pipe
    assert process.stdout is not None
    for line in process.stdout:
        lines.put(line)
    lines.put(None)
