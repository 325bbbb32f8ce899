"""Scores, evaluations and annotations of other systems become verdicts, as coreloop.yaml says."""

from pathlib import Path
from typing import Any

import pytest

from coreloop.base.project.score_rule import Score, parse_rule
from coreloop.base.project.settings import OutcomeSettings, Settings
from coreloop.observe.importers import importers
from coreloop.observe.importers.append_requests import RequestLog
from foreign_traces import otlp, otlp_value, span, trace_file, write_document, write_lines

RULE = Settings(outcome=OutcomeSettings(score="helpful >= 0.5"))
ROOT = {"openinference.span.kind": "AGENT", "input.value": "q", "output.value": "a"}
TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find"}


@pytest.mark.parametrize(
    ("success", "score", "passes"),
    [
        (">= 0.5", Score("s", 0.5), True),
        ("", Score("s", 0.4), False),
        ("> 0.5", Score("s", 0.5), False),
        ("<= 3", Score("s", 4), False),
        ("== 1", Score("s", 1.0, "good"), True),
        ("== true", Score("s", 1.0), True),
        ("== good", Score("s", None, "Good "), True),
        (">= 0.5", Score("s", None, "good"), None),
        ("== good", Score("s", 1.0), None),
        (">= 0.5", Score("other", 1.0), None),
    ],
)
def test_rule_compares_numbers_and_labels(success: str, score: Score, passes: bool | None) -> None:
    rule = parse_rule(f"s {success}")
    assert rule is not None
    assert rule.passes([score]) is passes


def verdicts(source: str, path: Path, folder: Path, settings: Settings = RULE) -> list[Any]:
    import json

    RequestLog(folder / "out", settings).append(importers()[source].read([trace_file(path)]))
    lines = [line for day in (folder / "out").glob("*.jsonl") for line in day.read_text().splitlines()]
    return [json.loads(line)["judgment"]["verdict"] for line in lines]


def langfuse(value: float, *, name: str = "helpful", exported: bool = False) -> Any:
    score = {
        "id": "s1",
        "traceId": "t",
        "name": name,
        "value": value,
        "dataType": "NUMERIC",
        "timestamp": "2026-04-25T10:00:00Z",
    }
    observation = {
        "id": "o", "traceId": "t", "type": "TOOL", "name": "find", "startTime": "2026-04-25T09:00:00Z",
        "endTime": "2026-04-25T09:00:01Z", "input": {"a": 1}, "output": "x",
    }  # fmt: skip
    trace = {
        "id": "t",
        "timestamp": "2026-04-25T09:00:00Z",
        "input": "q",
        "output": "a",
        "observations": [observation],
    }
    return [trace, score] if exported else {**trace, "scores": [score]}


@pytest.mark.parametrize("exported", [False, True], ids=["in the trace", "in an export of scores"])
@pytest.mark.parametrize(("value", "verdict"), [(0.9, "P"), (0.1, "V")])
def test_langfuse_score_is_a_verdict(value: float, verdict: str, exported: bool, tmp_path: Path) -> None:
    path = write_document(tmp_path / "trace.json", langfuse(value, exported=exported))
    assert verdicts("langfuse", path, tmp_path) == [verdict]


def test_other_scores_and_no_rule_are_no_verdict(tmp_path: Path) -> None:
    path = write_document(tmp_path / "trace.json", langfuse(0.1, name="toxic"))
    assert verdicts("langfuse", path, tmp_path) == [None]
    path = write_document(tmp_path / "trace.json", langfuse(0.1))
    assert verdicts("langfuse", path, tmp_path / "without", Settings()) == [None]


def evaluation(value: float, name: str = "helpful") -> dict[str, Any]:
    return {
        "gen_ai.evaluation.name": name,
        "gen_ai.evaluation.score.value": value,
        "gen_ai.evaluation.score.label": "x",
    }


def attributes(values: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": otlp_value(value)} for key, value in values.items()]


@pytest.mark.parametrize("where", ["attributes", "event", "annotation", "log record"])
@pytest.mark.parametrize(("value", "verdict"), [(1.0, "P"), (0.0, "V")])
def test_evaluation_in_otlp_is_a_verdict(where: str, value: float, verdict: str, tmp_path: Path) -> None:
    root = span("r", {**ROOT, **(evaluation(value) if where == "attributes" else {})}, trace="t")
    document: Any = otlp(root, span("a", TOOL, trace="t", at=1))
    if where == "event":
        root["events"] = [{"name": "gen_ai.evaluation.result", "attributes": attributes(evaluation(value))}]
    elif where == "annotation":
        root["annotations"] = [
            {"name": "helpful", "annotator_kind": "HUMAN", "result": {"score": value, "label": "x"}}
        ]
    elif where == "log record":
        record = {
            "timeUnixNano": "1777107600000000000", "traceId": root["traceId"], "spanId": root["spanId"],
            "eventName": "gen_ai.evaluation.result", "attributes": attributes(evaluation(value)),
        }  # fmt: skip
        document = [document, {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}]
    assert verdicts("otlp", write_document(tmp_path / "spans.json", document), tmp_path) == [verdict]


def assessment(value: Any, **more: Any) -> dict[str, Any]:
    """As in the JSON of MLflow's ``Trace``."""
    return {
        "assessment_id": "a-1", "assessment_name": "helpful", "trace_id": "tr-1",
        "source": {"source_type": "HUMAN", "source_id": "kim"}, "create_time": "2026-04-25T10:00:00.000Z",
        "feedback": {"value": value}, **more,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("assessments", "verdict"),
    [
        ([assessment(True)], "P"),
        ([assessment(0.1)], "V"),
        ([assessment(1.0), assessment(0.0, create_time="2026-04-26T10:00:00Z")], "V"),
        ([assessment(0.0, valid=False, create_time="2026-04-26T10:00:00Z"), assessment(1.0)], "P"),
        ([assessment(0.0, feedback=None, expectation={"value": 0.0})], None),
        ([assessment([1]), 7, None], None),
    ],
    ids=["yes", "number", "last", "replaced", "expectation", "of no form"],
)
def test_mlflow_assessment_is_a_verdict(assessments: list[Any], verdict: str | None, tmp_path: Path) -> None:
    spans = [span("a", {**TOOL, "mlflow.traceRequestId": '"tr-1"'})]
    trace = {"info": {"trace_id": "tr-1", "assessments": assessments}, "data": {"spans": spans}}
    assert verdicts("otlp", write_document(tmp_path / "trace.json", trace), tmp_path) == [verdict]


@pytest.mark.parametrize("scores", [{"helpful": 0.2}, [{"name": "helpful", "value": False}]])
def test_score_of_a_chat_is_a_verdict(scores: Any, tmp_path: Path) -> None:
    chat = {"ts": "2026-04-25T09:00:00Z", "messages": [{"role": "user", "content": "q"}], "scores": scores}
    assert verdicts("openai-chat", write_lines(tmp_path / "chats.jsonl", [chat]), tmp_path) == ["V"]
