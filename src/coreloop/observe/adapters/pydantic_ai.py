"""Pydantic AI: a capability of the agent.

    agent = Agent(model, tools=[…], capabilities=[record_runs()])

One record a run. Calls are read from the messages, where rejected arguments and unknown tools are, too; hooks
around a tool add its duration and the exception that ended the run.
"""

import os
import time
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from contextvars import ContextVar
from functools import cache
from typing import Any, Final
from uuid import UUID

from coreloop.observe.adapters.plain_values import UNKNOWN_TOOL, bad_json, rejection, rejection_of, said
from coreloop.observe.adapters.requests import Requests
from coreloop.observe.descriptions_in_force import SentTool
from coreloop.observe.drops import never_raises

_run: ContextVar[str | None] = ContextVar("coreloop_pydantic_ai_run", default=None)
_FAILED: Final = frozenset({"failed", "denied", "interrupted", "retried"})


def record_runs(data_dir: str | os.PathLike[str] | None = None) -> Any:
    """Return a capability that records every run of the agents that have it.

    Parameters
    ----------
    data_dir : path, optional
        As for `AuditCollector`.
    """
    return _capability()(Requests(data_dir))


def attach(agent: Any, data_dir: str | os.PathLike[str] | None = None) -> None:
    """Add the capability to an agent that exists."""
    from pydantic_ai.capabilities import CombinedCapability

    root = agent.root_capability
    agent._root_capability = CombinedCapability([*root.capabilities, record_runs(data_dir)])


@cache
def _capability() -> Any:
    """The class, made where the framework is imported."""
    from pydantic_ai.capabilities import AbstractCapability

    class RecordRuns(AbstractCapability):  # type: ignore[misc, unused-ignore]
        def __init__(self, requests: Requests) -> None:
            self._requests = requests

        async def wrap_run(self, ctx: Any, *, handler: Any) -> Any:
            watch = _Run(self._requests, ctx)
            token = _run.set(watch.key)
            try:
                with watch.block():
                    result = await handler()
            except BaseException as error:
                watch.end(ctx, error=error)
                raise
            finally:
                _run.reset(token)
            watch.end(ctx, result=result)
            return result

        async def wrap_model_request(self, ctx: Any, *, request_context: Any, handler: Any) -> Any:
            sent(self._requests, ctx.run_id, request_context)
            response = await handler(request_context)
            replied(self._requests, ctx.run_id, request_context, response)
            return response

        async def on_tool_validate_error(
            self, ctx: Any, *, call: Any, tool_def: Any, args: Any, error: Any
        ) -> Any:
            why = rejection_of(error) or bad_json(args) or error
            self._requests.answered(ctx.run_id, call.tool_call_id, error=why)
            raise error

        async def wrap_tool_execute(
            self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Any
        ) -> Any:
            started_s = time.perf_counter()
            try:
                result = await handler(args)
            except BaseException as error:
                duration_ms = (time.perf_counter() - started_s) * 1000
                if type(error).__name__ in {"CallDeferred", "ApprovalRequired"}:
                    self._requests.answered(ctx.run_id, call.tool_call_id, duration_ms=duration_ms)
                else:
                    self._requests.answered(
                        ctx.run_id, call.tool_call_id, error=_cause(error), duration_ms=duration_ms
                    )
                raise
            self._requests.timed(ctx.run_id, call.tool_call_id, (time.perf_counter() - started_s) * 1000)
            return result

    return RecordRuns


class _Run:
    """One run, from its start to its record."""

    def __init__(self, requests: Requests, ctx: Any) -> None:
        self._requests = requests
        self.key = ctx.run_id
        self._start(ctx)

    @never_raises
    def _start(self, ctx: Any) -> None:
        self._requests.start(self.key, said(ctx.prompt), parent=_run.get(), session_id=_session_of(ctx))

    def block(self) -> Any:
        return self._requests.get(self.key) or ExitStack()

    @never_raises
    def end(self, ctx: Any, *, result: Any = None, error: BaseException | None = None) -> None:
        answer = None
        try:
            read_answers(self._requests, self.key, ctx.messages if result is None else result.all_messages())
            answer = None if error is not None else said(result.output)
        finally:
            self._requests.end(self.key, answer=answer, error=error)


@never_raises
def sent(requests: Requests, key: str, request_context: Any) -> None:
    """Note the answers that the model is shown, and the tools that it is sent."""
    read_answers(requests, key, request_context.messages[-1:])
    tools = request_context.model_request_parameters.function_tools
    requests.sent(
        key, [SentTool(tool.name, tool.description or "", tool.parameters_json_schema) for tool in tools]
    )


@never_raises
def replied(requests: Requests, key: str, request_context: Any, response: Any) -> None:
    """Note the calls that the model asked for, and what the reply used."""
    parameters, usage = request_context.model_request_parameters, response.usage
    requests.replied(
        key,
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
        requests.asked(key, part.tool_call_id, part.tool_name, part.args)
        if part.tool_name not in known:
            requests.answered(key, part.tool_call_id, error=UNKNOWN_TOOL)


def read_answers(requests: Requests, key: str, messages: Iterable[Any]) -> None:
    """Note the results, rejections and errors in messages to the model."""
    for message in messages:
        for part in message.parts if message.kind == "request" else ():
            if part.part_kind == "retry-prompt" and part.tool_name:
                requests.answered(key, part.tool_call_id, error=_error(part.content))
            elif part.part_kind == "tool-return":
                if getattr(part, "outcome", "success") in _FAILED:
                    requests.answered(key, part.tool_call_id, error=_error(part.content))
                else:
                    requests.answered(key, part.tool_call_id, part.content)


def _session_of(ctx: Any) -> str | None:
    """The conversation, if it is one: each run without history gets a fresh id (a UUID of version 7)."""
    given: str | None = ctx.conversation_id
    if ctx.messages or given is None:
        return given
    try:
        return None if UUID(given).version == _FRESH else given
    except ValueError:
        return given


_FRESH: Final = 7  # the version of the UUIDs that the framework makes


def _error(content: Any) -> str:
    if isinstance(content, list) and all(isinstance(item, Mapping) and "loc" in item for item in content):
        return rejection(content)
    return content if isinstance(content, str) and content else said(content) or "failed"


def _cause(error: BaseException) -> BaseException:
    """The exception of the tool itself, which the framework wraps to send it to the model."""
    return error.__cause__ if type(error).__name__ in _WRAPPERS and error.__cause__ else error


_WRAPPERS: Final = frozenset({"ToolRetryError", "ToolFailedError"})
