"""The words of `words.yaml`, by what they are."""

from pathlib import Path
from typing import Any, Final

import yaml

WORDS: Final[dict[str, Any]] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
