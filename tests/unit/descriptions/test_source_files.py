"""The docstring commands on files: comparison with a revision, and creation on request."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from coreloop.cli.main import main
from promoting import FILE, Project


def docstring(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["docstring", *words])
    return done.exit_code, done.output


def test_file_outside_the_repository_is_reported(project: Project, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(project.root)
    other = tmp_path / "other.py"
    other.write_text("x = 1\n")
    code, out = docstring("check", str(other), "--base", "main")
    assert (code, "outside the repository" in out) == (1, True)


@pytest.mark.parametrize("name", ["Warnings", "Caveats"], ids=["set in coreloop.yaml", "known besides"])
def test_lost_section_of_the_configured_list_is_reported(project: Project, monkeypatch, name: str) -> None:
    monkeypatch.chdir(project.root)
    text = f'def f():\n    """Does.\n\n    {name}\n    {"-" * len(name)}\n    Beware.\n    """\n'
    project.commit({FILE: text, "coreloop.yaml": "docstring: {sections: [Summary, Warnings]}\n"})
    (project.root / FILE).write_text('def f():\n    """Does."""\n')
    code, out = docstring("check", FILE, "--base", "HEAD")
    assert (code, f"LOST {name}" in out) == (1, True)
