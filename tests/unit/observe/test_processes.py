"""Many processes write the same file: no line is torn, interleaved or lost, even if a writer is killed."""

import json
import random
import signal
import subprocess
import sys
from collections import defaultdict
from contextlib import ExitStack
from itertools import pairwise

import pytest

from coreloop.base.record_lines import MAX_LINE_BYTES
from coreloop.observe import AuditCollector
from coreloop.observe.reading.decode import Skipped, read_lines
from rows import slow_after

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL")

# Sizes differ from record to record, up to several lines; without a number of records it never ends.
WRITER = """
import sys
from itertools import count
from coreloop.observe import AuditCollector, dropped
data_dir, writer, records = sys.argv[1:]
now = lambda: 1777109400 * 10**9
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(records)) if records else count():
    audit = AuditCollector(question=f"{writer} {number}", data_dir=data_dir, clock_ns=now)
    for call in range(number % 53):
        audit.observe_tool_call("analysis", {"axis": "수익성", "text": "x" * (number % 300)})
    audit.flush(chunk_len=number)
    if number % 50 == 0 and not records:
        print(number, flush=True)
print(dropped(), flush=True)
"""


def start(stack, *arguments):
    command = [sys.executable, "-c", WRITER, *map(str, arguments)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    stack.callback(process.kill)
    return stack.enter_context(process)


def go(writers):
    for writer in writers:
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()


def written(data_dir, *, killed=None):
    """The numbers of each writer's records, in the order of the file.

    Every line must be one of a record, except for the last line of the killed writer: the system may stop it
    between two pages of the file, and another writer's line then follows on the same line. If that is a
    further line of a request, the request stays, and says how many calls it lost.
    """
    numbers = defaultdict(list)
    (day,) = (data_dir / "audit" / "ai-ask").iterdir()
    content = day.read_bytes()
    assert content.endswith(b"\n")
    # a writer that opens the file within another's write begins a new line, which no reader counts
    assert max(map(len, content.splitlines(keepends=True))) <= MAX_LINE_BYTES
    cut, torn = [], []
    for line in read_lines(day):
        if isinstance(line, Skipped):
            torn.append(line.reason)
            continue
        writer, number = line.fields.question.split()
        assert line.fields.chunk_len == int(number)
        omitted = line.fields.tool_calls_omitted or 0
        assert len(line.calls) + omitted == int(number) % 53
        cut += [writer] if omitted else []
        numbers[writer].append(int(number))
    assert torn in ([], ["torn or not JSON"] if killed else [])
    assert cut in ([], [killed])
    return numbers


def test_parts_of_requests_that_two_processes_write_at_once_stand_together(tmp_path):
    with ExitStack() as stack:
        writers = [start(stack, tmp_path, f"w{number}", 300) for number in range(2)]
        go(writers)
        assert [writer.communicate(timeout=60)[0] for writer in writers] == ["{}\n"] * 2
    (day,) = (tmp_path / "audit" / "ai-ask").iterdir()
    rows = [json.loads(line) for line in day.read_bytes().splitlines() if line]
    places = list(pairwise(rows))
    assert sum("part" in row for row in rows) > 500
    assert all(one["request_id"] == part["request_id"] for one, part in places if part.get("part"))
    assert all(one["part"] + 1 == part["part"] for one, part in places if part.get("part"))


@pytest.mark.slow
def test_eight_processes_lose_and_tear_nothing(tmp_path):
    with ExitStack() as stack:
        writers = [start(stack, tmp_path, f"w{number}", 2000) for number in range(8)]
        go(writers)
        assert [writer.communicate(timeout=60)[0] for writer in writers] == ["{}\n"] * 8
    assert written(tmp_path) == {f"w{number}": list(range(2000)) for number in range(8)}


@pytest.mark.parametrize("seed", slow_after(1, range(20)))
def test_a_killed_process_does_not_damage_the_others_records(tmp_path, seed):
    enough = random.Random(seed).randint(1, 700)
    with ExitStack() as stack:
        victim = start(stack, tmp_path, "victim", "")
        others = [start(stack, tmp_path, f"w{number}", 500) for number in range(3)]
        go([victim, *others])
        reached = next(number for line in victim.stdout if (number := int(line)) >= enough)
        victim.kill()
        assert victim.wait() == -signal.SIGKILL
        assert [other.communicate(timeout=60)[0] for other in others] == ["{}\n"] * 3
    AuditCollector(question="after 0", data_dir=tmp_path, clock_ns=lambda: 1777109400 * 10**9).flush(
        chunk_len=0
    )
    numbers = written(tmp_path, killed="victim")
    lost = numbers.pop("victim")
    assert lost == list(range(len(lost)))
    assert len(lost) > reached
    assert numbers == {**{f"w{number}": list(range(500)) for number in range(3)}, "after": [0]}
