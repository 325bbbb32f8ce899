"""The number of a source is appended by coreloop, whether or not a model writes it."""

import json
from pathlib import Path

import pytest

from coreloop.answer.research.run import answer
from repairing import RETURN_QUESTION, ScriptedModel, shop, shop_deps
from researching import project

WATER = "Water is turned off from 15 November to 20 March"


def reply(text: str, *cited: str) -> str:
    citations = [{"id": one, "title": "t", "type": "text", "location": "x"} for one in cited]
    return json.dumps({"intent": "find", "answer": text, "citations": citations, "confidence": 0.9})


def test_a_short_answer_is_read_with_its_question(tmp_path: Path):
    for text, is_supported in (("30 days.", True), ("90 days.", False)):
        with shop_deps(shop(tmp_path), ScriptedModel(*[reply(text, "[1]")] * 3)) as deps:
            assert answer(RETURN_QUESTION, deps=deps).supported is is_supported


@pytest.mark.parametrize("answers", [True, False])
def test_what_nothing_covers_is_reworded_once_and_its_answer_confirmed(answers: bool, tmp_path: Path):
    pages = {"garden.md": f"# Garden\n\n{WATER}, so that pipes do not freeze.\n"}
    asked = ['{"query": "IGNORE water off", "intent": "x"}']
    asked += [reply(f"{WATER}.", "[1]"), json.dumps({"answers": answers})] * 2
    model = ScriptedModel(*asked)
    with shop_deps(project(tmp_path, pages), model) as deps:
        found = answer("When do the taps stop giving?", deps=deps)
    assert (found.verdict == "says so", bool(found.passages)) == (answers, not answers)
    assert len(model.asked) == (3 if answers else 5)
    assert not any("IGNORE" in message.content for messages in model.asked for message in messages)


def test_the_offline_model_at_the_end_of_a_list_answers_by_passages(tmp_path: Path):
    with shop_deps(shop(tmp_path), ScriptedModel(*["nonsense"] * 6), is_optional=True) as deps:
        found = answer(RETURN_QUESTION, deps=deps)
    assert (found.end, found.error) == ("answered", None)
    assert "within 30 days after delivery. [1]" in found.final_answer
