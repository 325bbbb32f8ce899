"""The settings of the first user: read as they stand, whatever is checked out here."""

import shutil
from pathlib import Path

from coreloop.base.project.settings_file import load_settings

EXAMPLE = Path(__file__).parents[3] / "examples" / "dartlab.yaml"


def test_the_example_is_read(tmp_path: Path) -> None:
    shutil.copy(EXAMPLE, tmp_path / "coreloop.yaml")
    settings = load_settings(tmp_path, environ={})
    targets = {name: tool.target for name, tool in settings.tools.items()}
    assert targets["analysis"] == "src/dartlab/analysis/financial/__init__.py::Analysis.__call__"
    assert targets["industry"] == "src/dartlab/industry/__init__.py::Industry.__call__"
    assert settings.tools["Company.industry"].selectors == ()
    assert {"수익성", "모멘텀", "profitability"} <= settings.axis_slugs.keys()
    assert (settings.docstring.placement, settings.docstring.style) == ("section", "google")
    assert len(settings.docstring.sections) == 9
    assert settings.gates.min_chunk_len == 400
