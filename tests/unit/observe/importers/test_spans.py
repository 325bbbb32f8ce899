"""Spans that are gathered by trace."""

import subprocess
import sys

GATHER = """
import resource, signal
from coreloop.base.errors import WorkspaceError
from coreloop.observe.importers.spans import TraceSpan, requests
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
args = {"text": "x" * 100_000}
spans = (TraceSpan(trace_id=str(i), id="a", kind="tool", name="show", args=args) for i in range(500))
try:
    list(requests("otlp", spans))
except WorkspaceError as error:
    print(error)
"""


def test_no_room_for_temporary_files_is_one_line() -> None:
    done = subprocess.run([sys.executable, "-c", GATHER], capture_output=True, text=True, check=True)
    assert "cannot gather spans" in done.stdout
    assert done.stdout.count("\n") == 1
