"""Texts in Python: docstrings of tools, and string literals that describe a tool or an argument.

A tool is what is registered in the file (by a decorator, a call or a list), a class or call with a name and
a description, or a dictionary that looks like a schema. Each becomes a tree for `descriptions.schemas`.
"""

import ast
import builtins
import re
import typing
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Final

from coreloop.base.project import definitions as defined
from coreloop.base.project.allowed_values import last_name, signature
from coreloop.base.project.definitions import AnyDefinition, Function, docstring_node
from coreloop.base.project.python_source import SourceText, UnprovenError, encode, parse_source
from coreloop.descriptions.schemas import SCHEMA_KEYS, Leaf, Tree, texts_in, texts_of
from coreloop.descriptions.spelled import Cut, Spelled, escaped, line_end, read_spelled
from coreloop.descriptions.texts import DICTIONARY, DOCSTRING, ToolText

_GIVEN: Final = ("name", "description")
_ALIASES: Final = {its: key for key in _GIVEN for its in (key, f"{key}_override", f"tool_{key}")}
_RUN: Final = ("_run", "run", "forward", "execute", "__call__", "_arun")
"""Methods whose arguments are those of a class's tool."""
_FOR_MODELS: Final = {"Field": "Field(description=…)", "Doc": "Doc(…)"}
_TYPES: Final = {*vars(builtins), *typing.__all__}
_MODEL_SCHEMAS: Final = ("model_json_schema", "schema", "json_schema")

_REASONS: Final = {ast.JoinedStr: "it is an f-string", ast.BinOp: "it is put together by an operator"}
# none in an f-string, whose places are unknown
_OPENING: Final = re.compile(r"\A([rRuU]?)(\"\"\"|'''|\"|'|)")
_BREAK: Final = re.compile(r"\r\n?")
_ESCAPE: Final = re.compile(
    r"\\(?:\r\n|[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^{}\\]*\}|[abfnrtv\\'\"\r\n])|\r\n?"
)


def parsed(raw: bytes) -> ast.Module:
    """The file's syntax tree, in which each definition has a docstring."""
    tree = parse_source(raw).tree
    for _, node in defined.definitions(tree):
        if docstring_node(node) is None:
            node.body.insert(0, ast.Expr(ast.Constant("")))
    return tree


def find(raw: bytes, known: Collection[str] = ()) -> list[ToolText]:
    """The texts of the tools that a file registers, and of definitions that are known to be tools.

    The value of an expression that is no plain literal is what the file shows of it.
    """
    return list(_File(parse_source(raw), known).texts())


def spell(raw: bytes, text: ToolText, cut: Cut) -> bytes:
    """The literal with a cut: the same quotes and escapes; a line break is one where it can be."""
    source = parse_source(raw)
    written = raw[text.start : text.end].decode(source.encoding)
    prefix, quote, inside = _literal(written or '""""""')
    newline, is_raw = line_end(raw[: text.end]) if len(quote) == 3 else "\\n", prefix in ("r", "R")

    def spell_piece(piece: str) -> str:
        if is_raw and (len(quote) == 1 or quote in piece):
            raise UnprovenError(f"the text is a raw string in {quote}, which cannot hold the lines")
        return piece.replace("\n", newline) if is_raw else escaped(piece, quote, newline)

    spelled = inside.replaced(text.value, cut, spell_piece)
    if len(quote) == 3 and re.search(rf"(?<!\\)(?:\\\\)*{quote[0]}\Z", spelled):
        spelled = f"{spelled[:-1]}\\{quote[0]}"
    if not written:  # a docstring before what is the first statement
        line = raw[: text.start].decode(source.encoding).rpartition(newline)[2]
        return encode(f"{quote}{spelled}{quote}{newline}{line}", source.encoding)
    return encode(f"{prefix}{quote}{spelled}{quote}", source.encoding)


def _literal(written: str) -> tuple[str, str, Spelled]:
    """The prefix, the quote and the inside of a literal, to its last quote."""
    [(prefix, quote)] = _OPENING.findall(written)
    inside = written[len(prefix + quote) : -len(quote)]
    parts = _BREAK if prefix in ("r", "R") else _ESCAPE
    return prefix, quote, read_spelled(inside, parts, lambda its: _meaning(its[0]))


@lru_cache(maxsize=1024)
def _meaning(escape: str) -> str:
    return str(ast.literal_eval(f'"""{escape}"""'))


