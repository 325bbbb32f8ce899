"""OpenAI Agents SDK: every run of this process, agents as tools included.

    record_runs()  # once, when the server starts

The SDK's default runner is replaced by one that adds hooks and a formatter of tool errors to each run, beside
the run's own, and then calls the runner that was there.
"""

import asyncio
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, Final

from coreloop.observe.adapters.plain_values import UNKNOWN_TOOL, field_of, rejection_of, said
from coreloop.observe.adapters.requests import AdaptedRequest, DataDir, enclosing
from coreloop.observe.descriptions_in_force import SentTool
from coreloop.observe.drops import drop_error, never_raises
from coreloop.observe.importers.trace_values import listed

_FRAMEWORK: Final = "openai-agents"
_REJECTED: Final = "Invalid JSON input for tool"
NOT_RUN: Final = "not run: the run ended before it"


def record_runs(data_dir: DataDir = None) -> None:
    """Record every run from now on; a second call only changes where to.

    Parameters
    ----------
    data_dir : path, optional
        As for `AuditCollector`.
    """
    from agents.run import AgentRunner, get_default_agent_runner, set_default_agent_runner

    runner: Any = get_default_agent_runner()
    before = runner.before if isinstance(runner, _Runner) else runner
    recording = type("RecordingRunner", (_Runner, AgentRunner), {})
    set_default_agent_runner(recording(before, data_dir))


def attach(agent: Any, data_dir: DataDir = None) -> None:
    """Record every run of the process, whichever agent's."""
    record_runs(data_dir)


class _Runner:
    """Records the runs of the runner that was there before."""

    def __init__(self, before: Any, data_dir: DataDir) -> None:
        self.before, self._data_dir = before, data_dir

    @contextmanager
    def _begun(self, given: Any, options: dict[str, Any]) -> Iterator["_Run"]:
        """Make a run the current one; an error ends it."""
        run = _Run(given, self._data_dir, options)
        try:
            with run.request:
                yield run
        except BaseException as error:
            run.end(error=error)
            raise

    async def run(self, starting_agent: Any, input: Any, **options: Any) -> Any:  # noqa: A002 - the SDK's name
        with self._begun(input, options) as run:
            result = await self.before.run(starting_agent, input, **run.options(options))
        run.end(result)
        return result

    def run_streamed(self, starting_agent: Any, input: Any, **options: Any) -> Any:  # noqa: A002 - the SDK's name
        with self._begun(input, options) as run:
            result = self.before.run_streamed(starting_agent, input, **run.options(options))
        if result.run_loop_task is None:
            run.end(result)
        else:
            result.run_loop_task.add_done_callback(lambda task: run.end(result, _error_of(task)))
        return result


