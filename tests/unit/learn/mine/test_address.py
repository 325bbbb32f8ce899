"""Records at an address over the network, counted locally and on a cluster; and a store that refuses."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
from click.testing import CliRunner
from fsspec.implementations.memory import MemoryFileSystem

from coreloop.base.errors import UsageError, WorkspaceError
from coreloop.cli.main import main
from coreloop.learn.facts.counting import MineSettings
from coreloop.learn.facts.store import open_store
from coreloop.learn.mine import folder as folder_module
from coreloop.learn.mine.executors import CountTask, Executor
from coreloop.learn.mine.folder import day_files, read_folder
from coreloop.observe.reading.remote import Address, Folder, RemoteFile
from logs import call, failed, line, record, word
from records_server import RecordsServer, records_server

SETTINGS = MineSettings(selectors={"scan": ("target",)}, verdicts={"req-212": "V"})


def _lines(day: int, count: int = 40) -> bytes:
    ways = ([call()], [failed()], [call("scan", {"target": "배당"})])
    return b"".join(
        line(
            record(
                request_id=f"req-{day}{number}",
                ts=f"2026-04-{day}T09:30:00Z",
                question=f"질문 {word(number)} 회사{word(number)}",
                tool_calls=ways[number % 3],
            )
        )
        for number in range(count)
    )


CONTENT = {f"2026-04-{day}.jsonl": _lines(day) for day in range(21, 26)}


class Locked(MemoryFileSystem):
    """A store whose every object is somebody else's."""

    protocol = "locked"

    def ls(self, path: str, detail: bool = True, **_: Any) -> Any:
        raise PermissionError("Access Denied: key 5ecret")


@pytest.fixture(scope="module")
def server() -> Iterator[RecordsServer]:
    with records_server() as server:
        server.files |= {f"ai-ask/{name}": content for name, content in CONTENT.items()}
        server.folders.add("made")
        yield server


@pytest.fixture(scope="module")
def there(server: RecordsServer) -> Address:
    return Address(f"{server.url}/ai-ask")


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """The same records in a folder."""
    (tmp_path / "logs").mkdir()
    for name, content in CONTENT.items():
        (tmp_path / "logs" / name).write_bytes(content)
    return tmp_path / "logs"


@pytest.fixture
def every_byte_is_worth_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coreloop.learn.mine.executors._WORTH_A_PROCESS_BYTES", 1)
    monkeypatch.setattr("coreloop.learn.facts.read_lines._BYTES_AT_ONCE", 1)
    monkeypatch.setattr(folder_module, "_CHUNK_BYTES", 7000)


def _content(logs: Folder, cache_dir: Path, executor: Executor | None = None) -> dict[tuple[str, str], bytes]:
    with open_store(cache_dir, SETTINGS) as store:
        files = read_folder(logs, SETTINGS, store=store, executor=executor)
        assert [file.n_bytes_read for file in files] == [len(content) for content in CONTENT.values()]
    return {
        (path.parts[-3][:10], f"{path.parent.name}/{path.name}"): path.read_bytes()
        for path in cache_dir.glob("*/*/*.parquet")
    }


def _read(logs: Address, cache_dir: Path) -> list[int | None]:
    with open_store(cache_dir, SETTINGS) as store:
        return [file.n_bytes_read for file in read_folder(logs, SETTINGS, store=store)]


def _is_said(executor: Executor, path: RemoteFile, error: type[Exception], says: str) -> None:
    """What a worker cannot read."""
    task = CountTask(path, 0, 10, SETTINGS, Path("out"))
    with pytest.raises(error, match=says):
        list(executor.run([task]))


