"""The framework that a project depends on, read from its files."""

from pathlib import Path

import pytest

from coreloop.base.project.frameworks import FRAMEWORKS, find_framework

NAMED = [
    pytest.param(
        "pyproject.toml", "[project]\ndependencies = [\"FastMCP[x]>=2 ; python_version > '3'\"]", id="project"
    ),
    pytest.param("pyproject.toml", '[project.optional-dependencies]\nai = ["fastmcp==4.1"]', id="optional"),
    pytest.param(
        "pyproject.toml", '[dependency-groups]\ndev = [{include-group = "x"}, "fastmcp ~= 4"]', id="group"
    ),
    pytest.param("requirements.txt", "# comment\n-r other.txt\n  fastmcp>=2  # servers", id="requirements"),
    pytest.param("requirements-ai.txt", "fastmcp", id="other requirements"),
]


@pytest.mark.parametrize(("file", "text"), NAMED)
def test_framework_is_found_where_dependencies_are_named(tmp_path: Path, file: str, text: str) -> None:
    (tmp_path / file).write_text(text, encoding="utf-8")
    assert find_framework(tmp_path) == "fastmcp"


@pytest.mark.parametrize(
    ("names", "framework"),
    [
        pytest.param("anthropic\nmcp\npydantic_ai_slim[openai]\n", "pydantic-ai", id="it uses the others"),
        pytest.param("mcp\nfastmcp\n", "fastmcp", id="it is built on mcp"),
        pytest.param("openai\nhttpx\nmcp-server-git\n", None, id="none of them"),
        *(pytest.param(names[-1], name, id=name) for name, names in FRAMEWORKS.items()),
    ],
)
def test_a_framework_that_builds_on_others_takes_precedence(
    tmp_path: Path, names: str, framework: str | None
) -> None:
    (tmp_path / "requirements.txt").write_text(names, encoding="utf-8")
    assert find_framework(tmp_path) == framework


@pytest.mark.parametrize(
    ("file", "content"),
    [
        pytest.param("pyproject.toml", b"[project\n", id="no TOML"),
        pytest.param("pyproject.toml", b'project = "x"\ntool = {poetry = 3}\n', id="other types"),
        pytest.param("pyproject.toml", b"[project]\ndependencies = [1, {}]\n", id="other items"),
        pytest.param("requirements.txt", b"\xff\xfe\n", id="no UTF-8"),
    ],
)
def test_unreadable_files_are_skipped(tmp_path: Path, file: str, content: bytes) -> None:
    (tmp_path / file).write_bytes(content)
    (tmp_path / "requirements-x.txt").mkdir()
    assert find_framework(tmp_path) is None
