"""What is uploaded under a tag is built only if the tag, the version and the CHANGELOG agree."""

import shutil
import subprocess
from pathlib import Path

import pytest

from coreloop import __version__

ROOT = Path(__file__).parents[2]
FILES = ("pyproject.toml", "README.md", "LICENSE", "src", "scripts/build_release.sh")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the project as it is on the day of a release."""
    copy = tmp_path / "checkout"
    for name in FILES:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, copy / name)
    (copy / "CHANGELOG.md").write_text(f"# Changelog\n\n## {__version__}\n\n- x\n")
    return copy


def build(checkout: Path, tag: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [checkout / "scripts/build_release.sh", tag, checkout / "dist"],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.mark.slow
def test_a_release_is_a_wheel_and_a_source_archive_of_its_version(checkout: Path):
    built = build(checkout, f"v{__version__}")
    assert built.returncode == 0, built.stderr
    names = sorted(path.name for path in (checkout / "dist").iterdir())
    assert names == [
        f"dartlab_coreloop-{__version__}-py3-none-any.whl",
        f"dartlab_coreloop-{__version__}.tar.gz",
    ]
    assert [line.split()[1] for line in built.stdout.splitlines()] == names


@pytest.mark.parametrize(
    ("tag", "changelog", "message"),
    [
        ("v9.9.9", None, f"the tag is v9.9.9, the version in src/coreloop/__init__.py is {__version__}"),
        (f"v{__version__}", "# Changelog\n", f"CHANGELOG.md has no heading '## {__version__}'"),
    ],
)
def test_a_release_that_does_not_agree_is_refused_in_a_line(
    checkout: Path, tag: str, changelog: str | None, message: str
):
    if changelog is not None:
        (checkout / "CHANGELOG.md").write_text(changelog)
    refused = build(checkout, tag)
    assert (refused.returncode, refused.stderr) == (1, f"build_release: {message}\n")
    assert not (checkout / "dist").exists()


def test_this_version_has_its_place_in_the_changelog():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## {__version__}\n" in text
