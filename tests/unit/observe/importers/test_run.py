"""The import use case: no duplicates, and progress in bytes."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from coreloop.base.errors import WorkspaceError
from coreloop.base.project.settings import Settings
from coreloop.observe.importers.append_requests import ImportReport
from coreloop.observe.importers.files import TraceFile
from coreloop.observe.importers.run import ImportRequest, run_import
from foreign_traces import LONG_AGO, Session, write_lines


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    """A folder with two sessions of one request each."""
    for name in ("a", "b"):
        session = Session(name).user(f"question {name}").calls("Bash").result().says("answer")
        write_lines(tmp_path / "traces" / f"{name}.jsonl", session.lines)
    return tmp_path / "traces"


def land(traces: Path, folder: Path, **more) -> ImportReport:
    request = ImportRequest(source="claude-code", paths=(traces,), folder=folder)
    return run_import(request, Settings(), now_s=LONG_AGO + 1e6, **more)


def test_a_second_import_adds_nothing(traces: Path, tmp_path: Path):
    first, second = (land(traces, tmp_path / "out") for _ in range(2))
    assert (first.n_files, first.added, first.already_there) == (2, 2, 0)
    assert (second.n_files, second.added, second.already_there) == (2, 0, 2)


def test_every_byte_read_is_reported(traces: Path, tmp_path: Path):
    progress: list[int] = []

    @contextmanager
    def watching(files: Sequence[TraceFile]) -> Iterator[Sequence[TraceFile]]:
        yield [replace(file, progress=progress.append) for file in files]
        progress.append(-1)

    land(traces, tmp_path / "out", watching=watching)
    assert progress.pop() == -1
    assert sum(progress) == sum(file.stat().st_size for file in traces.iterdir())


def test_a_folder_without_traces_is_refused_and_nothing_is_created(tmp_path: Path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(WorkspaceError, match=r"has no file that ends in \.jsonl"):
        land(tmp_path / "empty", tmp_path / "out")
    assert not (tmp_path / "out").exists()
