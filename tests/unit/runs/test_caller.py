"""Who may have been started here, while processes end."""

import os
import subprocess
import sys

import pytest

from coreloop.runs import caller


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux names the sender of a signal")
def test_a_sender_that_ends_while_it_is_looked_at_may_be_started_here(monkeypatch: pytest.MonkeyPatch):
    sender = subprocess.Popen(["sleep", "60"])
    read = caller._parent

    def ended_first(pid: int | None) -> int | None:
        sender.kill()
        sender.wait()
        return read(pid)

    monkeypatch.setattr(caller, "_parent", ended_first)
    assert caller.may_be_started_here(sender.pid)
    monkeypatch.undo()
    assert not caller.may_be_started_here(os.getppid())
