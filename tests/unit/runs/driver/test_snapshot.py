"""Changed files: with git, without it, and what does not count."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from coreloop.runs.driver.snapshot import changed_files, take_snapshot, tree_digest


def git(folder: Path, *words: str) -> None:
    user = ("-c", "user.name=Kim", "-c", "user.email=kim@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", folder, *user, *words], check=True, capture_output=True)


def plain(folder: Path) -> None:
    (folder / "kept.txt").write_text("1")


def repository(folder: Path) -> None:
    plain(folder)
    (folder / ".gitignore").write_text("build/\n")
    git(folder, "init")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "first")


def folder_of_a_repository(folder: Path) -> None:
    git(folder.parent, "init")
    plain(folder)


def ignored_folder(folder: Path) -> None:
    git(folder.parent, "init")
    (folder.parent / ".gitignore").write_text("*\n")
    plain(folder)


@pytest.fixture(params=[plain, repository, folder_of_a_repository, ignored_folder])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    request.param(made)
    return made


def changes(folder: Path, change: Callable[[], object]) -> int:
    before = take_snapshot(folder, without=[folder / "data" / "runs"])
    change()
    return changed_files(before, take_snapshot(folder, without=[folder / "data" / "runs"]))


def test_a_new_file_a_changed_file_and_a_removed_file_are_seen(folder: Path):
    assert changes(folder, lambda: (folder / "나.txt").write_text("1")) == 1
    assert changes(folder, lambda: (folder / "kept.txt").write_text("22")) == 1
    assert changes(folder, lambda: (folder / "나.txt").write_text("333")) == 1
    assert changes(folder, (folder / "나.txt").unlink) == 1


def test_a_commit_counts_if_it_has_another_tree(tmp_path: Path):
    repository(tmp_path)
    assert changes(tmp_path, lambda: git(tmp_path, "commit", "--allow-empty", "-m", "second")) == 0
    (tmp_path / "new.txt").write_text("1")
    git(tmp_path, "add", ".")
    assert changes(tmp_path, lambda: git(tmp_path, "commit", "-m", "third")) == 2


def test_the_same_bytes_are_no_change_and_a_state_is_known_again(folder: Path):
    first = tree_digest(take_snapshot(folder))
    assert changes(folder, lambda: (folder / "kept.txt").write_text("1")) == 0
    (folder / "other.txt").write_text("1")
    assert tree_digest(take_snapshot(folder)) != first
    (folder / "other.txt").unlink()
    assert tree_digest(take_snapshot(folder)) == first


def test_a_file_that_keeps_its_size_and_its_time_has_changed_all_the_same(folder: Path):
    before, status = take_snapshot(folder), (folder / "kept.txt").stat()
    (folder / "kept.txt").write_text("2")
    os.utime(folder / "kept.txt", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert changed_files(before, take_snapshot(folder)) == 1


def test_what_git_ignores_does_not_count(tmp_path: Path):
    repository(tmp_path)
    (tmp_path / "build").mkdir()
    assert changes(tmp_path, lambda: (tmp_path / "build" / "x.o").write_text("1")) == 0
