"""The decorator that records the calls of a tool: a function, sync or async.

As in the collector, errors of auditing never reach the tool's caller.
"""

import inspect
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Final, TypeVar, overload

from coreloop.observe import drops
from coreloop.observe.collector import current

_Tool = TypeVar("_Tool", bound=Callable[..., Any])
# Of parameters that the model does not see: Python or a framework, which is not imported, injects them.
PARAMETER_NAMES: Final = frozenset({"self", "cls"})
TYPE_NAMES: Final = frozenset(
    {
        "Context",  # FastMCP and the MCP SDK
        "Depends",  # FastMCP and FastAPI, as a default value or in Annotated
        *("AsyncCallbackManagerForToolRun", "CallbackManagerForToolRun", "RunnableConfig"),  # LangChain
        *("InjectedToolArg", "InjectedToolCallId", "ToolRuntime"),  # LangChain
        *("InjectedState", "InjectedStore"),  # LangGraph
        "RunContext",  # Pydantic AI
        *("RunContextWrapper", "ToolContext"),  # OpenAI Agents SDK; the latter Google ADK, too
    }
)
_NAME: Final = re.compile(r"[^\W\d]\w*")
# Values, and a text that is no type.
_PROSE: Final = re.compile(r"""Literal\[[^]]*+\]?|(["'])(?![\w.[\]|]+\1).*?\1""")


@overload
def observed_tool(tool: _Tool, /) -> _Tool: ...
@overload
def observed_tool(*, name: str | None = None) -> Callable[[_Tool], _Tool]: ...
def observed_tool(
    tool: Callable[..., Any] | None = None, /, *, name: str | None = None
) -> Callable[..., Any]:
    """Time every call of a tool, sync or async, and record it with the `current` collector.

    A generator is not recorded: it stays as it is, and is counted in `dropped`.

    A call is ok unless it raises, or its result says that it failed (``ok`` in coreloop.yaml: ``success:
    false``, ``isError: true`` or ``status: error``). The result is not stored; see ``result`` of
    `AuditCollector.observe_tool_call`.

    Parameters
    ----------
    tool : callable
        The function; positional arguments are recorded under their parameters' names.
        ``self``, ``cls`` and parameters that a framework injects (`TYPE_NAMES`) are not recorded. A
        static or class method stays one. Must be the innermost decorator: a framework's decorator or a
        property below it keeps a function that is not recorded.
    name : str, optional
        The name that the model sees; by default the function's.

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
    """
    if isinstance(tool, str):
        raise TypeError(f"observed_tool takes the name by keyword: @observed_tool(name={tool!r})")

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        return _observed(function, name or str(getattr(function, "__name__", type(function).__name__)))

    return decorate if tool is None else decorate(tool)


def _observed(tool: Callable[..., Any], name: str) -> Callable[..., Any]:
    if isinstance(tool, staticmethod | classmethod):
        return type(tool)(_observed(tool.__func__, name))
    if not callable(tool):  # what a framework's decorator made of the function, which it keeps
        drops.drop("decorator_order")
        return tool
    if inspect.isgeneratorfunction(tool) or inspect.isasyncgenfunction(tool):
        drops.drop("generator")
        return tool
    positional, injected = tool_parameters(tool)

    @drops.never_raises
    def record(args: tuple[Any, ...], kwargs: dict[str, Any], started_ns: int, **end: Any) -> None:
        duration_ms = round((time.monotonic_ns() - started_ns) / 1e6, 3)
        named = {**dict(zip(positional, args, strict=False)), **kwargs}
        given = {key: value for key, value in named.items() if key not in injected}
        result = end["result"]
        size_bytes = len(result.encode("utf-8", "replace")) if isinstance(result, str) else None
        current().observe_tool_call(name, given, duration_ms=duration_ms, result_size_bytes=size_bytes, **end)

    @contextmanager
    def recorded(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[list[Any]]:
        """A block around a call, which is recorded at its end; a known result is put into the list."""
        started_ns, results = time.monotonic_ns(), list[Any]()
        try:
            yield results
        except BaseException as error:
            record(args, kwargs, started_ns, result=None, error=error)
            raise
        record(args, kwargs, started_ns, result=results[0])

    def call(*args: Any, **kwargs: Any) -> Any:
        with recorded(args, kwargs) as results:
            results.append(tool(*args, **kwargs))
        return results[0]

    async def call_async(*args: Any, **kwargs: Any) -> Any:
        with recorded(args, kwargs) as results:
            results.append(await tool(*args, **kwargs))
        return results[0]

    return wraps(tool)(call_async if inspect.iscoroutinefunction(tool) else call)


def tool_parameters(tool: Callable[..., Any]) -> tuple[tuple[str, ...], frozenset[str]]:
    """Read the names of a tool's positional parameters, and of those that are no arguments of the model.

    Values taken by ``*args`` have no name, and are not recorded. For builtins without a signature, positional
    names are unknown.
    """
    try:
        parameters = inspect.signature(tool).parameters.values()
    except (TypeError, ValueError):
        return (), PARAMETER_NAMES
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    injected = {parameter.name for parameter in parameters if _is_injected(parameter)}
    positional = tuple(parameter.name for parameter in parameters if parameter.kind in kinds)
    return positional, PARAMETER_NAMES | injected


def _is_injected(parameter: inspect.Parameter) -> bool:
    kind = parameter.annotation
    try:
        text = kind if isinstance(kind, str) else inspect.formatannotation(getattr(kind, "__value__", kind))
        names = {type(parameter.default).__name__.lstrip("_"), *_NAME.findall(_PROSE.sub("", text))}
    except Exception:  # an annotation can be any object, and the definition of the tool must not fail
        return False
    return not names.isdisjoint(TYPE_NAMES)
