"""Finds the sources of call arguments: fields of earlier results, and the user's questions.

The results of a request are read when it ends: then it is known which few values they are searched for. The
memory of a session, whose later requests are not known, holds hashes of all values, but the full text of
questions, because a value is a part of a text. Only paths leave this module: ``get_user_details.orders[]``.
No code of a result is run: only plain dicts, lists, tuples, strings and numbers are inspected.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from coreloop.base.record_lines import MAX_CHARS, MAX_VALUES
from coreloop.observe.case_keys import composed, is_identifier
from coreloop.observe.failure_texts import parsed_json
from coreloop.observe.shown_states import CONTAINERS, MAX_FIELDS, ShownObjects, saw

if TYPE_CHECKING:
    from coreloop.observe.record_parts import RecordedCall

QUESTION: Final = "question"
MAX_PATHS: Final = 4
MAX_TEXT_CHARS: Final = 16_000
MAX_ARGUMENT_LEAVES: Final = 200
MAX_PATH_CHARS: Final = 120
SESSION_LEAVES: Final = 20_000  # ten results of the largest size that is read
# Chosen: after an hour a session is another conversation; `learn` takes the same pause.
FORGET_S: Final = 3600.0
DISORDER_S: Final = 1.0  # threads open the requests of a session in any order
SESSIONS: Final = 256  # chosen: `PROCESS_LEAVES` bounds the memory, this the questions in it
# Some 70 MB: a leaf takes about 180 bytes.
PROCESS_LEAVES: Final = 400_000

MIN_CHARS: Final = 3  # a shorter text is in many results by chance
_COMMON_BEGINS: Final = frozenset("-.0123456789tTfFnN")
_COMMON: Final = re.compile(r"(?i:true|false|null|none)|-?\d{0,2}(\.\d*)?")
_NAME_CHARS: Final = 40
_NAME_DIGITS: Final = 3  # `address1` is a name; a key with more digits looks like data
_CJK: Final = "\u2e80"  # first of the scripts without spaces between words, or with particles after words
_MAX_TEXTS: Final = 16
_MAX_PLACES: Final = 8  # more than are written: an argument with several values gets their shared paths
_SMALL: Final = 100  # a smaller number is in many results by chance
_LARGE: Final = 10**18  # Python refuses to write an integer of 4,300 digits
_MAX_PARTS: Final = 50
_ENVELOPE: Final = frozenset({"content", "isError", "structuredContent", "_meta"})


class Lookup(NamedTuple):
    """The sources of a call's arguments.

    Attributes
    ----------
    args_from : dict of str to list of str, or None
        As in the record; None if no argument was compared.
    echoes : set of int
        Hashes of the arguments' values, which are not remembered when the call's own result repeats them.
    identifiers : set of int
        Hashes of the identifiers among them.
    """

    args_from: dict[str, list[str]] | None
    echoes: set[int]
    identifiers: set[int]


class Sources:
    """The memory of one request, or of a session's requests.

    Not locked: if two threads write the same value at the same moment, one of its places may be lost.

    Parameters
    ----------
    now_s : float
        Seconds of any clock; see `use`.
    searched : collection, optional
        The values of all arguments that will be looked up, see `values_in`: others are not remembered.

    Attributes
    ----------
    has_results : bool
        Whether any result was remembered; without results nothing is looked up.
    """

    def __init__(self, now_s: float = 0.0, searched: Collection[str | float] | None = None) -> None:
        self._used_s = now_s
        self._searched = searched
        self._places: dict[int, tuple[str, ...]] = {}
        self._texts: list[str] = []
        self._unread: list[tuple[str, Any, Lookup]] = []
        self._shown = ShownObjects()
        self.has_results = False
        self._is_complete = True

    def __len__(self) -> int:
        """Number of remembered values; a question counts as one value per 64 characters."""
        return len(self._places) + len(self._shown) + sum(len(text) // 64 + 1 for text in self._texts)

    def add_question(self, text: str) -> None:
        """Remember a question as a source of values."""
        question = composed(text[:MAX_TEXT_CHARS]).casefold()
        texts = self._texts
        if len(text) > MAX_TEXT_CHARS or len(texts) >= _MAX_TEXTS:
            self._is_complete = False
        if question not in texts:
            del texts[: len(texts) - _MAX_TEXTS + 1]
            texts.append(question)

    def look_up(self, texts_by_name: Mapping[str, list[str]]) -> Lookup:
        """Find where the values of a call's arguments occurred before.

        Parameters
        ----------
        texts_by_name : mapping of str to list of str
            The `texts_in` each argument.
        """
        while self._unread:  # the last result of a request never is
            self._read(*self._unread.pop(0))
        echoes: set[int] = set()
        paths_by_name: dict[str, list[str]] = {}
        for name, texts in texts_by_name.items():
            echoes.update(map(hash, texts[: MAX_ARGUMENT_LEAVES + 1]))
            distinctive = [text for text in texts if is_compared(text)]
            if distinctive and len(texts) <= MAX_ARGUMENT_LEAVES:
                paths_by_name[name[:MAX_PATH_CHARS]] = self._shared_paths(distinctive)
        if not self._is_complete:
            paths_by_name = {name: paths for name, paths in paths_by_name.items() if paths}
        identifiers = filter(is_identifier, chain.from_iterable(texts_by_name.values()))
        return Lookup(paths_by_name or None, echoes, {*map(hash, identifiers)})

    def trace(self, recorded: "RecordedCall", key: Callable[[], bytes]) -> Lookup:
        """Add the sources of its arguments to a call.

        Parameters
        ----------
        recorded : RecordedCall
            Its call gets ``args_from`` if any argument was compared, and ``saw`` if one names an object that
            was shown.
        key : callable
            Returns the key of `hash_state`, or an empty one.
        """
        call = recorded.call
        lookup = self.look_up(recorded.texts)
        if lookup.args_from is not None:
            call["args_from"] = lookup.args_from
        if self._shown and (states := saw(recorded.args, self._shown, key)):
            call["saw"] = states
        return lookup

    def remember(self, tool: str, result: object, lookup: Lookup | None) -> None:
        """Remember the values of the result of a call that worked, and their places.

        Parameters
        ----------
        tool : str
            The tool's name as recorded.
        result : object
            ``...`` if unknown.
        lookup : Lookup or None
            Of the same call.
        """
        if result is ...:
            self._is_complete = False
            return
        self.has_results = True
        unread = tool, result, lookup or Lookup(None, set(), set())
        if self._searched is None:
            self._read(*unread)
        else:
            self._unread.append(unread)

    def _read(self, tool: str, result: object, lookup: Lookup) -> None:
        if len(self._places) + len(self._shown) > SESSION_LEAVES - MAX_VALUES:
            self._forget()
        self._walk(tool, _unwrapped(result), lookup)

    def mark_incomplete(self) -> None:
        """Record no empty sources from now on, because earlier results are unknown."""
        self._is_complete = False

    def use(self, now_s: float) -> None:
        """Forget everything after an hour without use, or where the clock went back: traces in disorder."""
        if not -DISORDER_S < now_s - self._used_s < FORGET_S:
            self._forget()
        self._used_s = now_s

    def _forget(self) -> None:
        self._is_complete &= not (self._places or self._texts)
        self._places, self._texts, self._shown = {}, [], ShownObjects()

    def _shared_paths(self, texts: list[str]) -> list[str]:
        """The paths that all of several values share, the earliest first."""
        first, *others = map(self._paths_of, texts)
        shared = set(first).intersection(*others)
        return [path for path in first if path in shared][:MAX_PATHS]

    def _paths_of(self, text: str) -> list[str]:
        wanted = text.casefold()
        asked = [question for question in self._texts if wanted in question and has_word(question, wanted)]
        return [*([QUESTION] if asked else []), *self._places.get(hash(text), ())]

    def _walk(self, tool: str, roots: list[Any], lookup: Lookup) -> None:
        """Remember the leaves of some values, and the objects among them, breadth first."""
        asked_for, root, chars_left, n_left = lookup.identifiers, roots[0], MAX_CHARS, MAX_VALUES
        paths: dict[tuple[str, Any], str] = {("", None): self._bounded(tool)}
        waiting: list[tuple[str, Any, Any]] = [("", None, roots)]
        for path, name, node in waiting:  # grows
            is_object = type(node) is dict
            wanted = self._searched if len(path) < MAX_PATH_CHARS - _NAME_CHARS else None
            is_cut = len(node) > n_left
            is_shown = wanted is None or is_cut or node is root or (type(name) is str and name in wanted)
            items = node.items() if is_object else zip(repeat(None), node)
            for key, value in islice(items, n_left) if is_cut else items:
                kind, leaf = type(value), value
                if kind is str:
                    chars_left -= len(value)
                    leaf = value.strip() if chars_left >= 0 else ""
                    leaf = leaf if leaf.isascii() else composed(leaf)
                elif kind is bool or value is None:
                    continue
                elif kind is not int and kind is not float:
                    leaf = None
                if leaf is not None and wanted is not None and leaf not in wanted:
                    continue
                place = path, key if not is_object or type(key) is str else "*"
                inside = paths.get(place)
                if inside is None:
                    inside = paths[place] = self._inside(*place)
                if leaf is not None:
                    is_shown = True
                    self._place(leaf, inside, lookup.echoes)
                elif kind in CONTAINERS and inside and chars_left >= 0:
                    waiting.append((inside, key, value))
                else:
                    self._is_complete = False
            n_left = 0 if is_cut else n_left - len(node)
            if is_object and (is_shown or chars_left < 0):
                self._shown.note(node, name, asked_for if node is root and len(asked_for) == 1 else ())
        self._is_complete &= chars_left >= 0 and n_left > 0

    def _place(self, leaf: str | float, path: str, echoes: set[int]) -> None:
        if not isinstance(leaf, str):
            leaf = str(leaf if leaf % 1 else int(leaf)) if _SMALL <= abs(leaf) < _LARGE else ""
        if len(leaf) >= MIN_CHARS and path:
            known = self._places.get(hash(leaf), ())
            if path not in known and hash(leaf) not in echoes and len(known) < _MAX_PLACES:
                self._places[hash(leaf)] = (*known, path)

    def _inside(self, path: str, key: str | None) -> str:
        """The path of an item of a list, or of an object's field; a key that looks like data is ``*``."""
        name = "[]" if key is None else f".{composed(key)}" if is_name(key) else ".*"
        return self._bounded(path + name)

    def _bounded(self, path: str) -> str:
        """The path, or an empty text if it is too long."""
        if len(path) <= MAX_PATH_CHARS:
            return path
        self._is_complete = False
        return ""


