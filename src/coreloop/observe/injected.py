"""Detects parameters that a framework injects: the model does not see them, so they are not recorded.

They are recognized by their names and by the names of their types, in the text of their annotations. No
framework is imported.
"""

import inspect
import re
from collections.abc import Callable
from typing import Any, Final

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
# Values, and a text that is no type.
_PROSE: Final = re.compile(r"""Literal\[[^]]*+\]?|(["'])(?![\w.[\]|]+\1).*?\1""")


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
