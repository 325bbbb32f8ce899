"""The sentence in which the offline model says what it is claims nothing, so it is no unsupported claim."""

import pytest

from coreloop.answer.models.contracts import SynthesisResponse
from coreloop.answer.models.model import CallLimits
from coreloop.answer.models.offline import OfflineModel
from coreloop.answer.models.prompt import Material, NumberedSource, user_message
from coreloop.answer.research.best_passages import Grounds, numbered
from coreloop.answer.research.research_state import Attempt
from coreloop.answer.research.verify import check_answer
from coreloop.answer.search.source import Source
from researching import MOMENT, RIVER


@pytest.mark.parametrize("question", ["How long is the Han river?", "한강의 길이는 얼마입니까?"])
@pytest.mark.parametrize("text", [RIVER, "Tea is harvested in April."])
def test_no_sentence_of_the_offline_model_is_dropped(question: str, text: str):
    source = Source(title="Han", location="han.md", type="markdown", text=text, retrieved_at=MOMENT)
    asked = Material(question=question, sources=(NumberedSource(number=1, title="Han", text=text),))
    reply = OfflineModel().complete([user_message(asked)], SynthesisResponse, CallLimits()).value
    checked = check_answer(Attempt(number=1, model="offline"), reply.answer, Grounds("", numbered([source])))
    assert checked.dropped == ()
    assert all("offline" not in sentence and "오프라인" not in sentence for sentence in checked.sentences)
