"""The arguments that a definition accepts."""

import ast

from coreloop.docstrings.source import Definition

_OWN = frozenset({"self", "cls"})


def takes(definition: Definition, name: str) -> bool:
    """Whether a function has an argument of a name; ``**kwargs`` takes any name."""
    node = definition.node
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    arguments = node.args
    if arguments.kwarg is not None:
        return True
    named = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    return name not in _OWN and any(argument.arg == name for argument in named)
