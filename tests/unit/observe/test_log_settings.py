"""Which commit a folder shows, read from the files of real repositories."""

import json
import subprocess
from pathlib import Path

import pytest

from coreloop.observe import AuditCollector
from coreloop.observe.log_settings import tools_version_of


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    done = subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path, quiet_git: None) -> Path:
    folder = tmp_path / "project"
    (folder / "src" / "tools").mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


def head(folder: Path) -> str:
    return git(folder, "rev-parse", "HEAD")


def test_packed_and_detached_references_are_read(repository: Path) -> None:
    git(repository, "pack-refs", "--all")
    assert tools_version_of(repository) == head(repository)
    git(repository, "checkout", "-q", "--detach")
    assert tools_version_of(repository) == head(repository)


@pytest.mark.parametrize("packed", [False, True])
def test_a_worktree_shows_its_own_commit(repository: Path, packed: bool) -> None:
    worktree = repository.parent / "worktree"
    git(repository, "worktree", "add", "-q", "-b", "feature/a", str(worktree))
    git(worktree, "commit", "-q", "--allow-empty", "-m", "second")
    if packed:
        git(repository, "pack-refs", "--all")
    assert tools_version_of(worktree) == head(worktree) != head(repository)


@pytest.mark.parametrize(
    "files",
    [
        {},
        {".git": "nothing"},
        {".git/HEAD": "ref: refs/heads/../../HEAD\n"},
        {".git/HEAD": "\udcff"},
        {".git/HEAD": "ref: \x00"},
    ],
)
def test_a_folder_without_a_repository_has_no_version(tmp_path: Path, files: dict[str, str]) -> None:
    for name, body in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(body.encode("utf-8", "surrogateescape"))
    assert tools_version_of(tmp_path) is None


def versions(data_dir: Path) -> list[str | None]:
    [day] = (data_dir / "audit" / "ai-ask").glob("*.jsonl")
    return [json.loads(line).get("tools_version") for line in day.read_bytes().splitlines()]


def test_the_argument_goes_before_the_commit(repository: Path) -> None:
    commit = head(repository)
    AuditCollector(data_dir=repository / "data")
    git(repository, "commit", "-q", "--allow-empty", "-m", "second")  # what is served was read before
    AuditCollector("x", data_dir=repository / "data").flush(1)
    AuditCollector("x", data_dir=repository / "data", tools_version="v" * 200).flush(1)
    assert versions(repository / "data") == [commit, "v" * 100]
