"""The number of a source is appended by coreloop, whether or not a model writes it."""

import json
from pathlib import Path

from coreloop.answer.models.offline import OfflineModel
from coreloop.answer.research.run import answer
from repairing import RETURN_QUESTION, ScriptedModel, shop, shop_deps

SAID = "A parcel can be returned within 30 days."


def reply(text: str, *cited: str) -> str:
    citations = [{"id": one, "title": "t", "type": "text", "location": "x"} for one in cited]
    return json.dumps({"intent": "find", "answer": text, "citations": citations, "confidence": 0.9})


def test_a_sentence_is_checked_against_the_sources_that_citations_name(tmp_path: Path):
    with shop_deps(shop(tmp_path), ScriptedModel(reply(SAID, "[1]"))) as deps:
        found = answer(RETURN_QUESTION, deps=deps)
    assert (found.final_answer, found.signals) == (f"{SAID} [1]", ())


def test_a_short_answer_is_read_with_its_question(tmp_path: Path):
    for text, is_supported in (("30 days.", True), ("90 days.", False)):
        with shop_deps(shop(tmp_path), ScriptedModel(*[reply(text, "[1]")] * 3)) as deps:
            assert answer(RETURN_QUESTION, deps=deps).supported is is_supported


def test_replies_without_json_fall_back_on_the_passages_and_say_so(tmp_path: Path):
    with shop_deps(shop(tmp_path), ScriptedModel(*["nonsense"] * 6)) as deps:
        found = answer(RETURN_QUESTION, deps=deps)
    assert (found.end, found.error and found.error.type) == ("model_unusable", "model_unusable")
    assert "within 30 days after delivery. [1]" in found.final_answer
    assert found.reason.startswith("the model was unusable: ")


def test_the_offline_model_at_the_end_of_a_list_answers_by_passages(tmp_path: Path):
    with shop_deps(shop(tmp_path), ScriptedModel(*["nonsense"] * 6), OfflineModel()) as deps:
        found = answer(RETURN_QUESTION, deps=deps)
    assert (found.end, found.error) == ("answered", None)
    assert "within 30 days after delivery. [1]" in found.final_answer
