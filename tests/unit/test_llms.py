"""docs/llms.txt lists every page of the navigation, as it is."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "scripts"))

import llms  # noqa: E402 - needs the path above


def test_the_list_for_models_is_current():
    assert llms.main(check=True) == 0
