"""The decorator that records the calls of a tool: functions and generators, sync and async.

As in the collector, nothing of auditing reaches the tool's caller.
"""

import time
from collections.abc import Callable
from contextlib import aclosing
from functools import wraps
from typing import Any, TypeVar, overload

from coreloop.observe.collector import AuditCollector, current

_Tool = TypeVar("_Tool", bound=Callable[..., Any])


@overload
def observed_tool(tool: _Tool, /) -> _Tool: ...
@overload
def observed_tool(*, name: str | None = None) -> Callable[[_Tool], _Tool]: ...
def observed_tool(
    tool: Callable[..., Any] | None = None, /, *, name: str | None = None
) -> Callable[..., Any]:
    """Time every call of a tool, sync or async, and record it with the `current` collector.

    A generator, sync or async, is recorded when its iteration ends, is given up or raises; its time is from
    the first step to then, the waiting of whoever iterates included.

    Parameters
    ----------
    tool : callable
        The function; arguments given by position are recorded under their parameter's names, without
        ``self`` and ``cls``.
    name : str, optional
        The name that the model knows; by default the function's.

    Returns
    -------
    callable
        Behaves as the function does; an exception is recorded and goes on.

    Examples
    --------
    >>> @observed_tool
    ... def show(topic: str) -> str:
    ...     return topic.upper()
    >>> show("bs")
    'BS'
    """
    if tool is None:
        return lambda function: observed_tool(function) if name is None else _observed(function, name)
    return _observed(tool, name or str(getattr(tool, "__name__", type(tool).__name__)))


def _observed(tool: Callable[..., Any], name: str) -> Callable[..., Any]:
    import inspect

    names = _positional_names(tool)

    def record(
        started_ns: int,
        args: Any,
        kwargs: Any,
        outcome: Any,
        error: BaseException | None,
        audit: AuditCollector | None = None,
    ) -> None:
        (audit or current()).observe_tool_call(
            name,
            {key: value for key, value in zip(names, args, strict=False) if key not in {"self", "cls"}}
            | kwargs,
            error=error,
            duration_ms=round((time.monotonic_ns() - started_ns) / 1e6, 3),
            result_size_bytes=len(outcome.encode("utf-8", "replace")) if isinstance(outcome, str) else None,
        )

    @wraps(tool)
    def call(*args: Any, **kwargs: Any) -> Any:
        started_ns = time.monotonic_ns()
        try:
            result = tool(*args, **kwargs)
        except BaseException as error:
            record(started_ns, args, kwargs, None, error)
            raise
        record(started_ns, args, kwargs, result, None)
        return result

    @wraps(tool)
    async def call_async(*args: Any, **kwargs: Any) -> Any:
        started_ns = time.monotonic_ns()
        try:
            result = await tool(*args, **kwargs)
        except BaseException as error:
            record(started_ns, args, kwargs, None, error)
            raise
        record(started_ns, args, kwargs, result, None)
        return result

    if inspect.isgeneratorfunction(tool):
        return _observed_generator(tool, record)
    if inspect.isasyncgenfunction(tool):
        return _observed_async_generator(tool, record)
    return call_async if inspect.iscoroutinefunction(tool) else call


def _observed_generator(tool: Callable[..., Any], record: Callable[..., None]) -> Callable[..., Any]:
    @wraps(tool)
    def call_generator(*args: Any, **kwargs: Any) -> Any:
        audit, started_ns = current(), time.monotonic_ns()  # the last step may run in another context
        try:
            result = yield from tool(*args, **kwargs)
        except GeneratorExit:  # whoever iterates has enough: the tool did not fail
            record(started_ns, args, kwargs, None, None, audit)
            raise
        except BaseException as error:
            record(started_ns, args, kwargs, None, error, audit)
            raise
        record(started_ns, args, kwargs, None, None, audit)
        return result

    return call_generator


def _observed_async_generator(tool: Callable[..., Any], record: Callable[..., None]) -> Callable[..., Any]:
    @wraps(tool)
    async def call_async_generator(*args: Any, **kwargs: Any) -> Any:
        audit, started_ns = current(), time.monotonic_ns()
        try:
            async with aclosing(tool(*args, **kwargs)) as generator:
                step_on = generator.asend(None)
                while True:  # as `yield from`, which async generators lack
                    try:
                        item = await step_on
                    except StopAsyncIteration:
                        break
                    try:
                        step_on = generator.asend((yield item))
                    except GeneratorExit:
                        raise
                    except BaseException as thrown:
                        step_on = generator.athrow(thrown)
        except GeneratorExit:
            record(started_ns, args, kwargs, None, None, audit)
            raise
        except BaseException as error:
            record(started_ns, args, kwargs, None, error, audit)
            raise
        record(started_ns, args, kwargs, None, None, audit)

    return call_async_generator


def _positional_names(tool: Callable[..., Any]) -> list[str]:
    """Parameter names by position; what a ``*args`` takes has no name and is not recorded."""
    import inspect

    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    try:
        parameters = inspect.signature(tool).parameters.values()
    except (TypeError, ValueError):  # some builtins have none
        return []
    return [parameter.name for parameter in parameters if parameter.kind in kinds]