def values_in(arguments: Iterable[Mapping[str, list[str]]]) -> set[str | float]:
    """The values that results are searched for: the texts of arguments, and the numbers that they write."""
    texts = {text for texts_by_name in arguments for texts in texts_by_name.values() for text in texts}
    values = set[str | float](texts)
    for text in texts:
        if text[:1] in "-0123456789":
            with suppress(ValueError):
                values.add(float(text) if "." in text else int(text))
    return values


def copied(result: Any) -> Any:
    """A result as it is now, with at least what will be read of it, and noted of its objects."""
    if type(result) not in CONTAINERS:
        return result[: MAX_CHARS + 1] if type(result) is str else result
    content = _in_envelope(result)
    roots: list[Any] = [result if content is result else {"content": content}]
    level, depth, n_left = list[Any]([roots]), 0, MAX_VALUES + 2 * _MAX_PARTS
    while level and depth < MAX_PATH_CHARS // 2:  # what is deeper has no path
        nodes, level, depth = level, [], depth + 1
        for node in nodes:
            for key, value in node.items() if type(node) is dict else enumerate(node):
                kind = type(value)
                if kind in CONTAINERS and (n_left > 0 or kind is dict):
                    if kind is not tuple and len(value) <= n_left:
                        node[key] = copy = value.copy()
                    else:
                        node[key] = copy = _first_items(value, max(n_left, MAX_FIELDS + 1))
                    if n_left > 0:
                        level.append(copy)
                    n_left -= len(value)
                elif kind is str and len(value) > MAX_CHARS:  # an image, a file: no more of it is read
                    node[key] = value[: MAX_CHARS + 1]
    return roots[0]


