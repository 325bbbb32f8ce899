"""Folders: no lost or overwritten lines, no partial exports, equal results with any number of processes."""

import gzip
import json
import os
import re
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bounded import given_up
from coreloop.base.errors import UsageError, WorkspaceError
from coreloop.sanitize import export
from coreloop.sanitize.export import Choices, Outcome, Report, check_dir, sanitize_dir
from coreloop.sanitize.pseudonyms import read_key
from logs import line, record, write_log

MASK = Choices(mode="mask")


def _log(path: Path, count: int, *, first: int = 0) -> Path:
    rows = (
        record(question=f"메일 user{n % 7}@example.com, {n}번째", request_id=f"r{n}")
        for n in range(first, first + count)
    )
    return write_log(path, rows)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    _log(tmp_path / "in" / "2026-04-25.jsonl", 30)
    _log(tmp_path / "in" / "sub" / "김민수.jsonl", 5, first=30)
    return tmp_path / "in"


def _written(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(out.iterdir())}


@pytest.mark.slow
def test_equal_values_have_equal_numbers_across_files_and_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(export, "_SMALL_BYTES", 0)
    monkeypatch.setattr(export, "_BLOCK_BYTES", 2000)
    for name in "ab":
        _log(tmp_path / "in" / f"{name}.jsonl", 40)
    for jobs in (1, 2):
        choices = Choices(mode="mask", key=b"k" * 32)
        report = sanitize_dir(tmp_path / "in", tmp_path / f"out{jobs}", choices, jobs=jobs)
        assert (report.n_in, report.n_out) == (80, 80)
    assert _written(tmp_path / "out1") == _written(tmp_path / "out2")
    first = (tmp_path / "out1" / "records-0001.jsonl").read_text(encoding="utf-8")
    labels = re.findall(r"\[EMAIL-\d+\]", first)
    assert labels == [f"[EMAIL-{n % 7 + 1}]" for n in range(40)]
    assert check_dir(tmp_path / "out1", jobs=2).findings.total() == 0


def test_every_broken_file_is_accounted_for(source: Path, tmp_path: Path):
    (source / "a-empty.jsonl").write_bytes(b"")
    (source / "b-torn.jsonl.gz").write_bytes(gzip.compress(line(record()) * 2)[:-9])
    (source / "c-plain.jsonl.gz").write_bytes(line(record()))
    (source / "d-mixed.jsonl").write_bytes(
        b"\xef\xbb\xbf" + line(record()) + b'{"a": 1, "a": 2}\n' + line(record())
    )
    report = sanitize_dir(source, tmp_path / "out", MASK)
    assert report.n_in == report.n_out + report.n_rejected
    assert report.n_rejected == 1 + 2 + 2
    assert report.reasons == {
        "an empty file": 1,
        "a damaged gzip file; the rest of it is lost": 2,
        "begins with a byte order mark": 1,
        "a key appears twice": 1,
    }
    assert {rejected["file"] for rejected in report.rejected} == {
        f"{name}" for name in ("a-empty.jsonl", "b-torn.jsonl.gz", "c-plain.jsonl.gz", "d-mixed.jsonl")
    }
    assert report.to_dict()["rejected"] == 5


def test_a_line_too_long_for_memory_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("coreloop.sanitize.files.MAX_LINE_BYTES", 5000)
    monkeypatch.setattr("coreloop.sanitize.sanitize_record.MAX_LINE_BYTES", 5000)
    path = write_log(tmp_path / "a.jsonl", [record(), record(question="x" * 9000), record()])
    report = sanitize_dir(path, tmp_path / "out", MASK)
    assert (report.n_in, report.n_out, report.n_rejected) == (3, 2, 1)
    assert report.rejected[0]["line"] == 2


def test_an_export_into_its_source_is_refused(source: Path, tmp_path: Path):
    (tmp_path / "link").symlink_to(source, target_is_directory=True)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    for out in (
        source,
        source / "out",
        source / "sub" / "x" / "y",
        tmp_path / "link",
        tmp_path / "link" / "out",
    ):
        with pytest.raises(UsageError, match="lies in it"):
            sanitize_dir(source, out, MASK)
    for out in (tmp_path / "full", tmp_path / "full" / "x", tmp_path / "dangling"):
        with pytest.raises(UsageError, match="not an empty folder"):
            sanitize_dir(source, out, MASK)
    with pytest.raises(UsageError, match="lies in it"):
        sanitize_dir(tmp_path / "link", source / "out", MASK)
    assert not (source / "out").exists()


