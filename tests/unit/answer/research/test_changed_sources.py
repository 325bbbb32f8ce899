"""Cited files that changed since: the passage is looked for in the file, and one line says what is gone."""

import os
from pathlib import Path

import pytest

from coreloop.answer.research.changed_sources import changed_line, changed_sources
from coreloop.answer.research.earlier_researches import read_session
from coreloop.answer.research.report import json_report, markdown_report
from coreloop.answer.research.run import run_research
from coreloop.base.project.workspace import Workspace
from coreloop.runs.state import State
from researching import PAGES, deps_in, project


def researched(folder: Path) -> tuple[State, Workspace, Path]:
    """A research that cites one file."""
    workspace = project(folder)
    with deps_in(workspace) as deps:
        run_research("How long is the Han river?", deps=deps)
        return read_session(deps.store, None), workspace, folder / "docs" / "han.md"


def test_a_file_that_has_the_passage_is_not_named_whenever_it_was_written(tmp_path: Path):
    state, workspace, file = researched(tmp_path)
    file.write_text(f"{PAGES['han.md']}\n## More\n\nAnother section.\n", encoding="utf-8")
    assert changed_sources(state, workspace) == ()


def test_another_text_of_the_same_time_is_seen(tmp_path: Path):
    state, workspace, file = researched(tmp_path)
    before = file.stat()
    file.write_text(PAGES["han.md"].replace("494", "514"), encoding="utf-8")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    changed = changed_sources(state, workspace)
    assert changed_line(changed) == "changed since: docs/han.md [1]"
    assert r"- changed since: docs/han.md \[1\]" in markdown_report(state, changed)
    assert '"change": "changed"' in json_report(state, changed)


def test_a_removed_file_is_named(tmp_path: Path):
    state, workspace, file = researched(tmp_path)
    file.unlink()
    assert changed_line(changed_sources(state, workspace)) == "removed since: docs/han.md [1]"
    file.parent.rename(tmp_path / "moved")
    (tmp_path / "docs").write_text("a file now", encoding="utf-8")
    assert changed_line(changed_sources(state, workspace)) == "removed since: docs/han.md [1]"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_a_pipe_in_its_place_does_not_block(tmp_path: Path):
    state, workspace, file = researched(tmp_path)
    file.unlink()
    os.mkfifo(file)
    assert changed_sources(state, workspace) == ()