def _first_items(node: Any, most: int) -> Any:
    return dict(islice(node.items(), most)) if type(node) is dict else [*node[:most]]


def is_name(key: str) -> bool:
    """Whether a result's key is a field name; a key that looks like data becomes ``*`` in a path.

    ``address1`` is a name; ``credit_card_9513926``, ``2024`` and ``kim@example.com`` are not.
    """
    is_word = len(key) <= _NAME_CHARS and key.isidentifier()
    return is_word and (key.isalpha() or sum(map(str.isdigit, key)) < _NAME_DIGITS)


def is_compared(text: str) -> bool:
    """Whether a value is long and distinctive enough to have its source looked up."""
    return len(text) >= MIN_CHARS and (text[0] not in _COMMON_BEGINS or _COMMON.fullmatch(text) is None)


def has_word(text: str, wanted: str) -> bool:
    """Whether a text contains a value as a separate word; a particle may follow: ``삼성전자의``."""
    at = text.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        if not _are_same_word(text[at - 1 : at], wanted[0]) and not (
            _are_same_word(wanted[-1], text[end : end + 1]) and text[end] < _CJK
        ):
            return True
        at = text.find(wanted, at + 1)
    return False


def _are_same_word(left: str, right: str) -> bool:
    """Whether two adjacent characters belong to the same word; Latin and CJK letters do not."""
    are_in_words = (left.isalnum() or left == "_") and (right.isalnum() or right == "_")
    return are_in_words and (left < _CJK) == (right < _CJK)


