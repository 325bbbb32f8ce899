"""Detects parameters that a framework injects: the model does not see them, so they are not recorded.

They are recognized by their names and by the names of their types. No framework is imported, and
annotations that are text are read as such.
"""

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any, Final, Literal, NamedTuple, get_args, get_origin

PARAMETER_NAMES: Final = frozenset({"self", "cls"})
TYPE_NAMES: Final = frozenset(
    {
        "AsyncCallbackManagerForToolRun",  # LangChain
        "CallbackManagerForToolRun",  # LangChain
        "Context",  # FastMCP and the MCP SDK
        "Depends",  # FastMCP and FastAPI, as a default value or in Annotated
        "InjectedState",  # LangGraph
        "InjectedStore",  # LangGraph
        "InjectedToolArg",  # LangChain
        "InjectedToolCallId",  # LangChain
        "RunContext",  # Pydantic AI
        "RunContextWrapper",  # OpenAI Agents SDK
        "RunnableConfig",  # LangChain
        "ToolContext",  # Google ADK, OpenAI Agents SDK
        "ToolRuntime",  # LangChain
    }
)
_NAME: Final = re.compile(r"[^\W\d]\w*")
_PROSE: Final = re.compile(
    r"""Literal\[[^]]*+\]?|(["'])(?!\w+\1).*?\1"""
)  # values, a text with more than a name


class ToolParameters(NamedTuple):
    """The names of a tool's parameters."""

    positional: tuple[str, ...]
    """In order; values taken by ``*args`` have no name and are not recorded."""

    injected: frozenset[str]
    """Parameters that are not arguments of the model."""


def tool_parameters(tool: Callable[..., Any]) -> ToolParameters:
    """Read a tool's signature; for builtins without a signature, positional names are unknown."""
    try:
        parameters = inspect.signature(tool).parameters.values()
    except (TypeError, ValueError):
        return ToolParameters((), PARAMETER_NAMES)
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    injected = {parameter.name for parameter in parameters if _is_injected(parameter)}
    return ToolParameters(
        tuple(parameter.name for parameter in parameters if parameter.kind in kinds),
        PARAMETER_NAMES | injected,
    )


def _is_injected(parameter: inspect.Parameter) -> bool:
    try:
        names = {type(parameter.default).__name__.lstrip("_"), *_type_names(parameter.annotation)}
    except Exception:  # an annotation can be any object, and the definition of the tool must not fail
        return False
    return not names.isdisjoint(TYPE_NAMES)


def _type_names(annotation: Any) -> Iterator[str]:
    """The names of the types in an annotation and of their bases, and those of ``Annotated`` metadata."""
    if isinstance(annotation, str):
        yield from _NAME.findall(_PROSE.sub("", annotation))
        return
    parts = [annotation]
    for part in parts:  # grows
        kind = getattr(part, "__value__", part)  # of an alias, in Python 3.12
        forward = getattr(kind, "__forward_arg__", None)
        if isinstance(forward, str):
            yield from _type_names(forward)
        elif get_origin(kind) is not Literal and not isinstance(kind, str):
            parts += get_args(kind)
            kind = get_origin(kind) or kind
            yield from (base.__name__ for base in (kind if isinstance(kind, type) else type(kind)).__mro__)
