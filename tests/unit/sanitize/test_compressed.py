"""Compressed files: read as a stream, with the same result as plain files, and nothing lost unseen."""

import gzip
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from coreloop.base.extras import install_line
from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import Workspace
from coreloop.sanitize.export import Choices, check_dir, sanitize_dir
from coreloop.sanitize.files import _zstd
from coreloop.sanitize.vocabulary import MIN_RECORDS, learn
from logs import call, line, record
from rows import slow_after

KEY = b"k" * 32
COMPRESS: dict[str, Callable[[bytes], bytes]] = {"gz": gzip.compress, "zst": _zstd().compress}
NAMES = {"gz": "gzip", "zst": "zstd"}


def rows(count: int = 40) -> bytes:
    return b"".join(
        line(record(question=f"메일 user{n}@example.com", tool_calls=[call("show", {"topic": "x"})]))
        for n in range(count)
    )


def write(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("suffix", slow_after(1, COMPRESS))
@pytest.mark.parametrize("mode", ["mask", "hash"])
def test_a_compressed_file_gives_the_export_of_the_plain_file(tmp_path: Path, mode, suffix: str) -> None:
    plain = write(tmp_path / "plain" / "2026-04-25.jsonl", rows())
    packed = write(tmp_path / "packed" / f"2026-04-25.jsonl.{suffix}", COMPRESS[suffix](rows()))
    words = [learn([path], Workspace(tmp_path, Settings())) for path in (plain, packed)]
    assert words[0] == words[1]
    assert words[0].seen == {"show": frozenset({"topic"})}
    for source in (plain, packed):
        choices = Choices(mode=mode, key=KEY, vocabulary=words[0], keep_times=True)
        report = sanitize_dir(source.parent, tmp_path / f"{source.parent.name}-out", choices)
        assert (report.n_in, report.n_out) == (40, 40)
    written = [(tmp_path / f"{name}-out" / "2026-04-25.jsonl").read_bytes() for name in ("plain", "packed")]
    assert written[0] == written[1]


@pytest.mark.parametrize("suffix", COMPRESS)
def test_a_compressed_file_is_recognised_by_its_content_and_checked(tmp_path: Path, suffix: str) -> None:
    write(tmp_path / "a.jsonl", COMPRESS[suffix](rows(3)) + COMPRESS[suffix](rows(2)))
    report = check_dir(tmp_path)
    assert report.findings == {"EMAIL": 5}
    assert [place["line"] for place in report.places] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("suffix", COMPRESS)
def test_a_damaged_file_gives_its_first_lines_and_counts_as_rejected(tmp_path: Path, suffix: str) -> None:
    data = COMPRESS[suffix](rows(MIN_RECORDS)) + COMPRESS[suffix](rows(9))[:-9]
    path = write(tmp_path / "in" / f"a.jsonl.{suffix}", data)
    assert "show" in learn([path], Workspace(tmp_path, Settings())).seen
    report = sanitize_dir(path, tmp_path / "out", Choices(mode="mask"))
    assert report.reasons == {f"a damaged {NAMES[suffix]} file; the rest of it is lost": 1}
    assert report.n_out >= MIN_RECORDS
    assert report.n_in == report.n_out + 1


@pytest.mark.slow
@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize("line_end", [b"", b"\n"], ids=["one line", "many lines"])
def test_a_file_that_grows_a_thousandfold_takes_little_memory(
    tmp_path: Path, suffix: str, line_end: bytes
) -> None:
    piece = b'{"a":1' + b" " * ((1 << 20) - 8) + b"}" + line_end
    packed = b"".join(COMPRESS[suffix](piece) for _ in range(150))
    path = write(tmp_path / f"a.jsonl.{suffix}", packed)
    assert len(packed) * 300 < 150 << 20
    code = f"""
import resource
from pathlib import Path
from coreloop.sanitize.export import check_dir
from coreloop.sanitize.vocabulary import learn
from coreloop.base.project.workspace import open_workspace
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
learn([Path({str(path)!r})], open_workspace(Path({str(tmp_path)!r})))
report = check_dir(Path({str(path)!r}))
print(report.n_in, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    n_lines, grown_mib = map(int, done.stdout.split())
    assert n_lines == (150 if line_end else 1)
    assert grown_mib < 100


WITHOUT_ZSTD = """
import sys
sys.modules["compression.zstd"] = sys.modules["backports.zstd"] = None
from coreloop.cli import run
run()
"""


@pytest.mark.parametrize("words", slow_after(1, ["--check in", "--mode hash --in in --out out"]))
def test_without_the_extra_the_answer_is_the_line_that_installs_it(tmp_path: Path, words: str) -> None:
    write(tmp_path / "in" / "a.jsonl.zst", COMPRESS["zst"](rows(3)))
    command = [sys.executable, "-c", WITHOUT_ZSTD, "sanitize", *words.split()]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    line = f"reading .zst files needs an extra; install it: {install_line('zstd')}"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"dartlab-coreloop: {line}\n")
    assert not (tmp_path / "out").exists()
