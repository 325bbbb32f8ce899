"""The `Pseudonymizer` of the modes ``hash`` and ``drop``, which keep no free text."""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from coreloop.failures import error_class
from coreloop.mine.signals import template
from coreloop.observe.sources import QUESTION
from coreloop.records import OTHER, UNSPECIFIED, normalize_question, selector_value
from coreloop.sanitize.fields import cut_number_to_hour, cut_to_hour, id_field, is_time
from coreloop.sanitize.finder import Finder
from coreloop.sanitize.pseudonyms import Pseudonyms
from coreloop.sanitize.values import find_in_number
from coreloop.sanitize.vocabulary import KnownWords, is_argument, is_label, is_model, is_version
from coreloop.sanitize.walk import NotFiniteError, rewrite

# Texts from which `error_class` derives the same class again.
ERRORS: Final[Mapping[str, str]] = {
    "rate_limit": "rate_limit",
    "transient_network": "transient_network (connection error)",
    "timeout": "timeout",
    "auth": "auth (forbidden)",
    "invalid_argument": "invalid_argument",
    "not_found": "not_found (not found)",
    "other": "other",
}
_PATH_PART: Final = re.compile(r"((?:\[\])*\.|(?:\[\])+$)")  # in a.b[].c: the marks "." and "[]."
_TRUNCATED: Final = frozenset({"truncated", "size", "preview"})


class Pseudonymizer(Finder):
    """Hash and drop mode: keeps only the closed vocabulary, numbers and pseudonyms.

    The tables at the end of the module define the treatment of known fields; all other fields go through
    `text`, `number` and `key`.

    Parameters
    ----------
    pseudonyms : Pseudonyms
        Keyed pseudonyms.
    vocabulary : KnownWords
        The names to keep.
    drop : bool
        Remove the question and its hash.
    keep_times : bool
        Keep times unchanged.
    """

    def __init__(
        self, pseudonyms: Pseudonyms, vocabulary: KnownWords, *, drop: bool = False, keep_times: bool = False
    ) -> None:
        super().__init__()
        self._pseudonyms = pseudonyms
        self._words = vocabulary
        self._categories = vocabulary.categories()
        self._drop = drop
        self._keep_times = keep_times

    def pseudonym(self, field: str, value: str) -> str:
        return self._pseudonyms(field, value) if value else value

    def text(self, value: str, key: str) -> Any:
        field = id_field(key)
        if field is not None:
            return self.pseudonym(field, value)
        if is_time(key):
            hour = cut_to_hour(value)
            if hour is not None:
                return value if self._keep_times else hour
        return self.pseudonym("text", value)

    def number(self, value: int | float, key: str) -> Any:
        field = id_field(key)
        if field is not None:
            return self.pseudonym(field, str(value))
        if is_time(key):
            return value if self._keep_times else cut_number_to_hour(value)
        hits = find_in_number(value, key)
        self.count(hits)
        return self.pseudonym("number", hits[0].value) if hits else value

    def key(self, key: str) -> str:
        return key if key in _TRUNCATED else self.pseudonym("key", key)

    def record(self, record: dict[str, Any]) -> dict[str, Any]:
        """Rewrite a record without its free text."""
        result = self._fields(record, _RECORD)
        if "tool_calls" in record:
            self._categorize(record, result)
        if self._drop:
            result.pop("question", None)
            result.pop("question_hash", None)
        return result

    def _fields(self, node: dict[str, Any], table: "_Table", tool: str = "") -> dict[str, Any]:
        """Rewrite an object by the table of its fields; ``tool`` is given in calls and overrides."""
        result: dict[str, Any] = {}
        self.n_keys += len(node)
        for key, value in node.items():
            name = key if is_argument(key) else self.pseudonym("key", key)
            treat = table.get((key, type(value)))
            result[name] = treat(self, value, key, tool) if treat else rewrite(value, self, key)
        return result

    def _categorize(self, record: dict[str, Any], result: dict[str, Any]) -> None:
        """Keep the category that mining would derive from the question."""
        label = record.get("category_hash")
        question = record.get("question")
        if (not isinstance(label, str) or label == UNSPECIFIED) and isinstance(question, str):
            by_rules = self._categories.label(question)
            if by_rules != UNSPECIFIED:
                result["category_hash"] = by_rules

    def _question(self, value: str, key: str, tool: str) -> str:
        return self.pseudonym("question", normalize_question(value) or value)

    def _figure(self, value: int | float, key: str, tool: str) -> int | float | None:
        if not math.isfinite(value):
            raise NotFiniteError
        return None if find_in_number(value, key) else value

    def _error(self, value: Any, key: str, tool: str) -> str:
        """Replace an error by the pseudonym of its template and its class.

        The class is quoted, since mining treats quoted words as values: errors of one cause stay one group.
        """
        if not isinstance(value, str):
            rewrite(value, self, key)  # counts its keys
        text = str(value)
        return f"{self._pseudonyms('error', template(text))} '{ERRORS[error_class(text)]}'" if text else text

    def _judgment(self, value: dict[str, Any], key: str, tool: str) -> dict[str, Any]:
        return self._fields(value, _JUDGMENT)

    def _calls(self, calls: list[Any], key: str, tool: str) -> list[Any]:
        return [
            self._tool(call, key, tool) if isinstance(call, str) else self._about_tool(call, "name", _CALL)
            for call in calls
        ]

    def _overrides(self, overrides: list[Any], key: str, tool: str) -> list[Any]:
        return [self._about_tool(override, "tool", _OVERRIDE) for override in overrides]

    def _about_tool(self, node: Any, key: str, table: "_Table") -> Any:
        if not isinstance(node, dict):
            return rewrite(node, self)
        tool = node.get(key)
        return self._fields(node, table, tool if isinstance(tool, str) else "")

    def _tool(self, name: str, key: str, tool: str) -> str:
        return name if self._words.knows_tool(name) else self.pseudonym("tool", name)

    def _argument(self, tool: str, name: str) -> str:
        return name if self._words.knows_argument(tool, name) else self.pseudonym("argument", name)

    def _argument_names(self, names: list[Any], key: str, tool: str) -> list[Any]:
        return [
            self._argument(tool, name) if isinstance(name, str) else rewrite(name, self) for name in names
        ]

    def _arguments(self, args: dict[str, Any], key: str, tool: str) -> Any:
        if args.keys() == _TRUNCATED:
            return rewrite(args, self)
        result: dict[str, Any] = {}
        self.n_keys += len(args)
        for name, value in args.items():
            is_axis = isinstance(value, str) and self._words.is_selector(tool, name)
            result[self._argument(tool, name)] = (
                self._selector(tool, value) if is_axis else rewrite(value, self, name)
            )
        return result

    def _sources(self, sources: dict[str, Any], key: str, tool: str) -> Any:
        """Rewrite the sources of arguments, keeping known tools and fields."""
        self.n_keys += len(sources)
        return {
            self._argument(tool, name): [
                self._path(path) if isinstance(path, str) else rewrite(path, self, name) for path in paths
            ]
            if isinstance(paths, list)
            else rewrite(paths, self, name)
            for name, paths in sources.items()
        }

    def _path(self, path: str) -> str:
        """Rewrite a path, keeping a known tool and known fields, ``[]`` and ``*``."""
        if path == QUESTION:
            return path
        parts = _PATH_PART.split(path)  # the tool, then alternating marks and fields
        known = (n for n in range(len(parts), 0, -2) if self._words.knows_tool("".join(parts[:n])))
        n_tool = next(known, 1)
        tool = "".join(parts[:n_tool])
        fields = [
            part if place % 2 or part in {"", "*"} else self._path_field(tool, part)
            for place, part in enumerate(parts)
        ]
        return self._tool(tool, "", "") + "".join(fields[n_tool:])

    def _path_field(self, tool: str, name: str) -> str:
        return name if self._words.knows_argument(tool, name) else self.pseudonym("key", name)

    def _selector(self, tool: str, value: str) -> str:
        """Keep a declared axis; other texts get the pseudonym of their normalized spelling."""
        text = selector_value(value)
        if text == OTHER or self._words.declares(tool, text):
            return text
        return self.pseudonym("value", text)


