"""The decorator that records the calls of a tool: functions and generators, sync and async.

As in the collector, nothing of auditing reaches the tool's caller.
"""

import time
from collections.abc import Callable
from contextlib import aclosing
from functools import wraps
from typing import Any, Final, TypeVar, overload

from coreloop.observe import drops
from coreloop.observe.collector import AuditCollector, current

_Tool = TypeVar("_Tool", bound=Callable[..., Any])
_NONE: Final = object()  # instead of a result, which may be None


@overload
def observed_tool(tool: _Tool, /) -> _Tool: ...
@overload
def observed_tool(
    *, name: str | None = None, ok: Callable[[Any], object] | None = None
) -> Callable[[_Tool], _Tool]: ...
def observed_tool(
    tool: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    ok: Callable[[Any], object] | None = None,
) -> Callable[..., Any]:
    """Time every call of a tool, sync or async, and record it with the `current` collector.

    A generator, sync or async, is recorded when its iteration ends, is given up or raises; its time is from
    the first step to then, the waiting of the code that iterates included.

    The result is not stored; see ``result`` of `AuditCollector.observe_tool_call`.

    Parameters
    ----------
    tool : callable
        The function; arguments given by position are recorded under their parameter's names. ``self``,
        ``cls`` and what a framework injects (`injected.TYPE_NAMES`) are not recorded.
    name : str, optional
        The name that the model knows; by default the function's.
    ok : callable, optional
        Takes the result, tells whether the call did what it was asked for; for tools that return their
        errors. By default a call is ok unless it raises. If the result of a call that is not ok is a string,
        it is recorded as the ``error``. If ``ok`` raises, the call counts as ok and the case as dropped
        (``ok_predicate``). A generator has no result and is not asked about.

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
    >>> @observed_tool(ok=lambda text: not text.startswith("Error:"))
    ... def read(path: str) -> str:
    ...     return f"Error: no file {path}"
    """
    if tool is None:
        return lambda function: _observed(function, name or _name_of(function), ok)
    return _observed(tool, _name_of(tool), None)


def _name_of(tool: Callable[..., Any]) -> str:
    return str(getattr(tool, "__name__", type(tool).__name__))


class _Recorder:
    """Records the calls of one tool."""

    __slots__ = ("_injected", "_name", "_ok", "_positional")

    def __init__(self, tool: Callable[..., Any], name: str, ok: Callable[[Any], object] | None) -> None:
        from coreloop.observe.injected import tool_parameters

        self._name = name
        self._ok = ok
        self._positional, self._injected = tool_parameters(tool)

    def record(
        self,
        started_ns: int,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        outcome: Any,
        error: BaseException | None,
        audit: AuditCollector | None = None,
    ) -> None:
        """Record a call that has ended; ``outcome`` is `_NONE` where the result is not known."""
        try:
            duration_ms = round((time.monotonic_ns() - started_ns) / 1e6, 3)
            failed = self._ok is not None and outcome is not _NONE and not _is_ok(self._ok, outcome)
            text = outcome if isinstance(outcome, str) else None
            (audit or current()).observe_tool_call(
                self._name,
                self._arguments(args, kwargs),
                ok=False if failed else None,
                error=text if failed else error,
                duration_ms=duration_ms,
                result_size_bytes=None if text is None else len(text.encode("utf-8", "replace")),
                result=outcome if outcome is not _NONE else ... if error is None else None,
            )
        except Exception as problem:  # as in the collector
            try:
                drops.drop_error(problem)
            except RecursionError:
                drops.DROPPED.no_stack += 1

    def _arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """What the model gave, by name; nothing of what a framework injects."""
        injected = self._injected
        named = {
            key: value for key, value in zip(self._positional, args, strict=False) if key not in injected
        }
        if injected.isdisjoint(kwargs):
            return named | kwargs
        return named | {key: value for key, value in kwargs.items() if key not in injected}


def _observed(tool: Callable[..., Any], name: str, ok: Callable[[Any], object] | None) -> Callable[..., Any]:
    import inspect

    # a bound method: calling the object would take a frame more than the tool did, and there may be none left
    record = _Recorder(tool, name, ok).record
    if inspect.isgeneratorfunction(tool):
        return _observed_generator(tool, record)
    if inspect.isasyncgenfunction(tool):
        return _observed_async_generator(tool, record)

    @wraps(tool)
    def call(*args: Any, **kwargs: Any) -> Any:
        started_ns = time.monotonic_ns()
        try:
            result = tool(*args, **kwargs)
        except BaseException as error:
            record(started_ns, args, kwargs, _NONE, error)
            raise
        record(started_ns, args, kwargs, result, None)
        return result

    @wraps(tool)
    async def call_async(*args: Any, **kwargs: Any) -> Any:
        started_ns = time.monotonic_ns()
        try:
            result = await tool(*args, **kwargs)
        except BaseException as error:
            record(started_ns, args, kwargs, _NONE, error)
            raise
        record(started_ns, args, kwargs, result, None)
        return result

    return call_async if inspect.iscoroutinefunction(tool) else call


def _is_ok(ok: Callable[[Any], object], outcome: Any) -> bool:
    try:
        return bool(ok(outcome))
    except Exception:  # it is somebody else's function, and their request must go on
        drops.drop(drops.OK_PREDICATE)
        return True


def _observed_generator(tool: Callable[..., Any], record: Callable[..., None]) -> Callable[..., Any]:
    @wraps(tool)
    def call_generator(*args: Any, **kwargs: Any) -> Any:
        audit, started_ns = current(), time.monotonic_ns()  # the last step may run in another context
        try:
            result = yield from tool(*args, **kwargs)
        except GeneratorExit:  # whoever iterates has enough: the tool did not fail
            record(started_ns, args, kwargs, _NONE, None, audit)
            raise
        except BaseException as error:
            record(started_ns, args, kwargs, _NONE, error, audit)
            raise
        record(started_ns, args, kwargs, _NONE, None, audit)
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
            record(started_ns, args, kwargs, _NONE, None, audit)
            raise
        except BaseException as error:
            record(started_ns, args, kwargs, _NONE, error, audit)
            raise
        record(started_ns, args, kwargs, _NONE, None, audit)

    return call_async_generator
