"""Records at an address are read like those of a folder, and never written; here in fsspec's memory."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

import fsspec
import pytest

from coreloop.base.date_range import Days
from coreloop.base.errors import UsageError, WorkspaceError
from coreloop.base.extras import install_line
from coreloop.learn.facts.counting import MineSettings
from coreloop.learn.facts.file_snapshot import read_source, split_at_lines
from coreloop.learn.facts.schema import NAMES
from coreloop.learn.facts.store import open_store
from coreloop.learn.mine.folder import day_files, expired, read_folder
from coreloop.learn.mine.window import merge
from coreloop.observe.reading.decode import read_lines
from coreloop.observe.reading.remote import Address, RemoteFile, named_folder
from logs import call, failed, line, record
from rows import each_row, slow_after

PLAIN = MineSettings()
LOGS = Address("memory://bucket/ai-ask")


class Bucket:
    """Objects below ``memory://bucket/ai-ask``."""

    def __init__(self) -> None:
        self._system = fsspec.filesystem("memory")

    def put(self, name: str, content: bytes) -> None:
        self._system.pipe_file(f"/bucket/ai-ask/{name}", content)

    def remove(self, name: str) -> None:
        self._system.rm_file(f"/bucket/ai-ask/{name}")

    def names(self) -> list[str]:
        return sorted(self._system.find("/"))


@pytest.fixture
def bucket() -> Iterator[Bucket]:
    made = Bucket()
    made.put("2026-04-24.jsonl", _lines(60))
    made.put("2026-04-25.jsonl", _lines(60, day=25))
    yield made
    fsspec.filesystem("memory").rm("/", recursive=True)


def _lines(count: int, *, day: int = 24, first: int = 0) -> bytes:
    ways = ([call()], [failed()], [call("scan", {"target": "배당"})])
    return b"".join(
        line(
            record(
                request_id=f"req-{day}{number}",
                ts=f"2026-04-{day}T09:{number % 60:02}:00Z",
                question=f"질문 {number}",
                tool_calls=ways[number % 3],
            )
        )
        for number in range(first, first + count)
    )


def _read(cache_dir: Path) -> dict[str, int | None]:
    """Roll up with the cache, compare with a fresh count, and return the bytes read of each file."""
    fresh = read_folder(LOGS, PLAIN)
    with open_store(cache_dir, PLAIN) as store:
        files = read_folder(LOGS, PLAIN, store=store)
        for file, expected in zip(files, fresh, strict=True):
            assert file.path == expected.path
            assert (file.oddities, dict(file.days)) == (expected.oddities, dict(expected.days))
            for name in NAMES:
                assert getattr(file.facts, name).collect().equals(getattr(expected.facts, name).collect())
        store.sweep(LOGS)
    return {file.path.name: file.n_bytes_read for file in files}


def _n_cached(cache_dir: Path) -> int:
    return sum(1 for path in cache_dir.iterdir() if path.is_dir())


def test_every_jsonl_directly_in_the_folder_counts_in_the_order_of_names(bucket: Bucket):
    for name in (
        "b.jsonl",
        "감사 기록.jsonl",
        "notes.txt",
        "c.jsonl.gz",
        "deeper/e.jsonl",
        "a.jsonl/e.jsonl",
    ):
        bucket.put(name, _lines(1))
    names = [path.name for path in day_files(LOGS)]
    assert names == ["2026-04-24.jsonl", "2026-04-25.jsonl", "b.jsonl", "감사 기록.jsonl"]


def test_unchanged_objects_are_not_read_again(bucket: Bucket, tmp_path: Path):
    size = len(_lines(60))
    assert _read(tmp_path / "cache") == {"2026-04-24.jsonl": size, "2026-04-25.jsonl": size}
    assert _read(tmp_path / "cache") == {"2026-04-24.jsonl": None, "2026-04-25.jsonl": None}


def test_of_an_object_that_grew_only_the_new_part_is_read(bucket: Bucket, tmp_path: Path):
    _read(tmp_path / "cache")
    new = _lines(7, first=60)
    bucket.put("2026-04-24.jsonl", _lines(60) + new)
    assert _read(tmp_path / "cache") == {"2026-04-24.jsonl": len(new), "2026-04-25.jsonl": None}
    assert _n_cached(tmp_path / "cache") == 2


