"""An environment per framework, made once for each pinned version and kept in the user's cache.

``python tests/frameworks/environments.py`` makes all of them, several at once.
"""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from coreloop.base.record_lines import MAX_LINE_BYTES
from coreloop.observe.reading.decode import raw_lines

HERE: Final = Path(__file__).parent
_CACHE: Final = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "coreloop-frameworks"
NPM: Final = (
    *("@modelcontextprotocol/sdk@1.32.2", "ai@6.0.326", "zod@4.6.7", "tsx@4.23.15"),
    "@opentelemetry/sdk-node@0.301.0",
)
RECORDING: Final = ("orjson", "pyyaml")
"""What a project's server has beside its framework, to record with its settings."""
EXPORTING: Final = (
    *RECORDING,
    "opentelemetry-exporter-otlp-proto-http",
    "openinference-instrumentation-langchain",
)
_NO_REGISTRY: Final = ("failed to fetch", "dns error", "connect", "timed out", "offline")


def versions(file: str = "versions.txt") -> dict[str, str]:
    """Distribution -> pinned version."""
    lines = (HERE / file).read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if line and not line.startswith("#"))


def interpreter(distribution: str, also: tuple[str, ...] = ()) -> Path:
    """The interpreter that has a framework; skips the test where it can neither be found nor installed.

    With `RECORDING`, it also has what coreloop needs to record, and coreloop itself by PYTHONPATH.
    """
    found = _environment(distribution, also)
    if isinstance(found, str):
        pytest.skip(found)
    return found / "bin" / "python"


@cache
def _environment(distribution: str, also: tuple[str, ...] = ()) -> Path | str:
    """The environment's folder, or why there is none."""
    pinned = {**versions(), **(versions("recorded_versions.txt") if also else {})}
    wanted = f"{distribution}=={pinned[distribution]}"
    python = f"py{sys.version_info.major}{sys.version_info.minor}"
    folder = _CACHE / "-".join([wanted.replace("==", "-"), *also, python])
    _CACHE.mkdir(parents=True, exist_ok=True)
    with (_CACHE / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several test processes want the same one
        if (folder / "complete").exists():
            return folder
        if shutil.which("uv") is None:
            return f"no environment for {wanted}, and no uv to make one"
        shutil.rmtree(folder, ignore_errors=True)
        _uv("venv", "--quiet", "--python", sys.executable, str(folder))
        said = _uv("pip", "install", "--quiet", "--python", str(folder / "bin" / "python"), wanted, *also)
        if any(sign in said.lower() for sign in _NO_REGISTRY):
            return f"no environment for {wanted}, and no registry to make one from: {said[-200:]}"
        assert not said, said
        (folder / "complete").touch()
    return folder


def command(distribution: str, folder: Path) -> list[str]:
    """What runs the server of a folder; skips the test where its packages cannot be had."""
    if distribution != "npm":
        return [str(interpreter(distribution, RECORDING)), "server.py"]
    return node(folder, "server.mts")


def node(folder: Path, script: str) -> list[str]:
    """What runs a script in TypeScript, with packages in its folder."""
    packages = _CACHE / "-".join(NPM).replace("/", "-")
    packages.mkdir(parents=True, exist_ok=True)
    with (packages / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        words = ["npm", "install", "--prefer-offline", "--no-audit", *NPM]
        done = subprocess.run(words, cwd=packages, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no packages of npm: {done.stderr[-200:]}")
    (folder / "node_modules").symlink_to(packages / "node_modules")
    return ["node", "--import", "tsx", script]


def drive(
    script: str, distribution: str, requests: list[dict[str, Any]], *words: str
) -> tuple[list[dict[str, Any]], list[Any]]:
    """Run a script of ``drives/`` with planned requests; gives the records and the printed objects."""
    python = interpreter(distribution, RECORDING)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "plan.json").write_text(json.dumps(requests), encoding="utf-8")
        done = subprocess.run(
            [python, HERE / "drives" / f"{script}.py", "plan.json", "data", *words],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(HERE.parents[1] / "src"), "IS_SANDBOX": "1"},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, done.stderr
        days = [*Path(folder, "data", "audit", "ai-ask").glob("*.jsonl")]
        lines = [line for day in days for line in day.read_bytes().splitlines(keepends=True)]
        records = [json.loads(raw) for day in days for _, raw in raw_lines(day)]
    assert max(map(len, lines)) <= MAX_LINE_BYTES
    printed = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return records, printed


def _uv(*words: str) -> str:
    """What uv complains about when it fails, else nothing; the constraints of this project are not its."""
    done = subprocess.run(["uv", *words], cwd=_CACHE, capture_output=True, text=True, check=False)
    return " ".join(done.stderr.split()) or "uv failed" if done.returncode else ""


def main() -> None:
    with ThreadPoolExecutor(4) as pool:  # they wait for the network
        for distribution, found in zip(versions(), pool.map(_environment, versions()), strict=True):
            print(f"{distribution}: {found}")


if __name__ == "__main__":
    main()
