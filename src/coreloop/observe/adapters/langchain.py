"""LangChain and LangGraph: a callback handler.

    agent.invoke(…, config={"callbacks": [record_runs()]})

One record an invocation of an agent: of the outermost chain or graph in which a model is called. An agent
that a tool calls is a request of its own, linked to the outer one. A model called by itself is not an agent.
"""

import os
import time
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from coreloop.observe.adapters.plain_values import UNKNOWN_TOOL, bad_json, rejection_of, said
from coreloop.observe.adapters.rejected_arguments import schema_rejection
from coreloop.observe.adapters.requests import Requests
from coreloop.observe.descriptions_in_force import SentTool
from coreloop.observe.drops import never_raises

MAX_RUNS: Final = 50_000
"""Runs of chains, tools and models that are open: about 300 bytes each. The oldest lost its end."""


def record_runs(data_dir: str | os.PathLike[str] | None = None) -> Any:
    """Return a callback handler that records the agents it is passed to.

    Parameters
    ----------
    data_dir : path, optional
        As for `AuditCollector`.
    """
    handler: Any = _handler()(Requests(data_dir))
    return handler


def attach(agent: Any, data_dir: str | os.PathLike[str] | None = None) -> Any:
    """Return the agent with the callback handler in its configuration."""
    return agent.with_config(callbacks=[record_runs(data_dir)])


@dataclass(slots=True)
class _Run:
    """A run of a chain, tool or model: the request that it belongs to, and what it is."""

    root: Hashable
    kind: str
    call_id: str | None = None
    started_s: float = 0.0


@dataclass(slots=True)
class _Root:
    """An outermost run, which becomes a request when a model is called in it."""

    inputs: Any
    parent: Hashable
    session_id: str | None


