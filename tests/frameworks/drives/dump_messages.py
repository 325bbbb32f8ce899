"""Print one small log as a framework itself dumps its messages: JSON lines, a chat each.

``dump_messages.py FORM``; a request's calls are ``[id, limit, result or null, failed]``.
"""

import json
import sys
from typing import Any

FAILED = "limit must be at most 100"
LOG: list[list[tuple[str, int, str | None, bool]]] = [
    [("c1", 1, "two rooms", False)],
    [("c1", 200, FAILED, True)],
    [("c1", 1, None, False)],
    [("c1", 1, "two rooms", False), ("c2", 300, FAILED, True)],
]


def langchain(form: str, calls: Any) -> list[Any]:
    from langchain_core.load import dumpd
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage, messages_to_dict

    asked = [{"name": "find", "args": {"limit": limit}, "id": id} for id, limit, _, _ in calls]
    results = [
        ToolMessage(result, tool_call_id=id, status="error" if failed else "success")
        for id, _, result, failed in reversed(calls)
        if result is not None
    ]
    messages = [HumanMessage("why?"), AIMessage("", tool_calls=asked), *results, AIMessage("so")]
    if form == "model_dump":
        return [message.model_dump() for message in messages]
    return messages_to_dict(messages) if form == "dicts" else [dumpd(message) for message in messages]


def pydantic_ai(form: str, calls: Any) -> list[Any]:
    from pydantic_ai import messages as m

    results = [
        m.RetryPromptPart(result, tool_name="find", tool_call_id=id)
        if failed and form == "retry"
        else m.ToolReturnPart("find", result, tool_call_id=id, outcome="failed" if failed else "success")
        for id, _, result, failed in reversed(calls)
        if result is not None
    ]
    asked = [m.ToolCallPart("find", {"limit": limit}, tool_call_id=id) for id, limit, _, _ in calls]
    chat = [
        m.ModelRequest(parts=[m.UserPromptPart("why?")]),
        m.ModelResponse(parts=[*asked]),
        *([m.ModelRequest(parts=[*results])] if results else []),
        m.ModelResponse(parts=[m.TextPart("so")]),
    ]
    return json.loads(m.ModelMessagesTypeAdapter.dump_json(chat))


def autogen(form: str, calls: Any) -> list[Any]:
    from autogen_agentchat import messages as m
    from autogen_core import FunctionCall, models

    asked = [FunctionCall(id, json.dumps({"limit": limit}), "find") for id, limit, _, _ in calls]
    results = [
        models.FunctionExecutionResult(content=result, name="find", call_id=id, is_error=failed)
        for id, _, result, failed in reversed(calls)
        if result is not None
    ]
    if form == "events":
        given = [m.ToolCallExecutionEvent(content=results, source="A")] if results else []
        summary = m.ToolCallSummaryMessage(content="so", source="A", tool_calls=asked, results=results)
        chat = [m.TextMessage(content="why?", source="me"), m.ToolCallRequestEvent(content=asked, source="A")]
        return [event.dump() for event in [*chat, *given, summary]]
    chat = [
        models.UserMessage(content="why?", source="me"),
        models.AssistantMessage(content=asked, source="A"),
        *([models.FunctionExecutionResultMessage(content=results)] if results else []),
        models.AssistantMessage(content="so", source="A"),
    ]
    return [message.model_dump() for message in chat]


if __name__ == "__main__":
    library, form = sys.argv[1].split("/")
    for n, calls in enumerate(LOG):
        chat = {"id": n, "ts": 1777109400, "messages": globals()[library](form, calls)}
        print(json.dumps(chat, default=str))
