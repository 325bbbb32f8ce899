"""Large files are cached once; all executors give the same facts, also from an address."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coreloop.base.errors import UsageError
from coreloop.learn.facts.read_lines import MineSettings
from coreloop.learn.facts.schema import NAMES
from coreloop.learn.mine import folder as folder_module
from coreloop.learn.mine.executors import named_folder
from coreloop.learn.mine.folder import read_folder
from coreloop.learn.mine.window import EVERY_DAY, merge
from logs import call, failed, record, write_log

SETTINGS = MineSettings(selectors={"scan": ("target",)})


@pytest.fixture(autouse=True)
def every_file_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_module, "_SMALL_BYTES", 0)
    monkeypatch.setattr(folder_module, "_CHUNK_BYTES", 7000)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for day in range(21, 24):
        write_day(tmp_path / "logs", day)
    return tmp_path / "logs"


def write_day(folder: Path, day: int, n: int = 40) -> None:
    ways = ([call()], [failed()], [call("scan", {"target": "배당"})])
    rows = [
        record(request_id=f"{day}-{row}", question=f"{row}", tool_calls=ways[row % 3]) for row in range(n)
    ]
    write_log(folder / f"2026-04-{day}.jsonl", rows)


def facts(folder: Path, **options: Any) -> list[Any]:
    """The rows of all files."""
    tables = merge(read_folder(folder, SETTINGS, **options), EVERY_DAY).facts
    return [getattr(tables, name).collect().to_dicts() for name in NAMES]


def test_a_file_is_read_again_only_when_it_changed(logs: Path, tmp_path: Path):
    def n_read() -> int:
        read: list[int] = []
        read_folder(logs, SETTINGS, cache=tmp_path / "c", progress=lambda done, _: read.append(done))
        return len(read)

    assert n_read() == 3
    assert n_read() == 0
    write_day(logs, 22, n=41)
    assert n_read() == 1
    assert len(list((tmp_path / "c").iterdir())) == 3


@pytest.mark.slow
def test_processes_give_the_same_facts(logs: Path, tmp_path: Path):
    assert facts(logs, cache=tmp_path / "c", executor="processes") == facts(logs)


@pytest.fixture
def cluster() -> Iterator[str]:
    """A scheduler and two workers, each in a separate process."""
    distributed = pytest.importorskip("distributed", reason="needs the extra distributed")
    made: Any = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
    )
    with made:
        yield made.scheduler_address


@pytest.mark.slow
def test_a_cluster_gives_the_same_facts(logs: Path, tmp_path: Path, cluster: str):
    assert facts(logs, cache=tmp_path / "c", executor=cluster) == facts(logs)


@pytest.mark.slow
def test_a_scheduler_that_does_not_answer_is_named(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("coreloop.learn.mine.executors._ANSWER_S", 0.2)
    with pytest.raises(UsageError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        facts(logs, cache=tmp_path / "c", executor="tcp://127.0.0.1:9")


def test_records_at_an_address_give_the_same_facts(logs: Path, tmp_path: Path):
    folder = named_folder("memory://bucket/ai-ask")
    folder.mkdir(parents=True)
    for path in logs.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    assert facts(folder, cache=tmp_path / "c") == facts(logs)


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("nonsense://bucket", "nonsense://bucket cannot be reached .ValueError"),
        ("s3://bucket", "s3://bucket cannot be reached .ImportError"),
        ("sftp://user:word@host/logs", "sftp:// holds credentials; give them in the environment instead"),
    ],
)
def test_an_address_that_cannot_be_used_has_its_reason(address: str, reason: str):
    with pytest.raises(UsageError, match=reason):
        named_folder(address)