class Runs:
    """The callbacks' runs under way, by their ids."""

    run_inline = True  # in order, and in the thread of the run

    def __init__(self, requests: Requests) -> None:
        self.requests = requests
        self._runs: OrderedDict[Hashable, _Run] = OrderedDict()
        self._roots: dict[Hashable, _Root] = {}

    @never_raises
    def on_chain_start(
        self,
        serialized: Any,
        inputs: Any,
        *,
        run_id: Hashable,
        parent_run_id: Hashable = None,
        metadata: Any = None,
        **about: Any,
    ) -> None:
        parent = self._runs.get(parent_run_id)
        if parent is not None and parent.kind != "tool":
            self._add(run_id, _Run(parent.root, "chain"))
            return
        metadata = metadata if isinstance(metadata, Mapping) else {}
        session = metadata.get("thread_id") or metadata.get("session_id")
        self._roots[run_id] = _Root(
            inputs, None if parent is None else parent.root, None if session is None else str(session)
        )
        self._add(run_id, _Run(run_id, "chain"))

    @never_raises
    def on_chain_end(self, outputs: Any, *, run_id: Hashable, **about: Any) -> None:
        self._runs.pop(run_id, None)
        if self._roots.pop(run_id, None) is None or run_id not in self.requests:
            return
        messages = _messages(outputs)
        self._read_answers(run_id, messages)
        if isinstance(outputs, Mapping) and "__interrupt__" in outputs:
            for call_id in self.requests.open_calls(run_id):  # they wait for a person: nothing failed
                self.requests.answered(run_id, call_id)
        last = messages[-1] if messages else outputs
        self.requests.end(run_id, answer=said(getattr(last, "content", last)))

    @never_raises
    def on_chain_error(self, error: BaseException, *, run_id: Hashable, **about: Any) -> None:
        self._runs.pop(run_id, None)
        if self._roots.pop(run_id, None) is not None and run_id in self.requests:
            self.requests.end(run_id, error=error)

    @never_raises
    def on_chat_model_start(
        self,
        serialized: Any,
        messages: Any,
        *,
        run_id: Hashable,
        parent_run_id: Hashable = None,
        metadata: Any = None,
        **about: Any,
    ) -> None:
        parent = self._runs.get(parent_run_id)
        if parent is None or parent.kind == "tool":
            return
        root = self._roots.get(parent.root)
        if root is not None and parent.root not in self.requests:
            self.requests.start(
                parent.root, _question(root.inputs), parent=root.parent, session_id=root.session_id
            )
        self._add(run_id, _Run(parent.root, "model"))
        metadata = metadata if isinstance(metadata, Mapping) else {}
        self._runs[run_id].call_id = _name(metadata.get("ls_provider"))
        self._read_answers(parent.root, messages[0] if messages else ())
        tools = (about.get("invocation_params") or {}).get("tools")
        self.requests.sent(parent.root, _sent(tools or (about.get("options") or {}).get("tools")))

    def on_llm_start(self, serialized: Any, prompts: Any, **about: Any) -> None:
        self.on_chat_model_start(serialized, (), **about)

    @never_raises
    def on_llm_end(self, response: Any, *, run_id: Hashable, **about: Any) -> None:
        run = self._runs.pop(run_id, None)
        if run is None:
            return
        message = getattr(response.generations[0][0], "message", None)
        usage = getattr(message, "usage_metadata", None) or {}
        about = getattr(message, "response_metadata", None) or {}
        self.requests.replied(
            run.root,
            provider=_name(about.get("model_provider")) or run.call_id,
            model=_name(about.get("model_name") or about.get("model")),
            input_tokens=usage.get("input_tokens"),
            output_tokens=usage.get("output_tokens"),
        )
        for call in getattr(message, "tool_calls", None) or ():
            self.requests.asked(run.root, call["id"], call["name"], call["args"])
        for call in getattr(message, "invalid_tool_calls", None) or ():
            self.requests.asked(run.root, call["id"], call["name"] or "?", call["args"])
            why = bad_json(call["args"]) or f"invalid_argument: {call.get('error') or 'not a call'}"
            self.requests.answered(run.root, call["id"], error=why)

    @never_raises
    def on_llm_error(self, error: BaseException, *, run_id: Hashable, **about: Any) -> None:
        self._runs.pop(run_id, None)

    @never_raises
    def on_tool_start(
        self,
        serialized: Any,
        input_str: str,
        *,
        run_id: Hashable,
        parent_run_id: Hashable = None,
        tool_call_id: str | None = None,
        **about: Any,
    ) -> None:
        parent = self._runs.get(parent_run_id)
        if parent is not None:
            self._add(run_id, _Run(parent.root, "tool", tool_call_id, time.perf_counter()))

    @never_raises
    def on_tool_end(self, output: Any, *, run_id: Hashable, **about: Any) -> None:
        run = self._runs.pop(run_id, None)
        if run is None or run.root not in self.requests or run.call_id is None:
            return
        self.requests.timed(run.root, run.call_id, _elapsed_ms(run))
        if type(output).__name__ == "ToolMessage":
            self._read_answers(run.root, [output])
        else:  # a command, or several messages: the next message to the model has the result
            self._read_answers(run.root, _messages(getattr(output, "update", output)))

    @never_raises
    def on_tool_error(self, error: BaseException, *, run_id: Hashable, **about: Any) -> None:
        run = self._runs.pop(run_id, None)
        if run is None or run.root not in self.requests or run.call_id is None:
            return
        if any(base.__name__ == "GraphBubbleUp" for base in type(error).__mro__):
            return  # an interrupt, or a command to a graph above
        why = rejection_of(error) or error
        self.requests.answered(run.root, run.call_id, error=why, duration_ms=_elapsed_ms(run))

    def _read_answers(self, key: Hashable, messages: Iterable[Any]) -> None:
        for message in messages:
            call_id = getattr(message, "tool_call_id", None)
            if call_id is None:
                continue
            content = getattr(message, "content", None)
            if getattr(message, "status", "success") == "error":
                self.requests.answered(key, call_id, error=self._error(key, call_id, said(content)))
            else:
                self.requests.answered(key, call_id, content)

    def _error(self, key: Hashable, call_id: str, text: str) -> str:
        call, request = self.requests.open_calls(key).get(call_id), self.requests.get(key)
        if call is None or request is None:
            return text
        if text.startswith(f"Error: {call.name} is not a valid tool"):
            return UNKNOWN_TOOL
        if "validation error" in text.lower():  # the tool turned it into a text
            tool = request.tools.get(call.name)
            return schema_rejection(None if tool is None else tool.schema, call.args)
        return text or "failed"

    def _add(self, run_id: Hashable, run: _Run) -> None:
        self._runs[run_id] = run
        while len(self._runs) > MAX_RUNS:
            oldest, _ = self._runs.popitem(last=False)
            self._roots.pop(oldest, None)


@cache
def _handler() -> Any:
    """The class, made where the framework is imported."""
    from langchain_core.callbacks import BaseCallbackHandler

    return type("RecordRuns", (Runs, BaseCallbackHandler), {})


def _elapsed_ms(run: _Run) -> float:
    return (time.perf_counter() - run.started_s) * 1000


def _sent(tools: Any) -> list[SentTool]:
    """The tools in a provider's form: OpenAI's, with ``function`` or flat, or Anthropic's."""
    found = []
    for tool in tools if isinstance(tools, list) else ():
        about = tool.get("function", tool) if isinstance(tool, Mapping) else {}
        schema = about.get("parameters", about.get("input_schema"))
        if isinstance(about.get("name"), str):
            found.append(SentTool(about["name"], str(about.get("description") or ""), schema))
    return found


def _messages(value: Any) -> list[Any]:
    listed = value.get("messages") if isinstance(value, Mapping) else value
    return listed if isinstance(listed, list) else []


def _question(inputs: Any) -> str:
    """The last message of the user among a chain's inputs, or the input itself."""
    for message in reversed(_messages(inputs)):
        role, content = _role(message)
        if role in {"human", "user"}:
            return said(content)
    if isinstance(inputs, Mapping):
        inputs = inputs.get("input") or inputs.get("question") or ""
    return inputs if isinstance(inputs, str) else ""


def _role(message: Any) -> tuple[Any, Any]:
    if isinstance(message, Mapping):
        return message.get("role") or message.get("type"), message.get("content")
    if isinstance(message, tuple) and len(message) == 2:
        return message
    return getattr(message, "type", None), getattr(message, "content", None)


def _name(value: Any) -> str | None:
    return value if isinstance(value, str) else None
