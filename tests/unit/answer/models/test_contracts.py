"""The schema files are those of the types, and say what a reader of the field expects."""

import json
from pathlib import Path

from jsonschema import Draft202012Validator

from coreloop.answer.models.contracts import SCHEMA_FILES, json_schema
from rows import each_row

FOLDER = Path(__file__).parents[4] / "docs" / "schemas"
ULID = "01KQ0000000000000000000000"
WHEN = "2026-04-25T09:00:00Z"
METADATA = {"timestamp": WHEN, "model": "gpt-5", "token_count": 12}
CITATION = {"id": "[1]", "title": "사업보고서", "type": "filing", "location": "dart:1#3"}
EXAMPLES = {
    "MESSAGE_SCHEMA_V1.json": {
        "id": ULID,
        "type": "feedback.signal",
        "timestamp": WHEN,
        "trace_id": "t-1",
        "payload": {"reason": "x"},
    },
    "LLM_RESPONSE_JSON_V1.json": {
        "intent": "figure",
        "answer": "올랐다 [1]",
        "citations": [CITATION],
        "confidence": 0.9,
        "actions": [{}],
    },
    "PLAN_RESPONSE_V1.json": {
        "queries": [{"query": "영업이익", "intent": "figure"}],
        "sub_questions": ["왜?"],
        "complexity_tier": "deep",
    },
    "REFLECTION_RESPONSE_V1.json": {
        "sufficient": False,
        "confidence": 0.4,
        "gaps": ["2025"],
        "new_queries": [],
        "metadata": METADATA,
        "findings": [{"text": "올랐다", "sources": ["dart:1"], "hypothesis_id": "h1", "stance": "supports"}],
        "hypotheses": [{"statement": "가격"}],
        "uncertainties": [{"text": "?", "needs": "filing"}],
        "missing": ["x"],
    },
    "SYNTHESIS_RESPONSE_V1.json": {"answer": "올랐다 [1]", "citations": [CITATION], "metadata": METADATA},
    "ERROR_RESPONSE_V1.json": {"error": {"type": "unavailable", "message": "no answer", "retryable": True}},
}


def as_json(value: object) -> object:
    return json.loads(json.dumps(value))


@each_row("name", SCHEMA_FILES)
def test_a_file_is_the_schema_of_its_type(name: str):
    assert json.loads((FOLDER / name).read_text(encoding="utf-8")) == as_json(json_schema(SCHEMA_FILES[name]))


def test_no_other_file_is_there():
    assert {path.name for path in FOLDER.iterdir()} == set(SCHEMA_FILES)


@each_row("name", SCHEMA_FILES)
def test_a_schema_is_valid_and_accepts_the_documented_shape(name: str):
    schema = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(EXAMPLES[name])