def test_a_pipe_and_a_missing_folder_are_refused(source: Path, tmp_path: Path):
    with pytest.raises(WorkspaceError, match="does not exist"):
        sanitize_dir(tmp_path / "none", tmp_path / "out", MASK)
    os.mkfifo(source / "pipe.jsonl")
    with pytest.raises(WorkspaceError, match="not a regular file"):
        sanitize_dir(source, tmp_path / "out", MASK)


def test_a_failed_export_leaves_no_files(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    add = Report.add

    def full(self: Report, file: str, outcome: Outcome) -> None:
        add(self, file, outcome)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Report, "add", full)
    with pytest.raises(WorkspaceError, match="No space left"):
        sanitize_dir(source, tmp_path / "out", MASK)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in"]


_EXPORT = """
import sys
from pathlib import Path
from coreloop.sanitize.export import Choices, sanitize_dir
if __name__ == "__main__":
    sanitize_dir(Path(sys.argv[1]), Path(sys.argv[2]), Choices(mode="mask"), jobs=1)
"""


@pytest.mark.slow
def test_an_export_that_is_killed_leaves_no_file_under_its_name(tmp_path: Path):
    _log(tmp_path / "in" / "a.jsonl", 12_000)
    out = tmp_path / "out"
    process = subprocess.Popen([sys.executable, "-c", _EXPORT, str(tmp_path / "in"), str(out)])
    try:
        while not list(tmp_path.glob(".coreloop-export-*/*.jsonl")):
            assert process.poll() is None
            time.sleep(0.01)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert not out.exists()
    assert sanitize_dir(tmp_path / "in" / "a.jsonl", out, MASK).n_in == 12_000


@pytest.mark.slow
def test_ctrl_c_ends_the_workers_at_once(tmp_path: Path):
    _log(tmp_path / "in" / "a.jsonl", 200_000)
    out = tmp_path / "out"
    code = _EXPORT.replace("jobs=1", "jobs=2")
    code = f"import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n{code}"  # also in a job
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "in"), str(out)], stderr=subprocess.PIPE
    )
    while not any(part.stat().st_size for part in tmp_path.glob(".coreloop-export-*/*.jsonl")):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    with given_up():
        _, errors = process.communicate()
    assert b"KeyboardInterrupt" in errors
    assert not list(tmp_path.glob(".coreloop-export-*"))
    assert not out.exists()


def test_a_check_names_the_place_and_never_the_content(tmp_path: Path):
    private = record(
        question="아무것도",
        extra={"hong@example.com": ["010-1234-5678"]},
        error="키 " + "ghp_" + "a1B2c3D4e5F6g7H8",
    )
    path = write_log(tmp_path / "a.jsonl", [record(question="없음"), private])
    report = check_dir(path)
    assert report.findings == {"EMAIL": 1, "PHONE": 1, "SECRET": 1}
    assert {(place["line"], place["path"], place["kind"]) for place in report.places} == {
        (2, "extra.[EMAIL-1] (key)", "EMAIL"),
        (2, "extra.[EMAIL-1][0]", "PHONE"),
        (2, "error", "SECRET"),
    }
    assert not re.search("hong|1234|ghp", json.dumps(report.to_dict()))


def test_a_key_file_must_be_private_outside_the_export_and_long_enough(tmp_path: Path):
    out = tmp_path / "out"
    made = tmp_path / "key"
    key = read_key(made, out=out)
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    assert len(key) >= 32
    assert read_key(made, out=out) == key
    made.chmod(0o640)
    with pytest.raises(UsageError, match="chmod 600"):
        read_key(made, out=out)
    (tmp_path / "short").write_bytes(b"abc")
    (tmp_path / "short").chmod(0o600)
    with pytest.raises(UsageError, match="at least 32"):
        read_key(tmp_path / "short", out=out)
    for inside in (out / "key", out / "a" / "key"):
        with pytest.raises(UsageError, match="keep the key elsewhere"):
            read_key(inside, out=out)
    with pytest.raises(WorkspaceError, match="cannot be created"):
        read_key(tmp_path / "no" / "key", out=out)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_input(tmp_path: Path):
    peaks = []
    for count in (2_000, 20_000):
        _log(tmp_path / f"in{count}" / "a.jsonl", count)
        code = (
            _EXPORT + "    import resource\n    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / f"in{count}"), str(tmp_path / f"out{count}")],
            capture_output=True,
            text=True,
            check=True,
        )
        peaks.append(int(done.stdout))
    assert peaks[1] < peaks[0] * 1.4
