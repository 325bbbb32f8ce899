"""Pydantic AI: a capability of the agent.

    agent = Agent(model, tools=[…], capabilities=[record_runs()])

One record a run. Calls are read from the messages, where rejected arguments and unknown tools are, too; hooks
around a tool add its duration and the exception that ended the run.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from coreloop.observe.adapters.plain_values import UNKNOWN_TOOL, rejection, rejection_of, said
from coreloop.observe.adapters.requests import AdaptedRequest, DataDir, enclosing, ended
from coreloop.observe.descriptions_in_force import SentTool
from coreloop.observe.drops import never_raises

_FAILED: Final = frozenset({"failed", "denied", "interrupted", "retried"})
_WAITING: Final = frozenset({"CallDeferred", "ApprovalRequired"})
# Exceptions in which the framework sends the tool's own one to the model, or ends the run with it.
_WRAPPERS: Final = frozenset({"ToolRetryError", "ToolFailedError", "UnexpectedModelBehavior"})
# The conversation of a run without history: an id of its own (a UUID of version 7), and so no session.
_FRESH: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")


def record_runs(data_dir: DataDir = None) -> Any:
    """Return a capability that records every run of the agents that have it.

    Parameters
    ----------
    data_dir : path, optional
        As for `AuditCollector`.
    """
    from pydantic_ai.capabilities import AbstractCapability

    return type("RecordRuns", (Runs, AbstractCapability), {})(data_dir)


def attach(agent: Any, data_dir: DataDir = None) -> None:
    """Add the capability to an agent that exists."""
    from pydantic_ai.capabilities import CombinedCapability

    root = agent.root_capability
    agent._root_capability = CombinedCapability([*root.capabilities, record_runs(data_dir)])


class Runs:
    """The hooks around runs, requests to the model and tools."""

    def __init__(self, data_dir: DataDir = None) -> None:
        self._data_dir = data_dir
        self._runs: dict[str, AdaptedRequest] = {}

    def _of(self, ctx: Any) -> AdaptedRequest:
        return self._runs.get(ctx.run_id) or ended()

    async def wrap_run(self, ctx: Any, *, handler: Any) -> Any:
        given = getattr(ctx, "conversation_id", None)
        session = given if getattr(ctx, "messages", None) or not _FRESH.fullmatch(str(given)) else None
        question, outer = said(ctx.prompt), enclosing()
        run = AdaptedRequest(question, parent=outer, session_id=session, data_dir=self._data_dir)
        self._runs[ctx.run_id] = run
        try:
            with run:
                result = await handler()
        except BaseException as error:
            _end(run, ctx, error=error)
            raise
        finally:
            self._runs.pop(ctx.run_id, None)
        _end(run, ctx, result=result)
        return result

    async def wrap_model_request(self, ctx: Any, *, request_context: Any, handler: Any) -> Any:
        run = self._of(ctx)
        sent(run, request_context)
        response = await handler(request_context)
        replied(run, request_context, response)
        return response

    async def on_tool_validate_error(
        self, ctx: Any, *, call: Any, tool_def: Any, args: Any, error: Any
    ) -> Any:
        self._of(ctx).answered(call.tool_call_id, error=rejection_of(error) or error)
        raise error

    async def wrap_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Any) -> Any:
        run = self._of(ctx)
        run.started(call.tool_call_id)
        try:
            result = await handler(args)
        except BaseException as error:
            run.answered(call.tool_call_id, error=_cause(error))
            raise
        run.finished(call.tool_call_id)
        return result


@never_raises
def _end(run: AdaptedRequest, ctx: Any, *, result: Any = None, error: BaseException | None = None) -> None:
    answer = None
    try:
        read_answers(run, ctx.messages if result is None else result.all_messages())
        answer = None if error is not None else said(result.output)
    finally:
        run.end(answer=answer, error=error)


@never_raises
def sent(run: AdaptedRequest, request_context: Any) -> None:
    """Note the answers that the model is shown, and the tools that it is sent."""
    read_answers(run, request_context.messages[-1:])
    tools = request_context.model_request_parameters.function_tools
    sent = [SentTool(tool.name, tool.description or "", tool.parameters_json_schema) for tool in tools]
    run.sent(sent, "pydantic-ai")


@never_raises
def replied(run: AdaptedRequest, request_context: Any, response: Any) -> None:
    """Note the calls that the model asked for, and what the reply used."""
    parameters, usage = request_context.model_request_parameters, response.usage
    run.replied(
        provider=response.provider_name or request_context.model.system,
        model=response.model_name,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cost_usd=None if usage.cost is None else float(usage.cost),
    )
    outputs = {tool.name for tool in parameters.output_tools}  # the answer, not a tool
    known = {tool.name for tool in parameters.function_tools}
    for part in response.parts:
        if part.part_kind != "tool-call" or part.tool_name in outputs:
            continue
        run.asked(part.tool_call_id, part.tool_name, part.args)
        if part.tool_name not in known:
            run.answered(part.tool_call_id, error=UNKNOWN_TOOL)


def read_answers(run: AdaptedRequest, messages: Iterable[Any]) -> None:
    """Note the results, rejections and errors in messages to the model."""
    for part in (part for message in messages if message.kind == "request" for part in message.parts):
        is_return = part.part_kind == "tool-return"
        is_failed = part.part_kind == "retry-prompt" and part.tool_name
        if is_failed or (is_return and getattr(part, "outcome", "success") in _FAILED):
            run.answered(part.tool_call_id, error=_error(part.content))
        elif is_return:
            run.answered(part.tool_call_id, part.content)


def _error(content: Any) -> str:
    if isinstance(content, list) and all(isinstance(item, Mapping) and "loc" in item for item in content):
        return rejection(content)
    return said(content) or "failed"


def _cause(error: BaseException) -> BaseException | None:
    """The exception of the tool itself; None if the call waits for something outside of the run."""
    if type(error).__name__ in _WAITING:
        return None
    return _cause(error.__cause__) if type(error).__name__ in _WRAPPERS and error.__cause__ else error
