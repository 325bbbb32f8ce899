"""``knowledge``, ``backfill-blog`` and their use by ``pattern``, from the outside."""

import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from coreloop.cli.main import run as entry_point
from coreloop.learn.knowledge.store import writing
from old_knowledge import bullet, make_old, rows_of

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "knowledge"
Done = subprocess.CompletedProcess[str]
Run = Callable[..., Done]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The example, copied out of the project."""
    return shutil.copytree(EXAMPLE, tmp_path / "project", ignore=shutil.ignore_patterns("ai", "audit"))


@pytest.fixture
def run(project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the entry point in the project's folder."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(project.parent))

    def run(*args: str, code: int = 0) -> Done:
        monkeypatch.chdir(project)
        monkeypatch.setattr(sys, "argv", ["dartlab-coreloop", *args])
        with pytest.raises(SystemExit) as end:
            entry_point()
        out, errors = capsys.readouterr()
        assert end.value.code == code, errors
        return Done(args, code, out, errors)

    return run


@pytest.fixture
def database(project: Path) -> Path:
    """Where the project's knowledge lies."""
    return project / "data" / "ai" / "knowledge" / "dartlab_knowledge.db"


# --- backfill-blog ---------------------------------------------------------------------------------


def test_a_malformed_post_is_named_with_its_line_and_the_exit_code_is_1(
    run: Run, project: Path, database: Path
):
    post = project / "blog" / "02-narin-semi-cycle" / "index.md"
    post.write_text("---\n\ntitle: 나린: 다음\n---\n", encoding="utf-8")
    done = run("backfill-blog", "--confirm", code=1)
    assert done.stderr == (
        "blog/02-narin-semi-cycle/index.md:3: is not YAML: mapping values are not allowed here\n"
    )
    assert len(rows_of(database, "insights")) == 30


# --- prune ---------------------------------------------------------------------------


def test_control_characters_in_bullets_are_escaped(run: Run, database: Path):
    make_old(
        database,
        playbook=[bullet(1, at=1.0, successes=0, failures=9, bullet="\x1b]0;x\x07")],
    )
    shown = run("knowledge", "prune").stdout
    assert shown.strip()
    assert all(line.isprintable() for line in shown.splitlines())


# --- cleanup ---------------------------------------------------------------------------


def test_the_knowledge_folder_is_closed_to_others(run: Run, database: Path):
    database.parent.mkdir(parents=True, mode=0o755)
    database.parent.chmod(0o755)
    with writing(database):
        pass
    database.chmod(0o644)
    (database.parent / "_archive").mkdir()
    (database.parent / "_archive").chmod(0o755)
    run("backfill-blog", "--confirm")
    run("knowledge", "cleanup", "--confirm")
    assert stat.S_IMODE(database.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(database.stat().st_mode) == 0o600
    assert stat.S_IMODE((database.parent / "_archive").stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "command",
    [
        ["prune"],
        ["prune", "--confirm"],
        ["cleanup"],
        ["cleanup", "--confirm"],
    ],
)
def test_a_project_without_knowledge_gets_an_error_and_no_database(
    command: list[str], run: Run, project: Path
):
    done = run("knowledge", *command, code=2)
    assert "dartlab_knowledge.db: does not exist" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (project / "data" / "ai").exists()
