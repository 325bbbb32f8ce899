"""Descriptions that are not docstrings: arguments in Python, and tools in JSON, YAML or TOML."""

import ast
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, Final

from coreloop.descriptions.source import Scope

_KEYWORDS: Final = ("description", "description_override")


def described_calls(tree: ast.AST) -> list[tuple[ast.Call, ast.keyword]]:
    """All calls with a description."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return [(call, keyword) for call in calls for keyword in call.keywords if keyword.arg in _KEYWORDS]


def describes(call: ast.Call, definition: Scope) -> bool:
    """Whether a call is a decorator of a definition, or takes it by name."""
    if isinstance(definition, ast.Module):
        return False
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    return call in definition.decorator_list or any(
        isinstance(value, ast.Name) and value.id == definition.name for value in values
    )


class Arguments:
    """The descriptions of a file's definitions that are not docstrings."""

    def __init__(self, tree: ast.Module) -> None:
        self._calls = described_calls(tree)
        self._classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
        self._constants = dict(filter(None, map(_constant, tree.body)))

    def of(self, definition: Scope) -> Iterator[ast.expr]:
        """The expressions that describe a definition, each with the constants that it names."""
        calls = [(call, keyword) for call, keyword in self._calls if describes(call, definition)]
        values = [keyword.value for _, keyword in calls]
        places: list[ast.AST] = [call for call, _ in calls]
        if isinstance(definition, ast.FunctionDef | ast.AsyncFunctionDef):
            places += [definition.args, *definition.decorator_list]
            # as in Annotated[int, Field(description="…")]
            values += [keyword.value for _, keyword in described_calls(definition.args)]
        elif isinstance(definition, ast.ClassDef):  # class Refund(BaseTool): description = "…"
            own = dict(filter(None, map(_constant, definition.body)))
            values += [own[name] for name in _KEYWORDS if name in own]
            places += [own["args_schema"]] if "args_schema" in own else []
        for name in dict.fromkeys(name for place in places for name in _names(place)):
            if name in self._classes and self._classes[name] is not definition:
                values += [keyword.value for _, keyword in described_calls(self._classes[name])]
        for value in values:
            yield value
            yield from self._named(value)

    def _named(self, value: ast.expr) -> Iterator[ast.expr]:
        """Constants that an expression names; of a table only the text that it takes."""
        if isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name):
            table, key = self._constants.get(value.value.id), ast.unparse(value.slice)
            if isinstance(table, ast.Dict):
                pairs = zip(table.keys, table.values, strict=True)
                yield from (text for name, text in pairs if name is not None and ast.unparse(name) == key)
                return
        yield from (self._constants[name] for name in _names(value) if name in self._constants)


def _constant(node: ast.stmt) -> tuple[str, ast.expr] | None:
    """The name and the value of an assignment."""
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    value = getattr(node, "value", None)
    return (target.id, value) if isinstance(target, ast.Name) and isinstance(value, ast.expr) else None


def _names(node: ast.AST) -> Iterator[str]:
    return (part.id for part in ast.walk(node) if isinstance(part, ast.Name))


DOCUMENTS: Final = (".json", ".yaml", ".yml", ".toml")
_MAX_BYTES: Final = 2_000_000
"""As of source files: a larger one is not written by hand."""


def described_tools(path: str, raw: bytes) -> dict[str, str]:
    """What models read of the tools that a file defines; empty if it is unreadable.

    Parameters
    ----------
    path : str
        Its suffix says the format.
    raw : bytes
        The file.

    Returns
    -------
    dict of str to str
        By tool its descriptions, the parameters' included; without tools that are defined twice.
    """
    if len(raw) > _MAX_BYTES:
        return {}
    try:
        found = list(_of_data(_parse(PurePosixPath(path).suffix, raw.decode("utf-8-sig"))))
    except (ValueError, RecursionError):  # of every parser: JSON's and TOML's errors are such, too
        return {}
    times = Counter(name for name, _ in found)
    return {name: described for name, described in found if times[name] == 1}


def _parse(suffix: str, text: str) -> Any:
    if suffix in (".yaml", ".yml"):
        import yaml

        try:
            return list(yaml.load_all(text, Loader=yaml.SafeLoader))
        except yaml.YAMLError as error:
            raise ValueError from error
    if suffix == ".toml":
        import tomllib

        return tomllib.loads(text)
    return json.loads(text)


def _of_data(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Objects with a description, and with a name, as MCP, OpenAI and Anthropic write it, or under one."""
    if isinstance(value, dict):
        name = value.get("name", key)
        if isinstance(name, str) and name and isinstance(value.get("description"), str):
            yield name, "\n".join(described_texts(value))
        else:
            for below, item in value.items():
                yield from _of_data(item, below if isinstance(below, str) else "")
    elif isinstance(value, list):
        for item in value:
            yield from _of_data(item)


def described_texts(value: Any) -> Iterator[str]:
    """The descriptions in an object, at any depth."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        if key == "description" and isinstance(item, str):
            yield item
        elif isinstance(item, dict | list):
            yield from described_texts(item)
