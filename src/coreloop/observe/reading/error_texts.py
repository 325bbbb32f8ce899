"""An error's text without what varies from case to case: the cause that all of its calls share."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import msgspec

from coreloop.base.error_classes import CLASS_WORDS, MAX_ERROR_CHARS
from coreloop.base.records import digest64

_MAX_TEMPLATE_CHARS: Final = 200

# Signs to look for, the pattern to replace if a sign occurs, the replacement. The order matters: the rest of
# a match may match the next pattern. An unclosed quote runs to the end, since logs cut texts anywhere; an
# apostrophe within a word, or after a value that was taken out, neither opens nor closes a quote, but a
# Korean particle may follow a quote.
_VALUES: Final = (
    (("@", "://"), re.compile(r"\S*@\S*|\w+:/{2}\S*"), "<address>"),
    (("/", "\\"), re.compile(r"\S*[\\/]\S*"), "<path>"),
    (
        tuple("'\"`“‘「『«"),
        re.compile(
            r"(?<![A-Za-z0-9_\ue000-\uf8ff])[bfruBFRU]{0,2}'(?:[^']|'(?=[A-Za-z0-9_]))*(?:'|$)|"
            r"\"[^\"]*(?:\"|$)|`[^`]*(?:`|$)|“[^”]*(?:”|$)|‘[^’]*(?:’|$)|"
            r"「[^」]*(?:」|$)|『[^』]*(?:』|$)|«[^»]*(?:»|$)"
        ),
        "<value>",
    ),
)
# Matches "Error: ", "Error executing tool find: " and "Error invoking tool 'f' with kwargs {…} with error: ";
# not "ValueError: ", which says what is wrong.
_WRAPPER: Final = re.compile(
    r"""
    (?: (?:tool[ ]?)? (?:error|exception|failed)
      | (?:error|failure) [ ] (?:executing|calling|invoking|running) [ ] (?:the[ ])? (?:tool|function)
        [ ] \S{1,100} (?: [ ] with [ ] kwargs [ ] .{0,1000}? [ ] with [ ] error )?
      | failed [ ] to [ ] (?:execute|call|invoke|run) [ ] (?:the[ ])? (?:tool|function) [ ] \S{1,100}
    ) : [ ] (?=\S)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_MAX_WRAPPERS: Final = 5
# Matches "#12", "v1.2", "1,234,567" and "1 234 567".
_NUMBER: Final = re.compile(r"[#\w.-]*\d[\w.-]*(?:[,'’]\d[\w.-]*)*(?: \d{3}(?!\w))*")
_WORD: Final = re.compile(r"[가-힣]+|[^\W_가-힣]+")
_FIRST_PIECE: Final = 0xE000
_PIECES: Final = re.compile("[\ue000-\uf8ff]")
"""Private characters: the first word that is taken out of a text becomes the first of them, and so on."""
_NO_NAME: Final = re.compile(r"[^\w-]|\d")
_MAX_NAME_CHARS: Final = 40
OWN_WORD: Final = re.compile(r"<([\w-]{1,40}):([a-p]{4})>")
"""A word of an argument's value in a `template`: the argument, and the word's hash."""
_PARTICLES: Final = """
을 를 은 는 이 가 과 와 의 에 에서 에게 에게서 께 께서 로 으로 도 만 까지 부터 보다 처럼
라는 이라는 라고 이라고 님 님을 님이 님은 님의 님에게 씨 씨를 씨가 씨는 씨의 씨에게
"""
PARTICLES: Final = frozenset(_PARTICLES.split())
"""What may follow a Korean name in its word."""
_ORDINARY: Final = """
a all already an and any are argument arguments array as at be boolean but by call called can did does empty
error exception expected failed failure field for found from get given got had has have if in input integer is
it its list missing more name named no none not now null number object of on one only or out parameter please
provided received request required result so string text than that the then there this to too tool traceback
true false try type up us use value values was we were what when while with without wrong you your
수 것 값 및 또는 대한 다음 없음 오류 실패 요청 인자 입력 필요 결과 확인
합니다 입니다 됩니다 있습니다 않습니다 아닙니다 못했습니다 했습니다 하세요 주세요
"""
ORDINARY: Final = CLASS_WORDS.union(_ORDINARY.split())
"""Words of errors in general: an argument that holds one, such as a question, does not change its error."""


def template(text: str, args: Mapping[str, Any] | None = None) -> str:
    """An error's text without the parts that vary from case to case.

    Values of the call's arguments are replaced first, then numbers, ids, quoted values, paths and addresses,
    so that a cause always has the same text. Of a long one, what frameworks put before an error goes first,
    so that the cause itself is not cut off.

    Parameters
    ----------
    text : str
        As logged.
    args : mapping, optional
        The call's arguments, decoded or as `msgspec.Raw`.

    Returns
    -------
    str
        One line, at most 200 characters without arguments; applying it again changes nothing. A word of an
        argument's value is ``<name:abcd>``, with four letters of the word's hash, by which
        `coreloop.learn.mine.causes` sees words that belong to the text.
    """
    masked = without_own_values(text, args or {})
    return masked.filled(general(masked.text))