@pytest.mark.parametrize(
    "content",
    slow_after(
        2,
        [
            pytest.param(_lines(59), id="shrunk"),
            pytest.param(_lines(70, day=26), id="replaced by a longer one"),
            pytest.param(_lines(60).replace(b"openai", b"google"), id="replaced by one of the same size"),
            pytest.param(b"", id="emptied"),
        ],
    ),
)
def test_a_changed_object_is_counted_again(bucket: Bucket, tmp_path: Path, content: bytes):
    _read(tmp_path / "cache")
    bucket.put("2026-04-24.jsonl", content)
    assert _read(tmp_path / "cache") == {"2026-04-24.jsonl": len(content), "2026-04-25.jsonl": None}


def test_a_torn_end_that_is_completed_later_is_counted_once(bucket: Bucket, tmp_path: Path):
    bucket.put("2026-04-24.jsonl", _lines(60)[:-20])
    _read(tmp_path / "cache")
    bucket.put("2026-04-24.jsonl", _lines(60))
    assert _read(tmp_path / "cache")["2026-04-24.jsonl"] == len(_lines(60))


def test_the_file_of_a_removed_object_is_removed(bucket: Bucket, tmp_path: Path):
    _read(tmp_path / "cache")
    bucket.remove("2026-04-24.jsonl")
    assert _read(tmp_path / "cache") == {"2026-04-25.jsonl": None}
    assert _n_cached(tmp_path / "cache") == 1


def test_a_folder_and_an_address_do_not_disturb_each_other(bucket: Bucket, tmp_path: Path):
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "2026-04-24.jsonl").write_bytes(_lines(60))
    for _ in range(2):
        read = _read(tmp_path / "cache")
        with open_store(tmp_path / "cache", PLAIN) as store:
            of_folder = read_folder(folder, PLAIN, store=store)
            store.sweep(folder)
    assert (set(read.values()), of_folder[0].n_bytes_read) == ({None}, None)


def test_questions_are_read_back_by_their_offset(bucket: Bucket, tmp_path: Path):
    with open_store(tmp_path / "cache", PLAIN) as store:
        window = merge(read_folder(LOGS, PLAIN, store=store), Days(date(2026, 4, 24), date(2026, 4, 25)))
        rows = window.requests.select("file", "offset").collect().rows()
        request_ids = {line.fields.request_id for _, _, line in window.lines(rows)}
        assert request_ids == {
            f"req-{day}{number}" for day in (24, 25) for number in range(60) if number % 3 != 1
        }
        bucket.remove("2026-04-24.jsonl")
        assert {file for file, _, _ in window.lines(rows)} == {1}


def test_remote_files_never_expire(bucket: Bucket):
    files = read_folder(LOGS, PLAIN)
    assert len(files) == 2
    assert expired(files, before=date(2027, 1, 1)) == []


def test_nothing_is_written_to_the_address(bucket: Bucket, tmp_path: Path):
    before = bucket.names()
    _read(tmp_path / "cache")
    assert bucket.names() == before


@pytest.mark.parametrize(
    ("address", "says"),
    [
        pytest.param("memory://gone", "memory://gone: cannot be read (no such bucket,", id="missing"),
        pytest.param(
            "memory://bucket/ai-ask/2026-04-24.jsonl",
            "24.jsonl: cannot be read (is an object;",
            id="an object",
        ),
        pytest.param(
            "http://user:pass@127.0.0.1:9/logs?sig=5ecret",
            "http://127.0.0.1:9/logs: cannot be read (ClientConnectorError: details are hidden",
            id="nobody answers",
        ),
    ],
)
def test_an_address_that_cannot_be_read_is_an_error(bucket: Bucket, address: str, says: str):
    with pytest.raises(WorkspaceError) as caught:
        read_folder(Address(address), PLAIN)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_object_removed_while_it_is_counted_is_named(bucket: Bucket):
    first, _ = day_files(LOGS)
    bucket.remove("2026-04-24.jsonl")
    with pytest.raises(FileNotFoundError) as caught:
        list(read_lines(first))
    assert caught.value.filename == "memory://bucket/ai-ask/2026-04-24.jsonl"


def test_an_object_that_shrinks_while_it_is_counted_is_an_error(bucket: Bucket):
    first, _ = day_files(LOGS)
    bucket.put("2026-04-24.jsonl", _lines(59))
    with pytest.raises(OSError, match=r"the file shrank.*memory://bucket/ai-ask/2026-04-24\.jsonl"):
        list(read_lines(first))


def test_an_object_that_grows_while_it_is_counted_is_read_to_its_former_end(bucket: Bucket):
    first, _ = day_files(LOGS)
    bucket.put("2026-04-24.jsonl", _lines(70))
    assert sum(1 for _ in read_lines(first)) == 60


