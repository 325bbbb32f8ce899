"""What the modes ``hash`` and ``drop`` make of a record: nothing of its free text is left."""

import math
from collections.abc import Mapping
from typing import Any, Final

from coreloop.failures import error_class
from coreloop.mine.signals import template
from coreloop.records import OTHER, UNSPECIFIED, normalize_question, selector_value
from coreloop.sanitize.fields import cut_number_to_hour, cut_to_hour, id_field, is_time
from coreloop.sanitize.finder import Finder
from coreloop.sanitize.pseudonyms import Pseudonyms
from coreloop.sanitize.values import find_in_number
from coreloop.sanitize.vocabulary import Vocabulary, is_argument, is_label, is_model
from coreloop.sanitize.walk import NotFiniteError, rewrite

# Each names its class in words from which `error_class` reads that class again.
ERRORS: Final[Mapping[str, str]] = {
    "rate_limit": "rate_limit",
    "transient_network": "transient_network (connection error)",
    "timeout": "timeout",
    "auth": "auth (forbidden)",
    "invalid_argument": "invalid_argument",
    "not_found": "not_found (not found)",
    "other": "other",
}
_NUMBERS: Final = frozenset(
    [
        "schema_version",
        "rounds",
        "chunk_len",
        "duration_total_ms",
        "tool_calls_omitted",
        "duration_ms",
        "result_size_bytes",
    ]
)
_TRUNCATED: Final = frozenset({"truncated", "size", "preview"})
_CALL_KEYS: Final = frozenset(
    [
        "name",
        "args",
        "args_hash",
        "ok",
        "error",
        "duration_ms",
        "result_size_bytes",
        "overrides_used",
        "extreme_flags",
    ]
)


class _Free:
    """Where no word stays: strings and keys become pseudonyms, numbers stay unless one is private."""

    def __init__(self, owner: "Pseudonymizer") -> None:
        self._owner = owner

    @property
    def n_keys(self) -> int:
        return self._owner.n_keys

    @n_keys.setter
    def n_keys(self, number: int) -> None:
        self._owner.n_keys = number

    def text(self, value: str, key: str) -> Any:
        return self._owner.text(value, key)

    def number(self, value: int | float, key: str) -> Any:
        return self._owner.number(value, key)

    def key(self, key: str) -> str:
        return key if key in _TRUNCATED else self._owner.pseudonym("key", key)


