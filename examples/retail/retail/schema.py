"""``python -m retail.schema``: the tools as JSON in OpenAI's shape, each with its whole docstring."""

import inspect
import json
from collections.abc import Callable
from typing import Any, get_args, get_type_hints

from . import TOOLS

_TYPES: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    list[str]: {"type": "array", "items": {"type": "string"}},
    dict[str, str]: {"type": "object", "additionalProperties": {"type": "string"}},
}


def schema(tool: Callable[..., Any]) -> dict[str, Any]:
    """One tool, as a model receives it."""
    parameters = inspect.signature(tool).parameters.values()
    types = get_type_hints(tool)
    function = {
        "name": tool.__name__,
        "description": inspect.getdoc(tool),
        "parameters": {
            "type": "object",
            "properties": {parameter.name: _type(types[parameter.name]) for parameter in parameters},
            "required": [parameter.name for parameter in parameters if parameter.default is parameter.empty],
        },
    }
    return {"type": "function", "function": function}


def _type(annotation: Any) -> dict[str, Any]:
    """The JSON schema of an argument, optional or not."""
    return next(_TYPES[option] for option in (annotation, *get_args(annotation)) if option in _TYPES)


if __name__ == "__main__":
    print(json.dumps([schema(tool) for tool in TOOLS], ensure_ascii=False, indent=2))
