"""OpenAI Agents SDK: every run of this process, agents as tools included.

    record_runs()  # once, when the server starts

The SDK's default runner is replaced by one that adds hooks and a formatter of tool errors to each run, beside
the run's own, and then calls the runner that was there.
"""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import cache
from typing import Any, Final

from coreloop.observe.adapters.plain_values import UNKNOWN_TOOL, bad_json, field_of, rejection_of, said
from coreloop.observe.adapters.rejected_arguments import schema_rejection
from coreloop.observe.adapters.requests import Requests
from coreloop.observe.descriptions_in_force import SentTool
from coreloop.observe.drops import drop_error, never_raises

_run: ContextVar[str | None] = ContextVar("coreloop_openai_agents_run", default=None)
_REJECTED: Final = "Invalid JSON input for tool"
NOT_RUN: Final = "not run: the run ended before it"


def record_runs(data_dir: str | os.PathLike[str] | None = None) -> None:
    """Record every run from now on; a second call only changes where to.

    Parameters
    ----------
    data_dir : path, optional
        As for `AuditCollector`.
    """
    from agents.run import get_default_agent_runner, set_default_agent_runner

    runner = get_default_agent_runner()
    recording = _runner_class()
    before = runner.before if isinstance(runner, recording) else runner
    set_default_agent_runner(recording(before, Requests(data_dir)))


def attach(agent: Any, data_dir: str | os.PathLike[str] | None = None) -> None:
    """Record every run of the process, whichever agent's."""
    record_runs(data_dir)


