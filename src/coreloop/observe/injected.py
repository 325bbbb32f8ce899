"""Detects parameters that a framework injects: the model does not see them, so they are not recorded.

They are recognized by their names and by the names of their types. No framework is imported, and
annotations that are text are read as such.
"""

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Final, NamedTuple, Union, get_args, get_origin

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
_PROSE: Final = re.compile(r"""(["'])(?!\w+\1).*?\1""")  # a text with more than a name
# reads list[int], not Annotated[int, …], Optional[int] and Union[int, str]
_PARAMETERS: Final = re.compile(r"\b((?!(?:Annotated|Optional|Union)\b)\w+)\[[^\[\]]*\]")


class ToolParameters(NamedTuple):
    """The names of a tool's parameters."""

    positional: tuple[str, ...]
    """In order; values taken by ``*args`` have no name and are not recorded."""

    injected: frozenset[str]
    """Parameters that are not arguments of the model."""


def tool_parameters(tool: Callable[..., Any]) -> ToolParameters:
    """Read a tool's signature; for builtins without a signature, positional names are unknown."""
    try:
        parameters = _signature(tool).parameters.values()
    except (TypeError, ValueError):
        return ToolParameters((), PARAMETER_NAMES)
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    injected = {parameter.name for parameter in parameters if _is_injected(parameter)}
    return ToolParameters(
        tuple(parameter.name for parameter in parameters if parameter.kind in kinds),
        PARAMETER_NAMES | injected,
    )


def _signature(tool: Callable[..., Any]) -> inspect.Signature:
    """The signature, with annotations evaluated if possible, so that aliases are resolved."""
    try:
        return inspect.signature(tool, eval_str=True)
    except Exception:  # a name that only type checkers import, or any error of the expression
        return inspect.signature(tool)


def _is_injected(parameter: inspect.Parameter) -> bool:
    try:
        names = {type(parameter.default).__name__.lstrip("_"), *_type_names(parameter.annotation)}
    except Exception:  # an annotation can be any object, and the definition of the tool must not fail
        return False
    return not names.isdisjoint(TYPE_NAMES)


def _type_names(annotation: Any) -> Iterator[str]:
    """Names of the types that a value may have, and of ``Annotated`` metadata; not of type parameters."""
    if isinstance(annotation, str):
        yield from _names_in(annotation)
    elif isinstance(forward := getattr(annotation, "__forward_arg__", None), str):
        yield from _names_in(forward)
    elif get_origin(annotation) is Annotated:
        for part in (annotation.__origin__, *annotation.__metadata__):
            yield from () if isinstance(part, str) else _type_names(part)
    elif type(annotation).__name__ == "TypeAliasType":  # Python 3.12
        yield from _type_names(annotation.__value__)
    elif _is_union(annotation):
        for part in get_args(annotation):
            yield from _type_names(part)
    else:
        yield from _class_names(get_origin(annotation) or annotation)


def _is_union(annotation: Any) -> bool:
    return get_origin(annotation) is Union or type(annotation).__name__ == "UnionType"


def _class_names(value: Any) -> Iterator[str]:
    """Names of a class and its bases; for an object, as in ``Annotated``, those of its class."""
    for base in (value if isinstance(value, type) else type(value)).__mro__:
        yield base.__name__


def _names_in(annotation: str) -> list[str]:
    """As `_type_names`, for source code: without what stands in the brackets of another type."""
    before, annotation = "", _PROSE.sub("", annotation)
    while annotation != before:
        before, annotation = annotation, _PARAMETERS.sub(r"\1", annotation)
    return _NAME.findall(annotation)
