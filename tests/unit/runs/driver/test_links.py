"""Links in the folder of a run are never followed: what they lead to stays as it is."""

from pathlib import Path

import pytest

from coreloop.errors import WorkspaceError
from coreloop.project.workspace import open_workspace
from coreloop.runs.manage import forget_run
from coreloop.runs.stores.store import open_store
from driving import begin, go_on, state_at

WORK = "echo $CORELOOP_ITERATION >> tasks"


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    folder = tmp_path / "foreign"
    folder.mkdir()
    for number in range(150):
        (folder / f"iteration_{number:03d}.log").write_text("kept")
    return folder


def contents(folder: Path) -> set[tuple[str, str]]:
    return {(path.name, path.read_text()) for path in folder.iterdir()}


@pytest.mark.parametrize("name", ["output", "archival"])
def test_a_link_that_a_command_makes_is_refused_and_what_it_leads_to_stays(
    name: str, tmp_path: Path, foreign: Path
):
    project, before = tmp_path / "project", contents(foreign)
    project.mkdir()
    link = f"cd .research/sessions/$CORELOOP_RUN; rm -rf {name}; ln -s {foreign} {name}"
    run_id = begin(project, f"{WORK}; {link}", max_iterations=2)
    with pytest.raises(WorkspaceError, match=f"{name}: is a symbolic link; replace it by a folder"):
        go_on(project, run_id)
    assert contents(foreign) == before
    (project / ".research" / "sessions" / run_id / name).unlink()
    assert state_at(project, run_id).status == "running"  # and it can go on


@pytest.mark.parametrize("name", [".research", ".research/sessions"])
def test_a_run_is_not_forgotten_through_a_link(name: str, tmp_path: Path, foreign: Path):
    project = tmp_path / "project"
    project.mkdir()
    run_id = begin(project, WORK, max_iterations=1)
    go_on(project, run_id)
    (project / name).rename(tmp_path / "moved")
    (project / name).symlink_to(tmp_path / "moved")
    kept = sorted(tmp_path.rglob("moved/**/*"))
    with open_store(open_workspace(project)) as store, pytest.raises(WorkspaceError, match="symbolic link"):
        forget_run(open_workspace(project), store, run_id, confirm=True)
    assert sorted(tmp_path.rglob("moved/**/*")) == kept
