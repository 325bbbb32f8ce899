"""Texts in TypeScript and JavaScript: string and template literals that describe a tool or an argument.

Objects, lists and zod's calls become trees for `descriptions.schemas`.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final, cast

from coreloop.base.extras import needs
from coreloop.descriptions.schemas import Leaf, Tree, texts_in, texts_of
from coreloop.descriptions.source import UnprovenError
from coreloop.descriptions.spelled import Spelled, read_spelled, unescape
from coreloop.descriptions.texts import ToolText

if TYPE_CHECKING:
    from tree_sitter import Node

_PARTS: Final = re.compile(
    r"""\\(?: u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}  # two halves of one character
            | u\{[\da-fA-F]+\} | u[\da-fA-F]{4} | x[\da-fA-F]{2} | \r\n | .)
    | \r\n?""",
    re.VERBOSE | re.DOTALL,
)
_NAMES: Final = {
    **dict(zip("btnvfr0", "\b\t\n\v\f\r\0", strict=True)),
    **dict.fromkeys("\r\n\u2028\u2029", ""),  # an escaped line break
}
_INNER: Final = frozenset(
    {"parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression"}
)
"""What is only around a value."""
_FIELDS: Final = {"pair": "key", "variable_declarator": "name", "public_field_definition": "name"}
_DECLARING: Final = {
    "variable_declarator": "name",
    **dict.fromkeys(("for_in_statement", "assignment_expression"), "left"),
    **dict.fromkeys(("required_parameter", "optional_parameter"), "pattern"),
    **dict.fromkeys(("arrow_function", "catch_clause"), "parameter"),
}
_CALLS: Final = frozenset({"call_expression", "new_expression"})
_CONTAINERS: Final = frozenset({"object", "array", "class_body"})
_INSIDE: Final = _CONTAINERS | {"pair", "public_field_definition"}
_OBJECTS: Final = frozenset({"object", "strictObject", "looseObject", "extend", "safeExtend", "Object"})
_ITEMS: Final = frozenset({"array", "set", "Array"})
_SCHEMA: Final = re.compile(r"z\s*\.|Type\s*\.")
"""An argument that is called description, not a text."""
_WRAPPERS: Final = frozenset({"meta", "openapi", "optional", "nullable", "nullish"})
_TYPE: Final = Leaf("object", 0, 0, 0, "")
_WHAT: Final = "TypeScript string"
_REASONS: Final = {
    "binary_expression": "it is a concatenation",
    "template_string": "it is a template with an expression",
    "call_expression": "a call computes it",
}


def find(raw: bytes) -> list[ToolText]:
    """All texts of a file, in no order, some twice."""
    return list(_File(_root(raw)).texts()) if b"descri" in raw else []


@lru_cache(maxsize=4)
def _root(raw: bytes) -> "Node":
    try:
        import tree_sitter_typescript as grammars
        from tree_sitter import Language, Parser
    except ModuleNotFoundError as error:
        raise UnprovenError(needs("typescript", feature="text in TypeScript or JavaScript")) from error
    if raw.decode(errors="ignore").encode() != raw:
        raise UnprovenError("the file's encoding is not UTF-8")
    for grammar in (grammars.language_typescript, grammars.language_tsx):  # of JavaScript, too
        root = Parser(Language(grammar())).parse(raw).root_node
        if not root.has_error:
            return root
    raise UnprovenError("the file is not readable as TypeScript or JavaScript")


def parsed(raw: bytes) -> list[object]:
    """The syntax tree in order: types with their numbers of parts, names, comments, and values of strings."""
    flat, cursor = list[object](), _root(raw).walk()
    while True:
        node = cast("Node", cursor.node)
        spelled = _literal(node)
        leaf = None if node.child_count else node.text
        flat.append((node.type, spelled.value) if spelled else (node.type, node.child_count, leaf))
        if spelled is None and cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return flat


def spell(raw: bytes, text: ToolText, value: str) -> bytes:
    """The literal of another value; what both values share is spelled as it was."""
    literal = raw[text.start : text.end].decode()
    quote, inside = literal[0], literal[1:-1]
    newline = "\r\n" if b"\r\n" in raw else "\n"
    is_template_of_lines = quote == "`" and "\n" in inside

    def spell_piece(piece: str) -> str:
        escaped = piece.replace("\\", "\\\\").replace(quote, f"\\{quote}")
        escaped = escaped.replace("${", "\\${") if quote == "`" else escaped
        return escaped.replace("\n", newline if is_template_of_lines else "\\n")

    return f"{quote}{_read(inside).replaced(value, spell_piece)}{quote}".encode()


def _literal(node: "Node") -> Spelled | None:
    """The inside of a string, or of a template without expressions."""
    is_template = node.type == "template_string" and all(
        part.type != "template_substitution" for part in node.named_children
    )
    return _read(_text(node)[1:-1]) if node.type == "string" or is_template else None


def _read(inside: str) -> Spelled:
    return read_spelled(inside, _PARTS, _meaning)


def _meaning(part: re.Match[str]) -> str:
    spelled = part.group()
    if spelled[0] == "\r":
        return "\n"
    if len(spelled) == 12:
        halves = chr(int(spelled[2:6], 16)) + chr(int(spelled[8:], 16))
        return halves.encode("utf-16", "surrogatepass").decode("utf-16")
    return "" if spelled == "\\\r\n" else unescape(spelled, _NAMES)


def _text(node: "Node | None") -> str:
    return (node.text or b"").decode(errors="replace") if node is not None else ""


def _field(node: "Node", name: str) -> "Node | None":
    """A part of a node, without what is only around it."""
    part = node.child_by_field_name(name)
    while part is not None and part.type in _INNER:
        part = part.named_children[0]
    return part


def _arguments(call: "Node") -> list["Node"]:
    arguments = call.child_by_field_name("arguments")
    nodes = arguments.named_children if arguments is not None and arguments.type == "arguments" else []
    return [node for node in nodes if node.type != "comment"]


def _method(call: "Node") -> str:
    """The last name of what a call calls."""
    function = call.child_by_field_name("function") or call.child_by_field_name("constructor")
    if function is not None and function.type == "member_expression":
        function = function.child_by_field_name("property")
    return _text(function)


class _File:
    """One file: what its constants are, and the trees of its tools."""

    def __init__(self, root: "Node") -> None:
        self._places = list[tuple["Node", str]]()
        self._constants = dict[str, "Node"]()
        self._trees = dict[int, Tree]()
        names = Counter[str]()
        stack = [(root, "", False)]
        while stack:
            node, key, is_inner = stack.pop()
            kind = node.type
            if kind in _CALLS or (kind in _CONTAINERS and not is_inner):
                self._places.append((node, key))
            names.update(_declared(node))
            value = _field(node, "value") if kind in _FIELDS else None
            if value is not None:
                key = _key(node.child_by_field_name(_FIELDS[kind]))
                if kind == "variable_declarator":
                    self._constants[key] = value
            passes = is_inner if kind in _INNER else kind in _INSIDE
            key = key if kind in _INNER or value is not None else ""
            stack += [(child, key, passes) for child in reversed(node.named_children)]
        self._constants = {name: node for name, node in self._constants.items() if names[name] == 1}

    def texts(self) -> Iterator[ToolText]:
        """All texts, some twice."""
        for node, key in self._places:
            if node.type in _CALLS:
                yield from self._of_call(node, key)
            else:
                yield from texts_in({key: self._tree(node)} if node.type == "array" else self._tree(node))

    def _of_call(self, call: "Node", key: str) -> Iterator[ToolText]:
        """The texts of a call that makes a tool; its name is an argument, in an object, or before it."""
        method = _method(call)
        if not method.casefold().endswith("tool"):
            return
        trees = [self._tree(argument) for argument in _arguments(call)]
        at = next((at for at, tree in enumerate(trees[:2]) if isinstance(tree, Leaf)), -1)
        rest = trees[at + 1 :]
        node = next((tree for tree in rest if isinstance(tree, dict)), dict[str, Tree]())
        name = trees[at] if at >= 0 else node.get("name", node.get("id"))
        if at >= 0 and (method == "tool" or isinstance(rest[0] if rest else None, Leaf)):
            node = {"description": rest[0] if rest else None, "parameters": _shape(node)}
        tool = name.value if isinstance(name, Leaf) else key
        yield from texts_of(tool, node) if tool else ()

    def _tree(self, node: "Node | None") -> Tree:
        """An object, a list, a text, or the schema that a call makes; also behind a name."""
        while node is not None and node.type in _INNER:
            node = node.named_children[0]
        if node is None:
            return None
        if node.id not in self._trees:
            self._trees[node.id] = None  # of what refers to itself
            self._trees[node.id] = self._read(node)
        return self._trees[node.id]

    def _read(self, node: "Node") -> Tree:
        if node.type in ("object", "class_body"):
            return self._object(node)
        if node.type == "array":
            return [self._tree(item) for item in node.named_children]
        if node.type == "call_expression":
            return self._schema(node)
        if node.type in ("string", "template_string", "binary_expression"):
            spelled = _literal(node)
            return _leaf(node, spelled.value) if spelled else _refused(node)
        tree: Tree = None
        if node.type in ("identifier", "shorthand_property_identifier"):
            tree = self._tree(self._constants.get(_text(node)))
        elif node.type == "member_expression":
            tree = self._tree(node.child_by_field_name("object"))
            name = _text(node.child_by_field_name("property"))
            if isinstance(tree, dict):
                tree = tree.get(name, tree if name == "shape" else None)
        return _refused(node, tree.value) if isinstance(tree, Leaf) else tree

    def _object(self, node: "Node") -> Tree:
        tree = dict[str, Tree]()
        for part in node.named_children:
            named = part.child_by_field_name(_FIELDS.get(part.type, "key"))
            value = part if part.type == "shorthand_property_identifier" else _field(part, "value")
            key = _text(part) if named is None else _key(named)
            if value is None:
                continue
            item = self._tree(value)
            is_call = isinstance(item, dict) and value.type == "call_expression"
            if key == "description" and (item is None or (is_call and not _SCHEMA.match(_text(value)))):
                item = _refused(value)
            if isinstance(item, Leaf) and key in tree:
                item = replace(item, refused=f"{key} is written twice")
            if (
                key.startswith("[")
                and isinstance(item, dict)
                and isinstance(its := item.get("description"), Leaf)
            ):
                item = {**item, "description": replace(its, refused="its key is computed")}
            tree[key] = item
        return tree

    def _schema(self, node: "Node") -> Tree:
        """The schema of a chain of calls, as zod's and TypeBox's: ``z.object({…}).describe("…")``."""
        tree, below = dict[str, Tree](type=_TYPE), list[Tree]()
        described: Tree = None
        while node.type == "call_expression":
            method, arguments = _method(node), _arguments(node)
            trees = [self._tree(argument) for argument in arguments]
            first = trees[0] if trees else None
            if method == "describe" and arguments:
                leaf = first if isinstance(first, Leaf) else _refused(arguments[0])
                described = described or replace(leaf, what="zod .describe(…)")
            elif method in _OBJECTS:
                below.append(_shape(first))
            elif method in _ITEMS:
                tree["items"] = first
            else:
                below += [item for each in trees for item in (each if isinstance(each, list) else [each])]
                if isinstance(first, dict) and (method in _WRAPPERS or method[:1].isupper()):
                    described = described or first.get("description")
            function = node.child_by_field_name("function")
            inner = _field(function, "object") if function is not None else None
            if inner is None:
                break
            node = inner
        base = self._tree(node) if node.type != "call_expression" else None
        if isinstance(base, dict):
            below.append(base)
            described = described or base.get("description")
        return {**tree, "description": described, "anyOf": below}


def _shape(tree: Tree) -> Tree:
    """The schema of an object whose keys are arguments, whatever they are called."""
    is_schema = isinstance(tree, dict) and isinstance(tree.get("type"), Leaf)
    return tree if is_schema else {"type": _TYPE, "properties": tree}


def _leaf(node: "Node", value: str, refused: str = "") -> Leaf:
    return Leaf(value, node.start_byte, node.end_byte, node.start_point[0] + 1, _WHAT, refused)


def _refused(node: "Node", value: str = "") -> Leaf:
    is_name = node.type in ("identifier", "shorthand_property_identifier", "member_expression")
    reason = f"it is the name {_text(node)}" if is_name else "an expression computes it"
    return _leaf(node, value, _REASONS.get(node.type, reason))


def _key(node: "Node | None") -> str:
    """The name of a key; in brackets if it is computed."""
    inner = node.named_children[0] if node is not None and node.type == "computed_property_name" else node
    spelled = _literal(inner) if inner is not None else None
    return spelled.value if spelled else _text(node)


def _declared(node: "Node") -> Iterator[str]:
    """The names that a node declares or assigns."""
    declared = node.child_by_field_name(_DECLARING[node.type]) if node.type in _DECLARING else None
    names = (
        node.named_children
        if node.type in ("object_pattern", "array_pattern", "pair_pattern")
        else [declared]
    )
    for name in names:
        if name is not None and name.type in ("identifier", "shorthand_property_identifier_pattern"):
            yield _text(name)
