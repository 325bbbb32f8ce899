"""The page of a driven run shows its command, and its prompt no more often than as title and heading."""

from datetime import UTC, datetime
from pathlib import Path

from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import Workspace
from coreloop.runs.driver.driven_run import begin_driven
from coreloop.web.pages.page_data import open_source
from coreloop.web.pages.render import Frame, render
from coreloop.web.pages.runs import RUNS, read_one


def test_a_driven_run_shows_its_command(tmp_path: Path):
    (tmp_path / "PROMPT.md").write_text("# Mend the failing tests\n", encoding="utf-8")
    with open_source(Workspace(tmp_path, Settings()), {}) as source:
        state = begin_driven(
            source.workspace,
            source.runs,
            ("sh", "-c", "echo a b"),
            folder=tmp_path,
            prompt=Path("PROMPT.md"),
            max_iterations=1,
            now=datetime.now(UTC),
        )
        view = read_one(source, state.run_id)
        assert view is not None
        shown = render(RUNS.item, Frame(section="runs"), view)
    assert "<code>sh -c &#39;echo a b&#39;</code>" in shown
    assert shown.count("Mend the failing tests") == 2
