"""Facts that are kept from run to run: a file that changes gives what it gives when all of it is read."""

import os
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coreloop.base.categories import Categories
from coreloop.base.record_lines import encode_line
from coreloop.learn.facts import cache as kept
from coreloop.learn.facts.read_lines import MineSettings
from coreloop.learn.mine import folder as mining
from coreloop.learn.mine.folder import read_folder
from logs import call, failed, line, one_by_one, record, write_log
from rows import slow_after
from samples import contents

SETTINGS = MineSettings()
ONE, TWO, THREE = (
    line(record(request_id=f"req-{number}", question=f"질문 {number}", category_hash=None, tool_calls=[made]))
    for number, made in enumerate((call(result_size_bytes=1), failed(), call("buy", {"id": "W1234567"})))
)
OTHER = ONE.replace(b"req-0", b"req-9")
LONG: Any = encode_line(record(tool_calls=[call("t", {"n": n}) for n in range(120)]))  # type: ignore[arg-type]
PARTS = LONG.splitlines(keepends=True)
SESSION = [*map(line, one_by_one(record(tool_calls=[call("find"), failed("buy"), call("buy")])))]
MARK = b"\xef\xbb\xbf"
STATES = {
    "whole lines": [ONE, ONE + TWO, ONE + TWO + THREE],
    "a torn line, completed later": [ONE + TWO[:-40], ONE + TWO + THREE],
    "a line without its end": [ONE + TWO[:-1], ONE + TWO, ONE + TWO + THREE],
    "a long request": [ONE + PARTS[0], ONE + LONG, ONE + LONG + TWO],
    "a long request, torn": [ONE + PARTS[0] + PARTS[1][:99], ONE + LONG],
    "a session": [SESSION[0], b"".join(SESSION[:2]), b"".join(SESSION) + ONE],
    "a byte order mark": [MARK + ONE, MARK + ONE + TWO],
    "what is no record": [b"torn\n", b"torn\n" + ONE, b"torn\n" + ONE + b"torn\n\n"],
    "an empty file": [b"", ONE, b"", TWO],
    "it shrinks": [ONE + TWO + THREE, ONE + TWO],
    "it is touched": [ONE, ONE],
    "another of the same size": [ONE, OTHER],
    "another that is longer": [ONE, OTHER + TWO],
}


