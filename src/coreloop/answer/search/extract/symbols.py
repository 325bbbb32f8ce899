"""Python's symbols as entries that can be found: signature, docstring, parameters, return value, fields."""

import ast
from collections.abc import Iterator, Sequence
from typing import Final

from coreloop.answer.search.extract.docstring_items import Described, Item, read_docstring
from coreloop.answer.search.extract.document import Entry

Function = ast.FunctionDef | ast.AsyncFunctionDef
Symbol = ast.ClassDef | Function
MAX_ENTRY_CHARS: Final = 4_000
_UNSAID: Final = Item("parameter", "", "", "")
_RECEIVERS: Final = frozenset({"self", "cls"})


def symbol_entry(name: str, node: Symbol) -> Entry:
    """Describe a symbol in paragraphs that each say what they are about."""
    docstring = ast.get_docstring(node) or ""
    said = read_docstring(docstring) if docstring else Described()
    if isinstance(node, ast.ClassDef):
        kind, lines = "class", list(_class_lines(name, node, said.items))
        is_documented = bool(docstring)
    else:
        kind, lines = "function", list(_function_lines(name, node, said.items))
        is_documented = _is_documented(node, said)
    first = [f"{name}: {paragraph}" for paragraph in said.paragraphs[:1]]
    text = "\n\n".join([_signature(name, node), *first, *said.paragraphs[1:], *lines])
    return Entry(
        kind=kind,
        name=name,
        line=node.lineno,
        text=text[:MAX_ENTRY_CHARS],
        is_public=not any(part.startswith("_") for part in name.split(".")),
        is_documented=is_documented,
    )


def imported_modules(tree: ast.Module) -> tuple[str, ...]:
    """Return the modules that a module imports anywhere, relative ones with their dots; each once.

    ``from a import b`` is ``a`` and ``a.b``, since ``b`` may be a module.
    """
    return tuple(dict.fromkeys(_imported(tree)))


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            yield base
            dot = "" if base.endswith(".") else "."
            yield from (f"{base}{dot}{alias.name}" for alias in node.names)


def _signature(name: str, node: Symbol) -> str:
    if isinstance(node, ast.ClassDef):
        bases = ", ".join(map(ast.unparse, node.bases))
        return f"class {name}({bases})" if bases else f"class {name}"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"def {name}({ast.unparse(node.args)}){returns}"


def _function_lines(name: str, node: Function, items: Sequence[Item]) -> Iterator[str]:
    said = {item.name: item for item in items if item.kind == "parameter"}
    for argument in _arguments(node):
        item = said.get(argument.arg, _UNSAID)
        type_ = ast.unparse(argument.annotation) if argument.annotation else item.type
        yield _line(f"{name} parameter {argument.arg}", type_, item.text)
    for item in items:
        if item.kind == "returns":
            type_ = ast.unparse(node.returns) if node.returns else item.type
            yield _line(f"{name} returns", type_, item.text)


def _class_lines(name: str, node: ast.ClassDef, items: Sequence[Item]) -> Iterator[str]:
    said = {item.name: item for item in items if item.kind != "returns"}
    fields = [
        statement
        for statement in node.body
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
    ]
    types = {
        field.target.id: ast.unparse(field.annotation)
        for field in fields
        if isinstance(field.target, ast.Name)
    }
    for field in dict.fromkeys([*types, *said]):
        item = said.get(field)
        yield _line(
            f"{name} field {field}",
            types.get(field) or (item.type if item else ""),
            item.text if item else "",
        )


def _line(what: str, type_: str, text: str) -> str:
    return f"{what}{f' ({type_})' if type_ else ''}{f': {text}' if text else ''}"


def _arguments(node: Function) -> list[ast.arg]:
    own = node.args
    every = [*own.posonlyargs, *own.args, *([own.vararg] if own.vararg else []), *own.kwonlyargs]
    every += [own.kwarg] if own.kwarg else []
    return [argument for argument in every if argument.arg not in _RECEIVERS]


def _is_documented(node: Function, said: Described) -> bool:
    """Whether each parameter and what is returned have a description."""
    described = {item.name for item in said.items if item.kind == "parameter" and item.text}
    has_returns = any(item.kind == "returns" and (item.text or item.type) for item in said.items)
    returns = node.returns is not None and ast.unparse(node.returns) not in {"None", "NoReturn", "Never"}
    named = all(argument.arg in described for argument in _arguments(node))
    return bool(said.paragraphs) and named and (has_returns or not returns)
