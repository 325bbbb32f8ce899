"""Messages as frameworks themselves dump them: each dump of one log gives the same calls."""

import subprocess
from pathlib import Path

import pytest

from coreloop.base.records import NO_RESULT
from foreign_traces import requests
from frameworks.environments import HERE, interpreter

pytestmark = pytest.mark.frameworks
FAILED = "limit must be at most 100"
CALLS = [
    [(1, None, None)],
    [(200, FAILED, None)],
    [(1, None, NO_RESULT)],
    [(1, None, None), (300, FAILED, None)],
]


@pytest.mark.parametrize(
    ("form", "distribution", "source"),
    [
        ("langchain/model_dump", "langchain-core", "langchain"),
        ("langchain/dicts", "langchain-core", "langchain"),
        ("langchain/dumpd", "langchain-core", "langchain"),
        ("pydantic_ai/outcome", "pydantic-ai-slim", "pydantic-ai"),
        ("pydantic_ai/retry", "pydantic-ai-slim", "pydantic-ai"),
        ("autogen/events", "autogen-agentchat", "autogen"),
        ("autogen/context", "autogen-agentchat", "autogen"),
    ],
)
def test_dumps_give_the_same_calls(tmp_path: Path, form: str, distribution: str, source: str) -> None:
    words = [interpreter(distribution), HERE / "drives" / "dump_messages.py", form]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    path = tmp_path / "chats.jsonl"
    path.write_text(done.stdout, encoding="utf-8")
    read = requests("openai-chat", path)
    assert {(request.source, request.question, request.answer_chars) for request in read} == {
        (source, "why?", 2)
    }
    calls = [[(made.args["limit"], made.error, made.unknown) for made in request.calls] for request in read]
    assert calls == CALLS
