"""The day files: a line is a single write, and survives changes to the file by other processes."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter

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


def test_lines_are_appended_in_order(journal, folder):
    for number in range(3):
        journal.append(b"%d\n" % number, day=DAY, second=number // 2)
    assert lines(folder) == [b"0", b"1", b"2"]


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
        pytest.param(b'{"a":1}\n{"b":', [b'{"a":1}', b'{"b":{}', b"{}"], id="half a line"),
        pytest.param(b'{"b":', [b'{"b":{}', b"{}"], id="only half a line"),
        pytest.param(b'{"b":{}', [b'{"b":{}{}', b"{}"], id="half a line that ends with a brace"),
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


def test_a_late_line_of_another_process_adds_no_empty_line(journal, folder, monkeypatch):
    folder.mkdir(parents=True)
    day = folder / f"{DAY}.jsonl"
    day.write_bytes(b'{"other":')
    write = os.write

    def write_after_the_other(fd, data):
        monkeypatch.setattr(os, "write", write)
        with day.open("ab") as other:
            other.write(b"1}\n")
        return write(fd, data)

    monkeypatch.setattr(os, "write", write_after_the_other)
    journal.append(b"1\n", day=DAY, second=1)
    journal.append(b"2\n", day=DAY, second=1)
    assert lines(folder) == [b'{"other":1}', b"1", b"2"]


def test_a_rotated_file_is_followed_within_a_second(journal, folder):
    journal.append(b"1\n", day=DAY, second=1)
    (folder / f"{DAY}.jsonl").rename(folder / "old")
    journal.append(b"2\n", day=DAY, second=1)
    journal.append(b"3\n", day=DAY, second=2)
    assert (folder / "old").read_bytes() == b"1\n2\n"
    assert lines(folder) == [b"3"]


def test_a_replaced_file_is_followed_and_its_torn_end_damages_no_line(journal, folder):
    journal.append(b"1\n", day=DAY, second=1)
    (folder / f"{DAY}.jsonl").unlink()
    (folder / f"{DAY}.jsonl").write_bytes(b"torn")
    journal.append(b"2\n", day=DAY, second=0)
    assert lines(folder) == [b"torn2", b"2"]


def test_a_removed_folder_is_created_again(journal, folder):
    journal.append(b"1\n", day=DAY, second=1)
    (folder / f"{DAY}.jsonl").unlink()
    folder.rmdir()
    journal.append(b"2\n", day=DAY, second=2)
    assert lines(folder) == [b"2"]


def test_a_file_in_place_of_the_folder_is_an_error_until_it_is_removed(journal, folder):
    folder.parent.mkdir()
    folder.write_bytes(b"")
    for _ in range(2):
        with pytest.raises(FileExistsError):
            journal.append(b"1\n", day=DAY, second=1)
    folder.unlink()
    journal.append(b"2\n", day=DAY, second=1)
    assert lines(folder) == [b"2"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")  # noqa: PTH110
def test_a_full_disk_is_an_error_until_there_is_room(journal, folder):
    folder.mkdir(parents=True)
    (folder / f"{DAY}.jsonl").symlink_to("/dev/full")
    for now_s in (1, 1, 2):
        with pytest.raises(OSError, match="No space left"):
            journal.append(b"1\n", day=DAY, second=now_s)
    (folder / f"{DAY}.jsonl").unlink()
    journal.append(b"2\n", day=DAY, second=3)
    assert lines(folder) == [b"2"]


def descriptors_of(path):
    return [fd for fd in map(int, os.listdir("/proc/self/fd")) if is_open_as(path, fd)]  # noqa: PTH208


def is_open_as(path, fd):
    try:
        return os.path.samestat(path.stat(), os.fstat(fd))
    except OSError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("day", [DAY, "2026-04-26"])
def test_a_descriptor_that_a_daemon_closed_is_opened_again(journal, folder, day):
    journal.append(b"1\n", day=DAY, second=1)
    (descriptor,) = descriptors_of(folder / f"{DAY}.jsonl")
    os.close(descriptor)
    journal.append(b"2\n", day=day, second=2)
    assert lines(folder, day)[-1] == b"2"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_only_one_descriptor_stays_open(journal, folder):
    for number in range(20):
        journal.append(b"1\n", day=f"2026-04-{number % 3 + 10}", second=number)
    days = list(folder.iterdir())
    assert len(days) == 3
    assert sum(len(descriptors_of(day)) for day in days) == 1


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


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_dropped_journal_closes_its_file(folder):
    for _ in range(5):
        Journal(folder).append(b"1\n", day=DAY, second=1)
    assert lines(folder) == [b"1"] * 5
    assert descriptors_of(folder / f"{DAY}.jsonl") == []


INTERRUPTED = """
import os, signal, sys
from pathlib import Path
from coreloop.observe.journal import Journal
journal = Journal(Path(sys.argv[1]))
for call in ("open", "write"):
    real, interrupts = getattr(os, call), [True, True]
    def interrupted(*args):
        if interrupts:
            signal.raise_signal(signal.SIGALRM)
        return real(*args)
    def handler(number, frame):
        interrupts.pop()
        journal.append(b"handler %d\\n" % len(interrupts), day="2026-04-25", second=1)
        journal.count_dropped("handler")
    signal.signal(signal.SIGALRM, handler)
    setattr(os, call, interrupted)
    journal.append(call.encode() + b"\\n", day="2026-04-25", second=1)
    setattr(os, call, real)
