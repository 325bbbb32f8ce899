"""JSON is found in whatever a model wraps around it, and nothing that breaks the contract gets through."""

import pytest

from bounded import bounded
from coreloop.answer.models.contracts import PlannedQuery, PlanResponse
from coreloop.answer.models.openai_compatible import MAX_CHARS, MalformedReplyError, read_reply
from rows import each_row

PLAN = '{"queries": [{"query": "영업이익 2025", "intent": "figure"}]}'
READ = PlanResponse(queries=(PlannedQuery(query="영업이익 2025", intent="figure"),))


@each_row(
    "text",
    [
        PLAN,
        f"\ufeff  {PLAN}\n",
        f"```json\n{PLAN}\n```",
        f"```\n{PLAN}```",
        f"Sure! Here is the plan:\n\n```json\n{PLAN}\n```\nTell me if it fits.",
        f"네, 계획입니다. {PLAN} 더 필요하시면 말씀해 주세요.",
        f"I used {{curly}} words first. {PLAN}",
        f'An example is {{"queries": "none"}}, but the plan is {PLAN}',
        f'```json\n{{"queries": 1}}\n```\nNo:\n```json\n{PLAN}\n```',
        PLAN.replace("}]", '}], "thoughts": "hm"').replace("intent", "intent"),
    ],
)
def test_json_is_found(text: str):
    assert read_reply(text, PlanResponse) == READ


@each_row(
    ("text", "message"),
    [
        ("", "no JSON object"),
        ("I cannot help with that.", "no JSON object"),
        (PLAN[:-1], "missing required field `queries`"),
        ('{"queries": [{"query": "", "intent": "x"}]}', r"length >= 1 - at `\$.queries\[0\].query`"),
        ('{"queries": "영업이익"}', r"Expected `array`, got `str` - at `\$.queries`"),
        ("{}", "missing required field `queries`"),
        ('{"queries": [], "complexity_tier": "huge"}', "Invalid enum value 'huge'"),
        ("[" * 100_000, "Expected `object`, got `array`"),
        ('{"a":' * 100_000, "no JSON object"),
        ("x" * (MAX_CHARS + 1), "at most 1,000,000 are read"),
        ('{"queries": [{"query": "\udc80", "intent": ""}]}', "no JSON object"),
    ],
)
def test_what_breaks_the_contract_is_named(text: str, message: str):
    with pytest.raises(MalformedReplyError, match=message):
        read_reply(text, PlanResponse)


@each_row("unit", ["{", "```json\n", '{"a":', "``` ", '"', "{}"])
def test_reading_is_bounded_on_hostile_replies(unit: str):
    with bounded(), pytest.raises(MalformedReplyError):
        read_reply((unit * MAX_CHARS)[:MAX_CHARS], PlanResponse)
