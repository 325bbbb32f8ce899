"""The values of a call's own arguments, taken out of its error: they vary, and may name a person."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from coreloop.base.error_classes import CLASS_WORDS, MAX_ERROR_CHARS
from coreloop.base.records import digest64

if TYPE_CHECKING:
    import msgspec

QUOTES: Final = tuple("'\"`“‘「『«")
# An unclosed quote runs to the end, since logs cut texts anywhere; an apostrophe within a word, or after a
# word that was taken out, neither opens nor closes a quote, but a Korean particle may follow a quote.
QUOTED: Final = re.compile(
    r"(?<![A-Za-z0-9_\ue000-\uf8ff])[bfruBFRU]{0,2}'(?:[^']|'(?=[A-Za-z0-9_]))*(?:'|$)|"
    r"\"[^\"]*(?:\"|$)|`[^`]*(?:`|$)|“[^”]*(?:”|$)|‘[^’]*(?:’|$)|"
    r"「[^」]*(?:」|$)|『[^』]*(?:』|$)|«[^»]*(?:»|$)"
)
_WORD: Final = re.compile(r"[가-힣]+|[^\W_가-힣]+")
_FULL_NAME: Final = re.compile(
    "[김이박최정강조윤장임한오서신권황안송류홍전고문양손배백허유남심노하곽성차주우구][가-힣]{2}"
)
_FIRST_PIECE: Final = 0xE000  # of the private use area, 6,400 characters: an error has at most 1,000 words
_PIECES: Final = re.compile("[\ue000-\uf8ff]")
"""Private characters: the first word that is taken out of a text becomes the first of them, and so on."""
_ESCAPED: Final = re.compile(r"\\u([0-9a-fA-F]{4})")
_NO_NAME: Final = re.compile(r"[^\w-]|\d")
_MAX_NAME_CHARS: Final = 40
_MAX_TRIES: Final = 2_000
"""Places where a whole value may stand: enough for any error, and a list of equal values takes no time."""
OWN_WORD: Final = re.compile(r"<([\w-]{1,40}):([a-p]{4})>")
"""A word of an argument's value in a `template`: the argument, and the word's hash."""
_OWN_BESIDE: Final = re.compile(r"(:[a-p]{4}>)(?=<)")
# Matches "<ids>, <ids> and <ids>".
_REPEATED: Final = re.compile(r"(<([\w-]{1,40})>)(?:(?:[\s,;.&/+@-]{1,3}|\s(?:and|or)\s)?<\2>)+")
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


class Masked(NamedTuple):
    """A text with private characters for the words of the call's own arguments, and what they stand for."""

    text: str
    own: Sequence[str] = ()

    def filled(self, text: str) -> str:
        """Name the arguments in a text that was made of this one."""
        return _PIECES.sub(lambda piece: self.own[ord(piece[0]) - _FIRST_PIECE], text) if self.own else text


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
    error = _Error(folded(text))
    values = {_Value.of(name, value) for name, value in _texts(args)}
    for value in sorted(values, key=lambda value: (-len(value.words), -len(value.text), value)):
        error.take_whole(value)
        error.learn(value)
    error.take_words()
    return error.masked() if error.taken else Masked(text)


def error_without_values(error: str, args: Mapping[str, Any]) -> str:
    """Return an error in which the words of its call's arguments are ``<name>``: before these are cut."""
    masked = without_own_values(error, args)
    return named(masked.filled(masked.text))


def named(text: str, words: Mapping[str, str] = MappingProxyType({})) -> str:
    """Put one ``<name>`` for the words of a value; those of ``words``, by their hashes, in clear."""
    apart = _OWN_BESIDE.sub(r"\1 ", text)
    return _REPEATED.sub(r"\1", OWN_WORD.sub(lambda own: words.get(own[2], f"<{own[1]}>"), apart))


def folded(text: str) -> str:
    """The text on one line, with wide and decomposed letters as usual ones."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


def _may_share(text: str, args: Mapping[str, Any]) -> bool:
    """Whether arguments may have a word in common with an error: without decoding, for most of them."""
    raws = [value for value in args.values() if _is_raw(value)]
    if len(raws) < len(args) or text.endswith(("...", "…")):
        return bool(args)
    joined = b" ".join(raws)
    if b'"' not in joined or b"\\" in joined:
        return b'"' in joined
    lower = QUOTED.sub(" ", folded(text)).casefold()  # what is quoted goes in any case
    words = _WORD.findall(folded(joined.decode("utf-8", "replace")).casefold())
    words += [word[1:] for word in words if _FULL_NAME.fullmatch(word)]
    return any(word in lower and _tells(word, least=2) for word in words)


def _texts(args: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each text in the arguments, with the name of its argument."""
    for name, value in args.items():
        if not _is_raw(value):
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
            if "\\u" in part:  # JSON in a text
                yield _ESCAPED.sub(lambda escape: chr(int(escape[1], 16)), part)
        elif isinstance(part, Mapping):
            rest += part.values()
            rest += [key for key in map(str, part) if not (key.isascii() and key.isidentifier())]
        elif isinstance(part, list | tuple):
            rest += part


def _is_raw(value: Any) -> bool:
    """Whether a value is a `msgspec.Raw`, which a collector's server does not have."""
    return type(value).__name__ == "Raw"


def _decoded(raw: "msgspec.Raw") -> Any:
    import msgspec

    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


