"""Long work shows a progress bar, only on a terminal, and erases it at the end."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a pseudo terminal")
WORK = """
import sys, time
import click
from coreloop.cli.output import ProgressBar
@click.command()
def work():
    bar = ProgressBar("reading records")
    for done in range(1, 11):
        time.sleep(float(sys.argv[1]) / 10)
        bar.update(done, 10)
    if sys.argv[2] == "fails":
        raise click.UsageError("no")
    bar.end()
    click.echo("the end", err=True)
try:
    work(args=[], standalone_mode=False)
except click.UsageError:
    click.echo("the end", err=True)
"""

# A fast machine may read the test's log in less than the usual delay.


def on_a_terminal(command: list[str], folder: Path) -> str:
    """Run a process with a terminal as its stderr and return what it writes there."""
    leader, follower = pytest.importorskip("pty").openpty()
    environ = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80"}
    process = subprocess.Popen(command, cwd=folder, env=environ, stdout=subprocess.DEVNULL, stderr=follower)
    os.close(follower)
    written = b""
    with os.fdopen(leader, "rb", buffering=0) as terminal:
        while True:
            try:
                part = terminal.read(65536)
            except OSError:  # Linux: the other end is closed
                break
            if not part:
                break
            written += part
    assert process.wait() == 0
    return written.decode()


@pytest.mark.slow
@pytest.mark.parametrize("outcome", ["succeeds", "fails"])
def test_work_of_more_than_a_second_shows_a_bar_that_is_erased(tmp_path: Path, outcome: str):
    written = on_a_terminal([sys.executable, "-c", WORK, "2", outcome], tmp_path)
    assert "reading records" in written
    assert "%" in written
    _, _, left = written.rpartition("\x1b[2K")  # which erases the line
    assert left.replace("\x1b[?25h", "").strip("\r\n") == "the end"


def test_shorter_work_shows_no_bar(tmp_path: Path):
    assert on_a_terminal([sys.executable, "-c", WORK, "0.2", "succeeds"], tmp_path).strip() == "the end"


@pytest.mark.slow
def test_without_a_terminal_there_is_no_bar():
    done = subprocess.run([sys.executable, "-c", WORK, "1.5", "succeeds"], capture_output=True, check=True)
    assert done.stderr == b"the end\n"
