"""Which arguments a definition can be called with."""

import ast

from coreloop.docstrings.source import Definition

_OWN = frozenset({"self", "cls"})


def takes(definition: Definition, name: str) -> bool:
    """Whether a function has an argument of a name; one with ``**kwargs`` takes any."""
    node = definition.node
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    given = node.args
    if given.kwarg is not None:
        return True
    named = (*given.posonlyargs, *given.args, *given.kwonlyargs)
    return name not in _OWN and any(argument.arg == name for argument in named)