@pytest.mark.slow
@pytest.mark.usefixtures("every_byte_is_worth_a_process")
def test_a_cluster_counts_an_address_as_one_process_counts_a_folder(
    server: RecordsServer, there: Address, logs: Path, tmp_path: Path
):
    from distributed import LocalCluster

    expected = _content(logs, tmp_path / "folder")
    assert len({day for day, _ in expected}) == 5
    assert _content(there, tmp_path / "one", Executor(jobs=1)) == expected
    made: Any = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
    )
    with made:
        executor = Executor(scheduler=made.scheduler_address)
        assert _content(there, tmp_path / "cluster", executor) == expected
        _is_said(
            executor,
            RemoteFile(there, "gone.jsonl", 9, ""),
            FileNotFoundError,
            f"{there}/gone.jsonl",
        )
        _is_said(
            executor,
            RemoteFile(Address("gs://b"), "a.jsonl", 9, ""),
            UsageError,
            "a worker of .*: pip install gcsfs",
        )
        server.is_locked = True
        try:
            _is_said(
                executor, RemoteFile(there, "2026-04-21.jsonl", 9, ""), Exception, "403"
            )  # as Dask passes it on
        finally:
            server.is_locked = False


def test_an_unchanged_object_is_recognised_by_its_etag(server: RecordsServer, tmp_path: Path):
    first, more = _lines(21), _lines(22)
    place = Address(f"{server.url}/changing")
    for content, read in (
        (first, len(first)),
        (bytes(bytearray(first)), None),  # the same once more
        (first + more, len(more)),
        (more, len(more)),
        (more[: more.index(b"\n") + 1], more.index(b"\n") + 1),
        (b"", 0),
    ):
        server.files["changing/a.jsonl"] = content
        assert _read(place, tmp_path / "cache") == [read]


@pytest.mark.parametrize(
    ("address", "mention"),
    [
        pytest.param("http://{}/none/x", "(no such bucket, folder or object)", id="no folder"),
        pytest.param("http://AKIA:5ecret@{}/none", "(no such bucket, folder or object)", id="a password"),
        pytest.param("locked://5ecret@records/ai-ask", "(no permission to list", id="no permission"),
    ],
)
def test_an_address_that_cannot_be_read_is_an_error(server: RecordsServer, address: str, mention: str):
    fsspec.register_implementation("locked", Locked, clobber=True)
    with pytest.raises(WorkspaceError) as caught:
        day_files(Address(address.format(server.url.removeprefix("http://"))))
    assert mention in str(caught.value)
    assert "5ecret" not in str(caught.value)


def test_a_folder_that_was_made_and_is_empty_has_no_records(server: RecordsServer):
    assert day_files(Address(f"{server.url}/made")) == []


def _found(*arguments: str) -> dict[str, Any]:
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    output: dict[str, Any] = json.loads(done.stdout)
    return {name: value for name, value in output.items() if name not in {"files", "generated_at"}}


@pytest.mark.slow
def test_commands_find_at_an_address_what_they_find_in_a_folder(
    there: Address, logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    window = ["--since", "2026-04-01", "--until", "2026-04-30"]
    for command, days in (("mine", window), ("pattern", window), ("refine", window), ("status", [])):
        local, remote = (
            _found(command, *days, "--json", "--no-cache", "--in-dir", f"{place}") for place in (logs, there)
        )
        assert remote == local, command
        assert remote.get("candidates") or command != "pattern"
    assert {path.name for path in tmp_path.iterdir()} == {"data", "logs"}
    assert not (tmp_path / "data" / "audit" / "ai-ask").exists()


def test_retention_never_touches_an_address_and_reports_it(
    there: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    Path("coreloop.yaml").write_text("retention_days: 30\n")
    done = CliRunner().invoke(main, ["pattern", "--in-dir", str(there)])
    assert f"{there}: nothing is removed at an address" in done.stderr
    assert [path.name for path in day_files(there)] == list(CONTENT)


@pytest.mark.slow
def test_a_command_reports_an_error_in_one_line_and_leaves_no_files(server: RecordsServer, tmp_path: Path):
    command = [sys.executable, "-m", "coreloop", "mine", "--in-dir", f"{server.url}/none"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"dartlab-coreloop: {server.url}/none: cannot be read (no such bucket")
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