def _unwrapped(result: object) -> list[Any]:
    """The values in a result: those of JSON text, of an MCP envelope and of its text parts."""
    value = _in_envelope(_decoded(result))
    if type(value) is list and 0 < len(value) <= _MAX_PARTS and all(map(_is_text_part, value)):
        return [_decoded(part["text"]) for part in value]
    return [value]


def _decoded(value: object) -> Any:
    parsed = parsed_json(value) if type(value) is str else ...
    return value if parsed is ... else parsed


def _in_envelope(value: Any) -> Any:
    """What an MCP call result holds, which has ``content`` and only known fields; else the value itself."""
    if type(value) is not dict or "content" not in value or not _ENVELOPE.issuperset(value):
        return value
    structured = value.get("structuredContent")
    return structured if type(structured) is dict else value["content"]


def _is_text_part(part: Any) -> bool:
    return type(part) is dict and part.get("type") == "text" and type(part.get("text")) is str


class SessionSources(dict[object, Sources]):
    """Memories of sessions; the least recently used are forgotten first."""

    def open(self, session: object, now_s: float) -> Sources:
        """Return the memory of a session, creating it if absent.

        Parameters
        ----------
        session : hashable
            Identifies the session in this process.
        now_s : float
            Seconds of a monotonic clock.
        """
        memory = self.pop(session, None)
        if memory is None:
            memory = Sources(now_s)
            while len(self) >= SESSIONS or sum(map(len, list(self.values()))) > PROCESS_LEAVES:
                self.pop(next(iter(self)), None)
        memory.use(now_s)
        self[session] = memory
        return memory


SESSION_SOURCES: Final = SessionSources()
