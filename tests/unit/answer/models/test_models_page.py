"""docs/how-to/models.md lists every endpoint, and its examples of coreloop.yaml are valid."""

import re
from pathlib import Path

import pytest

from coreloop.answer.models.ladder import ENDPOINTS, choose_model
from coreloop.base.project.settings_file import load_settings

PAGE = (Path(__file__).parents[4] / "docs" / "how-to" / "models.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| `(\w+):\S+` \| `(\S+` \| .+) \|$", PAGE, re.MULTILINE))
EXAMPLES = re.findall(r"```yaml[^\n]*\n(.*?)```", PAGE, re.DOTALL)


def test_every_endpoint_has_its_row_with_address_and_key():
    listed = {
        name: f"{endpoint.url}` | {f'`{endpoint.key}`' if endpoint.key else 'none'}"
        for name, endpoint in ENDPOINTS.items()
    }
    assert listed == ROWS


@pytest.mark.parametrize("example", EXAMPLES, ids=["several", "ollama", "lab"])
def test_an_example_chooses_models_that_a_limit_in_dollars_holds_for(tmp_path: Path, example: str):
    (tmp_path / "coreloop.yaml").write_text(example, encoding="utf-8")
    keys = {"OPENAI_API_KEY": "k", "LAB_API_KEY": "k"}
    # without a price, none is chosen
    assert choose_model(load_settings(tmp_path, environ={}), keys, has_usd_limit=True).name
