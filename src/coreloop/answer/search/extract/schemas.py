"""Declared schemas: the fields of JSON Schema and OpenAPI (JSON or YAML) and the columns of SQL tables."""

import json
from collections.abc import Iterator
from typing import Any, Final

from coreloop.answer.search.extract.ddl import read_columns
from coreloop.answer.search.extract.decode import decode_text
from coreloop.answer.search.extract.document import Document, Entry, Section, Unreadable

MAX_BYTES: Final = 5_000_000
MAX_ENTRIES: Final = 20_000
_MAX_DEPTH: Final = 40
_MAX_CHARS: Final = 2_000
_NO_SCHEMA: Final = Unreadable("not a schema")
_METHODS: Final = frozenset({"get", "put", "post", "delete", "options", "head", "patch", "trace"})


def extract_schema(data: bytes) -> Document | Unreadable:
    """Read a JSON, YAML or SQL file that coreloop.yaml names under ``schemas``."""
    if len(data) > MAX_BYTES:
        return Unreadable(f"schema larger than {MAX_BYTES // 1_000_000} MB")
    text = decode_text(data)
    if isinstance(text, Unreadable):
        return text
    entries = tuple(_entries(text))[:MAX_ENTRIES]
    if not entries:
        return _NO_SCHEMA
    return Document(type="schema", text=text, sections=(Section(0, 0, 1),), entries=entries)


def _entries(text: str) -> Iterator[Entry]:
    parsed = _parsed(text)
    if isinstance(parsed, dict):
        yield from _Walk(text).walk(parsed)
        return
    for column in read_columns(text):
        described = f": {column.comment}" if column.comment else ""
        yield Entry(
            kind="schema",
            name=f"#{column.table}.{column.name}",
            line=column.line,
            text=f"table {column.table} column {column.name} ({column.type}){described}",
            is_documented=bool(column.comment),
        )


def _parsed(text: str) -> Any:
    """Return what a JSON or YAML file says; None for another one."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    import yaml

    try:
        return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, ValueError, RecursionError):
        return None


class _Walk:
    """Walks a schema in the order of its text; aliases of YAML are walked once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place, self._line = 0, 1
        self._seen: set[int] = set()
        self._left = MAX_ENTRIES

    def walk(self, node: Any, ref: str = "#", depth: int = 0) -> Iterator[Entry]:
        if (
            not isinstance(node, dict | list)
            or depth > _MAX_DEPTH
            or id(node) in self._seen
            or not self._left
        ):
            return
        self._seen.add(id(node))
        for key, child in node.items() if isinstance(node, dict) else enumerate(node):
            place = f"{ref}/{_escaped(str(key))}"
            is_field = ref.endswith("/properties") and isinstance(child, dict)
            is_operation = ref.startswith("#/paths/") and key in _METHODS and isinstance(child, dict)
            is_parameter = isinstance(child, dict) and isinstance(child.get("name"), str) and "in" in child
            if is_field or is_operation or is_parameter:
                self._left -= 1
                yield self._entry(child["name"] if is_parameter else str(key), child, place)
            yield from self.walk(child, place, depth + 1)

    def _entry(self, name: str, node: dict[str, Any], ref: str) -> Entry:
        described = " ".join((_text(node, "summary") or _text(node, "description")).split())
        inner = node.get("schema")
        kind = (
            _text(node, "type")
            or _text(node, "$ref")
            or _text(inner if isinstance(inner, dict) else {}, "type")
        )
        type_ = f" ({kind})" if kind else ""
        owner = " ".join(part for part in ref.split("/")[1:-1] if part not in STRUCTURE)
        what = f"{owner} {name}".strip()
        values = node.get("enum")
        plain = (
            [str(one) for one in values[:20] if isinstance(one, str | int)]
            if isinstance(values, list)
            else []
        )
        listed = f" One of {', '.join(plain)}." if plain else ""
        said = f": {described}" if described else ""
        return Entry(
            kind="schema",
            name=ref,
            line=self._line_of(name),
            text=f"{what}{type_}{said}{listed}"[:_MAX_CHARS],
            is_documented=bool(described),
        )

    def _line_of(self, name: str) -> int:
        """The line of a name's next occurrence; the last one if there is none."""
        found = self._text.find(name, self._place)
        if found >= 0:
            self._line += self._text.count("\n", self._place, found)
            self._place = found
        return self._line


STRUCTURE: Final = frozenset(
    {"properties", "components", "schemas", "$defs", "definitions", "paths", "parameters"}
)


def _text(node: dict[str, Any], key: str) -> str:
    value = node.get(key)
    return value if isinstance(value, str) else ""


def _escaped(key: str) -> str:
    """A key in a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")
