"""What a signature or a schema says of arguments, and the values that a file lists; nothing is imported."""

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final

_WRAPPERS: Final = frozenset({"Annotated", "Optional", "Required", "NotRequired", "list", "List", "Sequence"})
"""Annotations whose first argument is the type, or that of each item."""
_DEFAULTS: Final = frozenset({"default", "default_factory"})


def last_name(node: ast.AST) -> str:
    """``c`` of ``a.b.c`` and of ``c``; empty for anything else."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def declared_choices(
    function: ast.FunctionDef | ast.AsyncFunctionDef, tree: ast.AST
) -> dict[str, tuple[str, ...]]:
    """Return the values of each argument that accepts a closed set of strings.

    Parameters
    ----------
    function : ast.FunctionDef or ast.AsyncFunctionDef
        The tool.
    tree : ast.AST
        Its file with what it imports, at whose top level names of a ``Literal`` or an ``Enum`` are looked up.

    Returns
    -------
    dict of str to tuple of str
        Argument -> values in declaration order; arguments with values other than strings are left out.
    """
    known = dict(_named_sets(tree))
    choices = {
        argument.arg: _values(argument.annotation, known)
        for argument, _ in signature(function)
        if argument.annotation is not None
    }
    return {name: values for name, values in choices.items() if values}


def declared_arguments(
    function: ast.FunctionDef | ast.AsyncFunctionDef, tree: ast.AST | None
) -> dict[str, str]:
    """Return what a signature says of each argument, as it is written.

    Parameters
    ----------
    function : ast.FunctionDef or ast.AsyncFunctionDef
        The tool.
    tree : ast.AST or None
        Its file, at whose top level the names of annotations are looked up.

    Returns
    -------
    dict of str to str
        Argument -> its annotation and its default, behind ``=`` if it may be left out; without ``self``.
        ``**rest`` is an argument of that name.
    """
    assigned = [node for node in ast.iter_child_nodes(tree or function) if isinstance(node, ast.Assign)]
    named = {last_name(node.targets[0]): node.value for node in assigned}
    return {
        argument.arg: _written(
            named.get(getattr(argument.annotation, "id", ""), argument.annotation), default
        )
        for argument, default in signature(function)
        if argument.arg not in {"self", "cls"}
    } | ({f"**{function.args.kwarg.arg}": "="} if function.args.kwarg else {})


def signature(
    function: ast.FunctionDef | ast.AsyncFunctionDef,
) -> Iterator[tuple[ast.arg, ast.expr | None]]:
    """The arguments of a function with their defaults."""
    positional = [*function.args.posonlyargs, *function.args.args]
    missing = [None] * (len(positional) - len(function.args.defaults))
    yield from zip(positional, [*missing, *function.args.defaults], strict=True)
    yield from zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)


def _written(annotation: ast.expr | None, default: ast.expr | None) -> str:
    parts = [part for part in (annotation, default) if part is not None]
    try:
        text = " ".join(map(ast.unparse, parts))
    except RecursionError:  # a sum of a thousand numbers
        text = ""
    return text if default is None or _is_required(default) else f"= {text}"


def _is_required(default: ast.expr) -> bool:
    """Whether an argument with a default is required: ``Field(...)``, but not ``Field(3)``."""
    if not isinstance(default, ast.Call):
        return False
    is_filled = any(
        not (isinstance(value, ast.Constant) and value.value is ...) for value in default.args[:1]
    )
    return not is_filled and not any(word.arg in _DEFAULTS for word in default.keywords)


def schema_of(schema: Any) -> dict[str, Any]:
    """The parameters of a tool, their choices and what else a JSON schema says of them."""
    found = schema.get("properties") if isinstance(schema, dict) else None
    fields = found if isinstance(found, dict) else {}
    listed = schema.get("required") if fields else None
    required = listed if isinstance(listed, list) else ()
    enums = {name: field.get("enum") for name, field in fields.items() if isinstance(field, dict)}
    return {
        "parameters": tuple(fields),
        "choices": {name: tuple(map(str, its)) for name, its in enums.items() if isinstance(its, list)},
        "declared": {name: f"{'' if name in required else '= '}{field}" for name, field in fields.items()},
    }


def listed_values(tree: ast.AST) -> frozenset[frozenset[str]]:
    """Return the sets of texts that a file lists together.

    Tuples, lists, sets, the keys of dicts, enums, and the texts that one name is compared with.
    """
    compared: defaultdict[str, set[str]] = defaultdict(set)
    lists: list[tuple[str, ...]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            lists.append(_texts(node.elts))
        elif isinstance(node, ast.Dict):
            lists.append(_texts([key for key in node.keys if key is not None]))
        elif isinstance(node, ast.ClassDef):
            lists.append(tuple(enum_members(node)))
        elif isinstance(node, ast.Compare) and isinstance(node.left, ast.Name):
            compared[node.left.id].update(_texts(node.comparators))
    return frozenset(map(frozenset, (*lists, *compared.values()))) - {frozenset()}


def _named_sets(tree: ast.AST) -> Iterator[tuple[str, tuple[str, ...]]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield node.name, tuple(enum_members(node))
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    yield target.id, _values(node.value, {})


def enum_members(definition: ast.ClassDef) -> Iterator[str]:
    """Yield the texts of an Enum's members; nothing of another class."""
    if not any(last_name(base).endswith("Enum") for base in definition.bases):
        return
    for node in definition.body:
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value
        elif isinstance(node.value, ast.Call) and last_name(node.value.func) == "auto":
            yield node.targets[0].id.lower()


def _values(annotation: ast.expr, known: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return _values_of_text(annotation.value, known)
    if isinstance(annotation, ast.Name | ast.Attribute):
        return known.get(last_name(annotation), ())
    if isinstance(annotation, ast.BinOp):  # X | None
        sides = [side for side in (annotation.left, annotation.right) if ast.unparse(side) != "None"]
        return _values(sides[0], known) if len(sides) == 1 else ()
    if not isinstance(annotation, ast.Subscript):
        return ()
    inside = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
    if last_name(annotation.value) in _WRAPPERS:
        return _values(inside[0], known)
    return _texts(inside) if last_name(annotation.value) == "Literal" else ()


def _values_of_text(annotation: str, known: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    try:
        return _values(ast.parse(annotation, mode="eval").body, known)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()


def _texts(nodes: list[ast.expr]) -> tuple[str, ...]:
    values = [node.value for node in nodes if isinstance(node, ast.Constant) and node.value is not None]
    texts = tuple(value for value in values if isinstance(value, str))
    return texts if len(texts) == len(values) else ()
