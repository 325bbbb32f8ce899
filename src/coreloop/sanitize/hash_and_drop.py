"""The `Pseudonymizer` of the modes ``hash`` and ``drop``, which keep no free text."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from inspect import get_annotations
from typing import Any, Final

from coreloop.base.error_classes import error_class
from coreloop.base.records import (
    NO_ANSWER,
    OTHER,
    UNSPECIFIED,
    WHY_UNKNOWN,
    OverrideCall,
    Record,
    RecordedJudgment,
    ToolCall,
    normalize_question,
    selector_value,
)
from coreloop.observe.argument_sources import QUESTION
from coreloop.observe.reading.error_texts import named, template
from coreloop.sanitize.find_in_record import Finder
from coreloop.sanitize.find_in_value import (
    cut_number_to_hour,
    cut_to_hour,
    find_in_number,
    id_field,
    is_identifying,
)
from coreloop.sanitize.pseudonyms import Pseudonyms
from coreloop.sanitize.vocabulary import PROVIDERS, KnownWords, is_model, is_version

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
_PATH_PART: Final = re.compile(r"(?<!\[\])((?:\[\])*\.|(?:\[\])+$)")  # in a.b[].c: the marks "." and "[]."
_TRUNCATED: Final = frozenset({"truncated", "size", "preview"})
_OF_ONE_REQUEST: Final = frozenset(
    {"text", "number", "question_hash", "args_hash", "answer_hash", "prompt_hash", "content_hash"}
)


class Pseudonymizer(Finder):
    """Hash and drop mode: keeps only the closed vocabulary, the record's own figures and pseudonyms.

    The tables at the end of the module list the known fields and their treatment. Of any other value only
    true, false, null and the nesting stay.

    Parameters
    ----------
    pseudonyms : Pseudonyms
        Keyed pseudonyms.
    vocabulary : KnownWords
        The names to keep.
    drop : bool
        Remove the question and its hash; the pseudonym of a text, a number or a hash differs in every record,
        since an argument may repeat the question.
    keep_times : bool
        Keep times unchanged.
    """

    def __init__(
        self, pseudonyms: Pseudonyms, vocabulary: KnownWords, *, drop: bool = False, keep_times: bool = False
    ) -> None:
        super().__init__()
        self.pseudonym = pseudonyms
        self._words = vocabulary
        self._categories = vocabulary.categories()
        self._labels = vocabulary.labels()
        self._drop = drop
        self._keep_times = keep_times
        self._request = ""

    def text(self, value: str, key: str) -> str:
        return self._unlinked(id_field(key) or "text", value)

    def number(self, value: int | float, key: str) -> str:
        written = str(int(value) if value == int(value) else value)
        return self._unlinked(id_field(key) or "number", written)

    def _unlinked(self, field: str, value: str) -> str:
        """Return a pseudonym that ``drop`` uses in one record only, unless it stands for an id."""
        return self.pseudonym(field, self._request + value if field in _OF_ONE_REQUEST and value else value)

    def key(self, key: str) -> str:
        return self.pseudonym("key", key)

    def record(self, record: dict[str, Any]) -> dict[str, Any]:
        """Rewrite a record without its free text."""
        if self._drop:
            self._request = f"{record.get('request_id')}\0{record.get('ts')}\0"
        result = self._fields(record, _RECORD)
        if "tool_calls" in record:
            self._categorize(record, result)
        if self._drop:
            result.pop("question", None)
            result.pop("question_hash", None)
        return result

    def _fields(self, node: dict[str, Any], known: "_Fields", tool: str = "") -> dict[str, Any]:
        """Rewrite an object by the table of its fields; ``tool`` is given in calls and overrides."""
        result: dict[str, Any] = {}
        for key, value in node.items():
            name = key if key in known.names else self.key(key)
            treat = known.treatments.get((key, type(value)))
            result[name] = treat(self, value, key, tool) if treat else self._unknown(value, key)
        return result

    def _unknown(self, node: Any, key: str = "") -> Any:
        """Replace every key, text and number of a tree."""
        if isinstance(node, str):
            return self.text(node, key)
        if isinstance(node, dict):
            if node.keys() == _TRUNCATED and node["truncated"] is True and type(node["size"]) is int:
                return {**node, "size": figure(node["size"]), "preview": self._unknown(node["preview"], key)}
            return {self.key(name): self._unknown(value, name) for name, value in node.items()}
        if isinstance(node, list):
            return [self._unknown(item, key) for item in node]
        return node if node is None or isinstance(node, bool) else self.number(node, key)

    def _categorize(self, record: dict[str, Any], result: dict[str, Any]) -> None:
        """Keep the category that mining would derive from the question."""
        label = record.get("category_hash")
        question = record.get("question")
        if (not isinstance(label, str) or label == UNSPECIFIED) and isinstance(question, str):
            by_rules = self._categories.label(question)
            if by_rules != UNSPECIFIED:
                result["category_hash"] = self._label(by_rules, "", "")

    def _label(self, value: str, key: str, tool: str) -> str:
        return value if value in self._labels else self.pseudonym("category", value)

    def _question(self, value: str, key: str, tool: str) -> str:
        return self.pseudonym("question", normalize_question(value) or value)

    def _time(self, value: str | int | float, key: str, tool: str) -> Any:
        """Keep a time, to the hour; whatever else stands in its place becomes a pseudonym."""
        if isinstance(value, str):
            hour: str | int | None = cut_to_hour(value)
            hits = self.hits(value, key)
        else:
            hour, hits = cut_number_to_hour(value), find_in_number(value, key)
        if hour is None or hits:
            return self._unknown(value, key)
        return value if self._keep_times else hour

    def _figure(self, value: int | float, key: str, tool: str) -> int | None:
        return figure(value)

    def _cost(self, value: int | float, key: str, tool: str) -> float | None:
        """Keep two digits of a cost, which is usually a fraction of a dollar."""
        return float(f"{value:.2g}") if 0 <= value < _FIGURE_BELOW else None

    def _case(self, value: list[Any], key: str, tool: str) -> list[str]:
        return [self.pseudonym("case", str(number)) for number in value]

    def _error(self, value: Any, key: str, tool: str) -> str:
        """Replace an error by the pseudonym of its template and its class.

        The class is quoted, since mining treats quoted words as values: errors of one cause stay one group.
        """
        text = str(value)
        letters = self.pseudonym.letters("error", template(text))
        return f"error-{letters} '{ERRORS[error_class(text)]}'" if text else text

    def _judgment(self, value: dict[str, Any], key: str, tool: str) -> dict[str, Any]:
        return self._fields(value, _JUDGMENT)

    def _calls(self, calls: list[Any], key: str, tool: str) -> list[Any]:
        return [
            self._tool(call, key, tool) if isinstance(call, str) else self._about_tool(call, "name", _CALL)
            for call in calls
        ]

    def _overrides(self, overrides: list[Any], key: str, tool: str) -> list[Any]:
        return [self._about_tool(override, "tool", _OVERRIDE) for override in overrides]

    def _about_tool(self, node: Any, key: str, known: "_Fields") -> Any:
        if not isinstance(node, dict):
            return self._unknown(node)
        tool, error, args = node.get(key), node.get("error"), node.get("args")
        if isinstance(error, str) and isinstance(args, dict):  # so that a cause keeps one pseudonym
            node = {**node, "error": named(template(error, args))}
        return self._fields(node, known, tool if isinstance(tool, str) else "")

    def _tool(self, name: str, key: str, tool: str) -> str:
        return name if self._words.knows_tool(name) else self.pseudonym("tool", name)

    def _argument(self, tool: str, name: str) -> str:
        return name if self._words.knows_argument(tool, name) else self.pseudonym("argument", name)

    def _argument_names(self, names: list[Any], key: str, tool: str) -> list[Any]:
        return [
            self._argument(tool, name) if isinstance(name, str) else self._unknown(name) for name in names
        ]

    def _arguments(self, args: dict[str, Any], key: str, tool: str) -> Any:
        if args.keys() == _TRUNCATED:
            return self._unknown(args)
        return {self._argument(tool, name): self._value(tool, name, value) for name, value in args.items()}

    def _value(self, tool: str, name: str, value: Any) -> Any:
        """Rewrite an argument's value, keeping declared axes, and short numbers under a known name."""
        if isinstance(value, str) and self._words.is_selector(tool, name):
            return self._selector(tool, value)
        if self._words.knows_argument(tool, name):
            if _is_number(value) and is_harmless(value, name):
                return value
            if isinstance(value, list) and value and all(map(_is_number, value)):
                return [self._value(tool, name, number) for number in value]
        return self._unknown(value, name)

    def _sources(self, sources: dict[str, Any], key: str, tool: str) -> Any:
        """Rewrite the sources of arguments, keeping known tools and fields."""
        return {
            self._argument(tool, name): [
                self._path(path) if isinstance(path, str) else self._unknown(path, name) for path in paths
            ]
            if isinstance(paths, list)
            else self._unknown(paths, name)
            for name, paths in sources.items()
        }

    def _states(self, states: dict[str, Any], key: str, tool: str) -> Any:
        """Rewrite the states that objects were seen in, keeping fields and literals of the tool's source."""
        return {
            self._argument(tool, name): self._state(tool, fields) if isinstance(fields, dict) else None
            for name, fields in states.items()
        }

    def _state(self, tool: str, fields: dict[str, Any]) -> dict[str, Any]:
        known = self._words
        return {
            name if known.knows_argument(tool, name) or known.declares(tool, name) else self.key(name): value
            if isinstance(value, bool) or (isinstance(value, str) and known.declares(tool, value))
            else self._unknown(value, name)
            for name, value in fields.items()
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


def _is_number(value: Any) -> bool:
    return type(value) in {int, float}


# Called with the visitor, the value, its key and the tool concerned.
_Treatment = Callable[[Pseudonymizer, Any, str, str], Any]


@dataclass(frozen=True, slots=True)
class _Fields:
    """The fields of an object: their names, which stay, and the treatment of values by field and type."""

    names: Collection[str]
    treatments: Mapping[tuple[str, type], _Treatment]


def _known(kind: type, *rows: tuple[str, tuple[type, ...], _Treatment]) -> _Fields:
    treatments = {
        (field, kind): treat for fields, kinds, treat in rows for field in fields.split() for kind in kinds
    }
    return _Fields(frozenset(get_annotations(kind)), treatments)


def _word(is_known: Callable[[str], bool], tag: str) -> _Treatment:
    """Keep a word of a closed vocabulary, and replace any other."""
    return lambda visitor, value, key, tool: value if is_known(value) else visitor.pseudonym(tag, value)


_TEXT: Final = (str,)
_NUMBER: Final = (int, float)
_NO_TEXT: Final = (*_NUMBER, list, dict)
_RECORD: Final = _known(
    Record,
    ("question", _TEXT, Pseudonymizer._question),
    ("ts", (*_TEXT, *_NUMBER), Pseudonymizer._time),
    ("category_hash", _TEXT, Pseudonymizer._label),
    ("provider", _TEXT, _word(lambda name: name.lower() in PROVIDERS, "provider")),
    ("model", _TEXT, _word(is_model, "model")),
    ("tools_version", _TEXT, _word(is_version, "version")),
    ("origin", _TEXT, _word({"replay"}.__contains__, "text")),
    ("stockCode_hint", _TEXT, _word(lambda _: False, "stock")),
    ("error omitted_error", (*_TEXT, *_NO_TEXT), Pseudonymizer._error),
    ("violation", _NO_TEXT, Pseudonymizer._error),
    ("schema_version rounds chunk_len tool_calls_omitted duration_total_ms", _NUMBER, Pseudonymizer._figure),
    ("input_tokens output_tokens part", _NUMBER, Pseudonymizer._figure),
    ("cost_usd", _NUMBER, Pseudonymizer._cost),
    ("unknown", _TEXT, _word({NO_ANSWER}.__contains__, "text")),
    ("case", (list,), Pseudonymizer._case),
    ("tool_calls", (list,), Pseudonymizer._calls),
    ("override_calls", (list,), Pseudonymizer._overrides),
    ("judgment", (dict,), Pseudonymizer._judgment),
)
_CALL: Final = _known(
    ToolCall,
    ("name", _TEXT, Pseudonymizer._tool),
    ("args", (dict,), Pseudonymizer._arguments),
    ("error", (*_TEXT, *_NO_TEXT), Pseudonymizer._error),
    ("duration_ms result_size_bytes", _NUMBER, Pseudonymizer._figure),
    ("overrides_used", (list,), Pseudonymizer._argument_names),
    ("args_from", (dict,), Pseudonymizer._sources),
    ("saw", (dict,), Pseudonymizer._states),
    ("unknown", _TEXT, _word(WHY_UNKNOWN.__contains__, "text")),
)
_OVERRIDE: Final = _known(
    OverrideCall,
    ("tool", _TEXT, Pseudonymizer._tool),
    ("override_keys", (list,), Pseudonymizer._argument_names),
)
_JUDGMENT: Final = _known(
    RecordedJudgment,
    ("verdict", _TEXT, _word({"P", "T", "C", "V"}.__contains__, "text")),
    ("judged_at", (*_TEXT, *_NUMBER), Pseudonymizer._time),
)


_FIGURE_BELOW: Final = 10_000_000  # eight digits could be a telephone number or a date of birth
_MAX_DIGITS: Final = 6


def figure(value: int | float) -> int | None:
    """Round a count, duration or size; None if it is negative or has more than seven digits.

    A longer number is no figure of a record, but may be a telephone number, a date of birth or an id.
    """
    return round(value) if 0 <= value < _FIGURE_BELOW else None


def is_harmless(value: int | float, key: str) -> bool:
    """Whether a number under a known key is too short to identify anybody: 5, 0.25, 150000."""
    return (
        len(Decimal(repr(value)).as_tuple().digits) <= _MAX_DIGITS
        and abs(value) < 10**_MAX_DIGITS
        and not is_identifying(key)
        and not find_in_number(value, key)
    )
