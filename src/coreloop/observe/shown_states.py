"""Sees in which state results showed the object that an argument names.

``{"order_id": {"status": "~1a2b3c4d", "locked": false}}``: memory holds short words, and only keyed hashes of
them leave this module. Which word a hash stands for is known where the log is read beside the source.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any, Final, TypeAlias

from coreloop.observe.case_keys import hash_identifier, is_identifier

# A state is a word; longer texts are prose, and would fill the line.
LITERAL_CHARS: Final = 40
LITERAL: Final = re.compile(r"[^\W\d][\w-]*")
HASHED: Final = "~"  # begins the hash of a word, which no word does
MAX_ARGUMENTS: Final = 8  # of a call: more do not fit on a line beside its other fields
MAX_STATES: Final = 16  # of an object on a line
MAX_VALUES: Final = 20  # of an argument that is a list
_MAX_CHARS: Final = 60  # of an identifier
_SMALL: Final = 9_999  # a whole number with fewer than five digits identifies nothing
MAX_FIELDS: Final = 30  # of an object; one with more is a mapping by ids
_NAME_CHARS: Final = 64
_NAMED: Final = ("id", "key", "name", "path", "code", "number", "slug", "uuid")
_ENDINGS: Final = ("_id", "Id", "_key", "_name", "_path", "_code", "_number")
CONTAINERS: Final = frozenset({dict, list, tuple})

# A field's value: a word, or its hash on a line; a boolean; None for another text.
State: TypeAlias = str | bool | None
Shown: TypeAlias = dict[str, State]


@lru_cache(maxsize=4096)
def hash_state(word: str, key: bytes) -> str:
    """A word as a record has it, with the key of `coreloop.observe.case_keys.case_key`."""
    return HASHED + hash_identifier(word, key)


class ShownObjects(dict[int, Shown]):
    """The objects that results showed, by the hashes of what identifies them."""

    def note(self, node: dict[Any, Any], key: object, asked_for: Iterable[int]) -> None:
        """Note an object of a result.

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
                if not value.isalpha() or name in _NAMED or name.endswith(_ENDINGS):
                    numbers.append(hash(value))
                    _note_text(fields, name, value)
                elif len(value) <= LITERAL_CHARS:
                    fields[name] = value
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


def _note_text(fields: Shown, name: str, text: str) -> None:
    """Note a word, or that there is prose; identifiers, numbers and a name such as ``Kim`` are no states."""
    if len(text) > LITERAL_CHARS or (text.isalpha() and text.istitle()):
        return
    if LITERAL.fullmatch(text) and not is_identifier(text):
        fields[name] = text
    elif " " in text:
        fields[name] = None


def saw(
    args: Mapping[str, object], memory: ShownObjects, key: Callable[[], bytes]
) -> dict[str, dict[str, State]]:
    """Say for each argument in which state the object that it names was last seen.

    Parameters
    ----------
    args : mapping
        Plain JSON values by name.
    memory : ShownObjects
        What results showed.
    key : callable
        Returns the key of `hash_state`; without any, nothing is said.

    Returns
    -------
    dict of str to dict
        Argument -> field -> state. An object without any has an empty entry. Of a list, what all its objects
        share; an argument whose object was not seen is left out.
    """
    entries: dict[str, dict[str, State]] = {}
    for name, value in args.items():
        if len(entries) == MAX_ARGUMENTS:
            break
        texts = _texts_of(value)
        is_named = name in _NAMED or name.endswith(_ENDINGS)
        shown = [memory.get(hash(text)) for text in texts if is_named or is_identifier(text)]
        known = [fields for fields in shown if fields is not None]
        if known and len(known) == len(texts) and (secret := key()):
            shared = set.intersection(*(set(fields.items()) for fields in known))
            chosen = sorted(shared, key=lambda state: (state[1] is None, state[0]))[:MAX_STATES]
            entries[name[:_NAME_CHARS]] = {
                field[:_NAME_CHARS]: hash_state(state, secret) if isinstance(state, str) else state
                for field, state in chosen
            }
    return entries


def _texts_of(value: object) -> list[str]:
    values = value if isinstance(value, list) else [value]
    texts = [str(item).strip() for item in values if type(item) in (str, int)]
    return texts if len(texts) == len(values) <= MAX_VALUES else []
