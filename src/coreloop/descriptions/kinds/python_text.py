"""Texts in Python: docstrings of tools, and string literals that describe a tool or an argument.

A tool is what is registered in the file (by a decorator, a call or a list), a class or call with a name and
a description, or a dictionary that looks like a schema. Each becomes a tree for `descriptions.schemas`.
"""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from coreloop.base.project.tools import DECORATORS, listed_names
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
from coreloop.descriptions.texts import DOCSTRING, ToolText, changed_part

_CALLS: Final = DECORATORS | {
    *("kernel_function", "ai_function", "FunctionDeclaration", "ToolDefinition", "ToolParam"),
    *("register_tool", "create_tool", "pydantic_function_tool"),
}
_NAMES: Final = ("name", "name_override", "tool_name")
_DESCRIPTIONS: Final = ("description", "description_override", "tool_description")
_POSITIONAL: Final = {"tool": 1, "FunctionTool": 1, "Tool": 2, "add_tool": 2}
"""Where a description may stand without a keyword."""
_RUN: Final = ("_run", "run", "forward", "execute", "__call__", "_arun")
"""Methods whose arguments are those of a class's tool."""
_ANNOTATED: Final = "Annotated[…]"
_SCHEMA_CALLS: Final = ("model_json_schema", "schema", "json_schema")

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def parsed(raw: bytes) -> ast.Module:
    """The file's syntax tree."""
    return read_source(raw).tree


def find(raw: bytes) -> list[ToolText]:
    """The texts of the tools that a file registers."""
    return list(dict.fromkeys(_File(read_source(raw)).texts()))


def docstring_text(raw: bytes, qualname: str) -> ToolText:
    """The docstring of any definition; `UnprovenError` if absent."""
    source = read_source(raw)
    located = locate(source, qualname)
    if located is None:
        raise UnprovenError(f"{qualname or 'the module'} has no docstring")
    start, end = (source.byte_offset(offset) for offset in source.span(located.node))
    return ToolText(qualname, "", located.literal.value, start, end, located.node.lineno, DOCSTRING, qualname)


def spell(raw: bytes, text: ToolText, value: str) -> bytes:
    """The literal of another value: the same quotes and escapes; a line break is one where it can be."""
    source = read_source(raw)
    written = raw[text.start : text.end].decode(source.encoding)
    literal = read_literal(written, 0, len(written))
    start, end, inserted = changed_part(text.value, value)
    spelled = literal.spell(inserted, source.newline_at(len(source.text)))
    if literal.triple and end == len(text.value) and spelled.endswith(literal.quote[0]):
        if literal.raw:
            raise UnprovenError("the text is a raw string, which cannot end in its quote")
        spelled = f"{spelled[:-1]}\\{spelled[-1]}"
    first, last = literal.offset(start), literal.offset(end)
    return encode(written[:first] + spelled + written[last:], source.encoding)


def assigned(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    """The names and values of assignments to one name."""
    for node in nodes:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value = getattr(node, "value", None)
        if (
            isinstance(node, ast.Assign | ast.AnnAssign)
            and isinstance(target, ast.Name)
            and isinstance(value, ast.expr)
        ):
            yield target.id, value


def _last(node: ast.expr) -> str:
    """The last part of a name, or of that of a call."""
    function = node.func if isinstance(node, ast.Call) else node
    return function.attr if isinstance(function, ast.Attribute) else str(getattr(function, "id", ""))


def _makes_tool(call: ast.Call) -> bool:
    """Whether a call makes a tool: ``mcp.tool()``, ``Tool(…)``, ``StructuredTool.from_function(…)``."""
    last, owner = _last(call), call.func.value if isinstance(call.func, ast.Attribute) else call
    is_made = last.startswith("from_") and _last(owner).endswith("Tool")
    return last in _CALLS or last.endswith("Tool") or is_made


def _signature(node: _Function) -> Iterator[tuple[ast.arg, ast.expr | None]]:
    """The arguments of a function with their defaults."""
    arguments = [*node.args.posonlyargs, *node.args.args]
    missing = [None] * (len(arguments) - len(node.args.defaults))
    yield from zip(arguments, [*missing, *node.args.defaults], strict=True)
    yield from zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)


