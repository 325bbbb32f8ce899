"""All executors give the same facts, also from an address."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coreloop.base.errors import UsageError
from coreloop.learn.facts.read_lines import MineSettings
from coreloop.learn.mine import folder as folder_module
from coreloop.learn.mine.executors import named_folder
from coreloop.learn.mine.folder import read_folder
from logs import call, failed, record, write_log
from samples import contents

SETTINGS = MineSettings(selectors={"scan": ("target",)})


@pytest.fixture(autouse=True)
def every_file_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_module, "_KEPT_FROM", 0)
    monkeypatch.setattr(folder_module, "_CHUNK_BYTES", 7000)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    ways = ([call()], [failed()], [call("scan", {"target": "배당"})])
    for day in range(21, 24):
        rows = [
            record(request_id=f"{day}-{row}", question=f"{row}", tool_calls=ways[row % 3])
            for row in range(40)
        ]
        write_log(tmp_path / "logs" / f"2026-04-{day}.jsonl", rows)
    return tmp_path / "logs"


def facts(folder: Path, **options: Any) -> Any:
    return contents(read_folder(folder, SETTINGS, **options))


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
