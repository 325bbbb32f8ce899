"""The day files: a line is a single write, and survives changes to the file by other processes."""

import json
import os
import subprocess
import sys
import time

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


@pytest.fixture
def open_umask():
    before = os.umask(0)
    yield
    os.umask(before)


def lines(folder, day=DAY):
    return (folder / f"{day}.jsonl").read_bytes().splitlines()


def mode(path):
    return path.stat().st_mode & 0o777


@pytest.mark.usefixtures("open_umask")
def test_only_the_owner_may_read(journal, folder):
    journal.append(b"1\n", day=DAY, second=1)
    assert mode(folder / f"{DAY}.jsonl") == 0o600
    assert mode(folder) == 0o700


def test_each_day_has_its_file_in_any_order(journal, folder):
    for number, day in enumerate([DAY, "2026-04-26", DAY, "2026-04-26"]):
        journal.append(b"%d\n" % number, day=day, second=7)
    assert lines(folder) == [b"0", b"2"]
    assert lines(folder, "2026-04-26") == [b"1", b"3"]


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


@pytest.mark.parametrize("second", [1, 2])
def test_half_a_line_between_two_lines_damages_neither(journal, folder, second):
    journal.append(b"1\n", day=DAY, second=1)
    with (folder / f"{DAY}.jsonl").open("ab") as killed:
        killed.write(b'{"b":')
    journal.append(b"2\n", day=DAY, second=second)
    journal.append(b"3\n", day=DAY, second=second)
    assert lines(folder) == [b"1", b'{"b":2', b"2", b"3"]


# In a process of its own: the limit and the fork concern a whole process.

SHORT_WRITE = """
import resource, sys
from pathlib import Path
from coreloop.observe.journal import Journal, TornWriteError
journal = Journal(Path(sys.argv[1]))
line = lambda number: b'{"n":%d,"x":"%s"}\\n' % (number, b"x" * 50)
journal.append(line(1), day="2026-04-25", second=1)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
for number in (2, 3):
    try:
        journal.append(line(number), day="2026-04-25", second=1)
    except OSError as error:
        print(type(error).__name__, error.errno)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
for number in (4, 5):
    journal.append(line(number), day="2026-04-25", second=1)
"""


def run(script, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.splitlines()


def test_a_short_write_is_sealed_so_that_the_next_line_survives(folder):
    pytest.importorskip("resource")
    assert run(SHORT_WRITE, folder) == ["TornWriteError 0", "OSError 27"]
    complete = [b'{"n":%d,"x":"%s"}' % (number, b"x" * 50) for number in (1, 2, 4, 5)]
    first, torn, *after = lines(folder)
    assert first == complete[0]
    half = torn.removesuffix(complete[2])
    assert complete[1].startswith(half)
    assert 0 < len(half) < len(complete[1])
    assert after == complete[2:]


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


@pytest.fixture
def minute(monkeypatch):
    """A clock that a test sets forward."""
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    def forward():
        now[0] += 61

    return forward


@pytest.mark.usefixtures("open_umask")
def test_dropped_records_are_reported_once_a_minute_and_never_lost(journal, folder, minute):
    for reason in ("write_ENOSPC", "write_ENOSPC", "torn_write"):
        journal.count_dropped(reason)
    assert [(entry["reason"], entry["n"]) for entry in reported(folder)] == [("write_ENOSPC", 1)]
    minute()
    journal.append(b"1\n", day=DAY, second=1)
    journal.append(b"2\n", day=DAY, second=2)
    assert [(entry["reason"], entry["n"]) for entry in reported(folder)[1:]] == [
        ("write_ENOSPC", 1),
        ("torn_write", 1),
    ]
    assert mode(folder.parent / "dropped.jsonl") == 0o600
    minute()
    journal.append(b"3\n", day=DAY, second=3)
    assert len(reported(folder)) == 3
