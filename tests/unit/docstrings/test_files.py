"""The docstring commands over files: what is compared with another revision, and what is made on request."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from coreloop.cli.main import main
from promoting import FILE, Project


def docstring(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["docstring", *words])
    return done.exit_code, done.output


def test_file_outside_of_the_repository_is_not_passed_over(
    project: Project, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.chdir(project.root)
    other = tmp_path / "other.py"
    other.write_text("x = 1\n")
    code, out = docstring("check", str(other), "--base", "main")
    assert (code, "outside of the repository" in out) == (1, True)


@pytest.mark.parametrize("name", ["Warnings", "Caveats"], ids=["set in coreloop.yaml", "known beside them"])
def test_lost_section_of_the_configured_list_is_told(project: Project, monkeypatch, name: str) -> None:
    monkeypatch.chdir(project.root)
    text = f'def f():\n    """Does.\n\n    {name}\n    {"-" * len(name)}\n    Beware.\n    """\n'
    project.commit({FILE: text, "coreloop.yaml": "docstring: {sections: [Summary, Warnings]}\n"})
    (project.root / FILE).write_text('def f():\n    """Does."""\n')
    code, out = docstring("check", FILE, "--base", "HEAD")
    assert (code, f"LOST {name}" in out) == (1, True)


def test_docstring_is_made_only_when_asked_to(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("def f():\n    return 1\n")
    words = ("append", f"{path}::f", "--section", "Guide", "--line", "- Call: f()", "--write")
    assert docstring(*words)[0] == 1
    assert docstring(*words, "--create")[0] == 0
    assert "- Call: f()" in path.read_text()