@pytest.fixture(autouse=True, params=[0, 1 << 20], ids=["own", "of a month"])
def all_is_kept(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "OWN_BYTES", request.param)
    monkeypatch.setattr(mining, "_KEPT_FROM", 0)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A file beside another one."""
    write_log(tmp_path / "log" / "2026-04-01.jsonl", [record(tool_calls=[failed("other")])])
    return tmp_path / "log" / "2026-04-25.jsonl"


def read(log: Path, **options: Any) -> Any:
    return contents(read_folder(log.parent, SETTINGS, **options))


def in_place(path: Path, content: bytes) -> None:
    """Written by the program that writes the log."""
    before = path.stat().st_mtime_ns if path.exists() else 0
    path.write_bytes(content)
    os.utime(path, ns=(before + 1, before + 1))


def rotated(path: Path, content: bytes) -> None:
    """Another file of the same name and time."""
    path.with_suffix(".new").write_bytes(content)
    os.utime(path.with_suffix(".new"), ns=(1, 1))
    path.with_suffix(".new").replace(path)


@pytest.mark.parametrize("write", [in_place, rotated])
@pytest.mark.parametrize("states", STATES.values(), ids=STATES)
def test_a_file_that_changes_is_what_it_is_when_all_of_it_is_read(
    states: list[bytes], write: Callable[[Path, bytes], None], log: Path, tmp_path: Path
):
    for content in states:
        write(log, content)
        assert read(log, cache=tmp_path / "c") == read(log)


@pytest.mark.parametrize("size", [1, 700, 9000])
def test_a_file_in_chunks_is_what_it_is_at_once(size: int, log: Path, monkeypatch: pytest.MonkeyPatch):
    log.write_bytes(MARK + ONE + LONG + b"torn\n" + b"".join(SESSION) + LONG + TWO[:-1])
    expected = read(log)
    monkeypatch.setattr(mining, "_CHUNK_BYTES", size)
    assert read(log) == expected


CATEGORIES = Categories([("FIN-x", ["질문"])])


@pytest.mark.parametrize(
    "changes", [{"selectors": {"buy": ("id",)}}, {"case_key": b"k"}, {"categories": CATEGORIES}]
)
def test_facts_of_other_settings_are_not_used(changes: dict[str, Any], log: Path, tmp_path: Path):
    log.write_bytes(THREE)
    before = read(log, cache=tmp_path / "c")
    other = MineSettings(**changes)
    assert before != contents(read_folder(log.parent, other, cache=tmp_path / "c"))
    assert before == read(log, cache=tmp_path / "c")


def test_only_what_was_added_is_read(log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for content in (ONE, ONE + TWO):
        log.write_bytes(content)
        read(log, cache=tmp_path / "c")
    monkeypatch.setattr(mining, "_chunks", lambda _, start, *__: pytest.fail(f"read from {start}"))
    assert read(log, cache=tmp_path / "c")
    log.write_bytes(ONE + TWO + THREE)
    with pytest.raises(pytest.fail.Exception, match=f"read from {len(ONE + TWO)}"):
        read(log, cache=tmp_path / "c")


@pytest.mark.parametrize(("n_left", "kept_from"), [(1, 0), (0, 0), (1, 1 << 20)])
def test_nothing_is_kept_of_a_file_that_is_gone(
    n_left: int, kept_from: int, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    log.write_bytes(THREE)
    read(log, cache=tmp_path / "c")
    for path in sorted(log.parent.iterdir())[n_left:]:
        path.unlink()
    monkeypatch.setattr(mining, "_KEPT_FROM", kept_from)
    assert read(log, cache=tmp_path / "c") == read(log)
    assert not any(b"buy" in zlib.decompress(path.read_bytes()) for path in (tmp_path / "c").iterdir())


@pytest.mark.parametrize("damage", [lambda raw: b"", lambda raw: raw[:-9], lambda raw: zlib.compress(b"x")])
def test_a_damaged_file_is_made_again(damage: Callable[[bytes], bytes], log: Path, tmp_path: Path):
    log.write_bytes(ONE)
    expected = read(log, cache=tmp_path / "c")
    for path in (tmp_path / "c").iterdir():
        path.write_bytes(damage(path.read_bytes()))
    assert read(log, cache=tmp_path / "c") == expected
    assert all(zlib.decompress(path.read_bytes())[9:] for path in (tmp_path / "c").iterdir())


def test_a_name_may_hold_bytes_that_are_not_utf_8(log: Path, tmp_path: Path):
    odd = log.parent.rename(tmp_path / "\udcff") / "\udcfe.jsonl"
    odd.write_bytes(ONE)
    assert read(odd, cache=tmp_path / "c") == read(odd, cache=tmp_path / "c") == read(odd)


FORKING = """
import concurrent.futures, sys, threading
from pathlib import Path
from coreloop.learn.mine import executors, folder
if sys.argv[3] == "a thread":
    threading.Thread(target=threading.Event().wait, daemon=True).start()
if sys.argv[3] == "polars":
    import polars
class Pool(concurrent.futures.ProcessPoolExecutor):
    def __init__(self, **options):
        print(options["mp_context"].get_start_method())
        super().__init__(**options)
concurrent.futures.ProcessPoolExecutor = Pool
executors._MUCH, folder._CHUNK_BYTES, folder._KEPT_FROM = 0, 700, 0
folder.read_folder(Path(sys.argv[1]), folder.MineSettings(), cache=Path(sys.argv[2]))
"""


@pytest.mark.parametrize(
    ("held_by", "started"), slow_after(1, [("none", "fork\n"), ("polars", ""), ("a thread", "")])
)
def test_processes_are_forked_unless_a_lock_may_be_held(
    held_by: str, started: str, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    log.write_bytes(ONE + LONG + TWO + THREE)
    expected = read(log)
    command = [sys.executable, "-c", FORKING, f"{log.parent}", f"{tmp_path / 'c'}", held_by]
    assert subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout == started
    monkeypatch.setattr(kept, "OWN_BYTES", 1 << 20)
    monkeypatch.setattr(mining, "lines_of", None)
    assert read(log, cache=tmp_path / "c") == expected
