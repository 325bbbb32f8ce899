"""All executors give the same tables: this process, two other processes, a cluster of two workers."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coreloop.base.errors import UsageError, WorkspaceError
from coreloop.base.extras import install_line
from coreloop.learn.facts.counting import MineSettings
from coreloop.learn.facts.store import open_store
from coreloop.learn.mine import folder as folder_module
from coreloop.learn.mine.executors import CountTask, Executor
from coreloop.learn.mine.folder import read_folder
from logs import call, failed, record, write_log

SETTINGS = MineSettings(selectors={"scan": ("target",)}, verdicts={"req-2": "V"})


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for day in range(21, 26):
        ways = ([call()], [failed()], [call("scan", {"target": "배당"})])
        rows = [
            record(request_id=f"req-{day}{n}", question=f"{n}", tool_calls=ways[n % 3]) for n in range(40)
        ]
        write_log(tmp_path / "logs" / f"2026-04-{day}.jsonl", rows)
    return tmp_path / "logs"


@pytest.fixture(autouse=True)
def every_byte_is_worth_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coreloop.learn.mine.executors._WORTH_A_PROCESS_BYTES", 1)
    monkeypatch.setattr("coreloop.learn.facts.read_lines._BYTES_AT_ONCE", 1)
    monkeypatch.setattr(folder_module, "_CHUNK_BYTES", 7000)


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """A scheduler and two workers, each in a separate process."""
    dask = pytest.importorskip("dask", reason="needs the extra distributed")
    distributed = pytest.importorskip("distributed", reason="needs the extra distributed")
    with dask.config.set({"distributed.scheduler.allowed-failures": 0}):
        made: Any = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
        )
    with made:
        yield made.scheduler_address


def _content(logs: Path, cache_dir: Path, executor: Executor) -> dict[tuple[str, str], bytes]:
    with open_store(cache_dir, SETTINGS) as store:
        files = read_folder(logs, SETTINGS, store=store, executor=executor)
        assert all(file.n_bytes_read for file in files)
    return {
        (path.parts[-3][:10], f"{path.parent.name}/{path.name}"): path.read_bytes()
        for path in cache_dir.glob("*/*/*.parquet")
    }


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [2, 8])
def test_several_processes_write_the_same_bytes_as_one_process(logs: Path, tmp_path: Path, jobs: int):
    alone = _content(logs, tmp_path / "one", Executor(jobs=1))
    assert len({day for day, _ in alone}) == 5
    assert _content(logs, tmp_path / "several", Executor(jobs=jobs)) == alone


@pytest.mark.slow
def test_a_cluster_writes_the_same_bytes_as_one_process(logs: Path, tmp_path: Path, cluster: str):
    alone = _content(logs, tmp_path / "one", Executor(jobs=1))
    assert _content(logs, tmp_path / "cluster", Executor(scheduler=cluster)) == alone


@pytest.mark.slow
def test_a_worker_with_another_version_of_mining_is_an_error(
    logs: Path, tmp_path: Path, cluster: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("coreloop.learn.mine.executors.VERSION", 99)
    with pytest.raises(UsageError, match=r"of coreloop \(it has version .+ of facts, not 99\)"):
        _content(logs, tmp_path / "cluster", Executor(scheduler=cluster))


@pytest.mark.slow
def test_a_worker_that_dies_is_an_error(tmp_path: Path, cluster: str):
    class Deadly:
        """A file that ends the process that opens it."""

        parent = tmp_path

        def open(self, *_: Any, **__: Any) -> None:
            import os

            os._exit(9)

    task = CountTask(Deadly(), 0, 1, SETTINGS, tmp_path / "out")  # type: ignore[arg-type]
    with pytest.raises(WorkspaceError, match="died while they counted"):
        list(Executor(scheduler=cluster).run([task]))


@pytest.mark.slow
def test_a_scheduler_that_does_not_answer_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("distributed", reason="needs the extra distributed")
    monkeypatch.setattr("coreloop.observe.reading.remote._ANSWER_S", 0.2)
    task = CountTask(tmp_path / "a.jsonl", 0, 1, SETTINGS, tmp_path / "out")
    with pytest.raises(UsageError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        list(Executor(scheduler="tcp://127.0.0.1:9").run([task]))


@pytest.mark.slow
def test_an_invalid_address_is_an_error(tmp_path: Path):
    pytest.importorskip("distributed", reason="needs the extra distributed")
    task = CountTask(tmp_path / "a.jsonl", 0, 1, SETTINGS, tmp_path / "out")
    with pytest.raises(UsageError, match="no Dask scheduler answers at nonsense"):
        list(Executor(scheduler="nonsense://x").run([task]))


@pytest.mark.slow
def test_without_the_extra_the_error_names_the_line_that_installs_it(tmp_path: Path):
    code = """if True:
        import sys
        sys.modules["distributed"] = None
        from pathlib import Path
        from coreloop.base.errors import MissingExtraError
        from coreloop.learn.facts.counting import MineSettings
        from coreloop.learn.mine.executors import CountTask, Executor
        try:
            list(Executor(scheduler="tcp://h:1").run([CountTask(Path("a"), 0, 1, MineSettings(), Path("b"))]))
        except MissingExtraError as error:
            print(error)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"--scheduler needs an extra; install it: {install_line('distributed')}\n"


@pytest.mark.slow
def test_a_file_removed_before_it_is_counted_is_named(logs: Path, tmp_path: Path):
    tasks = [
        CountTask(logs / f"2026-04-{day}.jsonl", 0, 7000, SETTINGS, tmp_path / f"{day}")
        for day in (21, 22, 99)
    ]
    with pytest.raises(FileNotFoundError, match=r"2026-04-99\.jsonl"):
        list(Executor(jobs=2).run(tasks))


@pytest.mark.slow
def test_a_killed_process_is_an_error(tmp_path: Path):
    class Deadly(MineSettings):
        """Ends the process that unpacks it."""

        def __reduce__(self) -> Any:
            import os

            return os._exit, (9,)

    tasks = [CountTask(tmp_path / "a.jsonl", 0, 1, Deadly(), tmp_path / f"{number}") for number in range(2)]
    with pytest.raises(WorkspaceError, match="was killed; try --jobs 1"):
        list(Executor(jobs=2).run(tasks))
