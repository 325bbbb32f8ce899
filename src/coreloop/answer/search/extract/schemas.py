"""Declared schemas: the fields of JSON Schema and OpenAPI (JSON or YAML) and the columns of SQL tables."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, Final

from coreloop.answer.search.extract.document import Document, Entry, Unreadable

MAX_SCHEMA_CHARS: Final = 5_000_000
MAX_ENTRIES: Final = 20_000
_MAX_CHARS: Final = 2_000
_STRUCTURE: Final = frozenset(
    {"properties", "components", "schemas", "$defs", "definitions", "paths", "parameters"}
)
_TABLE: Final = re.compile(
    r"\s*create\s[\w\s]{0,60}?\btable\s(?:\s*if\s+not\s+exists\s)?\s*(?P<name>[^\s(]+)\s*(?:\(|$)",
    re.IGNORECASE,
)  # CREATE TABLE IF NOT EXISTS shop."orders" (
_COLUMN: Final = re.compile(r"\s*([\"`\[]?\w+)[\"`\]]?\s+(\w+)")  # "total" numeric
_QUOTED: Final = re.compile(r"'[^'\n]*'")
_NO_COLUMN: Final = frozenset(
    {"primary", "foreign", "unique", "constraint", "check", "key", "index", "exclude", "like", "fulltext"}
)


def extract_schema(text: str) -> Document | Unreadable:
    """Read a JSON, YAML or SQL file that coreloop.yaml names under ``schemas``."""
    if len(text) > MAX_SCHEMA_CHARS:
        return Unreadable(f"schema with more than {MAX_SCHEMA_CHARS:,} characters")
    parsed = _parsed(text)
    found = _fields(parsed, text) if isinstance(parsed, dict) else _columns(text)
    entries = tuple(islice(found, MAX_ENTRIES))
    if not entries:
        return Unreadable("not a schema")
    return Document(type="schema", text=text, sections=(), entries=entries)


def _parsed(text: str) -> Any:
    """Return what a JSON or YAML file says; None for another one."""
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    import yaml

    try:
        return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, ValueError, RecursionError):
        return None


def _fields(schema: Any, text: str) -> Iterator[Entry]:
    """Yield what is described in the order of the text; aliases of YAML are walked once."""
    waiting: list[tuple[tuple[str, ...], Any]] = [((), schema)]
    seen, place, line = set[int](), 0, 1
    while waiting:
        path, node = waiting.pop()
        is_field = path[-2:-1] == ("properties",)
        if path and isinstance(node, dict) and (is_field or {"name", "in"} <= node.keys()):
            owner = [part for part in path[:-1] if part not in _STRUCTURE]
            name = path[-1] if is_field else str(node["name"])
            found = max(place, text.find(name, place))
            line += text.count("\n", place, found)
            place = found
            yield _entry([*owner, name], line, node)
        if id(node) not in seen:
            seen.add(id(node))
            children = node.items() if isinstance(node, dict) else enumerate(node)
            nodes = [((*path, str(key)), child) for key, child in children if isinstance(child, dict | list)]
            waiting += reversed(nodes)


def _entry(names: list[str], line: int, node: dict[str, Any]) -> Entry:
    kind = node.get("type") or node.get("$ref") or ""
    said = " ".join(str(node.get("description", "")).split())
    text = f"{' '.join(names)}{f' ({kind})' if kind else ''}{f': {said}' if said else ''}"
    return Entry(kind="schema", name=f"#{'.'.join(names)}", line=line, text=text[:_MAX_CHARS])


def _columns(sql: str) -> Iterator[Entry]:
    """Yield the columns of ``CREATE TABLE``; a comment at the end of a line is of its columns."""
    table = ""
    for number, line in enumerate(sql.split("\n"), 1):
        code, _, comment = _QUOTED.sub("", line).partition("--")
        if begins := _TABLE.match(code):
            table = begins["name"].rpartition(".")[2].strip('"`[]')
            code = code[begins.end() :]
        for part in code.split(",") if table else ():
            if (column := _COLUMN.match(part)) and column[1].casefold() not in _NO_COLUMN:
                said = f": {comment.strip()}" if comment.strip() else ""
                name = column[1].strip('"`[')
                text = f"table {table} column {name} ({column[2]}){said}"
                yield Entry(kind="schema", name=f"#{table}.{name}", line=number, text=text[:_MAX_CHARS])
        if ";" in code:
            table = ""