class _File:
    """One file: what its names mean, and the trees of its tools."""

    def __init__(self, source: SourceText) -> None:
        self._source = source
        self._nodes = list(ast.walk(source.tree))
        self._starts = [0, *(match.end() for match in BYTES_NEWLINE.finditer(source.raw))]
        self._definitions = [its for its in definitions(source.tree) if not is_shadowed(its)]
        self._named = {
            its.node.name: its for its in self._definitions if not isinstance(its.node, ast.Module)
        }
        names = [node for node in self._nodes if isinstance(node, ast.Name)]
        self._loads = Counter(name.id for name in names if isinstance(name.ctx, ast.Load))
        stores = Counter(name.id for name in names if not isinstance(name.ctx, ast.Load))
        constants = dict(assigned(source.tree.body))
        self._constants = {name: node for name, node in constants.items() if stores[name] == 1}
        self._trees: dict[int, Tree] = {}

    def texts(self) -> Iterator[ToolText]:
        """All texts, in no order, some twice."""
        registered = set[str]()
        decorated = {
            id(decorator): its
            for its in self._definitions
            if not isinstance(its.node, ast.Module)
            for decorator in its.node.decorator_list
        }
        symbols = {id(node): name for name, node in self._constants.items()}
        for call in self._nodes:
            if isinstance(call, ast.Call) and _makes_tool(call):
                definition = decorated.get(id(call)) or self._taken(call)
                registered.update([definition.qualname] if definition else ())
                yield from self._of_call(call, definition, symbols.get(id(call), ""))
        listed = {*listed_names(self._source.tree)}
        for definition in self._definitions:
            if definition.qualname not in registered and self._is_tool(definition, listed):
                yield from self._of_definition(definition)
            if isinstance(definition.node, ast.ClassDef):
                yield from self._of_class(definition, definition.node)
        yield from self._of_values()

    def _taken(self, call: ast.Call) -> Definition | None:
        """The function or class that a call takes by name."""
        values = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg not in SCHEMA_KEYS)]
        names = (value.id for value in values if isinstance(value, ast.Name))
        return next((self._named[name] for name in names if name in self._named), None)

    def _is_tool(self, definition: Definition, listed: set[str]) -> bool:
        node = definition.node
        if isinstance(node, ast.Module):
            return False
        if definition.qualname in listed or any(_last(its) in _CALLS for its in node.decorator_list):
            return True
        signature = _signature(node) if isinstance(node, _Function) else ()
        leaves = (
            leaf for argument, default in signature for leaf in self._field(argument.annotation, default)
        )
        return any(leaf.what != _ANNOTATED for leaf in leaves)

    def _of_call(self, call: ast.Call, definition: Definition | None, symbol: str) -> Iterator[ToolText]:
        """The texts of a call or decorator that makes a tool."""
        keywords = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        last, positional = _last(call), call.args
        given = next((keywords[name] for name in _NAMES if name in keywords), None)
        if given is None and positional:
            first = isinstance(positional[0], ast.Name) and last == "add_tool"
            given = next(iter(positional[1:2] if first else positional[:1]), None)
        name = self._text(given) or (definition.name if definition else "")
        described = next((keywords[name] for name in _DESCRIPTIONS if name in keywords), None)
        place = _POSITIONAL.get(last, len(positional))
        if described is None and place < len(positional):
            described = positional[place]
        leaf = self._leaf(described, f"description= of {last}(…)")
        node: dict[str, Tree] = {key: self._tree(keywords[key]) for key in SCHEMA_KEYS if key in keywords}
        for value in positional:
            if isinstance(value, ast.Dict):
                node["parameters"] = self._tree(value)
        if name:
            yield from self._of_tool(name, definition, leaf, node, symbol)

    def _of_definition(self, definition: Definition) -> Iterator[ToolText]:
        yield from self._of_tool(definition.name, definition, None, {}, "")

    def _of_tool(
        self, name: str, definition: Definition | None, leaf: Leaf | None, node: dict[str, Tree], symbol: str
    ) -> Iterator[ToolText]:
        """The texts of a tool; what is not given is as of its definition."""
        if definition is not None:
            leaf = leaf or self._docstring(definition)
            node = node or {"parameters": self._arguments(definition)}
        yield from texts_of(
            name, {"description": leaf, **node}, definition.qualname if definition else symbol
        )

    def _of_class(self, definition: Definition, node: ast.ClassDef) -> Iterator[ToolText]:
        """The texts of a class with a name and a description: ``class Refund(BaseTool)``."""
        own = dict(assigned(node.body))
        name = self._text(own.get("name"))
        schemas = [key for key in SCHEMA_KEYS if key in own]
        looks = any("tool" in _last(base).casefold() for base in node.bases)
        if not name or "description" not in own or not (schemas or looks):
            return
        tree: dict[str, Tree] = {key: self._tree(own[key]) for key in schemas}
        runs = [its for its in node.body if isinstance(its, _Function) and its.name in _RUN]
        if not schemas and runs:
            tree = {"parameters": self._of_signature(runs[0])}
        leaf = self._leaf(own["description"], f"description of class {node.name}")
        yield from texts_of(name, {"description": leaf, **tree}, definition.qualname)

    def _of_values(self) -> Iterator[ToolText]:
        """The texts of dictionaries that look like schemas, alone or in lists."""
        names = {id(node): name for name, node in assigned(self._nodes)}
        inner = set[int]()
        for node in self._nodes:  # the outermost first
            if not isinstance(node, ast.Dict | ast.List) or id(node) in inner:
                continue
            inner.update(map(id, ast.walk(node)))
            name, tree = names.get(id(node), ""), self._tree(node)
            texts = list(texts_in({name: tree}))
            alone = len({text.tool for text in texts}) == 1
            yield from (replace(text, symbol=name if alone else "") for text in texts)

    def _arguments(self, definition: Definition) -> Tree:
        node = definition.node
        if isinstance(node, _Function):
            return self._of_signature(node)
        return self._fields(node) if isinstance(node, ast.ClassDef) else None

    def _of_signature(self, node: _Function) -> Tree:
        return {
            "properties": {
                argument.arg: self._argument(argument.annotation, default)
                for argument, default in _signature(node)
            }
        }

    def _fields(self, node: ast.ClassDef) -> Tree:
        """The fields of a model and of its bases in the file, as properties."""
        if id(node) not in self._trees:
            properties: dict[str, Tree] = {}
            bases: list[Tree] = []
            self._trees[id(node)] = {"properties": properties, "allOf": bases}
            for field in node.body:
                if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                    properties[field.target.id] = self._argument(field.annotation, field.value)
            bases += [self._fields(base) for base in self._models(node.bases)]
        return self._trees[id(node)]

    def _models(self, nodes: Iterable[ast.expr]) -> Iterator[ast.ClassDef]:
        """The classes of the file that expressions name."""
        names = (part.id for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name))
        for name in dict.fromkeys(names):
            if name in self._named and isinstance(found := self._named[name].node, ast.ClassDef):
                yield found

    def _argument(self, annotation: ast.expr | None, default: ast.expr | None) -> Tree:
        leaf = next(self._field(annotation, default), None)
        models = self._models([annotation] if annotation is not None else [])
        return {"description": leaf, "anyOf": [self._fields(model) for model in models]}

    def _field(self, annotation: ast.expr | None, default: ast.expr | None) -> Iterator[Leaf]:
        """What describes an argument: ``Field(description=…)`` as default, or what is in ``Annotated``."""
        described: list[tuple[ast.expr, str]] = []
        parts = list[ast.expr]()
        if isinstance(annotation, ast.Subscript) and _last(annotation.value) == "Annotated":
            parts = annotation.slice.elts[1:] if isinstance(annotation.slice, ast.Tuple) else []
            described += [(part, _ANNOTATED) for part in parts if isinstance(part, ast.Constant)]
        for value in (default, *parts):
            if isinstance(value, ast.Call) and _last(value) == "Field":
                texts = [its.value for its in value.keywords if its.arg == "description"]
                described += [(text, "Field(description=…)") for text in texts]
            elif isinstance(value, ast.Call) and _last(value) == "Doc":
                described += [(text, "Doc(…)") for text in value.args[:1]]
        yield from filter(None, (self._leaf(text, what) for text, what in described))

    def _tree(self, node: ast.expr) -> Tree:
        """A dictionary, a list or a text, also behind a name; the schema of a model."""
        if (
            isinstance(node, ast.Call)
            and _last(node) in _SCHEMA_CALLS
            and isinstance(node.func, ast.Attribute)
        ):
            node = node.func.value
        if isinstance(node, ast.Name):
            model = next(self._models([node]), None)
            if model is not None:
                return self._fields(model)
            constant = self._constants.get(node.id)
            node = constant if isinstance(constant, ast.Dict | ast.List) else node
        if id(node) in self._trees:
            return self._trees[id(node)]
        if isinstance(node, ast.Dict):
            tree: dict[str, Tree] = {}
            self._trees[id(node)] = tree
            for key, value in zip(node.keys, node.values, strict=True):
                if name := self._text(key):
                    tree[name] = self._tree(value)
            return tree
        if isinstance(node, ast.List | ast.Tuple):
            items: list[Tree] = []
            self._trees[id(node)] = items
            items += map(self._tree, node.elts)
            return items
        return self._leaf(node, "string of a dictionary")

    def _text(self, node: ast.expr | None) -> str:
        """A text that the file says, also by the name of a constant; empty if unknown."""
        if isinstance(node, ast.Attribute) and node.attr == "value":  # of an enum
            node = node.value
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            model = next(self._models([node.value]), None)
            node = dict(assigned(model.body)).get(node.attr) if model is not None else None
        elif isinstance(node, ast.Name):
            node = self._constants.get(node.id)
        return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""

    def _docstring(self, definition: Definition) -> Leaf | None:
        try:
            node = docstring_node(definition)
        except UnprovenError:  # an f-string, which no model reads
            return None
        if node is None:
            return None
        leaf = self._leaf(node, DOCSTRING)
        try:
            locate(self._source, definition.qualname)
        except UnprovenError as reason:
            return replace(leaf, refused=str(reason)) if leaf is not None else None
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
        value = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
        return Leaf(value, *self._bytes(node), node.lineno, what, refused)

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
        if isinstance(node, ast.Call):
            return f"it is computed by {_last(node)}(…)"
        if isinstance(node, ast.Name):
            return f"{node.id} is not set once, to a plain text, in this file"
        return "it is computed"

    def _bytes(self, node: ast.expr) -> tuple[int, int]:
        source = self._source
        if source.encoding != "utf-8":
            start, end = source.span(node)
            return source.byte_offset(start), source.byte_offset(end)
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
        places = ((node.lineno, node.col_offset), (end_line, end_column))
        start, end = (
            self._starts[line - 1] + column + len(source.bom) * (line == 1) for line, column in places
        )
        return start, end
