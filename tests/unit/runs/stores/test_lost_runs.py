"""A store that was removed or emptied while its runs have left their states is damaged, never "no runs"."""

import sqlite3
from contextlib import closing
from pathlib import Path
from shutil import move, rmtree

import pytest
from click.testing import CliRunner, Result

from coreloop.cli.main import main
from driving import begin, go_on
from rows import slow_after


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The store of two runs that have ended."""
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        go_on(tmp_path, begin(tmp_path, f"echo x > {name}", max_iterations=1))
    return tmp_path / "data" / "runs" / "runs.db"


def runs(*words: str) -> Result:
    return CliRunner().invoke(main, ["runs", *words])


def delete(database: Path, condition: str = "true") -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(f"DELETE FROM runs WHERE {condition}")


@pytest.mark.parametrize("command", slow_after(2, ["list", "show", "check"]))
@pytest.mark.parametrize("is_removed", [True, False])
def test_a_store_that_has_lost_its_runs_says_what_to_restore(is_removed: bool, command: str, database: Path):
    if is_removed:
        rmtree(database.parent)
    else:
        delete(database)
    said = str(runs(command).exception)
    assert "runs.db: was removed or emptied" in said
    assert "the state of 2 runs" in said
    assert "runs restore BACKUP" in said
    assert database.exists() is not is_removed  # a backup can be restored into its place


def test_a_backup_is_restored_in_the_place_of_a_store_that_was_removed(database: Path):
    assert runs("backup", "--out", "kept").exit_code == 0
    move(database.parent, database.parent.with_name("before"))
    assert runs("restore", "kept").exit_code == 0
    assert runs("check").output == "no damage; 2 runs\n"


def test_a_run_that_the_store_has_lost_is_damage(database: Path):
    delete(database, "run_id = (SELECT max(run_id) FROM runs)")
    done = runs("check")
    assert done.exit_code == 1
    assert "it has a state in .research, and the store has lost it" in done.output


def test_a_project_whose_runs_were_all_forgotten_has_no_runs(database: Path):
    for _ in range(2):
        assert runs("forget", "--confirm").exit_code == 0
    assert runs("list").output == "no runs\n"


@pytest.mark.parametrize("command", ["list", "backup --out kept"])
def test_a_store_that_was_emptied_or_removed_is_lost_for_a_backup_too(command: str, database: Path):
    for change in (lambda: database.write_bytes(b""), database.unlink):
        change()
        said = str(runs(*command.split()).exception)
        assert "was removed or emptied" in said
        assert "remove it to begin" not in said
    assert not database.with_name("kept").exists()


def test_a_damaged_time_is_told_and_hides_no_run(database: Path):
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE runs SET updated_at = 'x' || substr(updated_at, 2)")
    assert len(runs("list").output.splitlines()) == 3
    done = runs("check")
    assert done.exit_code == 1
    assert "updated_at in its row contradict its events" in done.output
