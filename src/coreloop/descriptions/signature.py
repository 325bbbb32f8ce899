"""The arguments that a definition accepts."""

import ast

from coreloop.descriptions.source import Definition

_OWN = frozenset({"self", "cls"})


def takes(definition: Definition, name: str) -> bool:
    """Whether a function's signature names an argument; what ``**kwargs`` takes has no name there."""
    node = definition.node
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    arguments = node.args
    named = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    return name not in _OWN and any(argument.arg == name for argument in named)
