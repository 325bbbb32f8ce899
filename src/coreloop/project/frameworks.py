"""The agent frameworks whose tools can be read, and which of them a project depends on."""

import configparser
import re
import tomllib
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
"""Name in coreloop.yaml -> distributions; those that use another one's package come first."""

_NAME: Final = re.compile(r"\s*(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)")
_MOST_BYTES: Final = 1_000_000


def find_framework(root: Path) -> str | None:
    """The first framework that a project names among its dependencies, or None.

    Read are pyproject.toml (dependencies, optional ones and groups, Poetry's too), requirements*.txt and
    setup.cfg. A file that cannot be read is skipped: the result is only a proposal.

    Parameters
    ----------
    root : Path
        The repository's root.
    """
    named = {
        re.sub(r"[-_.]+", "-", match["name"]).lower()
        for requirement in _requirements(root)
        if (match := _NAME.match(requirement))
    }
    return next((name for name, wanted in FRAMEWORKS.items() if not named.isdisjoint(wanted)), None)


def _requirements(root: Path) -> Iterator[str]:
    yield from _of_pyproject(_text(root / "pyproject.toml"))
    for path in sorted(root.glob("requirements*.txt")):
        yield from _text(path).splitlines()
    yield from _of_setup_cfg(_text(root / "setup.cfg"))


def _text(path: Path) -> str:
    try:
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return ""
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return ""


def _of_pyproject(text: str) -> Iterator[str]:
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return
    project = _table(document, "project")
    yield from _texts(project.get("dependencies"))
    for group in (_table(project, "optional-dependencies"), _table(document, "dependency-groups")):
        for requirements in group.values():
            yield from _texts(requirements)
    poetry = _table(_table(document, "tool"), "poetry")
    yield from _table(poetry, "dependencies")
    for group in _table(poetry, "group").values():
        yield from _table(group, "dependencies")


def _of_setup_cfg(text: str) -> Iterator[str]:
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(text)
    except configparser.Error:
        return
    yield from parser.get("options", "install_requires", fallback="").splitlines()
    for section in parser.sections():
        if section == "options.extras_require":
            for _, requirements in parser.items(section):
                yield from requirements.splitlines()


def _table(value: Any, key: str) -> Mapping[str, Any]:
    found = value.get(key) if isinstance(value, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _texts(value: Any) -> Iterator[str]:
    yield from (item for item in value if isinstance(item, str)) if isinstance(value, list) else ()
