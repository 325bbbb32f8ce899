"""Which texts of a tree of values describe tools and their arguments, as providers and frameworks write them.

A tree is what a file or an expression of Python says, with the place of each text.
"""

import re
from bisect import bisect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

from coreloop.descriptions.texts import ToolText


@dataclass(frozen=True, slots=True)
class Leaf:
    """A text of a tree; attributes as of `ToolText`."""

    value: str
    start: int
    end: int
    line: int
    what: str
    refused: str = ""


Tree: TypeAlias = "dict[str, Tree] | list[Tree] | Leaf | float | None"

SCHEMA_KEYS: Final = (
    *("parameters", "inputSchema", "input_schema", "parametersJsonSchema", "parameters_json_schema"),
    *("params_json_schema", "args_schema", "json_schema", "schema", "inputs", "run_params_schema"),
)
_LISTS: Final = ("tools", "functions", "functiondeclarations", "function_declarations")
_WRAPPERS: Final = frozenset({"function", "toolSpec", "custom"})
_BRANCHES: Final = ("anyOf", "oneOf", "allOf")


def placed(
    raw: bytes,
    token: re.Pattern[bytes],
    parse: Callable[[bytes], Any],
    what: str,
    refuse: Callable[[bytes, str], str],
) -> Tree:
    """The tree of a file, whose texts are found by their numbers: it is parsed again with these instead.

    Parameters
    ----------
    raw, parse
        The file, and its parser.
    token : re.Pattern
        Its group ``value`` matches each text that is a value.
    what : str
        As in `ToolText`.
    refuse : callable
        Why a literal, with a number in the tree that is parsed again, cannot be edited.
    """
    spans, breaks = list[tuple[int, int]](), [match.start() for match in re.finditer(b"\n", raw)]

    def numbered(match: re.Match[bytes]) -> bytes:
        if match["value"] is None:
            return match[0]
        spans.append(match.span("value"))
        return b'"#%d"' % (len(spans) - 1)

    root = [parse(raw)]
    stack: list[tuple[Any, Any]] = [(root, [parse(token.sub(numbered, raw))])]
    while stack:
        tree, numbers = stack.pop()
        for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
            number = numbers[key]
            if isinstance(value, dict | list):
                stack.append((value, number))
            elif isinstance(value, str) and number != value:
                start, end = spans[int(number[1:])]
                refused = refuse(raw[start:end], number)
                tree[key] = Leaf(value, start, end, bisect(breaks, start) + 1, what, refused)
            elif not isinstance(value, float | int):
                tree[key] = None
    return cast(Tree, root[0])


def texts_in(tree: Tree) -> Iterator[ToolText]:
    """The texts of all tools in a tree: objects with a name, and mappings of names to descriptions.

    They are written as by OpenAI, Anthropic, MCP, Gemini or Bedrock: a name with a schema, or with a
    description in a list of tools.
    """
    stack: list[tuple[str, str, Tree]] = [("", "", tree)]
    seen = set[tuple[str, int]]()  # names in Python may make a tree endless
    while stack:
        above, key, node = stack.pop()
        if (key, id(node)) in seen:
            continue
        seen.add((key, id(node)))
        if isinstance(node, list):
            stack.extend((key, "", item) for item in reversed(node))
        elif isinstance(node, dict):
            tool = _tool(above, key, node)
            if tool:
                yield from texts_of(tool, node)
            else:
                stack.extend((key, below, item) for below, item in reversed(node.items()))


def _tool(above: str, key: str, node: dict[str, Tree]) -> str:
    """The name of the tool that an object defines; empty if it defines none."""
    if "in" in node or "responses" in node or "/" in key:  # parameter, operation, media type of OpenAPI
        return ""
    name, is_described = node.get("name"), isinstance(node.get("description"), Leaf)
    schema = next((node[its] for its in SCHEMA_KEYS if isinstance(node.get(its), dict | list)), None)
    has_properties = isinstance(schema, dict) and "properties" in schema
    is_tool = has_properties or (is_described and schema is not None)
    is_listed = is_described and above.casefold().endswith(_LISTS)
    if isinstance(name, Leaf):
        return name.value if is_tool or is_listed or (is_described and key == "function") else ""
    return key if (is_tool or is_listed) and key not in _WRAPPERS and "name" not in node else ""


