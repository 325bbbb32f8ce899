"""Sees in which state results showed the object that an argument names: ``{"order_id": {"status": "open"}}``.

Memory holds hashes of short texts. Only a text that the tool's own source compares with leaves this module.
"""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Final, NamedTuple, TypeAlias

from coreloop.observe.case_keys import is_identifier

# A state is a word; longer texts are prose, and would fill the line.
LITERAL_CHARS: Final = 40
MAX_ARGUMENTS: Final = 8  # of a call: more do not fit on a line beside its other fields
MAX_VALUES: Final = 20  # of an argument that is a list
_MAX_CHARS: Final = 60  # of an identifier
_SMALL: Final = 9_999  # a whole number with fewer than five digits identifies nothing
MAX_FIELDS: Final = 30  # of an object; one with more is a mapping by ids
_NAME_CHARS: Final = 64
_NAMED: Final = ("id", "key", "name", "path", "code", "number", "slug", "uuid")
_ENDINGS: Final = ("_id", "Id", "_key", "_name", "_path", "_code", "_number")
CONTAINERS: Final = frozenset({dict, list, tuple})

# Fields of an object: the hash of a short text, or a boolean.
Shown: TypeAlias = dict[str, int | bool]
# A field's value: a literal of the source, or a boolean that it tests; None for another text.
State: TypeAlias = str | bool | None


class Compared(NamedTuple):
    """What a tool's source compares values with, see `coreloop.observe.source_comparisons`.

    Attributes
    ----------
    literals : dict of int to str
        By hash in this process.
    tested : frozenset of str
        Fields whose truth is tested.
    names : frozenset of str
        Names of fields that the source mentions.
    fields : frozenset of str
        Those of them that it compares with a literal.
    """

    literals: Mapping[int, str]
    tested: frozenset[str]
    names: frozenset[str]
    fields: frozenset[str] = frozenset()


class ShownObjects(dict[int, Shown]):
    """The objects that results showed, by the hashes of what identifies them."""

    def note(self, node: dict[Any, Any], key: object, asked_for: Iterable[int]) -> None:
        """Note an object of a result, in a single loop: a call per field doubles the time.

        Parameters
        ----------
        node : dict
            Its fields.
        key : object
            Under which it stands in another object; if that looks like data, it names the object.
        asked_for : iterable of int
            Hashes of what names it even if it does not repeat it.
        """
        fields: Shown = {}
        numbers = [*asked_for]
        if type(key) is str and (key[-1:].isdigit() or not key.isidentifier()):
            numbers.append(hash(key))
        for name, value in islice(node.items(), MAX_FIELDS + 1):
            kind = type(value)
            if type(name) is not str:
                continue
            if kind is str and len(value) <= _MAX_CHARS:
                if len(value) <= LITERAL_CHARS:
                    fields[name] = hash(value)
                if not value.isalpha() or name in _NAMED or name.endswith(_ENDINGS):
                    numbers.append(hash(value))
            elif kind is bool:
                fields[name] = value
            elif kind is int and _SMALL < value < 1 << 64:  # Python refuses to write 4,300 digits
                numbers.append(hash(str(value)))
        if fields and len(node) <= MAX_FIELDS:
            for number in numbers:
                self._add(number, fields)

    def _add(self, number: int, fields: Shown) -> None:
        known = self.get(number)
        if known is not None and not known.keys() <= fields.keys() and len(known) < MAX_FIELDS:
            fields = {**known, **fields}
        self[number] = fields


def saw(args: Mapping[str, object], memory: ShownObjects, compared: Compared) -> dict[str, dict[str, State]]:
    """Say for each argument which of the tool's literals the object that it names was last seen with.

    Parameters
    ----------
    args : mapping
        Plain JSON values by name.
    memory : ShownObjects
        What results showed.
    compared : Compared
        Of the tool.

    Returns
    -------
    dict of str to dict
        Argument -> field -> state. An object without any has an empty entry. Of a list, what all its objects
        share; an argument whose object was not seen, or has none of the fields that the source mentions, is
        left out.
    """
    entries: dict[str, dict[str, State]] = {}
    for name, value in args.items():
        if len(entries) == MAX_ARGUMENTS:
            break
        texts = _texts_of(value)
        if not all(hash(text) in memory for text in texts):
            continue
        is_named = name in _NAMED or name.endswith(_ENDINGS)
        shown = [_shown(text, memory, compared) for text in texts if is_named or is_identifier(text)]
        known = [fields for fields in shown if fields is not None]
        if known and len(known) == len(texts):
            shared = set.intersection(*(set(fields.items()) for fields in known))
            entries[name[:_NAME_CHARS]] = dict(sorted(shared))
    return entries


def _texts_of(value: object) -> list[str]:
    values = value if isinstance(value, list) else [value]
    texts = [str(item).strip() for item in values if type(item) in (str, int)]
    return texts if len(texts) == len(values) <= MAX_VALUES else []


def _shown(text: str, memory: ShownObjects, compared: Compared) -> dict[str, State] | None:
    number = hash(text)
    if number in compared.literals:  # the argument is a state itself
        return None
    fields = memory.get(number)
    if fields is None or compared.names.isdisjoint(fields):
        return None
    states: dict[str, State] = {}
    for name in compared.names & fields.keys():
        value = fields[name]
        if isinstance(value, bool):
            if name in compared.tested:
                states[name] = value
        elif value in compared.literals or name in compared.fields:
            states[name] = compared.literals.get(value)
    return states
