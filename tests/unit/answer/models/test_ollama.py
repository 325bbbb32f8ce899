"""A real Ollama plans and answers: CORELOOP_TEST_OLLAMA=qwen3 pytest tests/unit/models/test_ollama.py."""

import os

import pytest

from coreloop.answer.models.choose_model import choose_model
from coreloop.answer.models.contracts import PlanResponse, SynthesisResponse
from coreloop.answer.models.model import CallLimits, Message
from coreloop.answer.models.prompt import Material, NumberedSource, user_message
from coreloop.base.project.settings import Settings

MODEL = os.environ.get("CORELOOP_TEST_OLLAMA", "")
pytestmark = pytest.mark.skipif(
    not MODEL, reason="set CORELOOP_TEST_OLLAMA to the name of a model that a local Ollama has"
)
SOURCE = NumberedSource(number=1, title="Report", text="Acme's revenue fell by 8 % in 2025.", location="a.md")
LIMITS = CallLimits(timeout_s=300)


def test_a_plan_and_an_answer_are_usable():
    model = choose_model(Settings(model=f"ollama:{MODEL}"), {}, has_usd_limit=True)
    question = user_message(Material(question="By how much did Acme's revenue fall?", sources=(SOURCE,)))
    plan = model.complete([Message("system", "Plan web searches."), question], PlanResponse, LIMITS)
    assert plan.value.queries
    asked = [Message("system", "Answer from the sources; cite them as [1]."), question]
    answer = model.complete(asked, SynthesisResponse, LIMITS)
    assert "8" in answer.value.answer
    assert answer.usage.tokens > 0
    assert not answer.usage.is_estimated
