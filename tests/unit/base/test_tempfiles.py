"""Leftovers of killed processes are removed, and workers end with their parent."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from coreloop.base.files import write_private
from coreloop.base.tempfiles import temporary_folder
from logs import record, write_log

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs kill -9")
HOLD = """
import sys, time
from pathlib import Path
from coreloop.base.files import replacing
from coreloop.base.tempfiles import temporary_folder
place = Path(sys.argv[1])
with replacing(place / "x.json") as file, temporary_folder("coreloop-test-", parent=place) as folder:
    file.write_text("half")
    (folder / "deeper").mkdir()
    (folder / "deeper" / "file").touch()
    print("made", flush=True)
    time.sleep(600)
"""


@contextlib.contextmanager
def holding(place: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that is at work in a folder; killed in the end."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(place)], stdout=subprocess.PIPE, encoding="utf-8"
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "made\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def _next_run(place: Path) -> None:
    write_private(place / "another.json", b"{}")
    with temporary_folder("coreloop-test-", parent=place):
        pass


def test_leftovers_of_a_killed_process_are_removed_a_day_later(tmp_path: Path):
    with holding(tmp_path):
        assert len(list(tmp_path.iterdir())) == 2
    assert len(list(tmp_path.iterdir())) == 2
    _next_run(tmp_path)
    assert len(list(tmp_path.iterdir())) == 3
    for path in tmp_path.rglob("*"):
        os.utime(path, (0, time.time() - 86_500))
    _next_run(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["another.json"]


@pytest.mark.parametrize("name", [".x.json.0123456789abcdef.partial", "coreloop-test-0123456789abcdef"])
def test_links_are_not_followed(tmp_path: Path, name: str):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").touch()
    (tmp_path / name).symlink_to("precious")
    os.mkfifo(tmp_path / f".pipe.{'0' * 16}.partial")
    _next_run(tmp_path)
    assert (tmp_path / "precious" / "file").exists()
    assert (tmp_path / name).is_symlink()


def _wait_until(condition: Callable[[], bool], seconds: float = 10) -> bool:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def _children(parent: int) -> set[int]:
    workers = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # ended meanwhile
            fields = stat.read_text(encoding="utf-8").rpartition(")")[2].split()
            if int(fields[1]) == parent:
                workers.add(int(stat.parent.name))
    return workers


def _lives(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    return False


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs to see who started whom")
@pytest.mark.parametrize(
    "words",
    [
        "sanitize --mode mask --in in --out out --jobs 2",
        "sanitize --check in --jobs 2",
    ],
)
def test_workers_end_with_the_process_that_started_them(tmp_path: Path, words: str):
    write_log(tmp_path / "in" / "2026-04-25.jsonl", [record()]).write_bytes(
        write_log(tmp_path / "one" / "one.jsonl", [record(question="x" * 1000)]).read_bytes() * 40_000
    )
    (tmp_path / "in" / "2026-04-26.jsonl").hardlink_to(tmp_path / "in" / "2026-04-25.jsonl")
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    command = [sys.executable, "-m", "coreloop", *words.split()]
    environ = {**os.environ, "TMPDIR": str(temporary)}
    process = subprocess.Popen(command, cwd=tmp_path, env=environ)
    try:
        deadline = time.monotonic() + 60
        while len(started := _children(process.pid)) < 3:  # two, and Python's own tracker
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        time.sleep(1)  # at work
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert _wait_until(lambda: not any(map(_lives, started))), "a worker lives on"
    for following in (
        "sanitize --mode drop --in one --out second",
        "pattern --no-cache --in-dir second",
    ):
        subprocess.run([*command[:3], *following.split()], cwd=tmp_path, env=environ, check=True)
    assert list(temporary.iterdir()) == []
