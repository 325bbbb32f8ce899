"""The examples of the adapters run as they stand, and print what was recorded."""

import os
import subprocess
from pathlib import Path
from typing import Final

import pytest

from frameworks.environments import HERE, RECORDING, interpreter

pytestmark = pytest.mark.frameworks
_ROOT: Final = HERE.parents[1]
EXAMPLES: Final = {
    "pydantic_ai_agent": "pydantic-ai-slim",
    "openai_agents_sdk": "openai-agents",
    "langchain_agent": "langchain",
    "mcp_server": "mcp",
    "fastmcp_server": "fastmcp",
    "claude_agent": "claude-agent-sdk",
}
MAX_LINES: Final = 60
_LOGGED: Final = (
    "import logging, runpy, sys; logging.basicConfig(level=logging.INFO); "
    "runpy.run_path(sys.argv[1], run_name='__main__')"
)


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_records_the_rejected_call_and_the_good_one(name: str, tmp_path: Path) -> None:
    script = _ROOT / "examples" / "record" / f"{name}.py"
    assert len(script.read_text(encoding="utf-8").splitlines()) <= MAX_LINES
    done = subprocess.run(
        [str(interpreter(EXAMPLES[name], RECORDING)), "-c", _LOGGED, str(script)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(_ROOT / "src"), "IS_SANDBOX": "1", "HOME": str(tmp_path)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "with the adapter" in done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("find_rooms False invalid_argument: seats: ")
    assert lines[-1] == "find_rooms True None"
    if name != "openai_agents_sdk":  # an unknown tool ends a run of that SDK
        assert lines[1:-1] == ["find_desks False not_found: the agent has no such tool"]