class _Run:
    """One run: what its hooks heard, from its start to its record."""

    def __init__(self, given: Any, data_dir: DataDir, options: Mapping[str, Any]) -> None:
        question = given if isinstance(given, str) else ""
        with suppress(Exception):  # of the host's own types
            for item in listed(given):
                if field_of(item, "role") == "user":
                    question = said(field_of(item, "content"))
        session, outer = _session(options), enclosing()
        self.request = AdaptedRequest(question, parent=outer, session_id=session, data_dir=data_dir)

    def options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The options of the run with our hooks and formatter beside its own."""
        try:
            from agents import RunConfig, RunHooks

            config = given.get("run_config") or RunConfig()
            config = RunConfig(**config) if isinstance(config, Mapping) else config
            hooks, own = RunHooks(), given.get("hooks") or RunHooks()
            for name in [name for name in dir(RunHooks) if name.startswith("on_")]:
                setattr(hooks, name, self._hook(getattr(self, name, None), getattr(own, name)))
            formatter = self._formatter(config.tool_error_formatter)
            return {**given, "hooks": hooks, "run_config": replace(config, tool_error_formatter=formatter)}
        except Exception as error:  # must not disturb the host: the SDK judges its options itself
            drop_error(error)
            return dict(given)

    def _hook(self, notice: Callable[..., None] | None, own: Any) -> Any:
        async def call(*args: Any, **kwargs: Any) -> None:
            if notice is not None:
                notice(*args, **kwargs)
            await own(*args, **kwargs)

        return call

    def _formatter(self, own: Any) -> Any:
        def tool_error(args: Any) -> Any:
            self._failed(args)
            return None if own is None else own(args)

        return tool_error

    @never_raises
    def _failed(self, args: Any) -> None:
        why = UNKNOWN_TOOL if args.kind == "tool_not_found" else args.default_message
        if args.kind == "tool_exception":
            why = self.rejection(args.call_id, args.error) or args.error or why
        self.request.answered(args.call_id, error=why)

    def rejection(self, call_id: Hashable, error: BaseException | None) -> str | None:
        """Why the SDK rejected the arguments, or None if it did not."""
        if not str(error).startswith(_REJECTED):
            return None
        return rejection_of(error) or self.request.rejection(call_id)

    @never_raises
    def end(self, result: Any = None, error: BaseException | None = None) -> None:
        """Write the record; calls that wait for an approval have not failed."""
        answer = None
        try:
            for item in getattr(result, "interruptions", None) or ():
                self.request.answered(field_of(item.raw_item, "call_id"))
            items = getattr(result, "new_items", None) or ()  # no later message shows the last answers
            self._read_outputs([item.raw_item for item in items])
            if error is None:
                answer = said(getattr(result, "final_output", None))
            else:
                self._end_open(error)
        finally:
            self.request.end(answer=answer, error=error)

    def _end_open(self, error: BaseException) -> None:
        """Find the calls that ended the run; the others did not run."""
        for call_id, call in self.request.open_calls.items():
            why: str | BaseException = NOT_RUN
            if f"Tool {call.name} not found" in str(error):
                why = UNKNOWN_TOOL
            elif call_id in self.request.running:
                wrapped = error.__cause__ if type(error).__name__ == "UserError" else None
                why = self.rejection(call_id, error) or wrapped or error
            self.request.answered(call_id, error=why)

    # The hooks that are recorded, under the names of the SDK.

    @never_raises
    def on_llm_start(self, context: Any, agent: Any, system_prompt: Any, input_items: Any) -> None:
        """Note the answers that the model is shown, and the tools that it is sent."""
        self._read_outputs(input_items)
        sent = [_sent(tool) for tool in agent.tools if hasattr(tool, "params_json_schema")]
        self.request.sent(sent, _FRAMEWORK)

    @never_raises
    def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
        """Note the calls that the model asked for, and what the reply used."""
        usage = response.usage
        model = agent.model if isinstance(agent.model, str) else getattr(agent.model, "model", None)
        self.request.replied(
            model=model if isinstance(model, str) else None,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
        )
        for item in response.output:
            if field_of(item, "type") in {"function_call", "custom_tool_call"}:
                args = field_of(item, "arguments") or field_of(item, "input")
                self.request.asked(field_of(item, "call_id"), field_of(item, "name"), args)

    @never_raises
    def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None:
        """Note when a tool starts, and what the model was sent for it."""
        self.request.started(getattr(context, "tool_call_id", None))
        if hasattr(tool, "params_json_schema"):
            self.request.sent([_sent(tool)], _FRAMEWORK)

    @never_raises
    def on_tool_end(self, context: Any, agent: Any, tool: Any, result: Any) -> None:
        """Note a tool's result, or its failure if the SDK attached one to the tool's span."""
        from agents.tracing import get_current_span

        call_id, span = getattr(context, "tool_call_id", None), get_current_span()
        if span is None or getattr(span, "error", None) is None:
            self.request.answered(call_id, result)
            return
        detail = str((span.error.get("data") or {}).get("error") or "")
        why = self.request.rejection(call_id) if detail.startswith(_REJECTED) else None
        self.request.answered(call_id, error=why or said(result))

    def _read_outputs(self, items: Any) -> None:
        """Note the results among items that are sent to the model."""
        for item in listed(items):
            if field_of(item, "type") in {"function_call_output", "custom_tool_call_output"}:
                self.request.answered(field_of(item, "call_id"), field_of(item, "output"))


def _sent(tool: Any) -> SentTool:
    return SentTool(tool.name, tool.description or "", tool.params_json_schema)


def _error_of(task: Any) -> BaseException | None:
    return asyncio.CancelledError() if task.cancelled() else task.exception()


def _session(options: Mapping[str, Any]) -> str | None:
    session, config = options.get("session"), options.get("run_config")
    named = [getattr(session, "session_id", None), options.get("conversation_id")]
    named.append(getattr(config, "group_id", None))
    return next((given for given in named if isinstance(given, str)), None)
