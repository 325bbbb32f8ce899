"""Many processes write the same file: no line is torn, interleaved or lost, even if a writer is killed."""

import json
import random
import signal
import subprocess
import sys
from collections import defaultdict
from contextlib import ExitStack

import pytest

from coreloop.observe import AuditCollector
from rows import slow_after

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL")

# Sizes differ from record to record, up to the longest line; without a number of records it never ends.
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
    for call in range(number % 13):
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

    Every line must be a record, except for the last line of the killed writer: the system may stop it between
    two pages of the file, and another writer's line then follows on the same line.
    """
    numbers = defaultdict(list)
    (day,) = (data_dir / "audit" / "ai-ask").iterdir()
    content = day.read_bytes()
    assert content.endswith(b"\n")
    torn = 0
    # a writer that opens the file within another's write begins a new line, which no reader counts
    for line in filter(None, content.splitlines()):
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            assert killed is not None
            assert f'"question":"{killed} '.encode() in line
            torn += 1
            continue
        writer, number = record["question"].split()
        assert record["chunk_len"] == int(number)
        assert len(record["tool_calls"]) + record.get("tool_calls_omitted", 0) == int(number) % 13
        numbers[writer].append(int(number))
    assert torn <= 1
    return numbers


@pytest.mark.slow
def test_eight_processes_lose_and_tear_nothing(tmp_path):
    with ExitStack() as stack:
        writers = [start(stack, tmp_path, f"w{number}", 2000) for number in range(8)]
        go(writers)
        assert [writer.communicate(timeout=60)[0] for writer in writers] == ["{}\n"] * 8
    assert written(tmp_path) == {f"w{number}": list(range(2000)) for number in range(8)}


@pytest.mark.parametrize("seed", slow_after(1, [0, 1, 2]))
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
