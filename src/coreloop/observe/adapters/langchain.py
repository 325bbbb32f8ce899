"""LangChain and LangGraph: a callback handler.

    agent.invoke(…, config={"callbacks": [record_runs()]})

One record an invocation of an agent: of the outermost chain or graph in which a model is called. An agent
that a tool calls is a request of its own, linked to the outer one. A model called by itself is not an agent.
"""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Optional

from coreloop.observe.adapters import plain_values as plain
from coreloop.observe.adapters.requests import AdaptedRequest, DataDir
from coreloop.observe.drops import never_raises
from coreloop.observe.importers.trace_values import listed


def record_runs(data_dir: DataDir = None) -> Any:
    """Return a callback handler that records the agents it is passed to.

    Parameters
    ----------
    data_dir : path, optional
        As for `AuditCollector`.
    """
    from langchain_core.callbacks import BaseCallbackHandler

    return type("RecordRuns", (Runs, BaseCallbackHandler), {})(data_dir)


def attach(agent: Any, data_dir: DataDir = None) -> Any:
    """Return the agent with the callback handler in its configuration."""
    return agent.with_config(callbacks=[record_runs(data_dir)])


@dataclass(slots=True)
class _Root:
    """An outermost run, which becomes a request when a model is called in it."""

    inputs: Any
    parent: Optional["_Root"]
    session_id: Any
    request: AdaptedRequest | None = None


@dataclass(slots=True)
class _Run:
    """A run of a chain, tool or model, or the root's own: the root that it belongs to, and what it is."""

    root: _Root
    kind: str
    # The id of a tool's call, the provider of a model.
    about: str | None = None


