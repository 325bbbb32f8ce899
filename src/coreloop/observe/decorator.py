"""The decorator that records the calls of a tool: functions and generators, sync and async.

As in the collector, errors of auditing never reach the tool's caller.
"""

import linecache
import re
import time
from collections.abc import Callable
from contextlib import aclosing
from functools import wraps
from inspect import unwrap
from itertools import islice, takewhile
from types import CodeType
from typing import Any, Final, TypeVar, overload

from coreloop.observe import drops
from coreloop.observe.collector import AuditCollector, current

_Tool = TypeVar("_Tool", bound=Callable[..., Any])
_UNKNOWN: Final = object()  # an unknown result; None is a valid result


@overload
def observed_tool(tool: _Tool, /) -> _Tool: ...
@overload
def observed_tool(name: str, /, *, ok: Callable[[Any], object] | None = None) -> Callable[[_Tool], _Tool]: ...
@overload
def observed_tool(
    *, name: str | None = None, ok: Callable[[Any], object] | None = None
) -> Callable[[_Tool], _Tool]: ...
def observed_tool(
    tool: Callable[..., Any] | str | None = None,
    /,
    *,
    name: str | None = None,
    ok: Callable[[Any], object] | None = None,
) -> Callable[..., Any]:
    """Time every call of a tool, sync or async, and record it with the `current` collector.

    A generator, sync or async, is recorded when its iteration ends, is abandoned or raises. Its duration
    counts from the first step and includes the time between steps.

    The result is not stored; see ``result`` of `AuditCollector.observe_tool_call`.

    Parameters
    ----------
    tool : callable or str
        The function, or the tool's ``name``; positional arguments are recorded under their parameters' names.
        ``self``, ``cls`` and parameters that a framework injects (`injected.TYPE_NAMES`) are not recorded. A
        static or class method stays one. Must be the innermost decorator: a framework's decorator or a
        property below it keeps a function that is not recorded (``decorator_order`` in `dropped`).
    name : str, optional
        The name that the model sees; by default the function's.
    ok : callable, optional
        Takes the result and returns whether the call succeeded; for tools that return errors in a form of
        their own. By default a call is ok unless it raises, or its result says that it failed (``ok`` in
        coreloop.yaml: ``success: false``, ``isError: true`` or ``status: error``). If the result of a failed
        call is a string, it is recorded as the ``error``. If ``ok`` raises, the call counts as ok and the
        case as dropped (``ok_predicate``). Not called for generators.

    Returns
    -------
    callable
        Behaves like the function; an exception is recorded and re-raised.

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
    if tool is None or isinstance(tool, str):
        name = name or tool
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

    @drops.never_raises
    def record(
        self,
        started_ns: int,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        outcome: Any,
        error: BaseException | None,
        audit: AuditCollector | None = None,
    ) -> None:
        """Record a finished call; ``outcome`` is `_UNKNOWN` if the result is not known."""
        duration_ms = round((time.monotonic_ns() - started_ns) / 1e6, 3)
        failed = self._ok is not None and outcome is not _UNKNOWN and not _is_ok(self._ok, outcome)
        text = outcome if isinstance(outcome, str) else None
        (audit or current()).observe_tool_call(
            self._name,
            self._arguments(args, kwargs),
            ok=None if self._ok is None or outcome is _UNKNOWN else not failed,
            error=text if failed else error,
            duration_ms=duration_ms,
            result_size_bytes=None if text is None else len(text.encode("utf-8", "replace")),
            result=outcome if outcome is not _UNKNOWN else ... if error is None else None,
        )

    def _arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The model's arguments by name, without injected parameters."""
        injected = self._injected
        named = {
            key: value for key, value in zip(self._positional, args, strict=False) if key not in injected
        }
        if injected.isdisjoint(kwargs):
            return named | kwargs
        return named | {key: value for key, value in kwargs.items() if key not in injected}


