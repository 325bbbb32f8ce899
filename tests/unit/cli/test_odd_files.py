"""An option's path that is not a regular file, or not a folder, is refused at once and in one line."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import click
import pytest

from coreloop.cli.main import every_command
from logs import record, write_log

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs pipes and devices")
EVENT = "--event-name pull_request --event"
FILES = {
    "verify --candidate": "verify --id cand-1 --candidate {}",
    "measure --candidate": "measure --id cand-1 --candidate {}",
    "promote --candidate": "promote --id cand-1 --candidate {}",
    "sanitize --in": "sanitize --mode hash --out new --in {}",
    "sanitize PATHS": "sanitize --check {}",
    "sanitize --names": "sanitize --mode mask --out new --in logs/in.jsonl --names {}",
    "sanitize --key-file": "sanitize --mode hash --out new --in logs/in.jsonl --key-file {}",
    "import PATHS": "import --from otlp {}",
    "look PATHS": "look {}",
    "tools PATHS": "tools {}",
    "docstring check PATHS": "docstring check {}",
    "guard check --event": f"guard check {EVENT} {{}}",
    "guard check --reviews": f"guard check {EVENT} event.json --reviews {{}}",
    "guard check --pulls": f"guard check {EVENT} event.json --pulls {{}}",
    "guard check --commits": f"guard check {EVENT} event.json --commits {{}}",
    "guard act --event": f"guard act {EVENT} {{}}",
    "guard act --reviews": f"guard act {EVENT} event.json --reviews {{}}",
    "guard act --pulls": f"guard act {EVENT} event.json --pulls {{}}",
    "guard act --commits": f"guard act {EVENT} event.json --commits {{}}",
    "guard gather --event": f"guard gather --out new {EVENT} {{}}",
    "guard publish --event": f"guard publish --pulls event.json --decision event.json {EVENT} {{}}",
    "guard publish --pulls": f"guard publish --decision event.json {EVENT} event.json --pulls {{}}",
    "guard publish --decision": f"guard publish --pulls event.json {EVENT} event.json --decision {{}}",
    "index PATHS": "index {}",
    "runs start --prompt": "runs start --max-iterations 1 --prompt {} -- true",
    "runs open --file": "runs open --new --file {}",
    "runs plan --file": "runs plan --file {}",
    "runs read --text": "runs read https://a.example --text {}",
    "runs record --file": "runs record --file {}",
    "runs report --out": "runs report --out {}",
    "receive --keys": "receive --port 0 --keys {}",
    "serve --keys": "serve --port 0 --keys {}",
}
FOLDERS = {
    "demo --out": "demo --out {}",
    "pattern --in-dir": "pattern --in-dir {}",
    "pattern --out": "pattern --in-dir . --out {}",
    "refine --in-dir": "refine --in-dir {}",
    "refine --out": "refine --in-dir . --out {}",
    "status --in-dir": "status --in-dir {}",
    "import --out": "import --from otlp in.jsonl --out {}",
    "serve --out": "serve --out {}",
    "sanitize --out": "sanitize --mode hash --in logs/in.jsonl --out {}",
    "guard check --repo": f"guard check {EVENT} event.json --repo {{}}",
    "guard gather --repo": f"guard gather --out new {EVENT} event.json --repo {{}}",
    "guard gather --out": f"guard gather {EVENT} event.json --out {{}}",
    "guard act --repo": f"guard act {EVENT} event.json --repo {{}}",
    "guard publish --repo": f"guard publish --decision event.json {EVENT} event.json --repo {{}}",
    "knowledge backfill-blog --blog-root": "knowledge backfill-blog --blog-root {}",
}
SPECIAL = ["pipe", "socket", "device", "circle"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("special")
    write_log(place / "in.jsonl", [record()])
    write_log(place / "logs" / "in.jsonl", [record()])
    (place / "event.json").write_text("{}")
    (place / "a-folder").mkdir()
    os.mkfifo(place / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        before = Path.cwd()
        os.chdir(place)  # a socket's name has at most 107 bytes
        listener.bind("socket")
        os.chdir(before)
    (place / "device").symlink_to("/dev/zero")
    (place / "circle").symlink_to("circle")
    return place


def _run(place: Path, words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "coreloop", *words.split()]
    return subprocess.run(command, cwd=place, capture_output=True, encoding="utf-8", check=False, timeout=20)


def _status(path: Path) -> tuple[int, ...]:
    """A file's status without the access time, which following a link changes."""
    status = path.lstat()
    return status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _assert_refused(entry_point, place: Path, words: str, name: str) -> None:
    before = _status(place / name)
    code, out, errors = entry_point(place, *words.format(name).split())
    assert (code, out) == (2, "")
    assert errors.count("\n") == 1, errors
    assert name in errors
    assert _status(place / name) == before
    assert not (place / "new").exists()


@pytest.mark.parametrize("name", [*SPECIAL, "a-folder"])
@pytest.mark.parametrize("words", FILES.values(), ids=FILES)
def test_what_is_not_a_regular_file_is_refused(entry_point, place: Path, words: str, name: str):
    folders = ("--in {}", "--check {}", "otlp {}", "check {}", "index {}", "look {}", "tools {}")
    if name == "a-folder" and any(kind in words for kind in folders):
        pytest.skip("this option accepts a folder")
    _assert_refused(entry_point, place, words, name)


@pytest.mark.parametrize("name", [*SPECIAL, "in.jsonl"])
@pytest.mark.parametrize("words", FOLDERS.values(), ids=FOLDERS)
def test_what_is_not_a_folder_is_refused(entry_point, place: Path, words: str, name: str):
    _assert_refused(entry_point, place, words, name)


def test_every_option_that_takes_a_path_is_tested():
    tried = {*FILES, *FOLDERS}
    for path, command in every_command():
        for param in command.params:
            if isinstance(param.type, click.Path) or param.type.name in {"path", "folder"}:
                names = {*param.opts, (param.name or "").upper()}
                assert any(f"{' '.join(path)} {name}" in tried for name in names), (path, param.opts)


def test_a_pipe_among_coreloop_s_own_files_does_not_block(tmp_path: Path):
    write_log(tmp_path / "data" / "audit" / "ai-ask" / "today.jsonl", [record()])
    (tmp_path / "data/audit/candidates").mkdir()
    os.mkfifo(tmp_path / "data/audit/candidates/2026-01-01-candidates.json")
    done = _run(tmp_path, "judge")
    assert done.returncode == 0  # the other proposals are still judged
    assert "not a regular file" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_pipe_as_coreloop_yaml_is_refused(tmp_path: Path):
    os.mkfifo(tmp_path / "coreloop.yaml")
    assert "not a regular file" in _run(tmp_path, "status").stderr


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become nobody")
@pytest.mark.parametrize(
    "words", ["--check in/in.jsonl", "--check in", "--mode hash --out new --in in/in.jsonl"]
)
def test_an_unreadable_file_is_one_line(entry_point, tmp_path: Path, words: str):
    log = write_log(tmp_path / "in" / "in.jsonl", [record()])
    entry_point(tmp_path, "sanitize", "--check", "in")  # imports every module while root
    log.chmod(0)
    for folder in (tmp_path, *tmp_path.parents[:-2]):
        folder.chmod(0o755)
    os.seteuid(65534)
    try:
        code, out, errors = entry_point(tmp_path, "sanitize", *words.split())
    finally:
        os.seteuid(0)
    assert (code, out) == (2, "")
    assert "in.jsonl: cannot be read" in errors
    assert errors.count("\n") == 1