class _Value(NamedTuple):
    """A text of an argument: its words in lower case, and the signs around them."""

    name: str
    text: str
    words: tuple[str, ...]

    @classmethod
    def of(cls, name: str, text: str) -> "_Value":
        text = folded(text)
        return cls(name, text, tuple(word.casefold() for word in _WORD.findall(text)))

    def signs(self) -> tuple[str, str]:
        """What stands before the first word and behind the last one: ``#``."""
        spans = [word.span() for word in _WORD.finditer(self.text)]
        return self.text[: spans[0][0]].strip(), self.text[spans[-1][1] :].strip()


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
        self.taken: dict[int, _Taken] = {}
        self._text = text
        self._spans = [word.span() for word in _WORD.finditer(text)]
        self._words = [text[start:end].casefold() for start, end in self._spans]
        self._places: dict[str, list[int]] = {}
        for place, word in enumerate(self._words):
            self._places.setdefault(word, []).append(place)
        self._foreign = [place for place, word in enumerate(self._words) if not word.isascii()]
        self._is_torn = text.endswith("...")
        self._names: dict[str, str] = {}
        self._n_tries = 0

    def take_whole(self, value: _Value) -> None:
        """Take out each place where all words of a value follow each other."""
        if not any(_tells(word, least=2) for word in value.words):
            return
        for place in self._starts(value.words):
            self._n_tries += 1
            if self._n_tries < _MAX_TRIES and self._stands(value.words, place):
                self._take(value, place, place + len(value.words) - 1)

    def learn(self, value: _Value) -> None:
        """Keep the words of a value, which the text may have, for `take_words`."""
        for word in value.words:
            if word in self._places or self._is_torn or not word.isascii():
                self._names.setdefault(word, value.name)
            if _FULL_NAME.fullmatch(word):  # 김민수 is called 민수, too
                self._names.setdefault(word[1:], value.name)

    def take_words(self) -> None:
        """Take out the words of all values."""
        for word, name in self._names.items():
            if _tells(word, least=3 if word.isascii() else 2):
                for place in self._holding(word):
                    self._take_word(name, place, word)
        places = range(len(self._words))
        self._take_short(places, -1)
        self._take_short(reversed(places), 1)
        if self._words and self._is_torn:
            self._take_torn(len(self._words) - 1)

    def masked(self) -> Masked:
        """The text with private characters."""
        pieces: list[str] = []
        own: list[str] = []
        at, before = 0, None
        for _, word in sorted(self.taken.items()):
            between = self._text[at : word.start]
            if before is not None and word.whole is not None and word.whole == before.whole:
                between = " " * (" " in between)
            pieces += [between, chr(_FIRST_PIECE + len(own))]
            own.append(f"<{_label(word.name)}:{hashed(word.word)}>")
            at, before = word.end, word
        return Masked("".join(pieces) + self._text[at:], own)

    def _starts(self, words: Sequence[str]) -> list[int]:
        if len(words) == 1:
            return self._holding(words[0])
        return self._places.get(words[0], [])

    def _stands(self, words: Sequence[str], place: int) -> bool:
        """Whether the words stand at a place; the last one may have a particle."""
        last = place + len(words) - 1
        if last >= len(self._words) or last in self.taken or place in self.taken:
            return False
        if self._words[place:last] != list(words[:-1]):
            return False
        return self._words[last] == words[-1] or _holds(self._words[last], words[-1])

    def _take(self, value: _Value, first: int, last: int) -> None:
        for place, word in enumerate(value.words, first):
            self._take_word(value.name, place, word, whole=first)
        lead, trail = value.signs()
        start, end = self.taken[first].start, self.taken[last].end
        if lead and self._text.endswith(lead, 0, start):
            self.taken[first] = self.taken[first]._replace(start=start - len(lead))
        if trail and self._text.startswith(trail, end):
            self.taken[last] = self.taken[last]._replace(end=end + len(trail))

    def _take_word(self, name: str, place: int, word: str, whole: int | None = None) -> None:
        start, end = self._spans[place]
        if self._words[place] != word:  # a word with a particle, or in a sentence without spaces
            start += max(0, self._words[place].find(word))
            end = min(end, start + len(word))
        self.taken.setdefault(place, _Taken(start, end, name, word, whole))

    def _take_short(self, places: Iterable[int], beside: int) -> None:
        """Take out the short words of values, too, that stand beside another word of them: ``de la``."""
        for place in places:
            other, word = self.taken.get(place + beside), self._words[place]
            if other is not None and self._names.get(word) == other.name and word not in ORDINARY:
                self._take_word(other.name, place, word)

    def _take_torn(self, last: int) -> None:
        """Take out the last word of a text that was cut, if it begins a word of a value."""
        torn, before = self._words[last], self.taken.get(last - 1)
        for word, name in self._names.items():
            is_after_own = before is not None and before.name == name
            if word.startswith(torn) and (is_after_own or len(torn) >= 3):
                self._take_word(name, last, torn)

    def _holding(self, word: str) -> list[int]:
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
    return _NO_NAME.sub("", folded(name))[:_MAX_NAME_CHARS] or "value"


@lru_cache(maxsize=16_384)
def hashed(word: str) -> str:
    """Four letters of the hash of a word in lower case, as in `template`."""
    number = digest64(word)
    return "".join(chr(ord("a") + (number >> shift & 15)) for shift in (0, 4, 8, 12))
