"""A damaged store is found, whatever byte of it changed, and never backed up or taken for an empty one."""

import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from coreloop.admin.backup import back_up, check
from coreloop.base.errors import RunStoreError
from coreloop.base.project.workspace import Workspace, open_workspace
from coreloop.cli.main import main
from coreloop.runs.active_run import work_on
from coreloop.runs.amounts import Amount
from coreloop.runs.events import Reserved
from coreloop.runs.reflexion import Reflexion
from coreloop.runs.stores.store import open_store
from running import MOMENT, new_run


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A project with some runs, of which the file has everything."""
    workspace = open_workspace(tmp_path)
    with open_store(workspace, environ={}) as store:
        for number in range(3):
            with work_on(store, new_run(store, question=f"why {number}?")) as run:
                run.step("ask", "k", lambda _: ("because", Amount(100, 10)), at_most=Amount(300, 30))
        with work_on(store, new_run(store)) as run:  # its process dies during a call
            store.append(run.run_id, [Reserved(at=MOMENT, reservation="r", microusd=7)], after=2)
        known = Reflexion().credit("recent", situation="why?", run_id=run.run_id, iteration=1, progress=True)
        store.change_reflexion("research", lambda _: known.to_json())
    return workspace


def found(workspace: Workspace) -> list[str]:
    try:
        with open_store(workspace, environ={}) as store:
            return check(workspace, store, environ={})
    except RunStoreError as error:
        return [str(error)]


def content(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


def flipped(path: Path, offsets: Iterator[int]) -> Iterator[int]:
    """Flip a bit at each offset, one at a time."""
    whole = path.read_bytes()
    for offset in offsets:
        changed = bytearray(whole)
        changed[offset] ^= 1 << offset % 7
        for rest in path.parent.glob("runs.db-*"):
            rest.unlink()
        path.write_bytes(changed)
        yield offset
    path.write_bytes(whole)


def test_a_whole_store_has_no_damage(workspace: Workspace):
    assert found(workspace) == []


def test_a_changed_letter_of_each_kind_of_row_is_found(workspace: Workspace):
    path = workspace.runs_dir / "runs.db"
    for text in (b"why 1?", b"because", b"recent", b"running"):
        for _ in flipped(path, iter([path.read_bytes().index(text)])):
            assert found(workspace) != [], text


@pytest.mark.slow
def test_whatever_bit_is_flipped_is_found_or_changes_nothing(workspace: Workspace, tmp_path: Path):
    path = workspace.runs_dir / "runs.db"
    before, size = content(path), path.stat().st_size
    whole, chance = path.read_bytes(), random.Random(14)
    used = [offset for offset in range(size) if whole[offset]]
    unfound = 0
    for _ in flipped(path, iter(chance.sample(used, 150))):
        copy = tmp_path / "copy.db"
        shutil.copy(path, copy)
        if found(workspace) == []:
            unfound += 1
            assert content(copy) == before
    assert unfound < 75


def test_a_damaged_store_is_not_backed_up(workspace: Workspace, tmp_path: Path):
    path = workspace.runs_dir / "runs.db"
    for _ in flipped(path, iter([path.read_bytes().index(b"because")])):
        with pytest.raises(
            RunStoreError, match=r"runs\.db is damaged, so no backup was made .*restore an older"
        ):
            back_up(workspace, tmp_path / "backup", environ={})
    assert not (tmp_path / "backup").exists()
    back_up(workspace, tmp_path / "backup", environ={})
    assert [file.name for file in (tmp_path / "backup").iterdir()] == ["runs.db"]


def test_an_emptied_store_is_an_error_that_says_what_to_restore(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(workspace.root)
    (workspace.runs_dir / "runs.db").write_bytes(b"")
    for words in (["runs", "list"], ["runs", "check"]):
        refused = CliRunner().invoke(main, words)
        assert "runs.db: is empty: something truncated it. Restore it" in str(refused.exception)


def test_check_says_what_is_damaged(workspace: Workspace, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(workspace.root)
    assert CliRunner().invoke(main, ["runs", "check"]).output == "no damage; 4 runs\n"
    path = workspace.runs_dir / "runs.db"
    for _ in flipped(path, iter([path.read_bytes().index(b"why 1?")])):
        damaged = CliRunner().invoke(main, ["runs", "check"])
        assert (damaged.exit_code, "its row was changed" in damaged.output) == (1, True)
