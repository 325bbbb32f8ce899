"""What a signature says of its arguments besides their types, read without importing."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

_BOUNDS: Final = frozenset({"le", "lt", "ge", "gt", "min_length", "min_items"})


@dataclass(frozen=True, slots=True)
class SchemaLimits:
    """What a schema says of an argument.

    Attributes
    ----------
    required : bool
        It has no default.
    over, under : float or None
        Numbers over or under this are refused.
    never_empty : bool
        An empty text or list is refused.
    """

    required: bool = False
    over: float | None = None
    under: float | None = None
    never_empty: bool = False


def declared_limits(
    function: ast.FunctionDef | ast.AsyncFunctionDef, tree: ast.AST
) -> dict[str, SchemaLimits]:
    """Return the limits of each argument, as ``Field(le=4)`` in its annotation or as its default says them.

    Parameters
    ----------
    function : ast.FunctionDef or ast.AsyncFunctionDef
        The tool.
    tree : ast.AST
        Its file, at whose top level the names of annotations are looked up.
    """
    named = dict(_named(tree))
    return {
        argument.arg: _limits(argument.annotation, default, named)
        for argument, default in _arguments(function.args)
    }


def schema_of(schema: Any) -> dict[str, Any]:
    """The parameters, choices and limits of a tool that a JSON schema says."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    fields = {name: field if isinstance(field, dict) else {} for name, field in (properties or {}).items()}
    required = schema.get("required") or () if fields else ()
    enums = {name: field.get("enum") for name, field in fields.items()}
    return {
        "parameters": tuple(fields),
        "choices": {name: tuple(map(str, values)) for name, values in enums.items() if values},
        "limits": {
            name: SchemaLimits(
                required=name in required,
                over=field.get("maximum"),
                under=field.get("minimum"),
                never_empty=bool(field.get("minLength") or field.get("minItems")),
            )
            for name, field in fields.items()
        },
    }


def _named(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value


def _arguments(of: ast.arguments) -> Iterator[tuple[ast.arg, ast.expr | None]]:
    positional = [*of.posonlyargs, *of.args]
    missing = [None] * (len(positional) - len(of.defaults))
    yield from zip(positional, [*missing, *of.defaults], strict=True)
    yield from zip(of.kwonlyargs, of.kw_defaults, strict=True)


def _limits(
    annotation: ast.expr | None, default: ast.expr | None, named: Mapping[str, ast.expr]
) -> SchemaLimits:
    if isinstance(annotation, ast.Name):
        annotation = named.get(annotation.id, annotation)
    nodes = [node for part in (annotation, default) if part is not None for node in ast.walk(part)]
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    bounds = {
        word.arg: _number(word.value) for call in calls for word in call.keywords if word.arg in _BOUNDS
    }
    return SchemaLimits(
        required=default is None or (isinstance(default, ast.Call) and not _has_default(default)),
        over=_first(bounds.get("le"), _next(bounds.get("lt"), -1)),
        under=_first(bounds.get("ge"), _next(bounds.get("gt"), 1)),
        never_empty=bool(bounds.get("min_length") or bounds.get("min_items")),
    )


def _has_default(field: ast.Call) -> bool:
    """Whether ``Field(3)`` or ``Field(default=3)`` has a default; ``Field(...)`` has none."""
    is_filled = any(not (isinstance(value, ast.Constant) and value.value is ...) for value in field.args[:1])
    return is_filled or any(word.arg in {"default", "default_factory"} for word in field.keywords)


def _number(node: ast.expr) -> float | None:
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        sign, node = -1, node.operand
    is_number = isinstance(node, ast.Constant) and type(node.value) in {int, float}
    return sign * node.value if is_number else None  # type: ignore[attr-defined]


def _next(bound: float | None, step: int) -> float | None:
    """The last whole number that a strict bound allows; a fraction stays."""
    return bound + step if isinstance(bound, int) else bound


def _first(*values: float | None) -> float | None:
    return next((value for value in values if value is not None), None)