def texts_of(tool: str, node: dict[str, Tree], symbol: str = "") -> Iterator[ToolText]:
    """The texts of one tool: its description, and those in its schema.

    Parameters
    ----------
    tool : str
        Its name.
    node : dict
        ``description``, and one of `SCHEMA_KEYS`.
    symbol : str
        As in `ToolText`.
    """
    described = [("", node.get("description"))]
    described += [pair for key in SCHEMA_KEYS if key in node for pair in _arguments(node[key])]
    for argument, leaf in described:
        if isinstance(leaf, Leaf):
            place = leaf.start, leaf.end, leaf.line, leaf.what
            yield ToolText(tool, argument, leaf.value, *place, symbol, leaf.refused, node)


def schema_of(node: object) -> tuple[dict[str, dict[str, Tree]], tuple[str, ...]]:
    """The arguments of a tool's tree by name, and which of them it requires."""
    schemas = [node[key] for key in SCHEMA_KEYS if key in node] if isinstance(node, dict) else []
    schema = _unwrapped(schemas[0]) if schemas else None
    top = _referred(schema, schema)
    parts = [pair for part in (top, *_branches(top)) for pair in _properties(part, is_top=part is top)]
    required = leaves(schema.get("required")) if isinstance(schema, dict) else ()
    return dict(parts), tuple(name for name in required if name in dict(parts))


def nodes(tree: object) -> Iterator[object]:
    """All parts of a tree in its order, each once, since names in Python may make a tree endless."""
    stack, seen = [tree], set[int]()
    while stack:
        node = stack.pop()
        if isinstance(node, dict | list) and id(node) not in seen:
            seen.add(id(node))
            stack.extend(reversed(list(node.values()) if isinstance(node, dict) else node))
            yield node
        elif isinstance(node, Leaf):
            yield node


def leaves(tree: object) -> Iterator[str]:
    """The texts of a tree, in its order."""
    return (node.value for node in nodes(tree) if isinstance(node, Leaf))


def plain(node: object, deep: int = 9) -> Any:
    """A tree without its places."""
    if isinstance(node, dict):
        return {key: plain(item, deep - 1) for key, item in node.items()} if deep else {}
    if isinstance(node, list):
        return [plain(item, deep - 1) for item in node] if deep else []
    return node.value if isinstance(node, Leaf) else node


def _arguments(schema: Tree) -> Iterator[tuple[str, Tree]]:
    """The arguments of a schema with their descriptions, those of objects dotted, those of items with []."""
    schema = _unwrapped(schema)
    stack, seen = [("", schema)], set[int]()
    while stack:
        prefix, node = stack.pop()
        node = _referred(schema, node)
        properties = list(_properties(node, is_top=node is schema))
        named = [(f"{prefix}.{key}".lstrip("."), item) for key, item in properties]
        yield from ((argument, item.get("description")) for argument, item in named)
        if not isinstance(node, dict) or id(node) in seen:  # what is used twice is shared, and may be endless
            continue
        seen.add(id(node))
        below: list[tuple[str, Tree]] = list(named)
        items = node.get("items")
        if isinstance(items, dict):
            yield f"{prefix}[]", items.get("description")
        below.append((prefix, items))
        below += [(prefix, each) for each in _branches(node)]
        stack.extend(reversed(below))


def _branches(node: Tree) -> list[Tree]:
    """The schemas that a schema is made of."""
    several = [node.get(key) for key in _BRANCHES] if isinstance(node, dict) else []
    return [each for one in several if isinstance(one, list) for each in one]


def _unwrapped(schema: Tree) -> Tree:
    """A schema without the object around it in Bedrock's format."""
    wrapped = schema.get("json") if isinstance(schema, dict) else None
    return wrapped if isinstance(wrapped, dict) and "properties" in wrapped else schema


def _properties(node: Tree, *, is_top: bool) -> Iterator[tuple[str, dict[str, Tree]]]:
    """The properties of an object: of JSON Schema, of a list of parameters, or of a plain mapping."""
    if isinstance(node, list) and is_top:
        for item in node:
            if isinstance(item, dict) and isinstance(name := item.get("name"), Leaf):
                yield name.value, item
    if isinstance(node, dict):
        properties = node.get("properties")
        if properties is None and is_top and not isinstance(node.get("type"), Leaf):
            properties = node
        if isinstance(properties, dict):
            yield from ((key, item) for key, item in properties.items() if isinstance(item, dict))


def _referred(schema: Tree, node: Tree) -> Tree:
    """What a reference to a definition of the schema refers to."""
    if not isinstance(node, dict) or not isinstance(schema, dict):
        return node
    reference = node.get("$ref")
    defined = schema.get("$defs", schema.get("definitions"))
    if isinstance(reference, Leaf) and isinstance(defined, dict):
        return defined.get(reference.value.rpartition("/")[2])
    return node
