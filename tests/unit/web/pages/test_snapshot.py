"""Values are read when their files change, by one thread at a time."""

from pathlib import Path
from threading import Thread

import pytest

from coreloop.web.pages.page_data import PageSnapshots


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


@pytest.mark.parametrize("change", ["grown", "new", "gone"])
def test_a_value_is_kept_until_its_folder_changes(file: Path, change: str, monkeypatch):
    monkeypatch.setattr("coreloop.web.pages.page_data._REST", 0)
    snapshots, read = PageSnapshots(), Reader(file)
    more = file.with_name("more")
    more.write_text("")
    first = snapshots.get("a", [file.parent], read)
    assert snapshots.get("a", [file.parent], read) == first
    assert read.n == 1
    if change == "grown":
        file.write_text("longer")
    elif change == "new":
        file.with_name("b").write_text("")
    else:
        more.unlink()
    assert snapshots.get("a", [file.parent], read).value == file.read_text()
    assert read.n == 2


def test_many_threads_that_ask_first_share_one_reading(file: Path):
    snapshots, read, values = PageSnapshots(), Reader(file), []
    threads = [Thread(target=lambda: values.append(snapshots.get("a", [file], read).value)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert values == ["one"] * 8
    assert read.n == 1
