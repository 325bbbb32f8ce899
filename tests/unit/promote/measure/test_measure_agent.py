"""A project's own agent, which is run in two copies of the project; real processes."""

import os
import select
import sys
import textwrap
from pathlib import Path

import pytest

from coreloop.answer.models.model import Message
from coreloop.base.errors import ModelError
from coreloop.promote.measure.ask_agent import AgentCaller

HEAD = """
import json, os, subprocess, sys, time
asked = json.load(sys.stdin)
tools = [{"name": "update", "description": open("description").read()}]
if asked["ask"] == "tools":
    print(json.dumps(tools))
    sys.exit()
"""
MESSAGES = (Message("system", "not for agents"), Message("user", "Make it urgent"))


def caller(tmp_path: Path, body: str, *, timeout_s: float = 30) -> AgentCaller:
    folders = tmp_path / "without", tmp_path / "with"
    for folder in folders:
        folder.mkdir()
        (folder / "description").write_text(f"Update, {folder.name} the line.")
        (folder / "agent.py").write_text(HEAD + textwrap.dedent(body))
    return AgentCaller((sys.executable, "agent.py"), folders, timeout_s, "1234")


def test_each_copy_serves_its_own_descriptions_and_answers_for_them(tmp_path: Path) -> None:
    agent = caller(
        tmp_path,
        'said = [m["content"] for m in asked["messages"]]\n'
        'print(json.dumps({"tool": "update", "arguments": {"said": said, "by": tools[0]["description"]}}))',
    )
    base, edited = (agent.tools(folder) for folder in agent.copies)
    assert [tools[0].description for tools in (base, edited)] == [
        "Update, without the line.",
        "Update, with the line.",
    ]
    agent = AgentCaller(agent.command, agent.copies, agent.timeout_s, agent.version, edited)
    for tools in (base, edited):
        reply = agent.call(MESSAGES, tools).value
        assert reply.arguments == {"said": ["Make it urgent"], "by": tools[0].description}


def test_an_agent_may_call_no_tool(tmp_path: Path) -> None:
    agent = caller(tmp_path, """print('{"tool": null}')""")
    with pytest.raises(ModelError, match="calls no tool") as caught:
        agent.call(MESSAGES, ())
    assert caught.value.kind == "malformed"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("print('Sure!')", "cannot be used"),
        ("print('[]')", "cannot be used"),
        ("print('[' * 100_000)", "cannot be used"),
        ('print(\'{"tool": "update", "arguments": 3}\')', "cannot be used"),
        ("sys.stdout.buffer.write(b'\\xff')", "cannot be used"),
        ("print()", "cannot be used"),
        ("raise SystemExit('no key')", "exited with 1: no key"),
        ("os.kill(os.getpid(), 9)", "exited with -9"),
    ],
)
def test_what_is_no_answer_is_an_error_of_the_model(tmp_path: Path, body: str, reason: str) -> None:
    with pytest.raises(ModelError, match=reason) as caught:
        caller(tmp_path, body).call(MESSAGES, ())
    assert caught.value.kind == "unavailable"


def test_a_program_that_is_absent_or_serves_no_tools_is_an_error_of_the_model(tmp_path: Path) -> None:
    agent = caller(tmp_path, "")
    (agent.copies[0] / "agent.py").write_text("print('[]')")
    with pytest.raises(ModelError, match="no tool with a name"):
        agent.tools(agent.copies[0])
    absent = AgentCaller(("no-such-program",), agent.copies, 30, "1234")
    with pytest.raises(ModelError, match="No such file"):
        absent.tools(agent.copies[0])


def test_a_lost_answer_is_asked_for_again(tmp_path: Path) -> None:
    agent = caller(
        tmp_path,
        """
        if not os.path.exists("lost"):
            open("lost", "w").close()
            sys.exit("connection lost")
        print('{"tool": "update"}')
        """,
    )
    assert agent.call(MESSAGES, ()).value.tool == "update"


@pytest.mark.slow
def test_an_agent_that_hangs_is_killed_with_all_that_it_started(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    agent = caller(
        tmp_path,
        f"""
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        open({str(pids)!r}, "a").write(f"{{os.getpid()}} {{child.pid}}\\n")
        time.sleep(600)
        """,
        timeout_s=3,
    )
    with pytest.raises(ModelError, match="no answer in 3 s"):
        agent.call(MESSAGES, ())
    started = pids.read_text().split()
    assert started
    assert all(_ends(int(pid)) for pid in started)


def _ends(pid: int) -> bool:
    """Whether a killed process is gone soon; the kernel ends it after the call that kills it."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([process], [], [], 30)[0])
    finally:
        os.close(process)
