"""``init`` as a use case: the plan equals the written files, and the reviewer."""

from pathlib import Path

import pytest

from coreloop.admin.init.run import Initialised, InitRequest, initialise
from coreloop.base.errors import UsageError
from coreloop.base.project.workspace import open_workspace


def init(folder: Path, *, github: str | None = None, reviewer: str | None = None, confirm: bool = False):
    request = InitRequest(repository=folder, github=github, reviewer=reviewer, confirm=confirm)
    return initialise(open_workspace(folder), request)


def states(done: Initialised) -> set[str]:
    return {file.state for file in done.files}


def test_nothing_is_written_without_confirm_and_everything_with_it(tmp_path: Path):
    planned = init(tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert init(tmp_path, confirm=True) == planned
    assert states(planned) == {"new"}
    assert all((tmp_path / file.path).is_file() for file in planned.files)
    assert states(init(tmp_path, confirm=True)) == {"there"}


@pytest.mark.parametrize(
    ("github", "reviewer", "expected"),
    [
        (None, None, "@OWNER"),
        ("eddmpython/dartlab", None, "@eddmpython"),
        ("eddmpython/dartlab", "@org/team", "@org/team"),
    ],
)
def test_the_reviewer_is_the_option_or_the_owner(
    github: str | None, reviewer: str | None, expected: str, tmp_path: Path
):
    done = init(tmp_path, github=github, reviewer=reviewer, confirm=True)
    assert done.reviewer == expected
    assert f" {expected}\n" in (tmp_path / ".github" / "CODEOWNERS").read_text()


@pytest.mark.parametrize("reviewer", ["ann", "@", "@a b", "@a\nb", "@a#b"])
def test_an_invalid_reviewer_is_refused_and_nothing_is_written(reviewer: str, tmp_path: Path):
    with pytest.raises(UsageError, match="is not a reviewer; write --owner @login"):
        init(tmp_path, reviewer=reviewer, confirm=True)
    assert list(tmp_path.iterdir()) == []


def test_settings_above_the_repository_are_refused(tmp_path: Path):
    (tmp_path / "coreloop.yaml").write_text("data_dir: data\n")
    (tmp_path / "inner").mkdir()
    with pytest.raises(UsageError, match="move it to the repository's root"):
        init(tmp_path / "inner", confirm=True)
    assert list((tmp_path / "inner").iterdir()) == []
