"""Texts in Python: docstrings of tools, and string literals that describe a tool or an argument.

A tool is what is registered in the file (by a decorator, a call or a list), a class or call with a name and
a description, or a dictionary that looks like a schema. Each becomes a tree for `descriptions.schemas`.
"""

import ast
import builtins
import typing
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Final

from coreloop.base.project.definitions import DECORATORS
from coreloop.descriptions.schemas import SCHEMA_KEYS, Leaf, Tree, texts_in, texts_of
from coreloop.descriptions.source import (
    BYTES_NEWLINE,
    Definition,
    SourceText,
    UnprovenError,
    definitions,
    docstring_node,
    encode,
    is_shadowed,
    locate,
    read_literal,
    read_source,
)
from coreloop.descriptions.spelled import cut
from coreloop.descriptions.texts import DOCSTRING, ToolText

_CALLS: Final = DECORATORS | {
    *("kernel_function", "ai_function", "FunctionDeclaration", "ToolDefinition", "ToolParam"),
    *("register_tool", "create_tool", "pydantic_function_tool"),
}
_GIVEN: Final = ("name", "description")
_ALIASES: Final = {
    alias: given for given in _GIVEN for alias in (given, f"{given}_override", f"tool_{given}")
}
_FUNCTIONS: Final = ("func", "fn", "function", "coroutine", "callback", "handler", "on_invoke_tool", "model")
_RUN: Final = ("_run", "run", "forward", "execute", "__call__", "_arun")
"""Methods whose arguments are those of a class's tool."""
_FOR_MODELS: Final = {"Field": "Field(description=…)", "Doc": "Doc(…)"}
_TYPES: Final = {*vars(builtins), *typing.__all__}
_MODEL_SCHEMAS: Final = ("model_json_schema", "schema", "json_schema")

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def parsed(raw: bytes) -> ast.Module:
    """The file's syntax tree."""
    return read_source(raw).tree


def find(raw: bytes, known: Collection[str] = ()) -> list[ToolText]:
    """The texts of the tools that a file registers, and of definitions that are known to be tools.

    The value of an expression that is no plain literal is what the file shows of it.
    """
    return list(_File(read_source(raw), known).texts())


def spell(raw: bytes, text: ToolText, value: str) -> bytes:
    """The literal of another value: the same quotes and escapes; a line break is one where it can be."""
    source = read_source(raw)
    written = raw[text.start : text.end].decode(source.encoding)
    literal = read_literal(written, 0, len(written))
    start, end, piece = cut(text.value, value, literal.offset)
    spelled = literal.spell(piece, source.newline_at(len(source.text)))
    if literal.triple and end == literal.end and spelled.endswith(literal.quote[0]):
        if literal.raw:
            raise UnprovenError("the text is a raw string, which cannot end in its quote")
        spelled = f"{spelled[:-1]}\\{spelled[-1]}"
    return encode(written[:start] + spelled + written[end:], source.encoding)


