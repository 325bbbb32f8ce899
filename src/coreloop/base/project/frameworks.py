"""The supported agent frameworks, and the framework that a project depends on."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

FRAMEWORKS: Final[Mapping[str, tuple[str, ...]]] = {
    "pydantic-ai": ("pydantic-ai", "pydantic-ai-slim"),
    "openai-agents": ("openai-agents",),
    "langchain": ("langchain", "langchain-core", "langgraph"),
    "llama-index": ("llama-index", "llama-index-core"),
    "fastmcp": ("fastmcp", "fastmcp-slim"),
    "mcp": ("mcp",),
    "anthropic": ("anthropic",),
}
"""Name in coreloop.yaml -> distributions; a framework precedes those that it depends on."""

_NAME: Final = re.compile(r"\s*(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)")
_MOST_BYTES: Final = 1_000_000


def find_framework(root: Path) -> str | None:
    """Return the first framework among a project's dependencies, or None.

    Reads pyproject.toml (dependencies, optional dependencies and groups) and requirements*.txt. Unreadable
    files are skipped, since the result is only a proposal.

    Parameters
    ----------
    root : Path
        The repository's root.
    """
    dependencies = {
        re.sub(r"[-_.]+", "-", match["name"]).lower()
        for requirement in _requirements(root)
        if (match := _NAME.match(requirement))
    }
    return next((name for name, known in FRAMEWORKS.items() if not dependencies.isdisjoint(known)), None)


def _requirements(root: Path) -> Iterator[str]:
    yield from _pyproject_requirements(_text(root / "pyproject.toml"))
    for path in sorted(root.glob("requirements*.txt")):
        yield from _text(path).splitlines()


def _text(path: Path) -> str:
    try:
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return ""
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return ""


def _pyproject_requirements(text: str) -> Iterator[str]:
    import tomllib  # the settings need only the names above

    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return
    project = _table(document, "project")
    yield from _texts(project.get("dependencies"))
    for group in (_table(project, "optional-dependencies"), _table(document, "dependency-groups")):
        for requirements in group.values():
            yield from _texts(requirements)


def _table(value: Any, key: str) -> Mapping[str, Any]:
    table = value.get(key) if isinstance(value, Mapping) else None
    return table if isinstance(table, Mapping) else {}


def _texts(value: Any) -> Iterator[str]:
    yield from (item for item in value if isinstance(item, str)) if isinstance(value, list) else ()
