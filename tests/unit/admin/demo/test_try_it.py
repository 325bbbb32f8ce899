"""What the demo says to try works as it stands, from any folder and however the demo was called."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from rows import slow_after

SCRIPT = Path(sys.executable).with_name("dartlab-coreloop")


@pytest.mark.slow
@pytest.mark.parametrize(
    "called",
    slow_after(
        1,
        [
            pytest.param((str(SCRIPT),), id="the script"),
            pytest.param((sys.executable, "-m", "coreloop"), id="python -m"),
        ],
    ),
)
def test_the_printed_commands_run(called: tuple[str, ...], tmp_path: Path):
    out = tmp_path / "my scratch"
    shown = subprocess.run(
        [*called, "demo", "--out", str(out)], capture_output=True, text=True, check=True, cwd=tmp_path
    ).stdout
    commands = [line.strip() for line in shown.partition("Try it yourself:\n")[2].splitlines()]
    assert commands[0] == f"cd {shlex.quote(str(out))}"
    done = subprocess.run(
        ["sh", "-ec", "\n".join(commands)], cwd="/", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "\n+    - " in done.stdout  # what git shows of the branch
    assert re.search(r"^alarms +none$", done.stdout, re.MULTILINE)
    assert re.search(r"^state +waiting, since ", done.stdout, re.MULTILINE)
    assert "too early (no call yet)" in done.stdout
