"""The adapter is found by the agent's class; no framework is needed to say that there is none."""

import pytest

import coreloop
from coreloop.base.errors import UsageError


class Agent:
    pass


def test_agent_of_no_known_framework_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(UsageError) as caught:
        coreloop.attach(Agent())
    said = str(caught.value)
    assert f"no adapter for a {Agent.__module__}.Agent" in said
    for name in ("pydantic_ai", "agents", "langgraph", "fastmcp", "dartlab-coreloop receive"):
        assert name in said


def test_adapter_that_cannot_be_imported_does_not_hide_the_reason() -> None:
    foreign = type("Agent", (), {"__module__": "pydantic_ai.agent"})
    with pytest.raises((ModuleNotFoundError, AttributeError)):
        coreloop.attach(foreign())