def test_a_line_is_found_again_and_a_file_is_cut_as_on_disk(bucket: Bucket, tmp_path: Path):
    on_disk = tmp_path / "2026-04-24.jsonl"
    on_disk.write_bytes(_lines(60))
    remote, _ = day_files(LOGS)
    size = on_disk.stat().st_size
    for chunk_bytes in (1, 700, 5000, size):
        parts = [list(split_at_lines(path, 0, size, chunk_bytes=chunk_bytes)) for path in (on_disk, remote)]
        assert parts[0] == parts[1]
    assert replace(read_source(on_disk), modified_ns=0, inode=0) == replace(read_source(remote), version="")


@pytest.mark.parametrize("torn", [b"", b"x", b"x" * 4096, b"x" * 5000, b"x" * 140_000])
def test_the_last_complete_line_is_found_before_a_torn_line_of_any_length(bucket: Bucket, torn: bytes):
    bucket.put("2026-04-24.jsonl", b"{}\n" + torn)
    remote, _ = day_files(LOGS)
    assert (read_source(remote).end, read_source(remote).size) == (3, 3 + len(torn))


def test_an_unknown_protocol_is_an_error():
    with pytest.raises(UsageError, match=r"^nonsense:// is not a protocol that fsspec supports$"):
        day_files(Address("nonsense://bucket"))


@pytest.mark.slow
@each_row(
    ("hidden", "address", "says"),
    [
        ("s3fs", "s3://bucket/logs", "s3:// needs a package; install it: pip install s3fs"),
        ("paramiko", "sftp://u:p@h/x", "sftp:// needs a package; install it: pip install 'fsspec[sftp]'"),
        ("aiohttp", "https://h/x", "https:// needs a package; install it: pip install 'fsspec[http]'"),
        (
            "fsspec",
            "s3://b/x",
            f"an address needs an extra; install it: {install_line('distributed')}",
        ),
    ],
)
def test_a_missing_package_is_named_with_the_line_that_installs_it(hidden: str, address: str, says: str):
    code = f"""if True:
        import sys
        sys.modules["{hidden}"] = None
        from coreloop.base.errors import UsageError
        from coreloop.observe.reading.remote import Address
        try:
            Address("{address}").files()
        except UsageError as error:
            print(error)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"{says}\n"


def test_fsspec_is_imported_only_for_an_address(tmp_path: Path):
    code = f"""if True:
        import sys
        from pathlib import Path
        from coreloop.learn.mine.folder import read_folder
        from coreloop.learn.facts.counting import MineSettings
        read_folder(Path({str(tmp_path)!r}), MineSettings())
        print("fsspec" in sys.modules)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@each_row(
    ("address", "shown"),
    [
        ("s3://bucket/ai-ask", "s3://bucket/ai-ask"),
        ("s3://KEY:sec/r@t@bucket/ai-ask", "s3://bucket/ai-ask"),
        ("s3://KEY:1234/ab@bucket/ai-ask", "s3://bucket/ai-ask"),
        ("ftp://user@host:21/logs", "ftp://host:21/logs"),
        ("sftp://user:pass@host:22/logs", "sftp://host:22/logs"),
        ("http://host:8080/logs", "http://host:8080/logs"),
        ("file:///home/me@work/logs", "file:///home/me@work/logs"),
        ("https://host/logs?sig=5ecret&x=1", "https://host/logs"),
        ("simplecache::s3://KEY:secret@bucket/x", "simplecache::s3://bucket/x"),
    ],
)
def test_user_password_and_query_are_never_shown(address: str, shown: str):
    assert f"{Address(address)}" == shown
    assert repr(Address(address)) == f"Address({shown!r})"
    file = RemoteFile(Address(address), "a.jsonl", 1, "")
    assert f"{file}" == f"{shown}/a.jsonl"
    assert f"{Address(address)!r}" in repr(file)


def test_text_without_a_protocol_is_a_folder():
    assert named_folder("data/ai-ask") == Path("data/ai-ask")
    assert named_folder("s3://bucket/x") == Address("s3://bucket/x")


def test_no_secret_of_an_address_is_in_a_file(bucket: Bucket, tmp_path: Path):
    """fsspec's memory takes what stands before the bucket for folders."""
    fsspec.filesystem("memory").pipe_file("/KEY:5ecret@bucket/a.jsonl", _lines(3))
    with open_store(tmp_path / "cache", PLAIN) as store:
        read_folder(Address("memory://KEY:5ecret@bucket"), PLAIN, store=store)
    written = [path.read_bytes() for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert any(b'"memory://bucket/a.jsonl"' in content for content in written)
    assert not any(b"5ecret" in content for content in written)