class _File:
    """One file: what its names mean, and the trees of its tools."""

    def __init__(self, source: SourceText, known: Collection[str]) -> None:
        self._source, self._known = source, known
        self._nodes = list(ast.walk(source.tree))
        self._symbols = {node: qualname for qualname, node in defined.visible(source.tree)}
        names = [node for node in self._nodes if isinstance(node, ast.Name)]
        self._loads = Counter(name.id for name in names if isinstance(name.ctx, ast.Load))
        self._stores = Counter(name.id for name in names if not isinstance(name.ctx, ast.Load))
        self._stores.update(node.arg for node in self._nodes if isinstance(node, ast.arg))
        classes = (node for node in self._nodes if isinstance(node, ast.ClassDef))
        methods = {node for its in classes for node in its.body}
        nameable = (node for node in self._symbols if node not in methods)
        self._named = {node.name: node for node in nameable if not self._stores[node.name]}
        constants = _assigned(source.tree.body)
        self._constants = {name: node for name, node in constants if self._stores[name] == 1}
        self._trees: dict[ast.AST, Tree] = {}

    def texts(self) -> Iterator[ToolText]:
        """All texts, in any order, some twice."""
        names = {node: name for name, node in _assigned(self._nodes)}
        decorated = {its: node for node in self._symbols for its in node.decorator_list}
        parts = [part for node in self._nodes for part, _ in defined.references(node)]
        tools = {part.id for part in parts if isinstance(part, ast.Name)} | set(self._known)
        described = set[AnyDefinition]()
        for call in self._nodes:
            if isinstance(call, ast.Call):
                taken = [self._named[name] for name in _taken(call) if name in self._named]
                node = decorated.get(call) or next(iter(taken), None)
                is_known = node is not None and self._symbols.get(node) in self._known
                is_described = any(_ALIASES.get(its.arg or "") == "description" for its in call.keywords)
                if defined.is_tool_call(call) or (is_known and is_described):
                    described.update([node] if node is not None else ())
                    yield from self._of_call(call, node, names.get(call, ""))
        for node, symbol in self._symbols.items():
            if isinstance(node, ast.ClassDef) and (texts := self._of_class(node)):
                yield from texts
            elif node not in described and (symbol in tools or self._is_tool(node)):
                yield from self._of_tool(node.name, node, {})
        yield from self._of_values(names)

    def _is_tool(self, node: AnyDefinition) -> bool:
        """Whether a definition is a tool: by its decorator, or by described arguments if nothing calls it."""
        if node.decorator_list or isinstance(node, ast.ClassDef):
            return any(map(defined.is_tool_decorator, node.decorator_list))
        leaves = (leaf for its, default in signature(node) for leaf in self._field(its.annotation, default))
        if not any(leaf.what in _FOR_MODELS.values() for leaf in leaves):
            return False
        calls = (ast.unparse(its.func) for its in self._nodes if isinstance(its, ast.Call))
        return node.name not in {call.removeprefix("self.") for call in calls}

    def _of_call(self, call: ast.Call, node: AnyDefinition | None, symbol: str) -> Iterator[ToolText]:
        """The texts of a call or decorator that makes a tool."""
        texts = [value for value in call.args if isinstance(value, ast.JoinedStr) or self._name(value)]
        order = _GIVEN[::-1] if _last(call) == "FunctionTool" and texts[:1] != call.args[:1] else _GIVEN
        given = dict(zip(order, texts, strict=False))
        given |= [("parameters", value) for value in call.args if isinstance(value, ast.Dict)]
        given |= {_ALIASES.get(its.arg, its.arg): its.value for its in call.keywords if its.arg}
        tree = self._described(given, f"{ast.unparse(call.func)}(…)")
        imported = (name for name in _taken(call) if not self._stores[name])
        name = self._name(given.get("name")) or (node.name if node is not None else next(imported, ""))
        if node is not None:
            yield from self._of_tool(name, node, tree)
        elif name:
            yield from texts_of(name, tree, symbol)

    def _of_tool(self, name: str, node: AnyDefinition, tree: dict[str, Tree]) -> Iterator[ToolText]:
        """The texts of a tool of a definition; what is not given is as of that."""
        leaf = tree.pop("description", None) or self._docstring(node)
        tree = tree or {"parameters": self._arguments(node)}
        yield from texts_of(name, {"description": leaf, **tree}, self._symbols[node])

    def _described(self, given: Mapping[str, ast.expr], where: str) -> dict[str, Tree]:
        """What a call or a class says of its tool: its description and its schema."""
        tree = {key: self._tree(given[key]) for key in SCHEMA_KEYS if key in given}
        return tree | {"description": self._leaf(given.get("description"), f"description of {where}")}

    def _of_class(self, node: ast.ClassDef) -> list[ToolText]:
        """The texts of a class with a description: ``class Refund(BaseTool)``; none of other classes."""
        own = dict(_assigned(node.body))
        looks = any("tool" in _last(base).casefold() for base in node.bases)
        has_schema = not own.keys().isdisjoint(SCHEMA_KEYS)
        if isinstance(own.get("description"), ast.Call | None) or not (
            looks or (has_schema and "name" in own)
        ):
            return []
        runs = [its for its in node.body if isinstance(its, Function) and its.name in _RUN]
        tree = self._described(own, f"class {node.name}")
        if runs and not has_schema:
            tree["parameters"] = self._arguments(runs[0])
        return list(texts_of(self._name(own.get("name")) or node.name, tree, self._symbols[node]))

    def _of_values(self, names: dict[ast.expr, str]) -> Iterator[ToolText]:
        """The texts of dictionaries that look like schemas, alone or in lists."""
        inner = set[ast.AST]()
        for node in self._nodes:  # the outermost first
            if isinstance(node, ast.Dict | ast.List) and node not in inner:
                inner.update(ast.walk(node))
                name = names.get(node, "")
                texts = list(texts_in({name: self._tree(node)}))
                is_alone = len({text.tool for text in texts}) == 1
                yield from (replace(text, symbol=name if is_alone else "") for text in texts)

    def _arguments(self, node: ast.AST) -> Tree:
        """The arguments of a function or the fields of a model, of its bases too, as a schema."""
        if node not in self._trees:
            properties, bases = dict[str, Tree](), list[Tree]()
            self._trees[node] = {"properties": properties, "allOf": bases}
            if isinstance(node, Function):
                for argument, default in signature(node):
                    properties[argument.arg] = self._argument(argument.annotation, default)
            elif isinstance(node, ast.ClassDef):
                for field in node.body:
                    if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                        properties[field.target.id] = self._argument(field.annotation, field.value)
                bases += map(self._arguments, self._models(*node.bases))
        return self._trees[node]

    def _models(self, *nodes: ast.expr | None) -> list[ast.ClassDef]:
        """The classes of the file that expressions name."""
        found = (self._named.get(name) for name in _names(*nodes))
        return [model for model in found if isinstance(model, ast.ClassDef)]

    def _argument(self, annotation: ast.expr | None, default: ast.expr | None) -> Tree:
        tree: dict[str, Tree] = {"description": next(self._field(annotation, default), None)}
        if not _TYPES.issuperset(_names(annotation)):  # it may have a text elsewhere
            tree["$ref"] = Leaf("", 0, 0, 0, "")
        return {**tree, "anyOf": list(map(self._arguments, self._models(annotation)))}

    def _field(self, annotation: ast.expr | None, default: ast.expr | None) -> Iterator[Leaf]:
        """What describes an argument: ``Field(description=…)`` as default, or what is in ``Annotated``."""
        is_annotated = isinstance(annotation, ast.Subscript) and _last(annotation.value) == "Annotated"
        parts = getattr(getattr(annotation, "slice", None), "elts", ())[1:] if is_annotated else ()
        described = list[tuple[ast.expr, str]]()
        described += [(part, "Annotated[…]") for part in parts if isinstance(part, ast.Constant)]
        for value in (default, *parts):
            if isinstance(value, ast.Call) and (what := _FOR_MODELS.get(_last(value), "")):
                texts = [keyword.value for keyword in value.keywords if keyword.arg == "description"]
                described += [(text, what) for text in texts or value.args[: _last(value) == "Doc"]]
        yield from filter(None, (self._leaf(text, what) for text, what in described))

    def _tree(self, node: ast.expr) -> Tree:
        """A dictionary, a list or a text, also behind a name; the schema of a model."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node = node.func.value if node.func.attr in _MODEL_SCHEMAS else node
        if isinstance(node, ast.Name):
            if models := self._models(node):
                return self._arguments(models[0])
            constant = self._constants.get(node.id)
            node = constant if isinstance(constant, ast.Dict | ast.List) else node
        if node in self._trees:
            return self._trees[node]
        if isinstance(node, ast.Dict):
            self._trees[node] = tree = dict[str, Tree]()  # first, since constants may name each other
            for name, value in zip(map(self._name, node.keys), node.values, strict=True):
                if name:
                    is_known = name != "name" or isinstance(value, ast.Dict) or self._name(value)
                    tree[name] = self._tree(value) if is_known else None
            return tree
        if isinstance(node, ast.List | ast.Tuple):
            self._trees[node] = items = list[Tree]()
            items.extend(map(self._tree, node.elts))
            return items
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            return node.value
        return self._leaf(node, DICTIONARY)

    def _name(self, node: ast.expr | None) -> str:
        """A text that stands here or in a constant, also of a class; empty if unknown."""
        if isinstance(node, ast.Attribute) and node.attr == "value":  # of an enum
            node = node.value
        if isinstance(node, ast.Attribute):
            assigned = (pair for model in self._models(node.value) for pair in _assigned(model.body))
            node = dict(assigned).get(node.attr)
        elif isinstance(node, ast.Name):
            node = self._constants.get(node.id)
        return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""

    def _docstring(self, node: AnyDefinition) -> Leaf:
        """The docstring; one that is absent is empty, and its place is before the first statement."""
        first = min((node.body[0], *getattr(node.body[0], "decorator_list", ())), key=lambda its: its.lineno)
        start, at = (self._source.offset(first.lineno, column) for column in (0, first.col_offset))
        line = self._source.raw[start:at]
        at = start + len(line) - len(line.lstrip())
        leaf = self._leaf(docstring_node(node), DOCSTRING) or Leaf("", at, at, node.lineno, DOCSTRING)
        is_inline = bool(line.strip(b" \t\f(@"))
        return replace(leaf, refused="the body is on the line of its definition") if is_inline else leaf

    def _leaf(self, node: ast.expr | None, what: str) -> Leaf | None:
        """A text with its place; None for what is no text, as None and numbers."""
        refused = ""
        if isinstance(node, ast.Name) and isinstance(self._constants.get(node.id), ast.Constant):
            used = self._loads[node.id]
            refused = f"the constant {node.id} is used {used} times" if used > 1 else ""
            node = self._constants[node.id]
        if node is None or (isinstance(node, ast.Constant) and not isinstance(node.value, str)):
            return None
        span = self._source.span(node)
        refused = refused or self._refused(node, *span)
        return Leaf(self._value(node), *span, node.lineno, what, refused)

    def _refused(self, node: ast.expr, start: int, end: int) -> str:
        """Why an expression is no plain literal; empty if it is one."""
        if isinstance(node, ast.Constant):
            _, _, inside = _literal(self._source.raw[start:end].decode(self._source.encoding))
            return "" if inside.value == node.value else "it is made of several literals"
        if isinstance(node, ast.Name):
            return f"{node.id} is not set once, to a plain text, in this file"
        return _REASONS.get(type(node), "it is computed")

    def _value(self, node: ast.expr) -> str:
        """What an expression says; what is unknown of it is as written."""
        if isinstance(node, ast.Constant):
            return str(node.value)
        if isinstance(node, ast.JoinedStr | ast.BinOp):
            parts = node.values if isinstance(node, ast.JoinedStr) else (node.left, node.right)
            return "".join(map(self._value, parts))
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            table, key = self._tree(node.value), self._name(node.slice)
            leaf = table.get(key) if isinstance(table, dict) else None
            return leaf.value if isinstance(leaf, Leaf) else ast.unparse(node)
        return self._name(node) or ast.unparse(node)


def _taken(call: ast.Call) -> Iterator[str]:
    """The names that may be the function or class of a tool that a call makes."""
    return (value.id for value in defined.taken_by(call) if isinstance(value, ast.Name))


def _names(*nodes: ast.expr | None) -> dict[str, None]:
    """The names that stand in expressions, in order."""
    parts = (part for node in nodes if node is not None for part in ast.walk(node))
    return dict.fromkeys(part.id for part in parts if isinstance(part, ast.Name))


def _assigned(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    """The names and values of assignments to one name."""
    for node in nodes:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name):
                yield target.id, node.value


def _last(node: ast.expr) -> str:
    """The last part of a name, or of that of a call."""
    return last_name(node.func if isinstance(node, ast.Call) else node)
