"""Values are read when their files change, by one thread at a time."""

from datetime import timedelta
from pathlib import Path
from threading import Event, Thread

import pytest

from coreloop.base.errors import WorkspaceError
from coreloop.web.pages.snapshot import PageSnapshots
from serving import until


class Reader:
    """Counts how often it reads a file."""

    def __init__(self, path: Path) -> None:
        self.path, self.n = path, 0

    def __call__(self) -> str:
        self.n += 1
        return self.path.read_text()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "records").mkdir()
    file = tmp_path / "records" / "a"
    file.write_text("one")
    return file


def test_a_value_is_kept_while_its_files_are_the_same(file: Path):
    snapshots, read = PageSnapshots(), Reader(file)
    first = snapshots.get("a", [file.parent], read)
    assert (first.value, first.problem, first.is_old) == ("one", "", False)
    assert snapshots.get("a", [file.parent], read) == first
    assert read.n == 1


@pytest.mark.parametrize("change", ["grown", "new", "gone"])
def test_a_changed_folder_is_read_again(file: Path, change: str):
    snapshots, read = PageSnapshots(), Reader(file)
    more = file.with_name("more")
    more.write_text("")
    snapshots.get("a", [file.parent], read)
    if change == "grown":
        file.write_text("longer")
    elif change == "new":
        file.with_name("b").write_text("")
    else:
        more.unlink()
    assert until(lambda: not snapshots.get("a", [file.parent], read).is_old)
    assert snapshots.get("a", [file.parent], read).value == file.read_text()
    assert read.n == 2


def test_a_link_to_nowhere_hides_no_other_change(file: Path):
    file.with_name("0").symlink_to("nowhere")
    snapshots, read = PageSnapshots(), Reader(file)
    snapshots.get("a", [file.parent], read)
    file.write_text("longer")
    assert until(lambda: snapshots.get("a", [file.parent], read).value == "longer")


def test_an_absent_folder_is_read_when_it_appears(tmp_path: Path):
    snapshots = PageSnapshots()
    folder = tmp_path / "later"
    assert snapshots.get("a", [folder], folder.exists).value is False
    folder.mkdir()
    assert until(lambda: snapshots.get("a", [folder], folder.exists).value)


def test_a_value_that_is_too_old_is_read_again(file: Path):
    snapshots, read = PageSnapshots(lasts=timedelta(0)), Reader(file)
    first = snapshots.get("a", [file], read)
    assert until(lambda: snapshots.get("a", [file], read).read_at > first.read_at)


def test_the_older_value_is_served_while_a_newer_one_is_read(file: Path):
    snapshots, may_read, reads = PageSnapshots(), Event(), []
    may_read.set()

    def read() -> str:
        reads.append(file.read_text())
        assert may_read.wait(20)
        return reads[-1]

    snapshots.get("a", [file], read)
    may_read.clear()
    file.write_text("newer")
    old = [snapshots.get("a", [file], read) for _ in range(3)]
    assert {(one.value, one.is_old) for one in old} == {("one", True)}
    assert reads == ["one", "newer"]
    may_read.set()
    assert until(lambda: snapshots.get("a", [file], read).value == "newer")


def test_what_takes_long_is_not_read_all_the_time(file: Path):
    snapshots, n = PageSnapshots(), 0

    def read() -> int:
        nonlocal n
        n += 1
        Event().wait(0.2)
        return n

    for length in range(5):
        file.write_text("x" * length)
        snapshots.get("a", [file], read)
    assert n == 1
    assert snapshots.get("a", [file], read).is_old


def test_a_failure_is_said_beside_the_older_value_and_not_repeated(file: Path):
    snapshots, n = PageSnapshots(), 0

    def fail() -> str:
        nonlocal n
        n += 1
        raise WorkspaceError("is damaged", path=file)

    snapshots.get("a", [file], lambda: "value")
    file.write_text("newer")
    kept = until(lambda: (one := snapshots.get("a", [file], fail)).problem and one)
    assert kept.value == "value"
    assert "is damaged" in kept.problem
    snapshots.get("a", [file], fail)
    assert n == 1


def test_the_first_failure_is_raised_and_the_next_request_tries_again(file: Path):
    snapshots = PageSnapshots()
    with pytest.raises(WorkspaceError):
        snapshots.get("a", [file], lambda: _raise(file))
    assert snapshots.get("a", [file], lambda: "value").value == "value"


def _raise(path: Path) -> str:
    raise WorkspaceError("is damaged", path=path)


def test_many_threads_that_ask_first_share_one_reading(file: Path):
    snapshots, read, values = PageSnapshots(), Reader(file), []
    threads = [Thread(target=lambda: values.append(snapshots.get("a", [file], read).value)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert values == ["one"] * 8
    assert read.n == 1
