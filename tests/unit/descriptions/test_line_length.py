"""How long a line may be, from the settings of linters that people really have."""

import pytest

from coreloop.descriptions.line_length import DEFAULT, line_length
from rows import each_row

BOTH = "[tool.black]\nline-length = 100\n[tool.ruff]\nline-length = 120\n"
RUFF = "[tool.ruff]\nline-length = 110\n"
SHORT = "[tool.ruff]\nline-length = 2\n"


@each_row(
    ("files", "length"),
    [
        pytest.param({}, DEFAULT, id="nothing"),
        pytest.param({"pyproject.toml": RUFF}, 110, id="ruff"),
        pytest.param({"pyproject.toml": "[tool.black]\nline-length = 100\n"}, 100, id="black"),
        pytest.param({"ruff.toml": "line-length = 90\n", "pyproject.toml": RUFF}, 90, id="ruff's own file"),
        pytest.param({"pyproject.toml": BOTH}, 120, id="ruff outweighs black"),
        pytest.param({"setup.cfg": "[flake8]\nmax-line-length = 79\n"}, 79, id="flake8"),
        pytest.param({"pyproject.toml": "[tool.ruff\n"}, DEFAULT, id="no TOML"),
        pytest.param({"pyproject.toml": SHORT}, DEFAULT, id="too short for any line"),
    ],
)
def test_the_first_setting_counts(files: dict[str, str], length: int) -> None:
    assert line_length(lambda name: files[name].encode() if name in files else None) == length
