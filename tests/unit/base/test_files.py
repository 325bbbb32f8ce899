"""Files are written atomically, appended to in complete lines, and locked against other processes."""

import os
import subprocess
import sys

import pytest

from coreloop.base.errors import WorkspaceError
from coreloop.base.files import (
    append_private,
    locked,
    read_file,
    rewrite_file,
    write_private,
    write_public,
)


def mode(path):
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize(("umask", "file", "folder"), [(0o022, 0o644, 0o755), (0o027, 0o640, 0o750)])
def test_a_document_is_as_readable_as_the_umask_lets_it_be(tmp_path, open_umask, umask, file, folder):
    os.umask(umask)
    path = tmp_path / "docs" / "x.md"
    for text in (b"old", b"new"):
        write_public(path, text)
    assert (path.read_bytes(), mode(path), mode(path.parent)) == (b"new", file, folder)
    assert list(path.parent.iterdir()) == [path]


FULL_DISK = """
import resource, sys
from pathlib import Path
from coreloop.base.errors import WorkspaceError
from coreloop.base.files import write_private
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
from coreloop.base.files import locked
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


def test_a_rewritten_file_keeps_its_mode_and_a_link_stays_a_link(tmp_path):
    file, link = tmp_path / "tools.py", tmp_path / "link.py"
    file.write_bytes(b"old")
    file.chmod(0o754)
    link.symlink_to(file)
    rewrite_file(link, b"new")
    assert link.is_symlink()
    assert (file.read_bytes(), mode(file)) == (b"new", 0o754)
    assert sorted(tmp_path.iterdir()) == [link, file]


def test_after_half_a_line_a_newline_comes_first(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"whole\nhal")
    append_private(path, ["next"])
    append_private(path, ["last"])
    assert path.read_bytes() == b"whole\nhal\nnext\nlast\n"


APPENDER = """
import sys
from pathlib import Path
from coreloop.base.files import append_private
for _ in range(200):
    append_private(Path(sys.argv[1]), [sys.argv[2] * 300])
"""


def test_lines_of_two_processes_do_not_mix(tmp_path):
    path = tmp_path / "x"
    writers = [subprocess.Popen([sys.executable, "-c", APPENDER, path, letter]) for letter in "ab"]
    assert [writer.wait() for writer in writers] == [0, 0]
    lines = list(filter(None, path.read_text().split("\n")))
    assert sorted(lines) == ["a" * 300] * 200 + ["b" * 300] * 200


SHORT_WRITE = """
import resource, sys
from pathlib import Path
from coreloop.base.errors import WorkspaceError
from coreloop.base.files import append_private
resource.setrlimit(resource.RLIMIT_FSIZE, (10, resource.RLIM_INFINITY))
try:
    append_private(Path(sys.argv[1]), ["x" * 100])
except WorkspaceError as error:
    print(error)
"""


def test_a_line_that_was_cut_off_is_an_error_and_the_next_line_is_safe(tmp_path):
    pytest.importorskip("resource")
    path = tmp_path / "x"
    done = subprocess.run(
        [sys.executable, "-c", SHORT_WRITE, path], capture_output=True, text=True, check=True
    )
    assert "cannot be written" in done.stdout
    append_private(path, ["next"])
    assert path.read_bytes() == b"x" * 10 + b"\nnext\n"


def test_an_unreadable_or_unwritable_file_is_named(tmp_path):
    with pytest.raises(WorkspaceError, match=r"x: cannot be read"):
        read_file(tmp_path / "x")
    with pytest.raises(WorkspaceError, match="cannot be read"):
        append_private(tmp_path, ["a"])
    (tmp_path / "file").touch()
    with pytest.raises(WorkspaceError, match="cannot be written"):
        append_private(tmp_path / "file" / "x", ["a"])


@pytest.mark.skipif(os.name != "posix", reason="needs pipes and devices")
@pytest.mark.parametrize(
    "work",
    [
        read_file,
        lambda path: write_private(path, b"x"),
        lambda path: write_public(path, b"x"),
        lambda path: rewrite_file(path, b"x"),
        lambda path: append_private(path, ["x"]),
    ],
    ids=["read", "write", "publish", "rewrite", "append"],
)
@pytest.mark.parametrize("kind", ["pipe", "device", "circle", "folder"])
def test_only_regular_files_are_opened_or_replaced(tmp_path, work, kind):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/null")
    (tmp_path / "circle").symlink_to("circle")
    (tmp_path / "folder").mkdir()
    before = sorted((path.name, path.lstat().st_ino) for path in tmp_path.iterdir())
    with pytest.raises(WorkspaceError, match=f"{kind}: cannot be (read|written)"):
        work(tmp_path / kind)
    assert sorted((path.name, path.lstat().st_ino) for path in tmp_path.iterdir()) == before
