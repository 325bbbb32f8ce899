"""A locked file lets one holder at a time in, also while its file is removed and made again."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from coreloop.base.errors import RunBusyError
from coreloop.runs.stores import run_lock
from coreloop.runs.stores.run_lock import held_file

pytestmark = pytest.mark.skipif(run_lock.fcntl is None, reason="no flock here")


def test_a_file_that_its_holder_removed_before_it_was_locked_holds_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The race: this one opens the file, its holder removes it and a third makes a new one."""
    path, real, opened = tmp_path / "x.lock", os.open, []

    def slow_open(*words: object) -> int:
        descriptor = int(real(*words))  # type: ignore[call-overload]
        if not opened:
            opened.append(descriptor)
            path.unlink()
            third.__enter__()
        return descriptor

    third = held_file(path, "X")
    path.touch()
    monkeypatch.setattr(run_lock.os, "open", slow_open)
    with pytest.raises(RunBusyError, match=rf"^process {os.getpid()} on .* works on run X; wait"):
        held_file(path, "X").__enter__()
    third.__exit__(None, None, None)
    with held_file(path, "X"):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_one_thread_at_a_time_holds_a_file(tmp_path: Path):
    inside = threading.Semaphore(1)

    def hold_often(_number: int) -> int:
        held = 0
        while held < 50:
            try:
                with held_file(tmp_path / "x.lock", "X"):
                    assert inside.acquire(blocking=False)
                    held += 1
                    inside.release()
            except RunBusyError:
                pass
        return held

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(hold_often, range(4))) == [50] * 4
