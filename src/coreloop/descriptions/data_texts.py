"""Which strings of a JSON, YAML or TOML file describe tools and their arguments."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from coreloop.descriptions.texts import ToolText

_SURE: Final = ("inputSchema", "input_schema", "parameters")
_SCHEMAS: Final = (*_SURE, "schema", "args_schema")
"""Keys of a tool's arguments, as MCP, Anthropic, OpenAI and LangChain name them."""
_ARGUMENTS: Final = (*_SCHEMAS, "arguments", "args")
_BELOW: Final = ("items", "anyOf", "oneOf", "allOf", "additionalProperties", "schema", "json")
_TOOLS: Final = re.compile(r"(?i)(?:tools|functions|function_?declarations)$")
_NO_TOOLS: Final = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "schemas", "components"}
)
"""What is named in these is no tool."""


class DataText(str):
    """A string of a file, and its place there: bytes from `start` to `end`, a line from 1."""

    __slots__ = ("end", "line", "refused", "start")
    start: int
    end: int
    line: int
    refused: str


def placed(value: str, start: int, end: int, line: int, refused: str = "") -> DataText:
    """A string at its place."""
    text = DataText(value)
    text.start, text.end, text.line, text.refused = start, end, line, refused
    return text


def data_texts(documents: Iterable[Any], what: str) -> list[ToolText]:
    """The descriptions in trees of dicts, lists and texts, in file order."""
    texts = (
        ToolText(str(tool), argument, str(text), text.start, text.end, text.line, what, refused=text.refused)
        for document in documents
        for tool, argument, text in _described(document)
    )
    return sorted(texts, key=lambda text: text.start)


def _described(tree: Any) -> Iterator[tuple[str, str, DataText]]:
    stack: list[tuple[Any, str, str]] = [(tree, "", "tools" if isinstance(tree, list) else "")]
    while stack:
        value, key, holder = stack.pop()
        if isinstance(value, list):
            stack += [(item, "", key or holder) for item in value]
        elif isinstance(value, dict):
            name = _tool(value, key, holder)
            if name:
                yield from _texts(name, value)
            else:
                stack += [(item, str(below), key or "top") for below, item in value.items()]


def _tool(value: dict[Any, Any], key: str, holder: str) -> str:
    """The name of the tool that an object describes; empty if it is no tool."""
    if isinstance(value.get("operationId"), str):
        return str(value["operationId"])
    if "in" in value or "responses" in value:
        return ""  # a parameter, or an operation without a name, of OpenAPI
    is_listed, is_described = bool(_TOOLS.search(holder)), isinstance(value.get("description"), DataText)
    if isinstance(value.get("name"), str):
        keys = _SCHEMAS if is_described else _SURE
        return str(value["name"]) if (is_listed and is_described) or any(map(value.get, keys)) else ""
    if not is_described or holder in _NO_TOOLS:
        return ""
    is_tool = is_listed or any(map(value.get, _SCHEMAS)) or (holder == "top" and "properties" in value)
    return key if is_tool else ""


def _texts(tool: str, value: dict[Any, Any]) -> Iterator[tuple[str, str, DataText]]:
    own = value.get("description", value.get("summary") if "operationId" in value else None)
    if isinstance(own, DataText):
        yield tool, "", own
    stack = [(value[key], "") for key in _ARGUMENTS if key in value]
    stack += [({"properties": value.get("properties")}, "")]
    stack += [(media, "") for media in _bodies(value.get("requestBody"))]
    while stack:
        schema, path = stack.pop()
        if isinstance(schema, list):
            stack += [(item, _joined(path, item.get("name"))) for item in schema if isinstance(item, dict)]
        elif isinstance(schema, dict):
            if path and isinstance(schema.get("description"), DataText):
                yield tool, path, schema["description"]
            stack += [(item, _joined(path, name)) for name, item in _properties(schema, path)]
            stack += [(schema[key], path) for key in _BELOW if isinstance(schema.get(key), dict | list)]


def _bodies(body: Any) -> list[Any]:
    content = body.get("content") if isinstance(body, dict) else None
    return list(content.values())[:1] if isinstance(content, dict) else []


def _properties(schema: dict[Any, Any], path: str) -> Iterable[tuple[Any, Any]]:
    """The arguments of a schema, or of an object whose keys are the arguments."""
    properties = schema.get("properties")
    if isinstance(properties, dict):
        return properties.items()
    is_schema = path or isinstance(schema.get("type"), str) or any(key in schema for key in _BELOW)
    return () if is_schema else [pair for pair in schema.items() if isinstance(pair[1], dict)]


def _joined(path: str, name: Any) -> str:
    if not isinstance(name, str) or not name:
        return path
    return f"{path}.{name}" if path else str(name)