class _File:
    """One file: what its names mean, and the trees of its tools."""

    def __init__(self, source: SourceText, known: Collection[str]) -> None:
        self._source, self._known = source, known
        self._nodes = list(ast.walk(source.tree))
        self._starts = [0, *(match.end() for match in BYTES_NEWLINE.finditer(source.raw))]
        found = definitions(source.tree)
        self._definitions = [its for its in found if its.qualname and not is_shadowed(its)]
        names = [node for node in self._nodes if isinstance(node, ast.Name)]
        self._loads = Counter(name.id for name in names if isinstance(name.ctx, ast.Load))
        stores = Counter(name.id for name in names if not isinstance(name.ctx, ast.Load))
        stores.update(node.arg for node in self._nodes if isinstance(node, ast.arg))
        self._stores = stores
        classes = (node for node in self._nodes if isinstance(node, ast.ClassDef))
        methods = {id(node) for its in classes for node in its.body}
        nameable = (its for its in self._definitions if id(its.node) not in methods)
        self._named = {its.name: its for its in nameable if not stores[its.name]}
        constants = _assigned(source.tree.body)
        self._constants = {name: node for name, node in constants if stores[name] == 1}
        self._trees: dict[int, Tree] = {}

    def texts(self) -> Iterator[ToolText]:
        """All texts, in any order, some twice."""
        symbols = {id(node): name for name, node in _assigned(self._nodes)}
        decorated = {id(node): its for its in self._definitions for node in _decorators(its)}
        described = set[str]()
        for call in self._nodes:
            if isinstance(call, ast.Call):
                definition = decorated.get(id(call)) or self._taken(call)
                if self._makes_tool(call, definition):
                    described.update([definition.qualname] if definition is not None else ())
                    yield from self._of_call(call, definition, symbols.get(id(call), ""))
        listed = {*_listed(self._nodes)}
        for definition in self._definitions:
            if isinstance(definition.node, ast.ClassDef) and (texts := self._of_class(definition)):
                yield from texts
            elif definition.qualname not in described and self._is_tool(definition, listed):
                yield from self._of_tool(definition.name, definition, None, {})
        yield from self._of_values(symbols)

    def _taken(self, call: ast.Call) -> Definition | None:
        """The function or class that a call takes by name."""
        return next((self._named[name] for name in _names_taken(call) if name in self._named), None)

    def _makes_tool(self, call: ast.Call, definition: Definition | None) -> bool:
        """Whether a call makes a tool: ``mcp.tool()``, ``Tool(…)``, ``StructuredTool.from_function(…)``."""
        last, owner = _last(call), call.func.value if isinstance(call.func, ast.Attribute) else call
        if last in _CALLS or last.endswith("Tool") or (last[:5] == "from_" and _last(owner).endswith("Tool")):
            return True
        is_known = definition is not None and definition.qualname in self._known
        return is_known and any(_ALIASES.get(keyword.arg or "") == "description" for keyword in call.keywords)

    def _is_tool(self, definition: Definition, listed: set[str]) -> bool:
        """Whether a definition is a tool by its decorator, a list or what describes its arguments."""
        if definition.qualname in listed or definition.qualname in self._known:
            return True
        decorators, node = _decorators(definition), definition.node
        if decorators or not isinstance(node, _Function):
            return any(_last(decorator) in _CALLS for decorator in decorators)
        leaves = (leaf for its, default in _signature(node) for leaf in self._field(its.annotation, default))
        return any(leaf.what in _FOR_MODELS.values() for leaf in leaves)

    def _of_call(self, call: ast.Call, definition: Definition | None, symbol: str) -> Iterator[ToolText]:
        """The texts of a call or decorator that makes a tool."""
        order = _GIVEN[::-1] if _last(call) == "FunctionTool" else _GIVEN
        texts = [value for value in call.args if isinstance(value, ast.JoinedStr) or self._name(value)]
        given, written, node = dict(zip(order, texts, strict=False)), "description", dict[str, Tree]()
        for keyword in call.keywords:
            if keyword.arg in _ALIASES:
                given[_ALIASES[keyword.arg]] = keyword.value
                written = keyword.arg if _ALIASES[keyword.arg] == "description" else written
            elif keyword.arg in SCHEMA_KEYS:
                node[keyword.arg] = self._tree(keyword.value)
        for value in call.args:
            if isinstance(value, ast.Dict):
                node["parameters"] = self._tree(value)
        leaf = self._leaf(given.get("description"), f"{written}= of {ast.unparse(call.func)}(…)")
        imported = (name for name in _names_taken(call) if not self._stores[name])
        name = definition.name if definition is not None else next(imported, "")
        if "name" in given:
            name = self._name(given["name"]) or name
        if name:
            yield from self._of_tool(name, definition, leaf, node, symbol)

    def _of_tool(
        self,
        name: str,
        definition: Definition | None,
        leaf: Leaf | None,
        node: dict[str, Tree],
        symbol: str = "",
    ) -> Iterator[ToolText]:
        """The texts of a tool; what is not given is as of its definition."""
        if definition is not None:
            leaf, symbol = leaf or self._docstring(definition), definition.qualname
            node = node or {"parameters": self._arguments(definition.node)}
        yield from texts_of(name, {"description": leaf, **node}, symbol)

    def _of_class(self, definition: Definition) -> list[ToolText]:
        """The texts of a class with a description: ``class Refund(BaseTool)``; none of other classes."""
        node = definition.node
        if not isinstance(node, ast.ClassDef):
            return []
        own = dict(_assigned(node.body))
        tree: dict[str, Tree] = {key: self._tree(own[key]) for key in SCHEMA_KEYS if key in own}
        looks = any("tool" in _last(base).casefold() for base in node.bases)
        described = own.get("description")
        if described is None or isinstance(described, ast.Call) or not (looks or (tree and "name" in own)):
            return []
        runs = [its for its in node.body if isinstance(its, _Function) and its.name in _RUN]
        leaf = self._leaf(described, f"description of class {node.name}")
        if runs and not tree:
            tree["parameters"] = self._arguments(runs[0])
        name = self._name(own.get("name")) or node.name
        return list(texts_of(name, {"description": leaf, **tree}, definition.qualname))

    def _of_values(self, symbols: dict[int, str]) -> Iterator[ToolText]:
        """The texts of dictionaries that look like schemas, alone or in lists."""
        inner = set[int]()
        for node in self._nodes:  # the outermost first
            if isinstance(node, ast.Dict | ast.List) and id(node) not in inner:
                inner.update(map(id, ast.walk(node)))
                name = symbols.get(id(node), "")
                texts = list(texts_in({name: self._tree(node)}))
                is_alone = len({text.tool for text in texts}) == 1
                yield from (replace(text, symbol=name if is_alone else "") for text in texts)

    def _arguments(self, node: ast.AST) -> Tree:
        """The arguments of a function or the fields of a model, of its bases too, as a schema."""
        if id(node) in self._trees:
            return self._trees[id(node)]
        properties, bases = dict[str, Tree](), list[Tree]()
        self._trees[id(node)] = {"properties": properties, "allOf": bases}
        if isinstance(node, _Function):
            for argument, default in _signature(node):
                properties[argument.arg] = self._argument(argument.annotation, default)
        elif isinstance(node, ast.ClassDef):
            for field in node.body:
                if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                    properties[field.target.id] = self._argument(field.annotation, field.value)
            bases += map(self._arguments, self._models(*node.bases))
        return self._trees[id(node)]

    def _models(self, *nodes: ast.expr | None) -> Iterator[ast.ClassDef]:
        """The classes of the file that expressions name."""
        parts = (part for node in nodes if node is not None for part in ast.walk(node))
        for name in dict.fromkeys(part.id for part in parts if isinstance(part, ast.Name)):
            if name in self._named and isinstance(model := self._named[name].node, ast.ClassDef):
                yield model

    def _argument(self, annotation: ast.expr | None, default: ast.expr | None) -> Tree:
        leaf = next(self._field(annotation, default), None)
        parts = ast.walk(annotation) if annotation is not None else ()
        names = {part.id for part in parts if isinstance(part, ast.Name)}
        tree: dict[str, Tree] = {"description": leaf}
        if not names.issubset(_TYPES):  # it may have a text elsewhere
            tree["$ref"] = Leaf("", 0, 0, 0, "")
        return {**tree, "anyOf": list(map(self._arguments, self._models(annotation)))}

    def _field(self, annotation: ast.expr | None, default: ast.expr | None) -> Iterator[Leaf]:
        """What describes an argument: ``Field(description=…)`` as default, or what is in ``Annotated``."""
        parts, described = list[ast.expr](), list[tuple[ast.expr, str]]()
        if isinstance(annotation, ast.Subscript) and _last(annotation.value) == "Annotated":
            parts = annotation.slice.elts[1:] if isinstance(annotation.slice, ast.Tuple) else []
            described += [(part, "Annotated[…]") for part in parts if isinstance(part, ast.Constant)]
        for value in (default, *parts):
            what = _FOR_MODELS.get(_last(value), "") if isinstance(value, ast.Call) else ""
            if isinstance(value, ast.Call) and what:
                texts = [keyword.value for keyword in value.keywords if keyword.arg == "description"]
                described += [(text, what) for text in texts or value.args[: _last(value) == "Doc"]]
        yield from filter(None, (self._leaf(text, what) for text, what in described))

    def _tree(self, node: ast.expr) -> Tree:
        """A dictionary, a list or a text, also behind a name; the schema of a model."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node = node.func.value if node.func.attr in _MODEL_SCHEMAS else node
        if isinstance(node, ast.Name):
            if model := next(self._models(node), None):
                return self._arguments(model)
            constant = self._constants.get(node.id)
            node = constant if isinstance(constant, ast.Dict | ast.List) else node
        if id(node) not in self._trees and isinstance(node, ast.Dict):
            tree = dict[str, Tree]()
            self._trees[id(node)] = tree  # first, since constants may name each other
            for key, value in zip(node.keys, node.values, strict=True):
                if name := self._name(key):
                    tree[name] = self._tree(value) if name != "name" or self._name(value) else None
        elif id(node) not in self._trees and isinstance(node, ast.List | ast.Tuple):
            items = list[Tree]()
            self._trees[id(node)] = items
            items.extend(map(self._tree, node.elts))
        elif id(node) not in self._trees:
            if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
                return node.value
            return self._leaf(node, "string of a dictionary")
        return self._trees[id(node)]

    def _name(self, node: ast.expr | None) -> str:
        """A text that stands here or in a constant, also of a class; empty if unknown."""
        if isinstance(node, ast.Attribute) and node.attr == "value":  # of an enum
            node = node.value
        if isinstance(node, ast.Attribute):
            model = next(self._models(node.value), None)
            node = dict(_assigned(model.body)).get(node.attr) if model is not None else None
        elif isinstance(node, ast.Name):
            node = self._constants.get(node.id)
        return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""

    def _docstring(self, definition: Definition) -> Leaf:
        """The docstring; one that is absent is empty, and refused."""
        place = self._starts[definition.line - 1]
        leaf = Leaf("", place, place, definition.line, DOCSTRING, f"{definition.qualname} has no docstring")
        try:
            leaf = self._leaf(docstring_node(definition), DOCSTRING) or leaf
            locate(self._source, definition.qualname)
        except UnprovenError as reason:
            return replace(leaf, refused=str(reason))
        return leaf

    def _leaf(self, node: ast.expr | None, what: str) -> Leaf | None:
        """A text with its place; None for what is no text, as None and numbers."""
        refused = ""
        if isinstance(node, ast.Name) and isinstance(self._constants.get(node.id), ast.Constant):
            used = self._loads[node.id]
            refused = f"the constant {node.id} is used {used} times" if used > 1 else ""
            node = self._constants[node.id]
        if node is None or (isinstance(node, ast.Constant) and not isinstance(node.value, str)):
            return None
        refused = refused or self._refused(node)
        return Leaf(self._value(node), *self._bytes(node), node.lineno, what, refused)

    def _refused(self, node: ast.expr) -> str:
        """Why an expression is no plain literal; empty if it is one."""
        if isinstance(node, ast.Constant):
            try:
                literal = read_literal(self._source.text, *self._source.span(node))
            except UnprovenError as reason:
                return str(reason)
            return "" if literal.value == node.value else "its place in the file cannot be determined"
        if isinstance(node, ast.JoinedStr):
            return "it is an f-string"
        if isinstance(node, ast.BinOp):
            return "it is put together by an operator"
        if isinstance(node, ast.Name):
            return f"{node.id} is not set once, to a plain text, in this file"
        return f"it is computed by {_last(node)}(…)" if isinstance(node, ast.Call) else "it is computed"

    def _value(self, node: ast.expr) -> str:
        """What an expression says; what is unknown of it is as written."""
        if isinstance(node, ast.Constant):
            return str(node.value)
        if isinstance(node, ast.JoinedStr):
            return "".join(map(self._value, node.values))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self._value(node.left) + self._value(node.right)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            table, key = self._constants.get(node.value.id), ast.unparse(node.slice)
            pairs = zip(table.keys, table.values, strict=True) if isinstance(table, ast.Dict) else ()
            taken = [value for name, value in pairs if name is not None and ast.unparse(name) == key]
            return self._value(taken[0]) if taken else ast.unparse(node)
        return self._name(node) or ast.unparse(node)

    def _bytes(self, node: ast.expr) -> tuple[int, int]:
        source = self._source
        if source.encoding != "utf-8":
            start, end = source.span(node)
            return source.byte_offset(start), source.byte_offset(end)
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
        start, end = self._starts[node.lineno - 1] + node.col_offset, self._starts[end_line - 1] + end_column
        return start + len(source.bom) * (node.lineno == 1), end + len(source.bom) * (end_line == 1)


def _names_taken(call: ast.Call) -> Iterator[str]:
    """What may be the function of a tool that a call makes."""
    values = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg in _FUNCTIONS)]
    return (value.id for value in values if isinstance(value, ast.Name))


def _assigned(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    """The names and values of assignments to one name."""
    for node in nodes:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name):
                yield target.id, node.value


def _listed(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The names in lists of tools: ``TOOLS = [pay]``, ``Agent(tools=[pay])``, ``model.bind_tools([pay])``."""
    for node in nodes:
        values: list[ast.expr] = []
        if isinstance(node, ast.keyword | ast.Assign):
            name = _last(node.targets[0]) if isinstance(node, ast.Assign) else node.arg or ""
            values = [node.value] if name.casefold().endswith("tools") else []
        elif isinstance(node, ast.Call) and _last(node).endswith("tools"):
            values = node.args
        lists = (value for value in values if isinstance(value, ast.List | ast.Tuple))
        yield from (part.id for value in lists for part in value.elts if isinstance(part, ast.Name))


def _last(node: ast.expr) -> str:
    """The last part of a name, or of that of a call."""
    function = node.func if isinstance(node, ast.Call) else node
    return function.attr if isinstance(function, ast.Attribute) else str(getattr(function, "id", ""))


def _decorators(definition: Definition) -> list[ast.expr]:
    return [] if isinstance(definition.node, ast.Module) else definition.node.decorator_list


def _signature(node: _Function) -> Iterator[tuple[ast.arg, ast.expr | None]]:
    """The arguments of a function with their defaults."""
    arguments = [*node.args.posonlyargs, *node.args.args]
    missing = [None] * (len(arguments) - len(node.args.defaults))
    yield from zip(arguments, [*missing, *node.args.defaults], strict=True)
    yield from zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
