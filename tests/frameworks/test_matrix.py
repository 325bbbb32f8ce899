"""Nine docstring styles and nine ways to send them to a model: whether new lines arrive."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pytest

from coreloop.base.project.promotion_settings import ReachSettings
from coreloop.promote.tool_schemas import schema_command
from frameworks.environments import HERE, interpreter
from frameworks.styles import LINES, STYLES, VARIANTS, tools_module

pytestmark = pytest.mark.frameworks


@dataclass(frozen=True, slots=True)
class Way:
    """How tools are sent: a distribution, the reader for it, and the tools that it is pointed at."""

    distribution: str
    framework: str
    tools: str = "tools:TOOLS"


WAYS: Final = {
    "fastmcp": Way("fastmcp", "fastmcp"),
    "openai-agents": Way("openai-agents", "openai-agents"),
    "pydantic-ai": Way("pydantic-ai-slim", "pydantic-ai"),
    "anthropic": Way("anthropic", "anthropic"),
    "langchain-tool": Way("langchain-core", "langchain", "ways:PLAIN"),
    "langchain-parsed": Way("langchain-core", "langchain", "ways:PARSED"),
    "langchain-function": Way("langchain-core", "langchain"),
    "mcp": Way("mcp", "mcp"),
    "llama-index": Way("llama-index-core", "llama-index"),
}
AT_THE_END: Final = {
    "fastmcp": {"one_line", "paragraphs", "markdown", "epytext"},
    "openai-agents": {"one_line", "paragraphs", "markdown", "epytext"},
    "pydantic-ai": {"one_line", "paragraphs", "field_list", "markdown", "epytext"},
    "anthropic": {"one_line", "paragraphs", "markdown"},
    "langchain-tool": set(STYLES),
    "langchain-parsed": set(STYLES) - {"google", "google_guide", "korean"},
    "langchain-function": set(STYLES) - {"google", "google_guide", "korean"},
    "mcp": set(STYLES),
    "llama-index": set(STYLES),
}
"""Styles of which a section at the end is sent: 55 of 81, and the reason for the place of new lines."""
EVERY_WAY = pytest.mark.parametrize("way", WAYS)


@cache
def sent(way: str) -> dict[str, str]:
    """Tool -> description, as coreloop's reader prints it."""
    asked = WAYS[way]
    python = interpreter(asked.distribution)
    settings = ReachSettings(framework=asked.framework, tools=asked.tools, python=str(python))
    command = schema_command(settings, Path())
    assert command is not None
    return {tool["name"]: tool["description"] for tool in _printed(command.words)}


def _printed(words: tuple[str, ...]) -> Any:
    with TemporaryDirectory() as folder:
        Path(folder, "tools.py").write_text(tools_module(), encoding="utf-8")
        shutil.copy(HERE / "ways.py", folder)
        environment = {**os.environ, "PYTHONPATH": folder}
        done = subprocess.run(
            words, cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False
        )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def arrived(way: str, variant: str) -> set[str]:
    """Styles of which every new line is in the description."""
    words = {style: " ".join(sent(way)[f"{style}_{variant}"].split()) for style in STYLES}
    return {style for style, text in words.items() if all(line in text for line in LINES)}


@EVERY_WAY
def test_lines_in_the_first_block_arrive_in_every_style(way: str) -> None:
    assert arrived(way, "first") == set(STYLES)
    assert arrived(way, "before") == set()


@EVERY_WAY
def test_nothing_else_of_the_description_changes(way: str) -> None:
    for style in STYLES:
        names = [f"{style}_{variant}" for variant in VARIANTS[:2]]
        before, after = (sent(way)[name].replace(name, style) for name in names)
        for line in LINES:
            after = after.replace(line, "", 1)
        assert "".join(after.split()) == "".join(before.split()), style


@EVERY_WAY
def test_a_section_at_the_end_arrives_only_sometimes(way: str) -> None:
    assert arrived(way, "end") == AT_THE_END[way]
