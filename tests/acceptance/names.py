"""Public Python names that the specification prescribes, wherever the package keeps them."""

import importlib
import re
from pathlib import Path
from typing import Any

import coreloop

_ROOT = Path(coreloop.__file__).parent


def public(name: str) -> Any:
    """Return the one function or class of a name."""
    definition = re.compile(rf"^(?:def|class) {name}\b", re.MULTILINE)
    (path,) = (path for path in _ROOT.rglob("*.py") if definition.search(path.read_text(encoding="utf-8")))
    parts = path.relative_to(_ROOT.parent).with_suffix("").parts
    return getattr(importlib.import_module(".".join(parts).removesuffix(".__init__")), name)
