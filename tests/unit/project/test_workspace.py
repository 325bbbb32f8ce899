"""Where files lie, and that a file is written whole or not at all."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from coreloop.errors import SettingsError, WorkspaceError
from coreloop.project.settings import Settings
from coreloop.project.workspace import Workspace, locked, open_workspace, write_private, write_public


@pytest.fixture
def open_umask():
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path):
    return path.stat().st_mode & 0o777


def test_the_nearest_coreloop_yaml_marks_the_root(tmp_path):
    (tmp_path / "coreloop.yaml").write_text("data_dir: outer\n")
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert open_workspace(inner) == Workspace(tmp_path, Settings(data_dir="outer"))
    (tmp_path / "a" / "coreloop.yaml").write_text("data_dir: inner\n")
    assert open_workspace(inner).records_dir == tmp_path / "a/inner/audit/ai-ask"


def test_without_a_file_the_folder_itself_is_the_root(tmp_path, monkeypatch):
    monkeypatch.delenv("CORELOOP_DATA_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    workspace = open_workspace(Path())
    assert workspace.root == tmp_path
    assert workspace.records_dir == tmp_path / "data/audit/ai-ask"
    assert workspace.candidates_dir == tmp_path / "data/audit/candidates"


def test_data_may_lie_outside_the_project(tmp_path):
    workspace = Workspace(tmp_path / "project", Settings(data_dir=str(tmp_path / "elsewhere")))
    assert workspace.records_dir == tmp_path / "elsewhere/audit/ai-ask"


def test_knowledge_lies_beside_the_audit_data(tmp_path):
    workspace = Workspace(tmp_path, Settings(data_dir="d"))
    assert workspace.knowledge_file == tmp_path / "d/ai/knowledge/dartlab_knowledge.db"
    assert workspace.archive_dir == tmp_path / "d/ai/knowledge/_archive"
    assert workspace.audit_notes_dir == tmp_path / "d/dart/auditAnalysis"


def test_only_what_is_coreloop_s_own_is_closed_to_others(tmp_path):
    workspace = Workspace(tmp_path, Settings())
    own = [workspace.knowledge_dir, workspace.archive_dir, workspace.candidates_dir, workspace.knowledge_file]
    others = [tmp_path / "data" / "other", tmp_path / "data" / "ai" / ".." / "x", tmp_path / "file.db"]
    for path in (*own, *others):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(0o644) if path.suffix else path.mkdir(0o755, exist_ok=True)
        path.chmod(0o644 if path.suffix else 0o755)
        workspace.keep_private(path)
    assert [mode(path) for path in own] == [0o700, 0o700, 0o700, 0o600]
    assert [mode(path) for path in others] == [0o755, 0o755, 0o644]


def test_a_broken_file_is_not_passed_over(tmp_path):
    (tmp_path / "coreloop.yaml").write_text("gate: {}\n")
    with pytest.raises(SettingsError):
        open_workspace(tmp_path)


@pytest.mark.usefixtures("open_umask")
def test_written_files_are_for_their_owner_alone(tmp_path):
    path = tmp_path / "audit" / "candidates" / "x.json"
    write_private(path, b"{}")
    assert path.read_bytes() == b"{}"
    assert (mode(path), mode(path.parent)) == (0o600, 0o700)


def test_a_folder_of_coreloops_own_is_closed_to_others(tmp_path):
    workspace = Workspace(tmp_path, Settings())
    others = [tmp_path / "out", workspace.audit_dir, tmp_path]
    for folder in (workspace.candidates_dir, *others):
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o755)
        workspace.keep_private(folder)
    workspace.keep_private(workspace.audit_dir / ".." / ".." / "out")
    assert mode(workspace.candidates_dir) == 0o700
    assert [mode(folder) for folder in others] == [0o755] * 3
    workspace.keep_private(workspace.counterexamples_dir)
    assert not workspace.counterexamples_dir.exists()


def test_a_second_write_replaces_the_first_and_leaves_nothing_beside_it(tmp_path):
    path = tmp_path / "x.json"
    path.write_bytes(b"old")
    path.chmod(0o644)
    write_private(path, b"new")
    assert path.read_bytes() == b"new"
    assert mode(path) == 0o600
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(("umask", "file", "folder"), [(0o022, 0o644, 0o755), (0o027, 0o640, 0o750)])
def test_a_document_is_as_readable_as_the_umask_lets_it_be(tmp_path, open_umask, umask, file, folder):
    os.umask(umask)
    path = tmp_path / "docs" / "x.md"
    for text in (b"old", b"new"):
        write_public(path, text)
    assert (path.read_bytes(), mode(path), mode(path.parent)) == (b"new", file, folder)
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_that_cannot_be_made_is_an_error_that_names_the_file(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(WorkspaceError, match=r"x\.json: cannot be written") as caught:
        write_private(tmp_path / "file" / "x.json", b"{}")
    assert caught.value.path == tmp_path / "file" / "x.json"


def test_a_folder_of_that_name_leaves_no_temporary_file(tmp_path):
    (tmp_path / "x.json").mkdir()
    with pytest.raises(WorkspaceError):
        write_private(tmp_path / "x.json", b"{}")
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]


FULL_DISK = """
import resource, sys
from pathlib import Path
from coreloop.errors import WorkspaceError
from coreloop.project.workspace import write_private
resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
try:
    write_private(Path(sys.argv[1]), b"x" * 1000)
except WorkspaceError as error:
    print(error)
"""


def test_a_full_disk_leaves_the_old_file_as_it_was(tmp_path):
    pytest.importorskip("resource")
    path = tmp_path / "x.json"
    path.write_bytes(b"old")
    done = subprocess.run([sys.executable, "-c", FULL_DISK, path], capture_output=True, text=True, check=True)
    assert "cannot be written" in done.stdout
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


HOLDER = """
import sys
from pathlib import Path
from coreloop.project.workspace import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""

TRIER = """
import fcntl, os, sys
descriptor = os.open(sys.argv[1] + "/.lock", os.O_RDWR)
try:
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    print("free")
except BlockingIOError:
    print("taken")
"""


def is_free(folder):
    done = subprocess.run([sys.executable, "-c", TRIER, folder], capture_output=True, text=True, check=True)
    return done.stdout.strip() == "free"


def test_a_lock_keeps_others_out_until_its_holder_dies(tmp_path):
    pytest.importorskip("fcntl")
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout.readline() == b"held\n"
        assert not is_free(tmp_path)
        holder.kill()
        holder.wait()
        with locked(tmp_path):
            assert not is_free(tmp_path)
    assert is_free(tmp_path)


def test_a_lock_ends_with_its_block_whatever_happens(tmp_path):
    pytest.importorskip("fcntl")
    with pytest.raises(ZeroDivisionError), locked(tmp_path / "new"):
        raise ZeroDivisionError
    assert is_free(tmp_path / "new")


def test_a_lock_where_no_folder_can_be_made_is_an_error(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(WorkspaceError, match="cannot be written"), locked(tmp_path / "file"):
        pass
