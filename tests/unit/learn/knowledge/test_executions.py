"""An execution is stored without its question."""

from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from coreloop.base.records import hash_question
from coreloop.learn.knowledge.executions import Execution, record_execution
from coreloop.learn.knowledge.store import writing
from old_knowledge import bytes_of, rows_of

NOW = datetime(2026, 4, 25, 9, 30, tzinfo=UTC)


def test_every_value_except_the_question_is_stored(tmp_path: Path):
    values = {
        "stock_code": "990168",
        "question_type": "compare",
        "mode": "analysis",
        "result_summary": "요약",
        "grade": "P",
        "duration_s": 1.5,
        "rounds": 3,
        "has_error": True,
        "provider": "openai",
        "model": "m",
    }
    execution = Execution(question="SECRET 질문", key_metrics={"roe": 3.1}, **values)
    with writing(tmp_path / "x.db") as connection:
        record_execution(connection, execution, now=NOW)
    stored = {"id": 1, "created_at": "2026-04-25T09:30:00+00:00", "key_metrics": '{"roe": 3.1}', **values}
    assert rows_of(tmp_path / "x.db", "executions") == [
        {**stored, "question_hash": hash_question("SECRET 질문"), "has_error": 1}
    ]
    assert b"SECRET" not in bytes_of(tmp_path / "x.db")
    assert "SECRET" not in repr(execution)


@settings(max_examples=20)
@given(st.text())
def test_any_question_can_be_hashed(tmp_path_factory, question: str):
    path = tmp_path_factory.mktemp("x") / "x.db"
    with writing(path) as connection:
        record_execution(connection, Execution(question=question), now=NOW)
    assert rows_of(path, "executions")[0]["question_hash"] == hash_question(question)
