"""Who may have been started here, while processes end."""

import os
import subprocess
import sys

import pytest

from coreloop.runs import person_or_agent


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux names the sender of a signal")
def test_a_sender_that_ends_while_it_is_looked_at_may_be_started_here(monkeypatch: pytest.MonkeyPatch):
    sender = subprocess.Popen(["sleep", "60"])
    read = person_or_agent._parent

    def ended_first(pid: int | None) -> int | None:
        sender.kill()
        sender.wait()
        return read(pid)

    monkeypatch.setattr(person_or_agent, "_parent", ended_first)
    assert person_or_agent.may_be_started_here(sender.pid)
    monkeypatch.undo()
    assert not person_or_agent.may_be_started_here(os.getppid())
