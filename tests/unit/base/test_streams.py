"""An exit code does not depend on who reads the output."""

import subprocess
import sys

import pytest

from rows import each_row

SCRIPT = """
import sys
from coreloop.base.streams import outlive_readers
outlive_readers()
for number in range(20_000):
    print("a line of the answer", number)
print("a word on stderr", file=sys.stderr)
print("more", flush=True)
sys.exit(1)
"""


def exit_of(shell: str) -> tuple[str, str]:
    """The exit code that the shell saw, and what else came to stderr."""
    command = ["sh", "-c", shell, sys.executable, SCRIPT]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    *errors, code = done.stderr.splitlines()
    return code, "\n".join(errors)


@pytest.mark.slow
@each_row(
    "shell",
    [
        pytest.param('{ "$0" -c "$1"; echo $? >&2; } | head -1', id="the reader stops early"),
        pytest.param('{ "$0" -c "$1"; echo $? >&2; } | true', id="without a reader"),
        pytest.param('{ "$0" -u -c "$1"; echo $? >&2; } | head -1', id="without a buffer"),
        pytest.param('"$0" -c "$1" >&-; echo $? >&2', id="stdout is closed"),
        pytest.param('"$0" -c "$1" <&- >&-; echo $? >&2', id="stdin and stdout are closed"),
        pytest.param('"$0" -c "$1" 1</dev/null; echo $? >&2', id="stdout cannot be written to"),
    ],
)
def test_a_closed_stdout_changes_neither_exit_code_nor_stderr(shell: str):
    assert exit_of(shell) == ("1", "a word on stderr")


def test_files_opened_later_get_no_output():
    """A closed stdout's number would go to the next file, and the output into it."""
    script = """
import os, sys
from coreloop.base.streams import outlive_readers
outlive_readers()
assert os.open("/dev/null", os.O_RDWR) > 2
print("done")
"""
    command = ["sh", "-c", '"$0" -c "$1" >&-', sys.executable, script]
    assert subprocess.run(command, check=False, capture_output=True).stderr == b""
