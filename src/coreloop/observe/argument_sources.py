"""Finds the sources of call arguments: fields of earlier results, and the user's questions.

Memory holds only hashes of results, but the full text of questions, because a value is a part of a text.
Only paths leave this module: ``get_user_details.orders[]``. No code of a result is run: only plain dicts,
lists, tuples, strings, numbers and the fields of dataclasses are inspected.
"""

import os
from _thread import RLock  # faster, see collector
from collections.abc import Callable, Iterable
from itertools import islice, repeat
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias
from unicodedata import normalize

import orjson

from coreloop.base.record_lines import MAX_CHARS, MAX_VALUES
from coreloop.observe.comparable_texts import MIN_CHARS, composed, has_word, is_compared, is_name, texts_in
from coreloop.observe.shown_states import Compared, ShownObjects, State, dataclass_fields, numbers_of, saw

if TYPE_CHECKING:
    from coreloop.observe.record_parts import RecordedCall

QUESTION: Final = "question"
MAX_PATHS: Final = 4
MAX_LEAVES: Final = MAX_VALUES
MAX_TEXT_CHARS: Final = 16_000
MAX_ARGUMENT_LEAVES: Final = 200
MAX_PATH_CHARS: Final = 120
SESSION_LEAVES: Final = 20_000  # ten results of the largest size that is read
FORGET_S: Final = 3600.0
"""Chosen: after an hour a session is another conversation; `learn` takes the same pause."""
SESSIONS: Final = 256  # chosen: `PROCESS_LEAVES` bounds the memory, this the questions in it
PROCESS_LEAVES: Final = 400_000
"""Some 50 MB: a leaf takes about 130 bytes."""

_MAX_CONTAINERS: Final = MAX_LEAVES + 50  # per result; a recursive result has no end
_MAX_TEXTS: Final = 16
_MAX_NAMES: Final = 4_000
_MAX_PLACES: Final = 8  # more than are written: an argument with several values gets their shared paths
_SMALL: Final = 100  # a smaller number is in many results by chance
_LARGE: Final = 10**18  # Python refuses to write an integer of 4,300 digits
_ITEM: Final = "[]"
_JSON_BEGINS: Final = frozenset("{[")
_CONTAINERS: Final = frozenset({dict, list, tuple})
_MAX_PARTS: Final = 50
_ENVELOPE: Final = frozenset({"content", "isError", "structuredContent", "_meta"})

Place: TypeAlias = tuple[int, str]
"""The number of questions so far, and a path, empty if it is too long to be stored."""
_Places: TypeAlias = dict[int, Place | list[Place]]


class Lookup(NamedTuple):
    """The sources of a call's arguments.

    Attributes
    ----------
    args_from : dict of str to list of str, or None
        As in the record; None if no argument was compared.
    echoes : set of int
        Hashes of the arguments' values, which are not remembered when the call's own result repeats them.
    identifiers : list of int, or None
        Hashes of the identifiers among them; None if no tool's source is known.
    saw : dict
        As in the record; empty if no argument names an object that was shown.
    """

    args_from: dict[str, list[str]] | None
    echoes: set[int]
    identifiers: list[int] | None
    saw: dict[str, dict[str, State]]


class _Walk:
    """What remains of a result to be read."""

    __slots__ = ("chars_left", "containers", "echoes")

    def __init__(self, echoes: set[int]) -> None:
        self.echoes = echoes
        self.chars_left = MAX_CHARS
        self.containers: list[tuple[str, Any]] = []


