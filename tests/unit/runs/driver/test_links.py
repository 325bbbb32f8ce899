"""Links in the folder of a run are never followed: what they lead to stays as it is."""

from pathlib import Path

import pytest

from coreloop.base.errors import WorkspaceError
from coreloop.base.project.workspace import open_workspace
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


@pytest.mark.parametrize("above", ["", "/.."], ids=["the run's folder", "all sessions"])
def test_a_link_above_the_output_is_refused_before_anything_is_written(
    above: str, tmp_path: Path, foreign: Path
):
    project, victim = tmp_path / "project", tmp_path / "victim"
    project.mkdir()
    (victim / "output").mkdir(parents=True)
    for path in foreign.iterdir():
        path.rename(victim / "output" / path.name)
    swap = f"S=$(realpath .research/sessions/$CORELOOP_RUN{above}); rm -rf $S; ln -s {victim} $S"
    run_id = begin(project, f"{WORK}; {swap}", max_iterations=2)
    if above:
        (victim / run_id).mkdir()
        (victim / "output").rename(victim / run_id / "output")
    before = {path: path.read_text() for path in victim.rglob("*.log")}
    with pytest.raises(WorkspaceError, match="is a symbolic link; replace it by a folder"):
        go_on(project, run_id)
    assert {path: path.read_text() for path in victim.rglob("*.log")} == before


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
