"""Commands that a person types: in a terminal of its own, without a trace of an agent in the environment."""

import os
import pty
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from coreloop.runs.person_or_agent import is_below_claude_code

_NO_AGENT = {"CLAUDECODE": "", "CLAUDE_CODE_SESSION_ID": "", "CORELOOP_RUN": ""}


def typed(
    folder: Path, *words: str, environ: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run ``dartlab-coreloop`` as typed in a folder; its output is no terminal."""
    if is_below_claude_code():
        pytest.skip("within a shell of Claude Code nobody types; run the tests outside of it")
    master, slave = pty.openpty()
    try:
        return subprocess.run(
            [sys.executable, "-m", "coreloop", *words],
            cwd=folder,
            stdin=slave,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **_NO_AGENT, **(environ or {})},
        )
    finally:
        os.close(master)
        os.close(slave)
