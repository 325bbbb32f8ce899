"""Keywords of JSON Schema where a file declares an argument: in a schema, a signature of Python, or zod.

Nothing is written: the result is shown to a human.
"""

import ast
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from coreloop.base.project.allowed_values import signature
from coreloop.base.project.definitions import Function, visible
from coreloop.base.project.python_source import UnprovenError, encode, parse_source
from coreloop.descriptions.schemas import SCHEMA_KEYS, Leaf, leaves, plain, schema_of
from coreloop.descriptions.texts import ToolText, find_text, find_texts

_TABLE: Final = Path(__file__).with_name("keywords.tsv").read_text("utf-8")


class _Spelling(NamedTuple):
    """A keyword: its types in JSON, and the patterns of types in Python and zod with what these become."""

    name: str
    types: str
    in_python: str
    python: str
    in_zod: str
    zod: str


_SPELLINGS: Final = {its.name: its for its in (_Spelling(*line.split("\t")) for line in _TABLE.splitlines())}
_IMPORTS: Final = {"Annotated": "typing", "Literal": "typing", "Field": "pydantic"}


class Keyword(NamedTuple):
    """A keyword about an argument; ``limit`` is a number or a list of values.

    ``required`` and ``additionalProperties`` (false) have none, and are of the tool's whole schema.
    """

    argument: str
    name: str
    limit: Any = None

    def refuses(self, value: object) -> bool:
        """Whether it is against a value; one of another type is refused."""
        if self.name == "enum":
            return value not in self.limit
        is_number = self.name in ("maximum", "minimum")
        if not isinstance(value, int | float if is_number else str | list):
            return True
        size: Any = value if is_number else len(value)  # type: ignore[arg-type]
        return bool(size < self.limit if self.name.startswith("min") else size > self.limit)

    def spelled(self, template: str, was: str) -> str:
        """What a declaration becomes."""
        return template.format(was=was, limit=json.dumps(self.limit, ensure_ascii=False).strip("[]"))


def with_keyword(path: str, raw: bytes, text: ToolText, keyword: Keyword) -> tuple[bytes, str]:
    """Put a keyword where a tool's argument is declared.

    Parameters
    ----------
    path, raw : str, bytes
        The file.
    text : ToolText
        A text of the tool.
    keyword : Keyword
        What to say.

    Returns
    -------
    tuple of bytes and str
        The file, unchanged if it says so already, cannot, or contradicts it; and then, if its declaration
        is not plain, what to write.
    """
    (properties, required), kind = schema_of(text.schema), _kind_of(path, text, keyword)
    declared, spelling = properties.get(keyword.argument, {}), _SPELLINGS.get(keyword.name)
    types, default = {*leaves(declared.get("type"))}, plain(declared.get("default"))
    is_other = kind == 0 and spelling is not None and types and types.isdisjoint(spelling.types.split())
    is_of_tool = keyword.name == "additionalProperties"
    is_here = keyword.name == "required" and keyword.argument in required
    if (keyword.argument in properties) == is_of_tool or is_other or is_here or (kind and is_of_tool):
        return raw, ""
    if spelling is not None and default is not None and keyword.refuses(default):
        return raw, ""
    with suppress(UnprovenError, ValueError):
        new = (_in_schema, _in_python, _in_zod)[kind](path, raw, text, keyword)
        before, after = (find_texts(path, its, (text.symbol,)) for its in (raw, new))
        if [(its.name, its.value) for its in before] == [(its.name, its.value) for its in after]:
            return new, ""
    if kind == 0:
        return raw, '"{1}": {2}'.format(*_place(text.schema, keyword))
    if spelling is None:
        return raw, f"{keyword.argument} without a default"
    pattern, template = spelling[2:4] if kind == 1 else spelling[4:]
    example = pattern.partition("|")[0].replace("\\", "")
    return raw, f"{keyword.argument}: {keyword.spelled(template, example)}"


def _kind_of(path: str, text: ToolText, keyword: Keyword) -> int:
    """What declares an argument: 0 for a schema, 1 for Python, 2 for zod."""
    is_code = re.search(r"\.(?:py|[cm]?[jt]sx?)\Z", path) and _anchor(_place(text.schema, keyword)[0]) is None
    return (1 if path.endswith(".py") else 2) if is_code else 0


def _place(node: Any, keyword: Keyword) -> tuple[dict[str, Any], str, str]:
    """The object of a tool's schema that a keyword belongs to, and its key and value there."""
    schema: dict[str, Any] = next((node[key] for key in SCHEMA_KEYS if isinstance(node.get(key), dict)), {})
    if keyword.limit is None:
        value = json.dumps([keyword.argument], ensure_ascii=False) if keyword.name == "required" else "false"
        return schema if "properties" in schema else schema.get("json", schema), keyword.name, value
    holder = schema_of(node)[0].get(keyword.argument, {})
    return holder, keyword.name, json.dumps(keyword.limit, ensure_ascii=False)


def _anchor(holder: Mapping[str, Any]) -> Leaf | None:
    """A text of an object in the file, beside which a key can stand."""
    leaf = holder.get("type", holder.get("description"))
    return leaf if isinstance(leaf, Leaf) and "string" in leaf.what else None


