"""The number of a source is appended by coreloop, whether or not a model writes it."""

import json
from pathlib import Path

from coreloop.answer.research.run import answer
from repairing import RETURN_QUESTION, ScriptedModel, shop, shop_deps


def reply(text: str, *cited: str) -> str:
    citations = [{"id": one, "title": "t", "type": "text", "location": "x"} for one in cited]
    return json.dumps({"intent": "find", "answer": text, "citations": citations, "confidence": 0.9})


def test_a_short_answer_is_read_with_its_question(tmp_path: Path):
    for text, is_supported in (("30 days.", True), ("90 days.", False)):
        with shop_deps(shop(tmp_path), ScriptedModel(*[reply(text, "[1]")] * 3)) as deps:
            assert answer(RETURN_QUESTION, deps=deps).supported is is_supported


def test_the_offline_model_at_the_end_of_a_list_answers_by_passages(tmp_path: Path):
    with shop_deps(shop(tmp_path), ScriptedModel(*["nonsense"] * 6), is_optional=True) as deps:
        found = answer(RETURN_QUESTION, deps=deps)
    assert (found.end, found.error) == ("answered", None)
    assert "within 30 days after delivery. [1]" in found.final_answer
