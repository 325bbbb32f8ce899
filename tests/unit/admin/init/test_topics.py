"""Words that could tell a project's questions apart: of many questions, and named by the source."""

import json
from pathlib import Path

from coreloop.admin.init.new_settings import propose_topics, source_words
from coreloop.admin.init.run import InitRequest, initialise
from coreloop.base.project.workspace import open_workspace

SOURCE = '''
def cancel_order(order_id: str, reason: str) -> None:
    """Nothing of a docstring secretword is a name."""


def 배당_분석(company: str, axis: str = "수익성") -> dict: ...
'''


def project(root: Path, questions: list[str | None]) -> Path:
    (root / "tools.py").write_text(SOURCE, encoding="utf-8")
    records = root / "data" / "audit" / "ai-ask"
    records.mkdir(parents=True)
    lines = [json.dumps({"question": question}, ensure_ascii=False) for question in questions]
    (records / "2026-04-25.jsonl").write_text("torn {\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return records


def test_words_are_those_of_names_and_constants_not_of_docstrings(tmp_path: Path):
    project(tmp_path, [])
    words = source_words(tmp_path)
    assert {"cancel", "order", "reason", "배당", "수익성", "company"} <= words
    assert "secretword" not in words


def test_a_word_needs_many_questions_and_the_source(tmp_path: Path):
    asked = ["Please cancel it", "Cancelling nothing", "cancel now", "cancels", "cancel", "cancel this"]
    other = [f"kimchi {number}" for number in range(14)]
    records = project(tmp_path, asked + other)
    assert propose_topics(records, tmp_path) == ("cancel",)


def test_a_korean_word_is_found_with_its_particle(tmp_path: Path):
    asked = ["배당이 어때?", "배당은?", "배당을 알려줘", "배당 분석", "배당률", "수익성이 좋아?"]
    records = project(tmp_path, asked + [f"날씨 {number}" for number in range(14)])
    assert propose_topics(records, tmp_path) == ("배당",)


def test_inflections_of_a_word_share_a_topic(tmp_path: Path):
    records = project(tmp_path, ["order", "orders"] * 4 + ["kimchi"] * 12)
    assert propose_topics(records, tmp_path) == ("order",)


def test_a_word_of_every_question_is_not_a_topic(tmp_path: Path):
    assert propose_topics(project(tmp_path, ["my order"] * 20), tmp_path) == ()


def test_without_records_nothing_is_proposed(tmp_path: Path):
    assert propose_topics(tmp_path / "nowhere", tmp_path) == ()


def test_no_word_of_users_that_the_source_lacks_is_shown(tmp_path: Path):
    records = project(tmp_path, ["cancel for 김민수 please"] * 8 + ["kimchi"] * 12)
    assert propose_topics(records, tmp_path) == ("cancel",)


def test_a_new_settings_file_proposes_topics_as_comments(tmp_path: Path):
    project(tmp_path, ["cancel"] * 8 + ["kimchi"] * 12 + [None, "reason"])
    request = InitRequest(repository=tmp_path, github=None, confirm=True)
    initialise(open_workspace(tmp_path), request)
    text = (tmp_path / "coreloop.yaml").read_text(encoding="utf-8")
    assert "#  - {label: TOPIC-1, any: [cancel]}" in text
    assert open_workspace(tmp_path).settings.categories == ()
