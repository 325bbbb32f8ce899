"""Mining where there is no git: promotion needs a repository, proposing does not."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from coreloop.cli.main import main
from logs import repeated, write_log


def test_pattern_works_in_a_folder_that_is_no_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # a repository above the temporary folder must not stand in for the missing one
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.chdir(tmp_path)
    write_log(tmp_path / "data" / "audit" / "ai-ask" / "2026-04-25.jsonl", repeated(3))

    result = CliRunner().invoke(main, ["pattern", "--since", "2026-04-01"])

    assert result.exit_code == 0, result.output
    assert "1 proposal" in result.output