class Masked(NamedTuple):
    """A text with private characters for the words of the call's own arguments, and what they stand for."""

    text: str
    own: Sequence[str] = ()

    def filled(self, text: str) -> str:
        """Name the arguments in a text that was made of this one."""
        return _PIECES.sub(lambda piece: self.own[ord(piece[0]) - _FIRST_PIECE], text) if self.own else text


def general(text: str) -> str:
    """The text of `Masked` without numbers, quoted values, paths and addresses."""
    return _repeat_until_stable(_without_values(text))


@lru_cache(maxsize=4096)  # a cause has few texts without values, and recurs every day
def _repeat_until_stable(text: str) -> str:
    current, before = _without_numbers(text), None
    while current != before:  # a replacement may leave a quote, or letters that NFKC combines
        current, before = _without_numbers(_without_values(current)), current
    return current


def _without_values(text: str) -> str:
    folded = _folded(text)
    for markers, pattern, instead in _VALUES:
        for sign in markers:  # any() with a generator is slower
            if sign in folded:
                folded = pattern.sub(instead, folded)
                break
    return folded


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split())


def unwrapped(text: str) -> str:
    """An error's text without what frameworks put before it: ``Error executing tool find: ``."""
    for _ in range(_MAX_WRAPPERS):
        wrapper = _WRAPPER.match(text)
        if wrapper is None:
            break
        text = text[wrapper.end() :]
    return text


def _without_numbers(text: str) -> str:
    return cut(_NUMBER.sub("<n>", text))


def cut(text: str) -> str:
    """A long text, cut between words: half a placeholder would change again the next time."""
    if len(text) <= _MAX_TEMPLATE_CHARS:
        return text
    text = unwrapped(text)
    if len(text) <= _MAX_TEMPLATE_CHARS:
        return text
    return text[:_MAX_TEMPLATE_CHARS].rpartition(" ")[0] or "<value>"


def without_own_values(text: str, args: Mapping[str, Any]) -> Masked:
    """Take the values of a call's arguments out of its error.

    Whole values are taken out, and of longer ones each word of three letters or more (two where letters are
    syllables), in any case and with Korean particles; numbers and words such as ``not`` are left.
    """
    text = text[:MAX_ERROR_CHARS]
    if not text.isascii():
        text = _PIECES.sub("?", text)
    if not _may_share(text, args):
        return Masked(text)
    texts = _texts(args)
    error = _Error(_folded(text))
    values = list(filter(error.shares, (_Value.of(name, value) for name, value in texts)))
    values.sort(key=lambda value: (-len(value.text), value.name))
    for value in values:
        error.take_whole(value)
    for value in values:
        error.take_words(value)
    return error.masked() if error.taken else Masked(text)


def _may_share(text: str, args: Mapping[str, Any]) -> bool:
    """Whether arguments may have a word in common with an error: without decoding, for most of them."""
    raws = [value for value in args.values() if isinstance(value, msgspec.Raw)]
    if len(raws) < len(args) or text.endswith(("...", "…")):
        return bool(args)
    joined = b" ".join(raws)
    if b'"' not in joined or b"\\" in joined:
        return b'"' in joined
    lower = text.casefold()
    words = _WORD.findall(joined.decode("utf-8", "replace").casefold())
    return any(word in lower and _tells(word, least=2) for word in words)