class _Run:
    """One run: what its hooks heard, from its start to its record."""

    def __init__(self, requests: Requests, given: Any, options: Mapping[str, Any]) -> None:
        self.requests = requests
        self.key = f"run-{os.urandom(8).hex()}"
        self.schemas: dict[str, Any] = {}
        self.started_s: dict[str, float] = {}
        self._start(given, options)

    @never_raises
    def _start(self, given: Any, options: Mapping[str, Any]) -> None:
        self.requests.start(self.key, _question(given), parent=_run.get(), session_id=_session(options))

    def options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The options of the run with our hooks and formatter beside its own."""
        try:
            return self._options(given)
        except Exception as error:  # must not disturb the host: the SDK judges its options itself
            drop_error(error)
            return dict(given)

    def _options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        from agents import RunConfig

        hooks = _hooks_class()
        config = given.get("run_config") or RunConfig()
        if isinstance(config, Mapping):
            config = RunConfig(**config)
        own = config.tool_error_formatter
        return {
            **given,
            "hooks": hooks(self, given.get("hooks")),
            "run_config": replace(config, tool_error_formatter=self._formatter(own)),
        }

    def _formatter(self, own: Any) -> Any:
        def tool_error(args: Any) -> Any:
            self._failed(args)
            return None if own is None else own(args)

        return tool_error

    @never_raises
    def _failed(self, args: Any) -> None:
        call_id, error = args.call_id, args.error
        if args.kind == "tool_not_found":
            self.requests.answered(self.key, call_id, error=UNKNOWN_TOOL)
        elif args.kind == "tool_exception":
            given = getattr(args.run_context, "tool_arguments", None)
            why = self.rejection(call_id, given, error) or error or args.default_message
            self.requests.answered(self.key, call_id, error=why, duration_ms=self.elapsed_ms(call_id))
        else:
            self.requests.answered(self.key, call_id, error=args.default_message)

    def rejection(self, call_id: str, args: Any, error: BaseException | None) -> str | None:
        """Why the SDK rejected the arguments, or None if it did not."""
        if not str(error).startswith(_REJECTED):
            return None
        return rejection_of(error) or bad_json(args) or schema_rejection(self.schemas.get(call_id), args)

    def elapsed_ms(self, call_id: str) -> float | None:
        started_s = self.started_s.pop(call_id, None)
        return None if started_s is None else (time.perf_counter() - started_s) * 1000

    @never_raises
    def end(self, result: Any = None, error: BaseException | None = None) -> None:
        """Write the record; calls that wait for an approval have not failed."""
        answer = None
        try:
            for item in getattr(result, "interruptions", None) or ():
                self.requests.answered(self.key, field_of(item.raw_item, "call_id"))
            self._end_open(result, error)
            answer = said(getattr(result, "final_output", None)) if error is None else None
        finally:
            self.requests.end(
                self.key, answer=answer, error=error, open_calls=None if error is None else NOT_RUN
            )

    def _end_open(self, result: Any, error: BaseException | None) -> None:
        """Answers that no later message to the model shows: the last ones, and what ended the run."""
        for item in getattr(result, "new_items", None) or ():
            if item.type in {"tool_call_output_item", "handoff_output_item"}:
                read_outputs(self, [item.raw_item])
        for call_id, call in self.requests.open_calls(self.key).items():
            if error is not None and f"Tool {call.name} not found" in str(error):
                self.requests.answered(self.key, call_id, error=UNKNOWN_TOOL)
            elif error is not None and call_id in self.started_s:
                why = self.rejection(str(call_id), call.args, error)
                self.requests.answered(self.key, call_id, error=why or _cause(error))


@cache
def _runner_class() -> Any:
    """The runner, made where the framework is imported."""
    from agents.run import AgentRunner

    class RecordingRunner(AgentRunner):  # type: ignore[misc, unused-ignore]
        def __init__(self, before: Any, requests: Requests) -> None:
            self.before, self._requests = before, requests

        @contextmanager
        def _begun(self, input: Any, options: dict[str, Any]) -> Iterator[_Run]:  # noqa: A002 - the SDK's name
            """Make a run the current one; an error ends it."""
            run = _Run(self._requests, input, options)
            token = _run.set(run.key)
            try:
                yield run
            except BaseException as error:
                run.end(error=error)
                raise
            finally:
                _run.reset(token)

        async def run(self, starting_agent: Any, input: Any, **options: Any) -> Any:  # noqa: A002 - the SDK's name
            with self._begun(input, options) as run:
                result = await self.before.run(starting_agent, input, **run.options(options))
            run.end(result)
            return result

        def run_sync(self, starting_agent: Any, input: Any, **options: Any) -> Any:  # noqa: A002 - the SDK's name
            with self._begun(input, options) as run:
                result = self.before.run_sync(starting_agent, input, **run.options(options))
            run.end(result)
            return result

        def run_streamed(self, starting_agent: Any, input: Any, **options: Any) -> Any:  # noqa: A002 - the SDK's name
            with self._begun(input, options) as run:
                result = self.before.run_streamed(starting_agent, input, **run.options(options))
            task = result.run_loop_task
            if task is None:
                run.end(result)
            else:
                task.add_done_callback(lambda done: run.end(result, _error_of(done)))
            return result

    return RecordingRunner


@cache
def _hooks_class() -> Any:
    """The hooks, made where the framework is imported."""
    from agents import RunHooks

    class Hooks(RunHooks):  # type: ignore[misc, type-arg, unused-ignore]
        def __init__(self, run: _Run, own: Any) -> None:
            self._run, self._own = run, own or RunHooks()
            for name in dir(RunHooks):  # hooks that are not recorded, also those that a later release adds
                if name.startswith("on_") and name not in Hooks.__dict__:
                    setattr(self, name, getattr(self._own, name))

        async def on_llm_start(self, context: Any, agent: Any, system_prompt: Any, input_items: Any) -> None:
            asking(self._run, agent, input_items)
            await self._own.on_llm_start(context, agent, system_prompt, input_items)

        async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
            replied(self._run, agent, response)
            await self._own.on_llm_end(context, agent, response)

        async def on_handoff(self, context: Any, from_agent: Any, to_agent: Any) -> None:
            handed_over(self._run, from_agent, to_agent)
            await self._own.on_handoff(context, from_agent, to_agent)

        async def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None:
            started(self._run, context, tool)
            await self._own.on_tool_start(context, agent, tool)

        async def on_tool_end(self, context: Any, agent: Any, tool: Any, result: Any) -> None:
            finished(self._run, context, result)
            await self._own.on_tool_end(context, agent, tool, result)

    return Hooks


@never_raises
def asking(run: _Run, agent: Any, input_items: Any) -> None:
    """Note the answers that the model is shown, and the tools that it is sent."""
    read_outputs(run, input_items)
    tools = [_sent(tool) for tool in agent.tools if hasattr(tool, "params_json_schema")]
    handoffs = [(_handoff_name(item), item) for item in agent.handoffs]
    tools += [
        SentTool(name, getattr(item, "tool_description", ""), getattr(item, "input_json_schema", {}))
        for name, item in handoffs
    ]
    run.requests.sent(run.key, tools)


@never_raises
def replied(run: _Run, agent: Any, response: Any) -> None:
    """Note the calls that the model asked for, and what the reply used."""
    usage = response.usage
    model = agent.model if isinstance(agent.model, str) else getattr(agent.model, "model", None)
    run.requests.replied(
        run.key,
        model=model if isinstance(model, str) else None,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
    )
    for item in response.output:
        if field_of(item, "type") in {"function_call", "custom_tool_call"}:
            args = field_of(item, "arguments") or field_of(item, "input")
            run.requests.asked(run.key, field_of(item, "call_id"), field_of(item, "name"), args)


@never_raises
def started(run: _Run, context: Any, tool: Any) -> None:
    """Note when a tool starts, and what the model was sent for it."""
    call_id = getattr(context, "tool_call_id", None)
    if call_id is not None:
        run.started_s[call_id] = time.perf_counter()
    if hasattr(tool, "params_json_schema"):
        run.schemas[call_id or ""] = tool.params_json_schema
        run.requests.sent(run.key, [_sent(tool)])


@never_raises
def finished(run: _Run, context: Any, result: Any) -> None:
    """Note a tool's result, or its failure if the SDK attached one to the tool's span."""
    from agents.tracing import get_current_span

    call_id = getattr(context, "tool_call_id", None)
    if call_id is None:
        return
    span = get_current_span()
    duration_ms = run.elapsed_ms(call_id)
    if span is None or getattr(span, "error", None) is None:
        run.requests.answered(run.key, call_id, result, duration_ms=duration_ms)
        return
    detail = str((span.error.get("data") or {}).get("error") or "")
    args = getattr(context, "tool_arguments", None)
    why = schema_rejection(run.schemas.get(call_id), args) if detail.startswith(_REJECTED) else None
    run.requests.answered(run.key, call_id, error=why or said(result), duration_ms=duration_ms)


@never_raises
def handed_over(run: _Run, from_agent: Any, to_agent: Any) -> None:
    """A hand-over is the result of the call that asked for it."""
    names = {
        _handoff_name(item)
        for item in from_agent.handoffs
        if getattr(item, "agent_name", getattr(item, "name", None)) == to_agent.name
    }
    for call_id, call in run.requests.open_calls(run.key).items():
        if call.name in names:
            run.requests.answered(run.key, call_id)


def read_outputs(run: _Run, items: Any) -> None:
    """Note the results among items that are sent to the model."""
    for item in items if isinstance(items, list) else ():
        if field_of(item, "type") in {"function_call_output", "custom_tool_call_output"}:
            run.requests.answered(run.key, field_of(item, "call_id"), field_of(item, "output"))


def _sent(tool: Any) -> SentTool:
    return SentTool(tool.name, tool.description or "", tool.params_json_schema)


def _handoff_name(item: Any) -> str:
    from agents import Handoff

    return str(item.tool_name) if isinstance(item, Handoff) else str(Handoff.default_tool_name(item))


def _error_of(task: Any) -> BaseException | None:
    import asyncio

    return asyncio.CancelledError() if task.cancelled() else task.exception()


def _cause(error: BaseException) -> BaseException:
    """The tool's own exception, which the SDK wraps when a tool may not fail."""
    return error.__cause__ if type(error).__name__ == "UserError" and error.__cause__ else error


def _session(options: Mapping[str, Any]) -> str | None:
    session, config = options.get("session"), options.get("run_config")
    for given in (
        getattr(session, "session_id", None),
        options.get("conversation_id"),
        getattr(config, "group_id", None),
    ):
        if isinstance(given, str):
            return given
    return None


def _question(given: Any) -> str:
    if isinstance(given, str):
        return given
    texts = [
        said(field_of(item, "content"))
        for item in (given if isinstance(given, list) else ())
        if field_of(item, "role") == "user"
    ]
    return texts[-1] if texts else ""