def _in_schema(path: str, raw: bytes, text: ToolText, keyword: Keyword) -> bytes:
    holder, key, value = _place(text.schema, keyword)
    listed, beside = holder.get(key), _anchor(holder)
    if key == "required" and isinstance(listed, list) and listed and isinstance(listed[-1], Leaf):
        new = _beside(raw, listed[-1], value[1:-1])
    elif beside is None or key in holder:
        raise UnprovenError("the schema has another, or no place for it")
    else:
        value = "False" if value == "false" and path.endswith(".py") else value
        new = _beside(raw, beside, f'"{key}": {value}')
    after = plain(_place(find_text(path, new, text.name).schema, keyword)[0])
    if key not in after or after != {**plain(holder), key: after[key]}:
        raise UnprovenError("more than the keyword would change")
    return new


def _beside(raw: bytes, leaf: Leaf, item: str) -> bytes:
    """A file with a pair or an item behind a text, on a line of its own if that is."""
    before = raw[raw.rfind(b"\n", 0, leaf.start) + 1 : leaf.start].decode()
    indent = re.match(r"(\s*)(?:\"[^\"]*\": *)?\Z", before)
    gap = " " if indent is None else ("\r\n" if b"\r\n" in raw else "\n") + indent[1]
    return raw[: leaf.end] + f",{gap}{item}".encode() + raw[leaf.end :]


def _in_zod(path: str, raw: bytes, text: ToolText, keyword: Keyword) -> bytes:
    """The chain of calls behind the argument's name, up to its description."""
    leaf = schema_of(text.schema)[0][keyword.argument].get("type")
    start, end = (leaf.start, leaf.end) if isinstance(leaf, Leaf) else (0, 0)
    chain, described, rest = raw[start:end].decode().partition(".describe(")
    name = re.escape(keyword.argument).encode()
    if not re.search(rb"(?<![\w$])[\"']?%b[\"']?\s*:\s*\Z" % name, raw[:start]):
        raise UnprovenError("it is not declared here")
    if re.search(r"\.(?:default|nullish|min|max)\(", chain):
        raise UnprovenError("it is not declared plainly")
    spelling = _SPELLINGS.get(keyword.name)
    if spelling is None:
        new = re.sub(r"(?<!\s)\s*\.optional\(\)", "", chain)
    else:
        new = _respelled(spelling.in_zod.replace(r"z\.", r"z\s*\."), spelling.zod, chain, keyword)
    return raw[:start] + (new + described + rest).encode() + raw[end:]


def _respelled(pattern: str, template: str, declared: str, keyword: Keyword) -> str:
    match = re.match(rf"((?:Annotated\[|Optional\[)*)({pattern})(?![\w\[])", declared)
    if match is None:
        raise UnprovenError("its type is not plain")
    new, rest = keyword.spelled(template, match[2]), declared[match.end() :]
    field = re.match(r",\s*Field\((?=\w+=)", rest) if match[1] == "Annotated[" else None
    if field is not None and "Field(" in new:  # it has one already
        limit = new.partition("Field(")[2].removesuffix(")]")
        return f"{match[1]}{match[2]}{field[0]}{limit}, {rest[field.end() :]}"
    return match[1] + new + rest


def _in_python(path: str, raw: bytes, text: ToolText, keyword: Keyword) -> bytes:
    """An argument of the tool's function, or else the only field of that name."""
    source = parse_source(raw)
    scopes = [*(node for name, node in visible(source.tree) if name == text.symbol), source.tree]
    declared = next(filter(None, (list(_declared(its, keyword.argument)) for its in scopes)), [])
    if len(declared) != 1:
        raise UnprovenError("it is not declared once, with a type")
    annotation, default = declared[0]
    start, end = source.span(annotation)
    spelling, new = _SPELLINGS.get(keyword.name), raw[start:end].decode(source.encoding)
    if spelling is None:
        if isinstance(default, ast.Call):
            raise UnprovenError("its default is computed")
        end = source.span(default)[1] if default is not None else end
    elif isinstance(default, ast.Constant) and default.value is not None and keyword.refuses(default.value):
        return raw
    else:
        new = _respelled(spelling.in_python, spelling.python, new, keyword)
    imports = [its for its in source.tree.body if getattr(its, "module", "__future__") != "__future__"]
    bound = {alias.name for its in imports for alias in getattr(its, "names", ())}
    names = {name: module for name, module in _IMPORTS.items() if name in new and name not in bound}
    lines = [f"from {module} import {name}" for name, module in names.items()]
    if lines and not imports:
        raise UnprovenError("it imports nothing")
    at = source.line_starts[imports[0].lineno - 1] if lines else 0
    newline = "\r\n" if b"\r\n" in raw else "\n"
    added = encode("".join(line + newline for line in lines), source.encoding)
    return raw[:at] + added + raw[at:start] + encode(new, source.encoding) + raw[end:]


def _declared(scope: ast.AST, name: str) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """The types and defaults of the arguments and fields of a name."""
    for node in ast.walk(scope):
        pairs = list(signature(node)) if isinstance(node, Function) else []
        yield from ((its.annotation, default) for its, default in pairs if its.arg == name and its.annotation)
        if isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == name:
            yield node.annotation, node.value
