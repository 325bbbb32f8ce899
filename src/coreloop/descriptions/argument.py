"""Descriptions that are arguments: ``description=`` of a decorator, a call or a parameter's ``Field``."""

import ast
from collections.abc import Iterator
from typing import Final

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


def described_parameters(definition: Scope) -> Iterator[ast.expr]:
    """The descriptions in a function's signature, as in ``Annotated[int, Field(description="…")]``."""
    if isinstance(definition, ast.FunctionDef | ast.AsyncFunctionDef):
        yield from (keyword.value for _, keyword in described_calls(definition.args))
