"""The models that coreloop.yaml or CORELOOP_MODEL name, and one clear line where they cannot be asked."""

from collections.abc import Callable
from pathlib import Path

import pytest

from coreloop.answer.models.contracts import PlanResponse
from coreloop.answer.models.ladder import choose_model
from coreloop.answer.models.model import CallLimits, Message
from coreloop.base.errors import SettingsError, UsageError
from coreloop.base.project.settings import Settings
from coreloop.base.project.settings_file import load_settings
from model_stand_in import model_stand_in, streams

PLAN = '{"queries": [{"query": "q", "intent": "i"}]}'
ASKED = [Message("user", "Why?")]
Load = Callable[..., Settings]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    def load(text: str = "", **environ: str) -> Settings:
        (tmp_path / "coreloop.yaml").write_text(text, encoding="utf-8")
        return load_settings(tmp_path, environ=environ)

    return load


def test_a_list_is_a_ladder(load: Load):
    settings = load("model: ['ollama:qwen3', 'vllm:Qwen/Qwen3-8B', offline]")
    assert choose_model(settings, {}).name == "ollama:qwen3,vllm:Qwen/Qwen3-8B,offline"


def test_the_environment_chooses_before_the_file(load: Load):
    settings = load("model: offline", CORELOOP_MODEL="openai:gpt-5, offline")
    assert choose_model(settings, {"OPENAI_API_KEY": "k"}).name == "openai:gpt-5,offline"


def test_an_endpoint_of_ones_own_is_asked_with_its_key_and_price(load: Load):
    with model_stand_in() as server:
        server.acts.append(streams(PLAN, usage=(1_000_000, 100_000)))
        settings = load(
            "model: lab:qwen\n"
            "prices: {'lab:qwen': {input: 0.5, output: 1.5}}\n"
            "endpoints:\n"
            f"  lab: {{url: '{server.url}', key: LAB_KEY, key_header: x-key}}\n"
        )
        reply = choose_model(settings, {"LAB_KEY": "s3cret"}, has_usd_limit=True).complete(
            ASKED, PlanResponse, CallLimits(timeout_s=5)
        )
    assert reply.usage.microusd == 650_000
    assert server.headers[0]["x-key"] == "s3cret"
    assert server.bodies[0]["model"] == "qwen"


def test_an_endpoint_with_a_known_name_is_asked_as_the_known_one(load: Load):
    with model_stand_in() as server:
        server.acts.append(streams(PLAN))
        settings = load(f"model: openai:m\nendpoints: {{openai: {{url: '{server.url}'}}}}\n")
        choose_model(settings, {}).complete(ASKED, PlanResponse, CallLimits(timeout_s=5))
    assert "max_completion_tokens" in server.bodies[0]


@pytest.mark.parametrize(
    ("text", "environ", "message"),
    [
        ("model: opnai:gpt-5", {}, "unknown provider 'opnai'; known: offline, openai, azure"),
        ("model: gpt-5", {}, "unknown provider 'gpt-5'"),
        ("model: openai", {"OPENAI_API_KEY": "k"}, "must look like openai:NAME"),
        ("model: ' , '", {}, "model is empty"),
        ("model: []", {}, "model is empty"),
        ("model: openai:gpt-5", {}, "set OPENAI_API_KEY to the key of your account"),
        ("model: azure:mine", {"AZURE_OPENAI_API_KEY": "k"}, "set AZURE_OPENAI_ENDPOINT"),
        (
            "{model: 'openai:gpt-5', limits: {usd_per_day: 1}}",
            {"OPENAI_API_KEY": "k"},
            "model 'openai:gpt-5' has no price, so a limit in US dollars cannot hold",
        ),
        ("{model: 'a:b', endpoints: {a: {url: 'file:///etc'}}}", {}, "must begin with https:// or http://"),
        (
            "{model: 'a:b', endpoints: {a: {url: 'http://x', key: K, key_header: 'a b'}}}",
            {"K": "k"},
            "header",
        ),
    ],
)
def test_what_cannot_be_asked_is_one_clear_line(load: Load, text: str, environ: dict[str, str], message: str):
    with pytest.raises(UsageError, match=message) as caught:
        choose_model(load(text), environ)
    assert "\n" not in str(caught.value)


def test_a_key_in_the_file_is_refused_and_not_repeated(load: Load):
    with pytest.raises(SettingsError, match="must be the name of an environment variable") as caught:
        load("endpoints: {lab: {url: 'http://x', key: sk-a0b1c2d3}}")
    assert "sk-a0" not in str(caught.value)