def _observed(tool: Callable[..., Any], name: str, ok: Callable[[Any], object] | None) -> Callable[..., Any]:
    import inspect

    if isinstance(tool, staticmethod | classmethod):
        return type(tool)(_observed(tool.__func__, name, ok))
    if is_above_framework(tool):
        drops.drop(drops.DECORATOR_ORDER)
        if not callable(tool):
            return tool
    # a bound method: a callable object would take another stack frame, and there may be none left
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
            record(started_ns, args, kwargs, _UNKNOWN, error)
            raise
        record(started_ns, args, kwargs, result, None)
        return result

    @wraps(tool)
    async def call_async(*args: Any, **kwargs: Any) -> Any:
        started_ns = time.monotonic_ns()
        try:
            result = await tool(*args, **kwargs)
        except BaseException as error:
            record(started_ns, args, kwargs, _UNKNOWN, error)
            raise
        record(started_ns, args, kwargs, result, None)
        return result

    return call_async if inspect.iscoroutinefunction(tool) else call


def _is_ok(ok: Callable[[Any], object], outcome: Any) -> bool:
    try:
        return bool(ok(outcome))
    except Exception:  # a user's own function must not break the request
        drops.drop(drops.OK_PREDICATE)
        return True


def _observed_generator(tool: Callable[..., Any], record: Callable[..., None]) -> Callable[..., Any]:
    @wraps(tool)
    def call_generator(*args: Any, **kwargs: Any) -> Any:
        audit, started_ns = current(), time.monotonic_ns()  # the last step may run in another context
        try:
            result = yield from tool(*args, **kwargs)
        except GeneratorExit:  # the caller stopped iterating: the tool did not fail
            record(started_ns, args, kwargs, _UNKNOWN, None, audit)
            raise
        except BaseException as error:
            record(started_ns, args, kwargs, _UNKNOWN, error, audit)
            raise
        record(started_ns, args, kwargs, _UNKNOWN, None, audit)
        return result

    return call_generator


def _observed_async_generator(tool: Callable[..., Any], record: Callable[..., None]) -> Callable[..., Any]:
    @wraps(tool)
    async def call_async_generator(*args: Any, **kwargs: Any) -> Any:
        audit, started_ns = current(), time.monotonic_ns()
        try:
            async with aclosing(tool(*args, **kwargs)) as generator:
                step_on = generator.asend(None)
                while True:  # like `yield from`, which async generators lack
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
            record(started_ns, args, kwargs, _UNKNOWN, None, audit)
            raise
        except BaseException as error:
            record(started_ns, args, kwargs, _UNKNOWN, error, audit)
            raise
        record(started_ns, args, kwargs, _UNKNOWN, None, audit)

    return call_async_generator


# @mcp.tool() · @agent.tool_plain · @function_tool(name="x"); not @toolbox.register, @observed_tool
_FRAMEWORK: Final = re.compile(r"@(?:\w+\.)*(?:tool|tool_plain|function_tool|beta_(?:async_)?tool)\b")
_OWN: Final = re.compile(r"@(?:\w+\.)*observed_tool\b")
_DEFINITION: Final = re.compile(r"(?:async\s+)?def\b")
_MAX_LINES: Final = 60
"""Lines of decorators that are read; a tool's descriptions in them are rarely longer."""


def is_above_framework(tool: Callable[..., Any]) -> bool:
    """Whether the source shows a framework's decorator below ours; False where there is no source to read.

    A framework that returns an object instead of a function is recognised without source: the object
    cannot be called.
    """
    if not callable(tool):
        return True
    code = getattr(unwrap(tool), "__code__", None)
    return isinstance(code, CodeType) and _is_wrong(_decorators(code))


def _decorators(code: CodeType) -> list[str]:
    lines = linecache.getlines(code.co_filename)
    below = (line.strip() for line in islice(lines, code.co_firstlineno - 1, None))
    above_def = takewhile(lambda line: not _DEFINITION.match(line), islice(below, _MAX_LINES))
    return [line for line in above_def if line.startswith("@")]


def _is_wrong(decorators: list[str]) -> bool:
    own = next((place for place, line in enumerate(decorators) if _OWN.match(line)), None)
    return own is not None and any(map(_FRAMEWORK.match, decorators[own + 1 :]))