# Called with the visitor, the value, its key and the tool concerned.
_Treatment = Callable[[Pseudonymizer, Any, str, str], Any]
_Table = Mapping[tuple[str, type], _Treatment]


def _table(*rows: tuple[str, tuple[type, ...], _Treatment]) -> _Table:
    return {
        (field, kind): treat for fields, kinds, treat in rows for field in fields.split() for kind in kinds
    }


def _word(is_known: Callable[[str], bool], tag: str) -> _Treatment:
    """Keep a word of a closed vocabulary, and replace any other."""
    return lambda visitor, value, key, tool: value if is_known(value) else visitor.pseudonym(tag, value)


_TEXT: Final = (str,)
_NUMBER: Final = (int, float)
_NO_TEXT: Final = (*_NUMBER, list, dict)
_RECORD: Final = _table(
    ("question", _TEXT, Pseudonymizer._question),
    ("category_hash", _TEXT, _word(is_label, "category")),
    ("provider", _TEXT, _word(is_model, "provider")),
    ("model", _TEXT, _word(is_model, "model")),
    ("tools_version", _TEXT, _word(is_version, "version")),
    ("origin", _TEXT, _word({"replay"}.__contains__, "text")),
    ("stockCode_hint", _TEXT, _word(lambda _: False, "stock")),
    ("error omitted_error", (*_TEXT, *_NO_TEXT), Pseudonymizer._error),
    ("violation", _NO_TEXT, Pseudonymizer._error),
    ("schema_version rounds chunk_len tool_calls_omitted", _NUMBER, Pseudonymizer._figure),
    ("duration_total_ms duration_ms result_size_bytes", _NUMBER, Pseudonymizer._figure),
    ("tool_calls", (list,), Pseudonymizer._calls),
    ("override_calls", (list,), Pseudonymizer._overrides),
    ("judgment", (dict,), Pseudonymizer._judgment),
)
_CALL: Final = _table(
    ("name", _TEXT, Pseudonymizer._tool),
    ("args", (dict,), Pseudonymizer._arguments),
    ("error", (*_TEXT, *_NO_TEXT), Pseudonymizer._error),
    ("overrides_used", (list,), Pseudonymizer._argument_names),
    ("args_from", (dict,), Pseudonymizer._sources),
)
_OVERRIDE: Final = _table(
    ("tool", _TEXT, Pseudonymizer._tool), ("override_keys", (list,), Pseudonymizer._argument_names)
)
_JUDGMENT: Final = _table(("verdict", _TEXT, _word({"P", "T", "C", "V"}.__contains__, "text")))
