"""The columns of SQL's ``CREATE TABLE``, with the comments beside them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_TOKEN: Final = re.compile(
    r"""
    (?P<comment> --[^\n]* | /\*.*?(?:\*/|\Z) )       # -- in KRW
    | (?P<text> '(?:[^']|'')*(?:'|\Z) )              # 'it''s'
    | (?P<name> [^\W\d]\w* | "[^"\n]*" | `[^`\n]*` | \[[^\[\]\n]*\] )
    | (?P<line> \n ) | (?P<sign> [^\s] )""",
    re.VERBOSE | re.DOTALL,
)
_NO_COLUMN: Final = frozenset(
    {"primary", "foreign", "unique", "constraint", "check", "key", "index", "exclude", "like", "fulltext"}
)
_MAX_TYPE_CHARS: Final = 200
_AFTER_TYPE: Final = frozenset(
    {"not", "null", "default", "primary", "unique", "references", "check", "comment", "collate", "generated"}
    | {"constraint", "auto_increment", "autoincrement", "as"}
)


@dataclass(slots=True)
class Column:
    """A column; ``comment`` is "" if none stands beside it."""

    table: str
    name: str
    line: int
    type: str = ""
    comment: str = ""


def read_columns(sql: str) -> Iterator[Column]:
    """Yield the columns of all tables, in order; what is no such statement is skipped."""
    columns: list[Column] = []
    reader = _Reader(columns)
    for match in _TOKEN.finditer(sql):
        reader.read(match.lastgroup or "", match.group())
    yield from columns


class _Reader:
    """One pass over the tokens."""

    def __init__(self, columns: list[Column]) -> None:
        self._columns = columns
        self._named: dict[tuple[str, str], list[Column]] = {}
        self._words: list[str] = []  # of the statement so far, before its parenthesis
        self._table = ""
        self._depth = 0
        self._begins = False  # whether the next name is a column's
        self._in_type = False
        self._wants_comment = False
        self._line = 1

    def read(self, kind: str, token: str) -> None:
        if kind == "comment":
            self._comment(token.strip("-/* \n"))
        elif kind == "text":
            self._text(token.strip("'").replace("''", "'"))
        elif kind == "name":
            self._name(token)
        elif kind == "sign":
            self._sign(token)
        self._line += token.count("\n")

    def _name(self, token: str) -> None:
        word = token.strip('"`[]')
        if not self._depth:
            self._words.append(word)
        elif self._begins:
            self._begins = False
            is_column = word.casefold() not in _NO_COLUMN or token[0] in '"`['
            self._in_type = is_column
            if is_column:
                column = Column(self._table, word, self._line)
                self._columns.append(column)
                self._named.setdefault((self._table.casefold(), word.casefold()), []).append(column)
        elif word.casefold() in _AFTER_TYPE:
            self._in_type = False
            self._wants_comment = word.casefold() == "comment"
        elif self._in_type and len(self._columns[-1].type) < _MAX_TYPE_CHARS:
            self._columns[-1].type = f"{self._columns[-1].type} {word}".strip()

    def _sign(self, token: str) -> None:
        if token == ";":
            self._words, self._table, self._depth = [], "", 0
        elif token == "(":
            if not self._depth and self._names_table():
                self._table, self._begins = self._words[-1], True
            self._depth += bool(self._table)
        elif token == ")":
            self._depth = max(0, self._depth - 1)
        elif token == "," and self._depth == 1:
            self._begins, self._in_type = True, False

    def _names_table(self) -> bool:
        words = [word.casefold() for word in self._words[:4]]
        return bool(words) and words[0] == "create" and "table" in words

    def _text(self, text: str) -> None:
        """MySQL's ``COMMENT 'text'`` beside a column, and ``COMMENT ON COLUMN table.column IS 'text'``."""
        if self._wants_comment and self._columns:
            self._columns[-1].comment, self._wants_comment = text, False
        first, last = ([word.casefold() for word in part] for part in (self._words[:3], self._words[-3:]))
        if first == ["comment", "on", "column"] and len(self._words) >= 5 and last[2] == "is":
            for column in self._named.get((last[0], last[1]), ()):
                column.comment = text

    def _comment(self, text: str) -> None:
        """A comment on the line of a column is the column's."""
        if (
            self._columns
            and self._table
            and self._columns[-1].line == self._line
            and not self._columns[-1].comment
        ):
            self._columns[-1].comment = text
