"""Texts in TypeScript and JavaScript: string and template literals that describe a tool or an argument.

Objects, lists and zod's calls become trees for `descriptions.schemas`.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final, cast

from coreloop.base.extras import needs
from coreloop.descriptions.schemas import SCHEMA_KEYS, Leaf, Tree, texts_in, texts_of
from coreloop.descriptions.source import UnprovenError
from coreloop.descriptions.spelled import Cut, Spelled, read_spelled, unescape
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
_INNER: Final = ("parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression")
"""What is only around a value."""
_NAMING: Final = ("pair", "variable_declarator", "public_field_definition")
_DECLARING: Final = ("_declarator", "_parameter", "_pattern", "_declaration", "assignment_expression")
"""What declares or assigns a name that stands in it."""
_CALLS: Final = ("call_expression", "new_expression")
_CONTAINERS: Final = ("object", "array", "class_body")
_INSIDE: Final = (*_CONTAINERS, "pair", "public_field_definition")
_OBJECTS: Final = ("object", "strictObject", "looseObject", "extend", "safeExtend", "Object")
_KEYWORDS: Final = {**dict.fromkeys(("array", "set", "Array"), "items"), "enum": "enum", "default": "default"}
_SCHEMA: Final = re.compile(r"(?:z|zod|Type)\s*\.")
"""What a library makes: of an argument that is called description, too; others may have a text elsewhere."""
_WRAPPERS: Final = ("meta", "openapi", "optional", "nullable", "nullish")
_TYPE: Final = Leaf("object", 0, 0, 0, "")
_REASONS: Final = {
    "binary_expression": "it is a concatenation",
    "template_string": "it is a template with an expression",
    "call_expression": "a call computes it",
}


def find(raw: bytes) -> list[ToolText]:
    """All texts of a file, in no order, some twice."""
    return list(_File(_root(raw)).texts()) if re.search(rb"descri|[tT]ool", raw) else []


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
    flat, stack = list[object](), [_root(raw)]
    while stack:
        node = stack.pop()
        spelled = _literal(node)
        flat.append((node.type, spelled.value if spelled else node.child_count or node.text))
        stack += () if spelled else node.children
    return flat


def spell(raw: bytes, text: ToolText, cut: Cut) -> bytes:
    """The literal with a cut; the rest is spelled as it was."""
    literal = raw[text.start : text.end].decode()
    quote, inside = literal[0], literal[1:-1]
    is_on_lines = quote == "`" and "\n" in inside
    newline = ("\r\n" if b"\r\n" in raw else "\n") if is_on_lines else "\\n"

    def spell_piece(piece: str) -> str:
        escaped = piece.replace("\\", "\\\\").replace(quote, f"\\{quote}")
        escaped = escaped.replace("${", "\\${") if quote == "`" else escaped
        return escaped.replace("\n", newline)

    return f"{quote}{_read(inside).replaced(text.value, cut, spell_piece)}{quote}".encode()


def _literal(node: "Node") -> Spelled | None:
    """The inside of a string, or of a template without expressions."""
    if node.type == "template_string" and any(its.type == "template_substitution" for its in node.children):
        return None
    return _read(_text(node)[1:-1]) if node.type in ("string", "template_string") else None


def _read(inside: str) -> Spelled:
    return read_spelled(inside, _PARTS, _meaning)


def _meaning(part: re.Match[str]) -> str:
    spelled = part.group()
    if len(spelled) == 12:
        return str(json.loads(f'"{spelled}"'))
    return "\n" if spelled[0] == "\r" else unescape(spelled, _NAMES)


def _text(node: "Node | None") -> str:
    return (node.text or b"").decode(errors="replace") if node is not None else ""


def _field(node: "Node", name: str) -> "Node | None":
    """A part of a node, without what is only around it."""
    part = node.child_by_field_name(name)
    return _bare(part) if part is not None else None


def _bare(node: "Node") -> "Node":
    while node.type in _INNER:
        node = node.named_children[0]
    return node


def _arguments(call: "Node") -> list["Node"]:
    arguments = call.child_by_field_name("arguments")
    nodes = arguments.named_children if arguments is not None and arguments.type == "arguments" else []
    return [node for node in nodes if node.type != "comment"]


def _method(call: "Node") -> str:
    """The last name of what a call calls."""
    function = call.child_by_field_name("function") or call.child_by_field_name("constructor")
    return _text(function.child_by_field_name("property") or function) if function is not None else ""


class _File:
    """One file: what its constants are, and the trees of its tools."""

    def __init__(self, root: "Node") -> None:
        self._places = list[tuple["Node", str]]()
        self._constants = dict[str, "Node"]()
        self._trees = dict[int, Tree]()
        names, stack = Counter[str](), [(root, root)]
        while stack:
            node, above = stack.pop()
            if node.type in _CALLS or (node.type in _CONTAINERS and above.type not in _INSIDE):
                self._places.append((node, _key(above) if above.type in _NAMING else ""))
            is_pattern = node.type == "shorthand_property_identifier_pattern"
            if is_pattern or (node.type == "identifier" and above.type.endswith(_DECLARING)):
                names[_text(node)] += 1
            value = _field(node, "value") if node.type == "variable_declarator" else None
            if value is not None:
                self._constants[_key(node)] = value
            around = above if node.type in _INNER else node
            stack += [(child, around) for child in reversed(node.named_children)]
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
        if not re.search("(?i)tool(task)?$", method):
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
        if node is None:
            return None
        node = _bare(node)
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
            tree, name = self._tree(_field(node, "object")), _text(_field(node, "property"))
            if isinstance(tree, dict):
                tree = tree.get(name, tree if name == "shape" else None)
        return _refused(node, tree.value) if isinstance(tree, Leaf) else tree

    def _object(self, node: "Node") -> Tree:
        tree = dict[str, Tree]()
        for part in node.named_children:
            value = part if part.type == "shorthand_property_identifier" else _field(part, "value")
            if value is None:
                continue
            key, item = _key(part), self._tree(value)
            is_text = item is None or value.type == "call_expression"
            if key == "description" and is_text and not _SCHEMA.match(_text(value)):
                item = _refused(value)
            if isinstance(item, Leaf) and key in tree:
                item = replace(item, refused=f"{key} is written twice")
            tree[key] = {} if item is None and key in SCHEMA_KEYS else item  # imported
        return tree

    def _schema(self, node: "Node | None") -> Tree:
        """The schema of a chain of calls, as zod's and TypeBox's: ``z.object({…}).describe("…")``."""
        below, described = list[Tree](), cast(Tree, None)
        tree: dict[str, Tree] = {"type": _TYPE, "$ref": None if _SCHEMA.match(_text(node)) else _TYPE}
        while node is not None and node.type == "call_expression":
            method, arguments = _method(node), _arguments(node)
            trees = [self._tree(argument) for argument in arguments]
            first = trees[0] if trees else None
            if method == "describe" and arguments:
                leaf = first if isinstance(first, Leaf) else _refused(arguments[0])
                described = described or replace(leaf, what="zod .describe(…)")
            elif method in _OBJECTS:
                below.append(_shape(first))
            elif method in _KEYWORDS:
                tree[_KEYWORDS[method]] = first
            else:
                below += [item for each in trees for item in (each if isinstance(each, list) else [each])]
                if isinstance(first, dict) and (method in _WRAPPERS or method[:1].isupper()):
                    described = described or first.get("description")
            function = node.child_by_field_name("function")
            node = _field(function, "object") if function is not None else None
        base = self._tree(node)
        if isinstance(base, dict):
            below.append(base)
            described = described or base.get("description")
        return {**tree, "description": described, "anyOf": below}


def _shape(tree: Tree) -> Tree:
    """The schema of an object whose keys are arguments, whatever they are called."""
    is_schema = isinstance(tree, dict) and isinstance(tree.get("type"), Leaf)
    return tree if is_schema else {"type": _TYPE, "properties": tree}


def _leaf(node: "Node", value: str, refused: str = "") -> Leaf:
    return Leaf(value, node.start_byte, node.end_byte, node.start_point[0] + 1, "TypeScript string", refused)


def _refused(node: "Node", value: str = "") -> Leaf:
    is_name = node.type in ("identifier", "shorthand_property_identifier", "member_expression")
    reason = f"it is the name {_text(node)}" if is_name else "an expression computes it"
    return _leaf(node, value, _REASONS.get(node.type, reason))


def _key(node: "Node") -> str:
    """The name that a pair, variable or field gives; in brackets if it is computed."""
    name = node.child_by_field_name("key") or node.child_by_field_name("name") or node
    spelled = _literal(name)
    return spelled.value if spelled else _text(name)
