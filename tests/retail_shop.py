"""The example shop as a repository of its own, with real requests, and its commands as real processes."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

SHOP = Path(__file__).parents[1] / "examples" / "retail"


def shop_with_records(tmp_path: Path, tau_log: Path) -> tuple[Path, Path]:
    """A clone of the example and its bare remote; the clone holds the real requests."""
    folder, remote = tmp_path / "shop", tmp_path / "remote.git"
    shutil.copytree(SHOP, folder, ignore=shutil.ignore_patterns("__pycache__", "data"))
    git(tmp_path, "init", "--quiet", "--bare", "--initial-branch=main", str(remote))
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "config", "user.name", "A Maintainer")
    git(folder, "config", "user.email", "maintainer@example.com")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message=A shop")
    git(folder, "remote", "add", "origin", str(remote))
    git(folder, "push", "--quiet", "--set-upstream", "origin", "main")
    records = folder / "data" / "audit" / "ai-ask"
    records.mkdir(parents=True)
    shutil.copy(tau_log, records)
    return folder, remote


def environment() -> Mapping[str, str]:
    """No token, nobody's git settings; `python` is the one that runs the tests, and leaves no bytecode."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("GIT", "GH_", "PYTHON"))
    }
    path = os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", "")])
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    return {**kept, **quiet, "PATH": path, "PYTHONUTF8": "1"}


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env=environment(), capture_output=True, encoding="utf-8", check=False
    )


def output(command: list[str], folder: Path) -> str:
    done = run(command, folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def git(folder: Path, *words: str) -> str:
    return output(["git", *words], folder)


def descriptions(folder: Path) -> dict[str, str]:
    schema = json.loads(output(["python", "-m", "retail.schema"], folder))
    return {tool["function"]["name"]: tool["function"]["description"] for tool in schema}
