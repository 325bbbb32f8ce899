"""The day files: a line is a single write, and survives changes to the file by other processes."""

import json
import os
import subprocess
import sys

import pytest

from coreloop.observe.journal import Journal

DAY = "2026-04-25"


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "audit" / "ai-ask"


@pytest.fixture
def journal(folder):
    journal = Journal(folder)
    yield journal
    journal.close()


def lines(folder, day=DAY):
    return (folder / f"{day}.jsonl").read_bytes().splitlines()


def mode(path):
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize(
    ("left", "expected"),
    [
        pytest.param(b'{"a":1}\n{"b":', [b'{"a":1}', b'{"b":', b"{}"], id="half a line"),
        pytest.param(b'{"b":', [b'{"b":', b"{}"], id="only half a line"),
        pytest.param(b'{"a":1}', [b'{"a":1}', b"{}"], id="line without its newline"),
        pytest.param(b'{"a":1}\n', [b'{"a":1}', b"{}"], id="whole line"),
        pytest.param(b"", [b"{}"], id="empty file"),
    ],
)
def test_the_rest_of_a_killed_writer_does_not_damage_later_lines(journal, folder, left, expected):
    folder.mkdir(parents=True)
    (folder / f"{DAY}.jsonl").write_bytes(left)
    journal.append(b"{}\n", day=DAY, second=1)
    assert lines(folder) == expected


# In a process of its own: the limit and the fork concern a whole process.


def run(script, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.splitlines()


FORK = """
import os, signal, sys, threading
from pathlib import Path
from coreloop.observe.journal import Journal
journal = Journal(Path(sys.argv[1]))
journal.append(b"before\\n", day="2026-04-25", second=1)
held, done = threading.Event(), threading.Event()
def hold():
    with journal._lock:  # as a thread does that is writing
        held.set()
        done.wait()
thread = threading.Thread(target=hold)
thread.start()
held.wait()
child = os.fork()
if not child:
    signal.alarm(20)
    journal.append(b"child\\n", day="2026-04-25", second=1)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
done.set()
thread.join()
journal.append(b"parent\\n", day="2026-04-25", second=1)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_child_writes_although_a_thread_of_the_parent_held_the_lock(folder):
    assert run(FORK, folder) == ["0"]
    assert lines(folder) == [b"before", b"child", b"parent"]


def reported(folder):
    path = folder.parent / "dropped.jsonl"
    return [json.loads(text) for text in path.read_bytes().split(b"\n") if text] if path.exists() else []


@pytest.mark.usefixtures("open_umask")
def test_dropped_records_are_reported_and_never_lost(journal, folder):
    journal.count_dropped("torn_write")
    assert mode(folder.parent / "dropped.jsonl") == 0o600
    (folder.parent / "dropped.jsonl").unlink()
    (folder.parent / "dropped.jsonl").mkdir()
    for _ in range(2):
        journal.count_dropped("write_ENOSPC")
    (folder.parent / "dropped.jsonl").rmdir()
    journal.append(b"1\n", day=DAY, second=1)
    assert [(entry["reason"], entry["n"]) for entry in reported(folder)] == [("write_ENOSPC", 2)]


@pytest.mark.usefixtures("open_umask")
def test_folder_that_others_can_read_becomes_private(journal, folder):
    folder.mkdir(parents=True)
    journal.append(b"1\n", day=DAY, second=1)
    assert mode(folder) == 0o700
