"""Files and the index: what is added, removed and skipped."""

import os
import sqlite3

import pytest

from coreloop.answer.search.extract import kinds, packed
from coreloop.answer.search.index import run
from coreloop.answer.search.index.run import INDEX
from coreloop.answer.search.index.search_index import IndexProvider
from coreloop.answer.search.provider import Failed, SearchLimits
from coreloop.base.errors import WorkspaceError
from indexing import Indexed

FILES = {
    "docs/install.md": "# Install\n\nUse the wheel.\n",
    "docs/usage.md": "# Usage\n\nRun the aardvark.\n",
    "notes.txt": "반도체 업황은 회복한다\n",
}


@pytest.fixture
def filled(project: Indexed) -> Indexed:
    project.write(FILES)
    assert project.update().counts == {"added": 3}
    return project


def test_a_removed_folder_can_be_named(filled: Indexed):
    for name in ("install.md", "usage.md"):
        (filled.root / "docs" / name).unlink()
    (filled.root / "docs").rmdir()
    assert filled.update("docs").counts == {"removed": 2}
    with pytest.raises(WorkspaceError, match="does not exist"):
        filled.update("docs")


def test_an_unchanged_file_is_not_read_again(filled: Indexed, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(run, "read_document", None)
    assert filled.update().counts == {"unchanged": 3}


def test_ignored_and_hidden_folders_are_left_out_unless_named(project: Indexed):
    names = (".git/a.md", "node_modules/b.md", ".venv/c.md", "data/audit/d.md", "src/build/e.md", ".f.md")
    project.write({**dict.fromkeys(names, "aardvark"), "src/data/g.md": "aardvark"})
    project.update()
    assert project.locations("aardvark") == ["src/data/g.md"]
    assert project.update("src/build").counts == {"added": 1}
    assert project.update().counts == {"unchanged": 1}
    assert sorted(project.locations("aardvark")) == ["src/build/e.md", "src/data/g.md"]


def test_own_data_is_left_out_where_the_data_folder_is_named(project: Indexed):
    project.write({"data/audit/a.md": "aardvark", "data/runs/b.md": "aardvark", "data/c.md": "aardvark"})
    project.update("data")
    project.update("data/audit")
    assert project.locations("aardvark") == ["data/c.md"]


def test_links_are_not_followed(project: Indexed, tmp_path_factory: pytest.TempPathFactory):
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.md").write_text("aardvark")
    (project.root / "folder").symlink_to(outside)
    (project.root / "file.md").symlink_to(outside / "secret.md")
    (project.root / "circle.md").symlink_to("circle.md")
    assert project.update().skipped == {"link": ["circle.md", "file.md", "folder"]}
    assert project.update("folder").counts == {"added": 1}  # named, so meant
    assert project.locations("aardvark") == [(outside / "secret.md").as_posix()]


def test_files_that_cannot_be_indexed_are_counted(project: Indexed, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(kinds, "MAX_FILE_BYTES", 1_000_000)
    project.write({"a.png": b"\x89PNG", "b.txt": b"x" * 1_000_001, "c.txt": b"\xff\xfe\xfd", "d.md": "fine"})
    os.mkfifo(project.root / "pipe.md")
    report = project.update()
    assert report.counts == {"added": 1}
    assert {reason: len(places) for reason, places in report.skipped.items()} == {
        "other kind of file (1 .png)": 1,
        "larger than 1 MB": 1,
        "neither UTF-8 nor CP949": 1,
        "not a regular file": 1,
    }


def test_another_schema_is_refused(filled: Indexed):
    connection = sqlite3.connect(filled.file)
    connection.execute(f"PRAGMA user_version = {INDEX.version + 1}")
    connection.close()
    with pytest.raises(WorkspaceError, match="schema version 10; this coreloop reads 9"):
        filled.update()
    answer = IndexProvider(filled.file).search("wheel", SearchLimits())
    assert isinstance(answer, Failed)
    assert "schema version 10; this coreloop reads 9" in answer.reason


def test_a_file_is_read_once_its_extra_is_installed(project: Indexed, monkeypatch: pytest.MonkeyPatch):
    project.write({"a.pdf": b"%PDF-1.4", "b.md": "aardvark"})
    with monkeypatch.context() as without:
        without.setattr(packed.importlib.util, "find_spec", lambda _name: None)
        assert any("needs an extra" in reason for reason in project.update().skipped)
    assert list(project.update().skipped) == ["PDF is damaged, encrypted or too large"]
