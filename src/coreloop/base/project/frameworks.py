"""The supported agent frameworks, and the framework that a project depends on."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

Framework = Literal["pydantic-ai", "openai-agents", "langchain", "llama-index", "fastmcp", "mcp", "anthropic"]
FRAMEWORKS: Final[Mapping[Framework, tuple[str, ...]]] = {
    "pydantic-ai": ("pydantic-ai", "pydantic-ai-slim"),
    "openai-agents": ("openai-agents",),
    "langchain": ("langchain", "langchain-core", "langgraph"),
    "llama-index": ("llama-index", "llama-index-core"),
    "fastmcp": ("fastmcp", "fastmcp-slim"),
    "mcp": ("mcp",),
    "anthropic": ("anthropic",),
}
"""Name in coreloop.yaml -> distributions; a framework precedes those that it depends on."""

_NAME: Final = re.compile(r"""(?:^|["'])[ \t]*([a-z0-9][a-z0-9._-]*)""", re.MULTILINE | re.IGNORECASE)
_MOST_BYTES: Final = 1_000_000


def find_framework(root: Path) -> Framework | None:
    """Return the first framework that a project seems to depend on, or None.

    Reads pyproject.toml and requirements*.txt as text, where a name begins a line or a string. Unreadable
    files are skipped, since the result is only a proposal.

    Parameters
    ----------
    root : Path
        The repository's root.
    """
    text = "\n".join(map(_text, (root / "pyproject.toml", *root.glob("requirements*.txt"))))
    names = {re.sub(r"[-_.]+", "-", name).lower() for name in _NAME.findall(text)}
    return next((name for name, known in FRAMEWORKS.items() if not names.isdisjoint(known)), None)


def _text(path: Path) -> str:
    try:
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return ""
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return ""