class Pseudonymizer(Finder):
    """Hash and drop mode: only the closed vocabulary, numbers and pseudonyms are left.

    Parameters
    ----------
    pseudonyms : Pseudonyms
        Keyed.
    vocabulary : Vocabulary
        The names that may stay.
    drop : bool
        Remove the question and its hash.
    keep_times : bool
        Leave times as they are.
    """

    def __init__(
        self, pseudonyms: Pseudonyms, vocabulary: Vocabulary, *, drop: bool = False, keep_times: bool = False
    ) -> None:
        super().__init__()
        self._pseudonyms = pseudonyms
        self._words = vocabulary
        self._categories = vocabulary.categories()
        self._drop = drop
        self._keep_times = keep_times
        self._free = _Free(self)

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

    def record(self, record: dict[str, Any]) -> dict[str, Any]:
        """The record without free text."""
        result: dict[str, Any] = {}
        self.n_keys += len(record)
        for key, value in record.items():
            if self._drop and key in {"question", "question_hash"}:
                rewrite(value, self._free, key)  # its keys are counted like all others
                continue
            result[self._field_name(key)] = self._field(key, value)
        if "tool_calls" in record:
            self._categorize(record, result)
        return result

    def _field_name(self, key: str) -> str:
        return key if is_argument(key) else self.pseudonym("key", key)

    def _field(self, key: str, value: Any) -> Any:
        if isinstance(value, str):
            return self._field_text(key, value)
        if key in _NUMBERS and isinstance(value, int | float):
            if not math.isfinite(value):
                raise NotFiniteError
            return None if find_in_number(value, key) else value
        if key == "tool_calls" and isinstance(value, list):
            return [self._call(one) for one in value]
        if key == "override_calls" and isinstance(value, list):
            return [self._override(one) for one in value]
        if key == "judgment" and isinstance(value, dict):
            return self._named(value, {"verdict": self._verdict})
        if (
            key in {"error", "violation", "omitted_error"}
            and value is not None
            and not isinstance(value, bool)
        ):
            rewrite(value, self._free, key)
            return self._error(str(value))
        return rewrite(value, self._free, key)

    def _field_text(self, key: str, value: str) -> str:
        if key == "question":
            return self.pseudonym("question", normalize_question(value) or value)
        if key in {"error", "omitted_error"}:
            return self._error(value)
        if key == "category_hash":
            return value if is_label(value) else self.pseudonym("category", value)
        if key in {"provider", "model"}:
            return value if is_model(value) else self.pseudonym(key, value)
        if key == "origin":
            return value if value == "replay" else self.pseudonym("text", value)
        if key == "stockCode_hint":
            return self.pseudonym("stock", value)
        result: str = self.text(value, key)
        return result

    def _categorize(self, record: dict[str, Any], result: dict[str, Any]) -> None:
        """Keep the category that mining would have read from the question."""
        label = record.get("category_hash")
        question = record.get("question")
        if (not isinstance(label, str) or label == UNSPECIFIED) and isinstance(question, str):
            by_rules = self._categories.label(question)
            if by_rules != UNSPECIFIED:
                result["category_hash"] = by_rules

    def _call(self, call: Any) -> Any:
        if isinstance(call, str):
            return self._tool(call)
        if not isinstance(call, dict):
            return rewrite(call, self._free)
        name = call.get("name")
        tool = name if isinstance(name, str) else ""
        return self._named(
            call,
            {
                "name": lambda value: (
                    self._tool(value) if isinstance(value, str) else rewrite(value, self._free)
                ),
                "args": lambda value: self._arguments(tool, value),
                "error": self._call_error,
                "overrides_used": lambda value: self._argument_names(tool, value),
                "extreme_flags": lambda value: rewrite(value, self._free),
            },
            known=_CALL_KEYS,
        )

    def _override(self, override: Any) -> Any:
        if not isinstance(override, dict):
            return rewrite(override, self._free)
        name = override.get("tool")
        tool = name if isinstance(name, str) else ""
        return self._named(
            override,
            {
                "tool": lambda value: (
                    self._tool(value) if isinstance(value, str) else rewrite(value, self._free)
                ),
                "override_keys": lambda value: self._argument_names(tool, value),
            },
            known=frozenset({"tool", "override_keys", "trigger", "succeeded"}),
        )

    def _named(
        self, node: dict[str, Any], handlers: Mapping[str, Any], *, known: frozenset[str] = frozenset()
    ) -> dict[str, Any]:
        """An object of known fields: each by its handler, all others without words."""
        result = {}
        self.n_keys += len(node)
        for key, value in node.items():
            name = key if key in known else self._field_name(key)
            handler = handlers.get(key)
            result[name] = handler(value) if handler is not None else rewrite(value, self._free, key)
        return result

    def _verdict(self, value: Any) -> Any:
        return value if value in {"P", "T", "C", "V", None} else rewrite(value, self._free)

    def _tool(self, name: str) -> str:
        return name if self._words.knows_tool(name) else self.pseudonym("tool", name)

    def _argument(self, tool: str, name: str) -> str:
        return name if self._words.knows_argument(tool, name) else self.pseudonym("argument", name)

    def _argument_names(self, tool: str, names: Any) -> Any:
        if not isinstance(names, list):
            return rewrite(names, self._free)
        return [
            self._argument(tool, name) if isinstance(name, str) else rewrite(name, self._free)
            for name in names
        ]

    def _arguments(self, tool: str, args: Any) -> Any:
        if not isinstance(args, dict):
            return rewrite(args, self._free)
        result = {}
        self.n_keys += len(args)
        for key, value in args.items():
            if key in _TRUNCATED and args.keys() == _TRUNCATED:
                result[key] = rewrite(value, self._free, key)
            elif self._words.is_selector(tool, key) and isinstance(value, str):
                result[key] = self._selector(tool, value)
            else:
                result[self._argument(tool, key)] = rewrite(value, self._free, key)
        return result

    def _selector(self, tool: str, value: str) -> str:
        """One spelling of an axis has one pseudonym; a text that is no name stays none."""
        text = selector_value(value)
        if text == OTHER or self._words.declares(tool, text):
            return text
        return self.pseudonym("value", text)

    def _call_error(self, value: Any) -> Any:
        if value is None or isinstance(value, bool):
            return value
        if not isinstance(value, str):
            rewrite(value, self._free)
        return self._error(str(value))

    def _error(self, text: str) -> str:
        """A pseudonym of what the text has in common with others of its cause, and its class.

        In quotes, since mining takes a quoted word for a value: two classes of one cause stay one group.
        """
        if not text:
            return text
        return f"{self._pseudonyms('error', template(text))} '{ERRORS[error_class(text)]}'"
