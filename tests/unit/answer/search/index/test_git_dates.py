"""A file that says no date itself has that of the commit that last changed it."""

import os
import subprocess
from datetime import date
from pathlib import Path

from coreloop.answer.search.index.run import index_paths
from coreloop.answer.search.index.search_index import search_index
from coreloop.answer.search.provider import SearchLimits
from coreloop.base.project.workspace import open_workspace
from researching import MOMENT


def git(folder: Path, *words: str, day: str = "2026-03-04") -> None:
    at = f"{day}T12:00:00Z"
    roles = ("AUTHOR_NAME", "AUTHOR_EMAIL", "COMMITTER_NAME", "COMMITTER_EMAIL")
    person = {f"GIT_{role}": "a@example.com" for role in roles}
    environ = {**os.environ, **person, "GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
    subprocess.run(["git", *words], cwd=folder, env=environ, check=True, capture_output=True)


def dates(folder: Path) -> dict[str, date | None]:
    workspace = open_workspace(folder)
    index_paths(workspace, [folder], now=MOMENT)
    found = search_index(workspace.index_file, "river", SearchLimits())
    return {source.location: source.published for source in found}


def test_a_committed_file_has_the_day_of_its_newest_commit_and_a_changed_one_none(tmp_path: Path):
    for name in ("a.md", "b.md", "2025-01-02-c.md"):
        (tmp_path / name).write_text("# River\n\nA river is long.\n", encoding="utf-8")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first", day="2026-03-04")
    (tmp_path / "a.md").write_text("# River\n\nA river is wide.\n", encoding="utf-8")
    git(tmp_path, "commit", "-qam", "second", day="2026-04-05")
    (tmp_path / "b.md").write_text("# River\n\nA river is deep.\n", encoding="utf-8")
    (tmp_path / "d.md").write_text("# River\n\nA river is cold.\n", encoding="utf-8")
    assert dates(tmp_path) == {
        "a.md": date(2026, 4, 5),
        "b.md": None,
        "2025-01-02-c.md": date(2025, 1, 2),
        "d.md": None,
    }