class Runs:
    """The callbacks' runs under way, by their ids."""

    run_inline = True  # in order, and in the thread of the run

    def __init__(self, data_dir: DataDir = None) -> None:
        self._data_dir = data_dir
        self._runs: dict[Hashable, _Run] = {}

    def _ended(self, run_id: Hashable) -> tuple[_Run, AdaptedRequest] | None:
        """The run that has ended, if it belongs to a request."""
        run = self._runs.pop(run_id, None)
        return None if run is None or run.root.request is None else (run, run.root.request)

    @never_raises
    def on_chain_start(self, chain: Any, inputs: Any, *, run_id: Hashable, **about: Any) -> None:
        parent = self._runs.get(about.get("parent_run_id"))
        if parent is not None and parent.kind != "tool":
            self._runs[run_id] = _Run(parent.root, "chain")
            return
        metadata = about.get("metadata") or {}
        session = metadata.get("thread_id") or metadata.get("session_id")
        self._runs[run_id] = _Run(_Root(inputs, None if parent is None else parent.root, session), "root")

    @never_raises
    def on_chain_end(self, outputs: Any, *, run_id: Hashable, **about: Any) -> None:
        ended = self._ended(run_id)
        if ended is None or ended[0].kind != "root":
            return
        request, messages = ended[1], _messages(outputs)
        _read_answers(request, messages)
        if isinstance(outputs, Mapping) and "__interrupt__" in outputs:
            for call_id in request.open_calls:  # they wait for a person: nothing failed
                request.answered(call_id)
        last = messages[-1] if messages else outputs
        request.end(answer=plain.said(getattr(last, "content", last)))

    @never_raises
    def on_chain_error(self, error: BaseException, *, run_id: Hashable, **about: Any) -> None:
        ended = self._ended(run_id)
        if ended is not None and ended[0].kind == "root":
            ended[1].end(error=error)

    @never_raises
    def on_chat_model_start(self, serialized: Any, messages: Any, *, run_id: Hashable, **about: Any) -> None:
        parent = self._runs.get(about.get("parent_run_id"))
        if parent is None or parent.kind == "tool":
            return
        root = parent.root
        if root.request is None:
            outer = None if root.parent is None else root.parent.request
            question = _question(root.inputs)
            root.request = AdaptedRequest(
                question, parent=outer, session_id=root.session_id, data_dir=self._data_dir
            )
        self._runs[run_id] = _Run(root, "model", (about.get("metadata") or {}).get("ls_provider"))
        _read_answers(root.request, messages[0] if messages else ())
        tools = (about.get("invocation_params") or {}).get("tools")
        root.request.sent(plain.sent_tools(tools or (about.get("options") or {}).get("tools")), "langchain")

    def on_llm_start(self, model: Any, prompts: Any, **about: Any) -> None:
        self.on_chat_model_start(model, (), **about)

    @never_raises
    def on_llm_end(self, response: Any, *, run_id: Hashable, **about: Any) -> None:
        ended = self._ended(run_id)
        if ended is None:
            return
        run, request = ended
        message = getattr(response.generations[0][0], "message", None)
        usage = getattr(message, "usage_metadata", None) or {}
        about = getattr(message, "response_metadata", None) or {}
        request.replied(
            provider=about.get("model_provider") or run.about,
            model=about.get("model_name") or about.get("model"),
            input_tokens=usage.get("input_tokens"),
            output_tokens=usage.get("output_tokens"),
        )
        for call in getattr(message, "tool_calls", None) or ():
            request.asked(call["id"], call["name"], call["args"])
        for call in getattr(message, "invalid_tool_calls", None) or ():
            request.asked(call["id"], call["name"] or "?", call["args"])
            request.answered(call["id"], error="invalid_argument: arguments: not a JSON object")

    @never_raises
    def on_llm_error(self, error: BaseException, *, run_id: Hashable, **about: Any) -> None:
        self._ended(run_id)

    @never_raises
    def on_tool_start(self, serialized: Any, input_str: str, *, run_id: Hashable, **about: Any) -> None:
        parent = self._runs.get(about.get("parent_run_id"))
        if parent is None:
            return
        self._runs[run_id] = run = _Run(parent.root, "tool", about.get("tool_call_id"))
        if run.root.request is not None:
            run.root.request.started(run.about)

    @never_raises
    def on_tool_end(self, output: Any, *, run_id: Hashable, **about: Any) -> None:
        ended = self._ended(run_id)
        if ended is None:
            return
        run, request = ended
        request.finished(run.about)
        is_message = type(output).__name__ == "ToolMessage"
        # of a command, or of several messages, the next message to the model has the result
        _read_answers(request, [output] if is_message else _messages(getattr(output, "update", output)))

    @never_raises
    def on_tool_error(self, error: BaseException, *, run_id: Hashable, **about: Any) -> None:
        ended = self._ended(run_id)
        if ended is None:
            return
        if any(base.__name__ == "GraphBubbleUp" for base in type(error).__mro__):
            return  # an interrupt, or a command to a graph above
        ended[1].answered(ended[0].about, error=plain.rejection_of(error) or error)


def _read_answers(request: AdaptedRequest, messages: Iterable[Any]) -> None:
    for message in messages:
        if (call_id := getattr(message, "tool_call_id", None)) is None:
            continue
        content = getattr(message, "content", None)
        if getattr(message, "status", "success") == "error":
            request.answered(call_id, error=_error(request, call_id, plain.said(content)) or "failed")
        else:
            request.answered(call_id, content)


def _error(request: AdaptedRequest, call_id: str, text: str) -> str:
    if text.startswith("Error: ") and " is not a valid tool, try one of [" in text:
        return plain.UNKNOWN_TOOL
    # the tool may have turned a rejection into a text
    return request.rejection(call_id) if "validation error" in text.lower() else text


def _messages(value: Any) -> list[Any]:
    return listed(value.get("messages") if isinstance(value, Mapping) else value)


def _question(inputs: Any) -> str:
    """The last message of the user among a chain's inputs, or the input itself."""
    for message in reversed(_messages(inputs)):
        about = {"type": message[0], "content": message[1]} if isinstance(message, tuple) else message
        if any(plain.field_of(about, name) in ("human", "user") for name in ("role", "type")):
            return plain.said(plain.field_of(about, "content"))
    if isinstance(inputs, Mapping):
        inputs = inputs.get("input") or inputs.get("question") or ""
    return inputs if isinstance(inputs, str) else ""