def _texts(args: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each text in the arguments, with the name of its argument."""
    for name, value in args.items():
        if not isinstance(value, msgspec.Raw):
            yield from ((name, text) for text in _texts_in(value))
        elif b'"' in bytes(value):
            yield from ((name, text) for text in _texts_in(_decoded(value)))


def _texts_in(value: Any) -> Iterator[str]:
    """The texts in a value; keys that are no names of fields may be values, too."""
    rest = [value]
    while rest:
        part = rest.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, Mapping):
            rest += part.values()
            rest += [key for key in map(str, part) if not (key.isascii() and key.isidentifier())]
        elif isinstance(part, list | tuple):
            rest += part


def _decoded(raw: msgspec.Raw) -> Any:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


class _Value(NamedTuple):
    """A text of an argument: its words in lower case, and the signs around them."""

    name: str
    text: str
    words: tuple[str, ...]
    lead: str
    trail: str

    @classmethod
    def of(cls, name: str, text: str) -> "_Value":
        folded = _folded(text)
        words = list(_WORD.finditer(folded))
        if not words:
            return cls(name, folded, (), "", "")
        ends = folded[: words[0].start()].strip(), folded[words[-1].end() :].strip()
        return cls(name, folded, tuple(word[0].casefold() for word in words), *ends)


class _Taken(NamedTuple):
    """A word that is taken out; the signs between words of one ``whole`` value go with them."""

    start: int
    end: int
    name: str
    word: str
    whole: int | None = None


class _Error:
    """An error's text, and which of its words are taken out."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.taken: dict[int, _Taken] = {}
        self._spans = [word.span() for word in _WORD.finditer(text)]
        self._words = [text[start:end].casefold() for start, end in self._spans]
        self._set = set(self._words)
        self._places: dict[str, list[int]] = {}
        for place, word in enumerate(self._words):
            self._places.setdefault(word, []).append(place)
        self._foreign = [place for place, word in enumerate(self._words) if not word.isascii()]
        self._is_torn = text.endswith("...")
        self._n_wholes = 0

    def shares(self, value: _Value) -> bool:
        """Whether a value may have a word in common with the text."""
        if not value.words:
            return False
        return not self._set.isdisjoint(value.words) or bool(
            self._is_torn or (self._foreign and not value.text.isascii())
        )

    def take_whole(self, value: _Value) -> None:
        """Take out each place where all words of a value follow each other."""
        first, *others = value.words
        if not any(_tells(word, least=2) for word in value.words):
            return
        for place in self._beginning(first) if not others else self._places.get(first, ()):
            last = place + len(others)
            if self._follow(others, place + 1):
                self._take(value, place, last)

    def take_words(self, value: _Value) -> None:
        """Take out each word of a value."""
        for word in set(value.words):
            if _tells(word, least=3 if word.isascii() else 2):
                for place in self._beginning(word):
                    self._take_word(value.name, place, word)
        if self._is_torn and self._words:
            self._take_torn(value)

    def masked(self) -> Masked:
        """The text with private characters."""
        pieces: list[str] = []
        own: list[str] = []
        at, before = 0, None
        for place in sorted(self.taken):
            word = self.taken[place]
            between = self.text[at : word.start]
            if before is not None and word.whole is not None and word.whole == before.whole:
                between = " " * (" " in between)
            pieces += [between, chr(_FIRST_PIECE + len(own))]
            own.append(f"<{_label(word.name)}:{hashed(word.word)}>")
            at, before = word.end, word
        return Masked("".join(pieces) + self.text[at:], own)

    def _follow(self, words: Sequence[str], place: int) -> bool:
        return self._words[place : place + len(words)] == list(words) or (
            bool(words)
            and self._words[place : place + len(words) - 1] == list(words[:-1])
            and place + len(words) - 1 in self._beginning(words[-1])
        )

    def _take(self, value: _Value, first: int, last: int) -> None:
        if any(place in self.taken for place in range(first, last + 1)):
            return
        self._n_wholes += 1
        for place, word in enumerate(value.words, first):
            self._take_word(value.name, place, word, self._n_wholes)
        start, end = self.taken[first].start, self.taken[last].end
        if value.lead and self.text.endswith(value.lead, 0, start):
            self.taken[first] = self.taken[first]._replace(start=start - len(value.lead))
        if value.trail and self.text.startswith(value.trail, end):
            self.taken[last] = self.taken[last]._replace(end=end + len(value.trail))

    def _take_word(self, name: str, place: int, word: str, whole: int | None = None) -> None:
        start, end = self._spans[place]
        if self._words[place] != word:  # a word with a particle, or in a sentence without spaces
            start += max(0, self._words[place].find(word))
            end = min(end, start + len(word))
        self.taken.setdefault(place, _Taken(start, end, name, word, whole))

    def _take_torn(self, value: _Value) -> None:
        """Take out the last word of a text that was cut, if it begins a word of a value."""
        last = len(self._words) - 1
        is_after_own = last - 1 in self.taken and self.taken[last - 1].name == value.name
        torn = self._words[last]
        if (is_after_own or len(torn) >= 3) and any(word.startswith(torn) for word in value.words):
            self._take_word(value.name, last, torn)

    def _beginning(self, word: str) -> list[int]:
        """Places of a word, where it is not Latin also with what is written together with it."""
        places = self._places.get(word, [])
        if word.isascii() or len(word) < 2:
            return places
        return places + [place for place in self._foreign if _holds(self._words[place], word)]


def _holds(longer: str, word: str) -> bool:
    """Whether a word holds another: Korean with a particle, Chinese and Japanese anywhere."""
    if longer == word or word not in longer:
        return False
    if word >= "\u3040" and not "가" <= word[0] <= "힣":
        return True
    is_start = longer.startswith(word)
    return (
        (is_start and longer[len(word) :] in PARTICLES)
        or (len(word) >= 3 and word[0] >= "가")
        or (is_start and len(word) >= 4)
    )


def _tells(word: str, *, least: int) -> bool:
    return len(word) >= least and word not in ORDINARY and not word.isdecimal()


@lru_cache(maxsize=4096)
def _label(name: str) -> str:
    return _NO_NAME.sub("", _folded(name))[:_MAX_NAME_CHARS] or "value"


@lru_cache(maxsize=16_384)
def hashed(word: str) -> str:
    """Four letters of the hash of a word in lower case, as in `template`."""
    number = digest64(word)
    return "".join(chr(ord("a") + (number >> shift & 15)) for shift in (0, 4, 8, 12))
