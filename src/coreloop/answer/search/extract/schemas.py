"""Declared schemas: the fields of JSON Schema and OpenAPI (JSON or YAML) and the columns of SQL tables."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from coreloop.answer.search.extract.decode import decode_text
from coreloop.answer.search.extract.document import Document, Entry, Section, Unreadable

MAX_BYTES: Final = 5_000_000
MAX_ENTRIES: Final = 20_000
_MAX_DEPTH: Final = 40
_MAX_CHARS: Final = 2_000
_METHODS: Final = frozenset({"get", "put", "post", "delete", "options", "head", "patch", "trace"})
STRUCTURE: Final = frozenset(
    {"properties", "components", "schemas", "$defs", "definitions", "paths", "parameters"}
)
_SQL: Final = re.compile(
    r"""(?P<comment> --[^\n]* | /\*.*?(?:\*/|\Z) ) | (?P<text> '(?:[^']|'')*(?:'|\Z) )
      | (?P<name> [^\W\d][\w.]* | "[^"\n]*" | `[^`\n]*` | \[[^\[\]\n]*\] ) | (?P<line> \n )
      | (?P<sign> [^\s] )""",
    re.VERBOSE | re.DOTALL,
)  # -- in KRW; 'it''s'; "orders", shop.orders
_NO_COLUMN: Final = frozenset(
    {"primary", "foreign", "unique", "constraint", "check", "key", "index", "exclude", "like", "fulltext"}
)


def extract_schema(data: bytes) -> Document | Unreadable:
    """Read a JSON, YAML or SQL file that coreloop.yaml names under ``schemas``."""
    if len(data) > MAX_BYTES:
        return Unreadable(f"schema larger than {MAX_BYTES // 1_000_000} MB")
    text = decode_text(data)
    if isinstance(text, Unreadable):
        return text
    parsed = _parsed(text)
    found = _Fields(text).walk(parsed) if isinstance(parsed, dict) else _Columns().read(text)
    entries = tuple(islice(found, MAX_ENTRIES))
    if not entries:
        return Unreadable("not a schema")
    return Document(type="schema", text=text, sections=(Section(0, 0, 1),), entries=entries)


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


class _Fields:
    """Walks a schema in the order of its text; aliases of YAML are walked once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place, self._line = 0, 1
        self._seen: set[int] = set()

    def walk(self, node: Any, ref: str = "#", depth: int = 0) -> Iterator[Entry]:
        if not isinstance(node, dict | list) or depth > _MAX_DEPTH or id(node) in self._seen:
            return
        self._seen.add(id(node))
        for key, child in node.items() if isinstance(node, dict) else enumerate(node):
            place = f"{ref}/{str(key).replace('~', '~0').replace('/', '~1')}"  # a JSON pointer (RFC 6901)
            if isinstance(child, dict):
                is_operation = ref.startswith("#/paths/") and key in _METHODS
                if isinstance(child.get("name"), str) and "in" in child:
                    yield self._entry(child["name"], child, place)
                elif ref.endswith("/properties") or is_operation:
                    yield self._entry(str(key), child, place)
            yield from self.walk(child, place, depth + 1)

    def _entry(self, name: str, node: dict[str, Any], ref: str) -> Entry:
        described = " ".join((_text(node, "summary") or _text(node, "description")).split())
        kind = _text(node, "type") or _text(node, "$ref") or _text(node.get("schema"), "type")
        owner = " ".join(part for part in ref.split("/")[1:-1] if part not in STRUCTURE)
        values: Any = node.get("enum")
        values = values if isinstance(values, list) else []
        listed = ", ".join(str(value) for value in values[:20] if isinstance(value, str | int))
        found = max(self._place, self._text.find(name, self._place))
        self._line += self._text.count("\n", self._place, found)
        self._place = found
        text = f"{f'{owner} {name}'.strip()}{f' ({kind})' if kind else ''}"
        text += f"{f': {described}' if described else ''}{f' One of {listed}.' if listed else ''}"
        return Entry(kind="schema", name=ref, line=self._line, text=text[:_MAX_CHARS])


def _text(node: Any, key: str) -> str:
    value = node.get(key) if isinstance(node, dict) else None
    return value if isinstance(value, str) else ""


@dataclass(slots=True)
class _Column:
    table: str
    name: str
    line: int
    type: str = ""
    comment: str = ""

    def entry(self) -> Entry:
        said = f": {self.comment}" if self.comment else ""
        text = f"table {self.table} column {self.name} ({self.type}){said}"
        return Entry(kind="schema", name=f"#{self.table}.{self.name}", line=self.line, text=text)


class _Columns:
    """Reads the columns of ``CREATE TABLE`` in one pass over the tokens; other statements are skipped."""

    def __init__(self) -> None:
        self._columns: list[_Column] = []
        self._named: dict[tuple[str, ...], _Column] = {}
        self._words: list[str] = []  # of the statement before its parenthesis
        self._definition: list[str] = []  # inside it, since the last comma
        self._column: _Column | None = None
        self._depth, self._line = 0, 1

    def read(self, sql: str) -> Iterator[Entry]:
        reads = {"comment": self._comment, "text": self._text, "name": self._name, "sign": self._sign}
        for match in _SQL.finditer(sql):
            if match.lastgroup in reads:
                reads[match.lastgroup](match[0])
            self._line += match[0].count("\n")
        yield from (column.entry() for column in self._columns)

    def _name(self, token: str) -> None:
        word = token.strip('"`[]')
        if not self._depth:
            self._words.append(word)
            return
        self._definition.append(word)
        if len(self._definition) == 1:
            self._column = None
            if token[0] in '"`[' or word.casefold() not in _NO_COLUMN:
                self._column = _Column(self._words[-1].rpartition(".")[2], word, self._line)
                self._columns.append(self._column)
                self._named.setdefault((self._column.table.casefold(), word.casefold()), self._column)
        elif len(self._definition) == 2 and self._column:
            self._column.type = word

    def _sign(self, token: str) -> None:
        if token == ";":
            self._words, self._depth, self._column = [], 0, None
        elif token == "(":
            first = [word.casefold() for word in self._words[:4]]
            if self._depth or (first[:1] == ["create"] and "table" in first):
                self._depth += 1
                self._definition = self._definition if self._depth > 1 else []
        elif token == ")":
            self._depth = max(0, self._depth - 1)
        elif token == "," and self._depth == 1:
            self._definition = []

    def _text(self, token: str) -> None:
        """MySQL's ``COMMENT 'text'`` beside a column, and ``COMMENT ON COLUMN table.column IS 'text'``."""
        words, column = [word.casefold() for word in self._words[:5]], None
        if self._depth and self._definition[-1:] and self._definition[-1].casefold() == "comment":
            column = self._column
        elif words[:3] == ["comment", "on", "column"] and words[4:] == ["is"]:
            column = self._named.get(tuple(words[3].split(".")[-2:]))
        if column:
            column.comment = token.strip("'").replace("''", "'")

    def _comment(self, token: str) -> None:
        """A comment on the line of a column is the column's."""
        if self._column and self._column.line == self._line and not self._column.comment:
            self._column.comment = token.strip("-/* \n")
