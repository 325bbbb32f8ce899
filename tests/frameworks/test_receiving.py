"""What real exporters send of planned requests is received: every call that the model made, once."""

import json
import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from coreloop.observe.reading.decode import raw_lines
from frameworks.environments import EXPORTING, HERE, interpreter, node
from frameworks.planned import calls_of, expected, plan
from serving import Served, served, until

pytestmark = pytest.mark.frameworks
EXPORTERS = {
    "Pydantic AI's spans": ("pydantic-ai-slim", ["drive_opentelemetry.py", "plan.json"]),
    "OpenInference's of LangChain": ("langchain", ["drive_langchain.py", "plan.json", "data", "spans"]),
}
QUICK = {
    "coreloop.observe.importers.received.QUIET_S": 0.5,
    "coreloop.observe.importers.received.UNFINISHED_S": 12.0,  # exporters send every 5 s
}


@pytest.mark.parametrize("exporter", EXPORTERS)
def test_every_call_that_the_model_made_arrives(exporter: str, tmp_path: Path) -> None:
    distribution, (script, *words) = EXPORTERS[exporter]
    _exported([interpreter(distribution, EXPORTING), HERE / "drives" / script, *words], plan(), tmp_path)


def test_every_call_of_an_agent_in_typescript_arrives(tmp_path: Path) -> None:
    words = node(tmp_path, "exporting.mts")
    shutil.copy(HERE / "drives" / "exporting.mts", tmp_path)
    _exported([*words, "plan.json"], [one for one in plan() if one["end"] == "answer"], tmp_path)


def _exported(drive: list[Any], requests: list[dict[str, Any]], folder: Path) -> None:
    (folder / "plan.json").write_text(json.dumps(requests), encoding="utf-8")
    with served(folder, command="receive", bounds=QUICK) as receiver:
        environ = {"PYTHONPATH": str(HERE.parents[1] / "src"), "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url}
        subprocess.run(drive, cwd=folder, env={**os.environ, **environ}, check=True, capture_output=True)
        planned = sorted(map(_planned, requests), key=repr)
        until(lambda: sorted(map(_received, _records(receiver)), key=repr) == planned, 120)


def _planned(request: dict[str, Any]) -> tuple[str, Counter[Any], str | None]:
    """Question, calls and error; a span does not say which of the calls of a reply the model named first."""
    question, calls = request["question"], Counter(expected(request))
    if request["end"] == "nested":  # the agent is in the trace of the one that called it
        question = f"outer of {question}"
        calls["delegate", True, None, ("task",)] += 1
    return question, calls, "overloaded" if request["end"] == "model_error" else None


def _received(record: dict[str, Any]) -> tuple[str, Counter[Any], str | None]:
    error = "overloaded" if "overloaded" in (record["error"] or "") else None
    return record["question"], Counter(calls_of(record)), error


def _records(receiver: Served) -> list[dict[str, Any]]:
    days = (receiver.folder / "data" / "audit" / "ai-ask").glob("*.jsonl")
    return [json.loads(raw) for day in days for _, raw in raw_lines(day)]