journal.append(b"after\\n", day="2026-04-25", second=2)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="no SIGALRM")
def test_a_signal_handler_appends_while_its_thread_is_appending(folder):
    run(INTERRUPTED, folder)
    handlers = [b"handler 0", b"handler 1"]
    assert lines(folder) == [*handlers, b"open", *handlers, b"write", b"after"]
    assert sum(entry["n"] for entry in reported(folder)) == 4


STORM = """
import signal, sys, threading, time
from pathlib import Path
from coreloop.observe.journal import Journal
journal = Journal(Path(sys.argv[1]))
counts = [0, 0]
def handler(number, frame):
    counts[0] += 1
    journal.append(b"%05d" % counts[0] + b"h" * 995 + b"\\n", day="2026-04-25", second=counts[0])
    journal.count_dropped("handler")
    if armed:
        signal.setitimer(signal.ITIMER_REAL, 2e-4)
armed = True
signal.signal(signal.SIGALRM, handler)
def work():
    for number in range(3000):
        journal.append(b"%05d" % number + b"t" * 995 + b"\\n", day="2026-04-25", second=number // 7)
thread = threading.Thread(target=work)
thread.start()
signal.setitimer(signal.ITIMER_REAL, 2e-4)
for number in range(3000):
    journal.append(b"%05d" % number + b"m" * 995 + b"\\n", day="2026-04-25", second=number // 7)
    if number % 3 == 0:
        journal.count_dropped("main")
armed = False
thread.join()
time.sleep(0.01)
print(counts[0])
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="no SIGALRM")
def test_many_signals_neither_interleave_nor_lose_lines(folder):
    (signals,) = run(STORM, folder)
    written = Counter((line[5:6], len(line)) for line in lines(folder))
    assert written == {(b"m", 1000): 3000, (b"t", 1000): 3000, (b"h", 1000): int(signals)}
    assert int(signals) > 10
    counted = Counter()
    for entry in reported(folder):
        counted[entry["reason"]] += entry["n"]
    assert counted == {"main": 1000, "handler": int(signals)}


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


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")  # noqa: PTH110
def test_on_a_full_disk_the_counts_wait_for_room(journal, folder, minute):
    folder.parent.mkdir(parents=True)
    (folder.parent / "dropped.jsonl").symlink_to("/dev/full")
    journal.count_dropped("write_ENOSPC")
    minute()
    journal.count_dropped("write_ENOSPC")
    (folder.parent / "dropped.jsonl").unlink()
    minute()
    journal.append(b"1\n", day=DAY, second=1)
    assert [(entry["reason"], entry["n"]) for entry in reported(folder)] == [("write_ENOSPC", 2)]


def test_a_line_that_was_cut_off_damages_no_later_line(journal, folder):
    folder.parent.mkdir(parents=True)
    (folder.parent / "dropped.jsonl").write_bytes(b'\n{"ts":"20')
    journal.count_dropped("torn_write")
    assert (folder.parent / "dropped.jsonl").read_bytes().splitlines()[1] == b'{"ts":"20'
    assert json.loads((folder.parent / "dropped.jsonl").read_bytes().splitlines()[2])["n"] == 1


@pytest.mark.parametrize("where", ["a file", "nul\0"])
def test_an_unusable_folder_for_the_counts_is_not_an_error(tmp_path, where):
    (tmp_path / "a file").touch()
    Journal(tmp_path / where / "audit" / "ai-ask").count_dropped("write_ENOTDIR")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_child_does_not_report_its_parents_counts(journal, folder):
    journal.count_dropped("first")
    journal.count_dropped("second")
    child = os.fork()
    if child == 0:
        journal.append(b"1\n", day=DAY, second=1)
        os._exit(len(reported(folder)) - 1)
    assert os.waitpid(child, 0)[1] == 0
    journal.report_dropped(immediately=True)
    assert [entry["reason"] for entry in reported(folder)] == ["first", "second"]


ENDING = """
import sys
from pathlib import Path
from coreloop.observe.journal import Journal
folder = Path(sys.argv[1])
journal = Journal(folder)
for reason in ("write_ENOSPC", "write_ENOSPC", "torn_write"):
    journal.count_dropped(reason)
if sys.argv[2] == "room":
    (folder.parent / "dropped.jsonl").unlink()
if sys.argv[2] == "collected":
    del journal
    import gc, os
    gc.collect()
    os._exit(0)
"""


@pytest.mark.parametrize("end", ["exit", "room", "collected"])
def test_dropped_records_are_reported_at_exit(folder, end):
    if end == "room":
        if not os.path.exists("/dev/full"):  # noqa: PTH110
            pytest.skip("no /dev/full")
        folder.parent.mkdir(parents=True)
        (folder.parent / "dropped.jsonl").symlink_to("/dev/full")
    run(ENDING, folder, end)
    counted = Counter()
    for entry in reported(folder):
        counted[entry["reason"]] += entry["n"]
    assert counted == {"write_ENOSPC": 2, "torn_write": 1}


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")  # noqa: PTH110
def test_the_counts_are_reported_a_second_after_a_full_disk(journal, folder, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    folder.parent.mkdir(parents=True)
    (folder.parent / "dropped.jsonl").symlink_to("/dev/full")
    journal.count_dropped("write_ENOSPC")
    (folder.parent / "dropped.jsonl").unlink()
    now[0] += 1.1
    journal.append(b"1\n", day=DAY, second=1)
    assert [(entry["reason"], entry["n"]) for entry in reported(folder)] == [("write_ENOSPC", 1)]
