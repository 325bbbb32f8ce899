"""A fault inside an adapter, or of its disk, never reaches the framework: the agents finish their work."""

import json
import os
import resource
import subprocess
from pathlib import Path
from typing import Final

import pytest

from frameworks.environments import HERE, RECORDING, interpreter
from frameworks.planned import plan
from frameworks.test_recording import DRIVES

pytestmark = pytest.mark.frameworks
_SOURCE: Final = HERE.parents[1] / "src"
EVERY_DRIVE: Final = {
    **DRIVES,
    "mcp": "mcp",
    "fastmcp": "fastmcp",
    "claude_agent_sdk": "claude-agent-sdk",
}
BROKEN: Final = """
from coreloop.observe.adapters import requests
def broken(*args, **kwargs):
    raise ZeroDivisionError("a fault of the adapter")
requests.named_args = requests.plain_result = broken
"""
"""Run by the interpreter at its start: arguments and results of every call raise inside the adapter."""


def dropped(drive: str, folder: Path, *, max_file_bytes: int | None = None) -> dict[str, int]:
    """Run a drive to its end; return what the collector says that it dropped."""
    (folder / "plan.json").write_text(json.dumps(plan(n_requests=20)), encoding="utf-8")
    done = subprocess.run(
        [
            interpreter(EVERY_DRIVE[drive], RECORDING),
            HERE / "drives" / f"drive_{drive}.py",
            "plan.json",
            "data",
        ],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": f"{_SOURCE}{os.pathsep}{folder}", "IS_SANDBOX": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
        preexec_fn=None
        if max_file_bytes is None
        else lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (max_file_bytes, max_file_bytes)),
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return next(line for line in lines if all(isinstance(count, int) for count in line.values()))


@pytest.mark.parametrize("drive", EVERY_DRIVE)
def test_faults_inside_an_adapter_are_counted_and_the_agents_finish(drive: str, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(BROKEN, encoding="utf-8")
    assert dropped(drive, tmp_path)["bug_ZeroDivisionError"] > 20


@pytest.mark.parametrize("drive", [name for name in EVERY_DRIVE if name != "claude_agent_sdk"])
def test_full_disk_is_counted_and_the_agents_finish(drive: str, tmp_path: Path) -> None:
    """Claude Code itself needs a disk."""
    assert dropped(drive, tmp_path, max_file_bytes=4096)["write_EFBIG"] >= 15
