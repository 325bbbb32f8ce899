"""The files that show a run: whole, private, current, and gone when the run is forgotten."""

import json
from pathlib import Path

import pytest

from coreloop.base.errors import WorkspaceError
from coreloop.runs.active_run import work_on
from coreloop.runs.events import Event
from coreloop.runs.manage import create_run
from coreloop.runs.run_files import Viewer, remove_views, session_folder
from coreloop.runs.state import State
from coreloop.runs.stores.store import store_at
from happenings import RUN_ID, created, fold

OTHER_ID = "01KQ0000000000000000000001"


def state(*later: Event, run_id: str = RUN_ID, kind: str = "test") -> State:
    return fold([created(run_id=run_id, kind=kind), *later])


def write_views(root: Path, shown: State) -> None:
    with store_at(root / "runs.db") as store:
        create_run(store, "왜?", kind="test", run_id=shown.run_id)
        Viewer(root, store)(shown)


def test_a_process_that_goes_on_writes_the_views_that_are_missing(tmp_path: Path):
    with store_at(tmp_path / "runs.db") as store:
        run_id = create_run(store, "왜?", kind="test")
        with work_on(store, run_id) as run:
            run.commit_iteration()
        with work_on(store, run_id) as run:
            run.commit_iteration()
            Viewer(tmp_path, store)(run.state)
    archive = session_folder(tmp_path, run_id) / "archival"
    assert sorted(path.name for path in archive.iterdir()) == ["iteration_001.json", "iteration_002.json"]


def test_the_links_lead_to_the_newest_run(tmp_path: Path):
    write_views(tmp_path, state())
    write_views(tmp_path, state(run_id=OTHER_ID))
    assert json.loads((tmp_path / ".research/state.json").read_text("utf-8"))["run_id"] == OTHER_ID
    assert (tmp_path / ".research" / "current").resolve() == session_folder(tmp_path, OTHER_ID).resolve()
    assert sorted(path.name for path in (tmp_path / ".research").iterdir()) == [
        "current",
        "sessions",
        "state.json",
    ]


def test_a_forgotten_run_leaves_nothing(tmp_path: Path):
    write_views(tmp_path, state())
    remove_views(tmp_path, RUN_ID)
    assert [path.name for path in (tmp_path / ".research").rglob("*")] == ["sessions"]
    remove_views(tmp_path, RUN_ID)


def test_a_link_in_place_of_a_runs_folder_is_removed_and_not_followed(tmp_path: Path):
    write_views(tmp_path, state())
    precious = tmp_path / "precious"
    session_folder(tmp_path, RUN_ID).rename(precious)
    session_folder(tmp_path, RUN_ID).symlink_to(precious)
    remove_views(tmp_path, RUN_ID)
    assert not session_folder(tmp_path, RUN_ID).is_symlink()
    assert (precious / "state.json").is_file()


@pytest.mark.parametrize("run_id", ["../../etc", "", "01kq0000000000000000000000", f"{RUN_ID}/.."])
def test_an_id_that_names_a_path_is_refused(tmp_path: Path, run_id: str):
    with pytest.raises(ValueError, match="not a run id"):
        remove_views(tmp_path, run_id)


def test_a_link_that_a_repository_brings_is_not_followed(tmp_path: Path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".research").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(WorkspaceError, match=r"\.research: is a symbolic link; replace it by a folder"):
        write_views(tmp_path, state())
    assert list((tmp_path / "elsewhere").iterdir()) == []
