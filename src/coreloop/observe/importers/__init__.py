"""Importers that convert traces of other tools into records: modules of formats, and shared ones.

The formats are imported on first use: a server that records spans needs only the shared modules.
"""

from functools import cache
from importlib import import_module
from typing import Any, Final

_FORMATS: Final = ("agent_files", "inspect_log", "claude_code", "span_formats", "openai_chat")


@cache
def importers() -> dict[str, Any]:
    """Import the formats, by name; each has the ``SUFFIXES`` of its files, and ``read``."""
    modules = [import_module(f"{__name__}.{module}") for module in _FORMATS]
    formats = [one for module in modules for one in getattr(module, "FORMATS", [module])]
    return {importer.NAME: importer for importer in formats}
