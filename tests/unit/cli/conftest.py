"""The command from the outside: its entry point in this process, or a process of its own, beside a log."""

import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from coreloop.cli.main import run as entry_point
from logs import repeated, write_log

COMMAND = [sys.executable, "-m", "coreloop"]
Done = subprocess.CompletedProcess[str]
Run = Callable[..., Done]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the entry point in this process, in the folder of the test."""

    def run(*args: str) -> Done:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["dartlab-coreloop", *args])
        with pytest.raises(SystemExit) as end:
            entry_point()
        out, errors = capsys.readouterr()
        assert isinstance(end.value.code, int)
        return Done(args, end.value.code, out, errors)

    return run


@pytest.fixture
def spawn(tmp_path: Path) -> Run:
    """Run the real command, in a process of its own, in the folder of the test."""

    def spawn(*args: str, command: list[str] = COMMAND, **more: Any) -> Done:
        return subprocess.run(
            [*command, *args], cwd=tmp_path, capture_output=True, encoding="utf-8", check=False, **more
        )

    return spawn


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A project whose log holds one pattern."""
    now = datetime.now(UTC).isoformat()
    return write_log(tmp_path / "data" / "audit" / "ai-ask" / "today.jsonl", repeated(4, ts=now))