class Sources:
    """The memory of one request, or of a session's requests.

    Not locked: if two threads write the same value at the same moment, one of its places may be lost.

    Parameters
    ----------
    now_s : float
        Seconds of any clock; see `use`.

    Attributes
    ----------
    has_results : bool
        Whether any result was remembered; without results nothing is looked up.
    """

    __slots__ = (
        *("_is_complete", "_n_questions", "_names", "_places", "_shown", "_texts", "_used_s"),
        "has_results",
    )

    def __init__(self, now_s: float = 0.0) -> None:
        self._used_s = now_s
        self._places: _Places = {}
        self._texts: list[tuple[int, str]] = []
        self._shown = ShownObjects()
        self._names: dict[str, dict[str, Place]] = {}
        self._n_questions = 0
        self.has_results = False
        self._is_complete = True

    def __len__(self) -> int:
        """Number of remembered values; a question counts as one value per 64 characters."""
        return len(self._places) + len(self._shown) + sum(len(text) // 64 + 1 for _, text in self._texts)

    def add_question(self, text: str) -> None:
        """Remember a question as a source of values."""
        question = composed(text[:MAX_TEXT_CHARS]).casefold()
        texts = self._texts
        if len(text) > MAX_TEXT_CHARS or len(texts) >= _MAX_TEXTS:
            self._is_complete = False
        if any(question == known for _, known in texts):
            return
        del texts[: len(texts) - _MAX_TEXTS + 1]
        self._n_questions += 1
        self._names = {}  # its places have the previous number of questions
        texts.append((self._n_questions, question))

    def look_up(
        self, args: dict[str, Any], compared: Compared | None = None, *, names_objects: bool = True
    ) -> Lookup:
        """Find where the values of a call's arguments occurred before.

        Parameters
        ----------
        args : dict
            Plain JSON values by name.
        compared : Compared, optional
            What the tool's source compares with; without it, no states are looked up.
        names_objects : bool
            Whether the objects that the call's result shows are to be remembered.
        """
        echoes: set[int] = set()
        paths_by_name: dict[str, list[str]] = {}
        for name, value in args.items():
            if type(value) is str:  # the most frequent type
                text = composed(value.strip())
                echoes.add(hash(text))
                if is_compared(text):
                    paths_by_name[name[:MAX_PATH_CHARS]] = self._paths_of(text)[:MAX_PATHS]
                continue
            texts = list(islice(texts_in(value), MAX_ARGUMENT_LEAVES + 1))
            echoes.update(map(hash, texts))
            distinctive = [text for text in texts if is_compared(text)]
            if distinctive and len(texts) <= MAX_ARGUMENT_LEAVES:
                paths_by_name[name[:MAX_PATH_CHARS]] = self._shared_paths(distinctive)
        if not self._is_complete:
            paths_by_name = {name: paths for name, paths in paths_by_name.items() if paths}
        states = saw(args, self._shown, compared) if compared else {}
        identifiers = numbers_of(args.values()) if names_objects else None
        return Lookup(paths_by_name or None, echoes, identifiers, states)

    def trace(self, recorded: "RecordedCall", compared: Callable[[str], Compared | None] | None) -> Lookup:
        """Add the sources of its arguments to a call.

        Parameters
        ----------
        recorded : RecordedCall
            Its call gets ``args_from`` if any argument was compared, and ``saw`` if one names an object that
            was shown.
        compared : callable or None
            Returns what a tool's source compares with, if any source is known.
        """
        call, is_known = recorded.call, compared is not None
        of_tool = compared(call["name"]) if compared is not None and self.has_results else None
        lookup = self.look_up(recorded.args, of_tool, names_objects=is_known)
        if lookup.args_from is not None:
            call["args_from"] = lookup.args_from
        if lookup.saw:
            call["saw"] = lookup.saw
        return lookup

    def remember(self, tool: str, result: object, lookup: Lookup | None, *, ok: bool | None) -> None:
        """Remember the values of a call's result and their places.

        Parameters
        ----------
        tool : str
            The tool's name as recorded.
        result : object
            ``...`` if unknown.
        lookup : Lookup or None
            Of the same call.
        ok : bool or None
            Results of calls that are not known to have worked are not remembered.
        """
        if not ok:
            return
        if result is ...:
            self._is_complete = False
            return
        self.has_results = True
        if len(self._places) + len(self._shown) > SESSION_LEAVES - MAX_LEAVES:
            self._forget()
        if sum(map(len, self._names.values())) > _MAX_NAMES:
            self._names = {}
        try:
            roots = self._unwrapped(result)
            self._walk(tool, roots, lookup.echoes if lookup else set())
            if lookup is not None and lookup.identifiers is not None:
                self._shown.note(roots, lookup.identifiers)
        except RuntimeError:  # another thread changed the result meanwhile
            self._is_complete = False

    def mark_incomplete(self) -> None:
        """Record no empty sources from now on, because earlier results are unknown."""
        self._is_complete = False

    def use(self, now_s: float) -> None:
        """Forget everything after an hour without use."""
        if now_s - self._used_s >= FORGET_S:
            self._forget()
        self._used_s = now_s

    def _forget(self) -> None:
        self._is_complete &= not (self._places or self._texts)
        self._places, self._texts, self._shown = {}, [], ShownObjects()

    def _shared_paths(self, texts: list[str]) -> list[str]:
        """The paths that all of several values share, the earliest first."""
        shared = self._paths_of(texts[0])
        for text in texts[1:]:
            if not shared:
                break
            paths = self._paths_of(text)
            shared = [path for path in shared if path in paths]
        return shared[:MAX_PATHS]

    def _paths_of(self, text: str) -> list[str]:
        known = self._places.get(hash(text), [])
        places = known if isinstance(known, list) else [known]
        asked = self._question_number(text.casefold())
        if asked is not None:
            before = [place for place in places if place[0] < asked]
            places = [*before, (asked, QUESTION), *places[len(before) :]]
        return list(dict.fromkeys([path for _, path in places if path])) if places else []

    def _question_number(self, wanted: str) -> int | None:
        for number, question in self._texts:
            if wanted in question and has_word(question, wanted):
                return number
        return None

    def _unwrapped(self, result: object) -> list[Any]:
        """The values in a result: those of JSON text, of an MCP envelope and of its text parts."""
        value = self._decoded(result)
        if type(value) is dict and _is_envelope(value):
            structured = value.get("structuredContent")
            value = structured if type(structured) is dict else value.get("content")
        if type(value) is list and 0 < len(value) <= _MAX_PARTS and all(map(_is_text_part, value)):
            return [self._decoded(part["text"]) for part in value]
        return [value]

    def _decoded(self, value: object) -> Any:
        """Parse JSON text; return any other value unchanged."""
        if type(value) is not str or value.lstrip()[:1] not in _JSON_BEGINS:
            return value
        if len(value) > MAX_CHARS:
            self._is_complete = False
            return None
        try:
            return orjson.loads(value)
        except ValueError:
            return value

    def _walk(self, tool: str, roots: list[Any], echoes: set[int]) -> None:
        """Remember the leaves of some values, breadth first."""
        walk, known = _Walk(echoes), self._names
        containers, note = walk.containers, self._note
        note(zip(repeat(""), roots, strict=False), {"": (self._n_questions, self._bounded(tool))}, "", walk)
        room = MAX_LEAVES - len(roots)
        for n_walked, (path, node) in enumerate(containers):  # grows
            if walk.chars_left < 0 or n_walked == _MAX_CONTAINERS:
                self._is_complete = False
                return
            names = known.setdefault(path, {})
            pairs: Iterable[tuple[Any, Any]]
            if type(node) is dict:
                pairs = node.items()
            else:
                pairs = zip(repeat(_ITEM), node, strict=False)
                if _ITEM not in names:
                    names[_ITEM] = (self._n_questions, self._bounded(f"{path}{_ITEM}"))
            left = room + len(containers) - len(node)  # containers are not leaves
            if left < 0:
                pairs = islice(pairs, max(0, len(node) + left))
                self._is_complete = False
            room -= len(node)
            note(pairs, names, path, walk)
        self._is_complete &= walk.chars_left >= 0

    def _note(  # noqa: PLR0912 - one function, since a call per leaf would double the time
        self, pairs: Iterable[tuple[Any, Any]], names: dict[str, Place], prefix: str, walk: "_Walk"
    ) -> None:
        """Remember the leaves among a container's items, and what contains others."""
        places, echoes, chars_left = self._places, walk.echoes, walk.chars_left
        for key, value in pairs:
            kind = type(value)
            if kind is str:
                chars_left -= len(value)
                if chars_left < 0:
                    break
                text = value.strip()
                if len(text) < MIN_CHARS:
                    continue
                if not text.isascii():
                    text = normalize("NFC", text)
            elif kind is int or kind is float:
                if -_SMALL < value < _SMALL or not -_LARGE < value < _LARGE:
                    continue
                text = str(value if kind is int or value % 1 else int(value))
            elif kind is bool or value is None:
                continue
            else:
                text = None
            place = (type(key) is str and names.get(key)) or self._place(names, prefix, key)
            if text is None:
                inside = value if kind in _CONTAINERS else dataclass_fields(value)
                if inside is None:
                    self._is_complete = False
                elif place[1]:
                    walk.containers.append((place[1], inside))
                continue
            number = hash(text)
            known = places.get(number)
            if known is not place and number not in echoes:
                if known is None:
                    places[number] = place
                else:
                    _add_place(places, number, known, place)
        walk.chars_left = chars_left

    def _place(self, names: dict[str, Place], prefix: str, key: object) -> Place:
        """The place of an object's field; a key that looks like data is replaced by ``*``."""
        name = composed(key) if type(key) is str and is_name(key) else "*"
        place = names.get(name)
        if place is None:
            place = names[name] = (self._n_questions, self._bounded(f"{prefix}.{name}"))
        return place

    def _bounded(self, path: str) -> str:
        """The path, or an empty text if it is too long."""
        if len(path) <= MAX_PATH_CHARS:
            return path
        self._is_complete = False
        return ""


def _add_place(places: _Places, number: int, known: Place | list[Place], place: Place) -> None:
    if isinstance(known, tuple):
        if known[1] != place[1]:
            places[number] = [known, place]
    elif len(known) < _MAX_PLACES and all(path != place[1] for _, path in known):
        known.append(place)


def _is_envelope(value: dict[Any, Any]) -> bool:
    """Whether an object is an MCP call result: ``content`` and only known fields."""
    return len(value) <= len(_ENVELOPE) and "content" in value and _ENVELOPE.issuperset(value)


def _is_text_part(part: Any) -> bool:
    return type(part) is dict and part.get("type") == "text" and type(part.get("text")) is str


class SessionSources:
    """Memories of sessions; the least recently used are forgotten first."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._memories: dict[object, Sources] = {}

    def open(self, session: object, now_s: float) -> Sources:
        """Return the memory of a session, creating it if absent.

        Parameters
        ----------
        session : hashable
            Identifies the session in this process.
        now_s : float
            Seconds of a monotonic clock.
        """
        with self._lock:
            memory = self._memories.pop(session, None)
            if memory is None:
                memory = Sources(now_s)
                self._make_room()
            memory.use(now_s)
            self._memories[session] = memory
            return memory

    def _make_room(self) -> None:
        """Forget the oldest sessions beyond the limits."""
        n_leaves = sum(map(len, self._memories.values()))
        while self._memories and (len(self._memories) >= SESSIONS or n_leaves > PROCESS_LEAVES):
            oldest = next(iter(self._memories))
            n_leaves -= len(self._memories.pop(oldest))

    def renew_lock(self) -> None:
        """Replace the lock after a fork: a parent's thread may hold it, and the child cannot release it."""
        self._lock = RLock()


SESSION_SOURCES: Final = SessionSources()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=SESSION_SOURCES.renew_lock)
