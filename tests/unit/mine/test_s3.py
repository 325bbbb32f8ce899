"""Records in a bucket, read over the S3 protocol from a local server, counted locally and on a cluster."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from coreloop.cli.main import main
from coreloop.errors import UsageError, WorkspaceError
from coreloop.mine import folder as folder_module
from coreloop.mine.cache import open_cache
from coreloop.mine.executors import CountTask, Executor
from coreloop.mine.folder import day_files, roll_up_folder
from coreloop.mine.remote import Address, Folder, RemoteFile
from coreloop.mine.rollup import MineSettings
from coreloop.mine.tables import NAMES
from logs import call, failed, line, record, word
from s3_stand_in import S3, running_s3

SETTINGS = MineSettings(selectors={"scan": ("target",)}, verdicts={"req-212": "V"})
LOGS = Address("s3://records/ai-ask")


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


@pytest.fixture(scope="module")
def s3() -> Iterator[S3]:
    with running_s3() as server, pytest.MonkeyPatch.context() as patch:
        for name, value in server.environment().items():
            patch.setenv(name, value)
        server.put("records")
        for name, content in CONTENT.items():
            server.put(f"records/ai-ask/{name}", content)
        yield server


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """The same records in a folder."""
    (tmp_path / "logs").mkdir()
    for name, content in CONTENT.items():
        (tmp_path / "logs" / name).write_bytes(content)
    return tmp_path / "logs"


@pytest.fixture
def every_byte_is_worth_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coreloop.mine.executors._WORTH_A_PROCESS_BYTES", 1)
    monkeypatch.setattr(folder_module, "_CHUNK_BYTES", 7000)


def _content(logs: Folder, cache_dir: Path, executor: Executor | None = None) -> dict[tuple[str, str], bytes]:
    with open_cache(cache_dir, SETTINGS) as cache:
        rollups = roll_up_folder(logs, SETTINGS, cache=cache, executor=executor)
        assert [rollup.n_bytes_read for rollup in rollups] == [len(content) for content in CONTENT.values()]
    return {
        (folder.name[:10], name): (folder / f"{name}.parquet").read_bytes()
        for folder in cache_dir.iterdir()
        if folder.is_dir()
        for name in NAMES
    }


def _read(logs: Address, cache_dir: Path) -> list[int | None]:
    with open_cache(cache_dir, SETTINGS) as cache:
        return [rollup.n_bytes_read for rollup in roll_up_folder(logs, SETTINGS, cache=cache)]


def _is_said(executor: Executor, path: RemoteFile, error: type[Exception], says: str) -> None:
    """What a worker cannot read."""
    task = CountTask(path, 0, 10, SETTINGS, Path("out"))
    with pytest.raises(error, match=says):
        list(executor.run([task]))


@pytest.mark.slow
@pytest.mark.usefixtures("every_byte_is_worth_a_process")
def test_a_cluster_counts_a_bucket_as_one_process_counts_a_folder(s3: S3, logs: Path, tmp_path: Path):
    from distributed import LocalCluster

    expected = _content(logs, tmp_path / "folder")
    assert len(expected) == 5 * len(NAMES)
    assert _content(LOGS, tmp_path / "one", Executor(jobs=1)) == expected
    made: Any = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
    )
    with made:
        executor = Executor(scheduler=made.scheduler_address)
        assert _content(LOGS, tmp_path / "cluster", executor) == expected
        _is_said(
            executor,
            RemoteFile(LOGS, "gone.jsonl", 9, ""),
            FileNotFoundError,
            "s3://records/ai-ask/gone.jsonl",
        )
        _is_said(
            executor,
            RemoteFile(Address("gs://b"), "a.jsonl", 9, ""),
            UsageError,
            "a worker of .*: pip install gcsfs",
        )
        with s3.locked():
            _is_said(executor, RemoteFile(LOGS, "2026-04-21.jsonl", 9, ""), PermissionError, "no permission")


@pytest.mark.slow
def test_an_unchanged_object_is_recognised_by_its_etag(s3: S3, tmp_path: Path):
    first, more = _lines(21), _lines(22)
    s3.put("changing")
    s3.put("changing/a.jsonl", first)
    logs = Address("s3://changing")
    assert _read(logs, tmp_path / "cache") == [len(first)]
    s3.put("changing/a.jsonl", first)  # the same once more, later
    assert _read(logs, tmp_path / "cache") == [None]
    s3.put("changing/a.jsonl", first + more)
    assert _read(logs, tmp_path / "cache") == [len(more)]
    s3.put("changing/a.jsonl", more)
    assert _read(logs, tmp_path / "cache") == [len(more)]
    s3.put("changing/a.jsonl", more[: more.index(b"\n") + 1])
    assert _read(logs, tmp_path / "cache") == [more.index(b"\n") + 1]
    s3.put("changing/a.jsonl")
    assert _read(logs, tmp_path / "cache") == [0]


@pytest.mark.parametrize(
    ("address", "says"),
    [
        pytest.param("s3://no-such-bucket/x", "(no such bucket, folder or object)", id="no bucket"),
        pytest.param(
            "s3://records/empty", "(no such bucket, folder or object)", id="nothing under the prefix"
        ),
        pytest.param("s3://records/ai-ask/2026-04-21.jsonl", "(is an object; name", id="an object"),
        pytest.param(
            "s3://AKIA:5e/cret@records/ai-ask",
            "(ParamValidationError: details are hidden",
            id="keys in the address",
        ),
    ],
)
def test_an_address_that_cannot_be_read_is_an_error(s3: S3, address: str, says: str):
    with pytest.raises(WorkspaceError) as caught:
        day_files(Address(address))
    assert says in str(caught.value)
    assert "5e" not in str(caught.value)


def test_a_folder_that_was_made_and_is_empty_has_no_records(s3: S3):
    s3.put("records/made/")
    assert day_files(Address("s3://records/made")) == []


def test_a_missing_permission_is_an_error(s3: S3):
    with (
        s3.locked(),
        pytest.raises(WorkspaceError, match=r"^s3://records/ai-ask: .*\(no permission to list"),
    ):
        day_files(LOGS)


def _found(*arguments: str) -> dict[str, Any]:
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    output: dict[str, Any] = json.loads(done.stdout)
    return {name: value for name, value in output.items() if name not in {"files", "generated_at"}}


@pytest.mark.slow
@pytest.mark.usefixtures("s3")
def test_commands_find_in_a_bucket_what_they_find_in_a_folder(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    window = ["--since", "2026-04-01", "--until", "2026-04-30"]
    for command, days in (("mine", window), ("pattern", window), ("refine", window), ("status", [])):
        here, there = (
            _found(command, *days, "--json", "--no-cache", "--in-dir", f"{place}") for place in (logs, LOGS)
        )
        assert there == here, command
        assert there.get("candidates") or command != "pattern"
    assert {path.name for path in tmp_path.iterdir()} == {"data", "logs"}
    assert not (tmp_path / "data" / "audit" / "ai-ask").exists()


@pytest.mark.usefixtures("s3")
def test_retention_never_touches_a_bucket_and_reports_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("coreloop.yaml").write_text("retention_days: 30\n")
    done = CliRunner().invoke(main, ["pattern", "--in-dir", str(LOGS)])
    assert "s3://records/ai-ask: nothing is removed at an address" in done.stderr
    assert [path.name for path in day_files(LOGS)] == list(CONTENT)


@pytest.mark.slow
@pytest.mark.usefixtures("s3")
def test_a_command_reports_an_error_in_one_line_and_leaves_no_files(tmp_path: Path):
    command = [sys.executable, "-m", "coreloop", "mine", "--in-dir", "s3://no-such-bucket/x"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("dartlab-coreloop: s3://no-such-bucket/x: cannot be read (no such bucket")
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
