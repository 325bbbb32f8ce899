"""An error's text without what varies from case to case: the cause that all of its calls share.

The values of a call's own arguments are taken out, too: they may name a person.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from coreloop.base.error_classes import CLASS_WORDS, MAX_ERROR_CHARS
from coreloop.base.records import digest64

# An unclosed quote runs to the end, since logs cut texts anywhere; an apostrophe within a word, or after a
# word that was taken out, neither opens nor closes a quote, but a Korean particle may follow a quote.
_QUOTED: Final = re.compile(
    r"(?<![A-Za-z0-9_\ue000-\uf8ff])[bfruBFRU]{0,2}'(?:[^']|'(?=[A-Za-z0-9_]))*(?:'|$)|"
    r"\"[^\"]*(?:\"|$)|`[^`]*(?:`|$)|“[^”]*(?:”|$)|‘[^’]*(?:’|$)|"
    r"「[^」]*(?:」|$)|『[^』]*(?:』|$)|«[^»]*(?:»|$)"
)
_WORD: Final = re.compile(r"[가-힣]+|[^\W_가-힣]+")
_FULL_NAME: Final = re.compile(
    "[김이박최정강조윤장임한오서신권황안송류홍전고문양손배백허유남심노하곽성차주우구][가-힣]{2}"
)
_FIRST_PIECE: Final = 0xE000  # of the private use area, 6,400 characters: an error has at most 1,000 words
# Private characters: the first word that is taken out of a text becomes the first of them, and so on.
_PIECES: Final = re.compile("[\ue000-\uf8ff]")
_ESCAPED: Final = re.compile(r"\\u([0-9a-fA-F]{4})")
# Matches "ValueError('no room is free')", not "KeyError('room')", whose text is no message.
_REPR: Final = re.compile(r"(?:(?<=: )|\A)[A-Z][\w.]*\((['\"])(\S{0,100}\s.{0,500}?)\1,?\)(?!\S)", re.DOTALL)
# Matches "app.errors." of "app.errors.NoSeat: no seat is free".
_MODULES: Final = re.compile(r"(?:(?<=: )|\A)(?:[A-Za-z_]\w*\.)+(?=[A-Z]\w*(?:: |\Z))")
CODE: Final = re.compile(r"(\A(?:[A-Za-z_.]+: )?)([A-Z]+(?:[-_][A-Z]+)?[-_]([0-9]{1,5})|<n>)(?=: )")
"""The code that an error begins with, or the number instead of it: ``WMS-417: no room``."""
# Matches `[{"code": "custom", "path": ["seats", 0, "row"], "message": "Required"}]`, as Zod writes issues.
_ISSUE: Final = re.compile(
    r'(?s)([\[,])\s*\{\s*"(?:code|expected|origin|received|validation)":\s*".{0,500}?'
    r'"path":\s*\[([^\]]{0,200})\],\s*"message":\s*"((?:[^"\\]|\\.){0,500})"?[\s}\]]*'
)
_NO_NAME: Final = re.compile(r"[^\w-]|\d")
_MAX_NAME_CHARS: Final = 40
_MAX_KEPT_CHARS: Final = 200  # longer values seldom recur, and would fill the memory
# A word of an argument's value in a `template`: the argument, and the word's hash.
OWN_WORD: Final = re.compile(r"<([\w-]{1,40}):([a-p]{4})>")
_OWN_BESIDE: Final = re.compile(r"(:[a-p]{4}>)(?=<)")
# Matches "<ids>, <ids> and <ids>".
_REPEATED: Final = re.compile(r"(<([\w-]{1,40})>)(?:(?:[\s,;.&/+@-]{1,3}|\s(?:and|or)\s)?<\2>)+")
_PARTICLES: Final = """
을 를 은 는 이 가 과 와 의 에 에서 에게 에게서 께 께서 로 으로 도 만 까지 부터 보다 처럼
라는 이라는 라고 이라고 님 님을 님이 님은 님의 님에게 씨 씨를 씨가 씨는 씨의 씨에게
"""
# What may follow a Korean name in its word.
PARTICLES: Final = frozenset(_PARTICLES.split())
_ORDINARY: Final = """
a all already an and any are argument arguments array as at be boolean but by call called can did does empty
error exception expected failed failure field for found from get given got had has have if in input integer is
it its list missing more name named no none not now null number object of on one only or out parameter please
provided received request required result so string text than that the then there this to too tool traceback
true false try type up us use value values was we were what when while with without wrong you your
수 것 값 및 또는 대한 다음 없음 오류 실패 요청 인자 입력 필요 결과 확인
합니다 입니다 됩니다 있습니다 않습니다 아닙니다 못했습니다 했습니다 하세요 주세요
"""
# Words of errors in general: an argument that holds one, such as a question, does not change its error.
ORDINARY: Final = CLASS_WORDS.union(_ORDINARY.split())
_MAX_TEMPLATE_CHARS: Final = 200

_SIGNS: Final = re.compile("[@/\\\\'\"`“‘「『«]")  # without any, no value is sought: three times as fast
# In this order: the rest of a match may match the next pattern, and a quoted path may have spaces.
_VALUES: Final = (
    (_QUOTED, "<value>"),
    (re.compile(r"(?<!\S)\S*@\S*|\b\w+:/{2}\S*"), "<address>"),
    (re.compile(r"(?<!\S)\S*[\\/]\S*"), "<path>"),
)
# Matches "Error: ", "ToolRetryError: ", "Error executing tool find: ", "MCP error <n>: " and "Error invoking
# tool 'f' with kwargs {…} with error: "; not "ValueError: ", which says what is wrong.
_WRAPPER: Final = re.compile(
    r"""
    \A (?: (?: (?:tool[ ]?)? (?:(?:retry|execution)[ ]?)? (?:error|exception|failed) | modelretry
      | mcp[ ]?error (?:[ ]\S{1,9})? | encountered[ ]error | execution[ ]error[ ]in[ ]\S{1,100}
      | (?:an[ ])? (?:error|failure) [ ] (?:occurred[ ])? (?:(?:while|when|in)[ ])?
        (?:executing|calling|invoking|running) [ ] (?:the[ ])? (?:tool|function) [ ] \S{1,100}
        (?: [ ]with[ ]kwargs[ ] .{0,1000}? [ ]with[ ]error | [ ]with[ ]arguments[ ]{ .{0,1000}? } )?
      | failed [ ] to [ ] (?:execute|call|invoke|run) [ ] (?:the[ ])? (?:tool|function) [ ] \S{1,100}
        (?: [ ]with[ ]parameters[ ] .{0,1000}? [.][ ]error )?
      | (?:ai_\w+:[ ])? invalid[ ]input[ ]for[ ]tool[ ] .{0,3000}? [.]\s+error[ ]message
      | an[ ]error[ ]occurred[ ]while[ ] .{1,40}? [.][ ]please[ ]try[ ]again .{0,20}? [.][ ]error
      | (?:i|it[ ]seems[ ]we)[ ]encountered[ ]an[ ] .{1,70}? [.][ ]this[ ]was[ ]the[ ]error
    ) : \s+ (?=\S) )+
    """,
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_ADVICE: Final = re.compile(
    r"(?<!\s)\s++(?:please )?fix (?:your mistakes|the errors?)(?: and try again)?\.?\s*\Z", re.IGNORECASE
)
# Matches "#12", "v1.2", "1,234,567" and "1 234 567".
_NUMBER: Final = re.compile(r"[#\w.-]*\d[\w.-]*(?:[,'’]\d[\w.-]*)*(?: \d{3}(?!\w))*")


def template(text: str, args: Mapping[str, Any] | None = None) -> str:
    """An error's text without the parts that vary from case to case.

    Values of the call's arguments are replaced first, then numbers, ids, quoted values, paths and addresses,
    so that a cause always has the same text. What frameworks put before and after an error goes.

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
        `coreloop.learn.causes` sees words that belong to the text.
    """
    masked = without_own_values(text, args or {})
    return masked.filled(general(masked.text))


@lru_cache(maxsize=4096)  # a cause has few texts without own values, and recurs every day
def general(text: str) -> str:
    """The text of `Masked` without numbers, quoted values, paths and addresses."""
    before = None
    while text != before:  # a replacement may leave a quote, or letters that NFKC combines
        before, text = text, cut(_NUMBER.sub("<n>", _without_values(text)))
    return text


def with_code(template: str, error: str, args: Mapping[str, Any]) -> str:
    """A template with the code that its error begins with, unless an argument has the code's number."""
    code = CODE.match(unwrapped(error))
    is_free = code is not None and code[3] not in re.findall("[0-9]+", str(args))
    return CODE.sub(rf"\g<1>{code[2]}", template) if code is not None and is_free else template


def _without_values(text: str) -> str:
    text = _MODULES.sub("", folded(text))
    for pattern, instead in _VALUES if _SIGNS.search(text) else ():
        text = pattern.sub(instead, text)
    return text


def unwrapped(text: str) -> str:
    """An error's text without what frameworks put around it, such as ``Error executing tool find: ``."""
    return _WRAPPER.sub("", _ADVICE.sub("", text))


def cut(text: str) -> str:
    """The text unwrapped, and cut between words: half a placeholder would change again the next time."""
    text = unwrapped(text)
    shorter = text[:_MAX_TEMPLATE_CHARS]
    return text if text == shorter else shorter.rpartition(" ")[0] or "<value>"


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
    text = _REPR.sub(_message, _ISSUE.sub(_issue, text[: 2 * MAX_ERROR_CHARS])[:MAX_ERROR_CHARS], count=1)
    text = folded(_PIECES.sub("?", text))
    lower = text.casefold()
    texts = ((name, text) for name, value in args.items() for text in _texts_in(value))
    known = (_value(*it) if sum(map(len, it)) <= _MAX_KEPT_CHARS else _value.__wrapped__(*it) for it in texts)
    values = {value for value in known if any(word in lower for word in value.sought)}
    if not values:
        return Masked(text)
    in_order = sorted(values, key=lambda value: (-len(value.words), -len(value.text), value))
    error = _Error(text)
    for value in in_order:
        error.take_whole(value)
    for value in in_order:
        error.take_words(value)
    return error.masked()


def _issue(found: re.Match[str]) -> str:
    """An issue as in ``seats[].row: Required``."""
    path = re.sub(r"\.?\b\d+\b", "[]", re.sub(r'[\s"]', "", found[2]).replace(",", "."))
    return "; " * (found[1] == ",") + ": ".join(filter(None, (path, found[3])))


def _message(shown: re.Match[str]) -> str:
    """The message in an exception's repr."""
    return shown[2].replace("\\n", "\n").replace(f"\\{shown[1]}", shown[1])


def named(text: str, words: Mapping[str, str] = MappingProxyType({})) -> str:
    """Put one ``<name>`` for the words of a value; those of ``words``, by their hashes, in clear."""
    apart = _OWN_BESIDE.sub(r"\1 ", text)
    return _REPEATED.sub(r"\1", OWN_WORD.sub(lambda own: words.get(own[2], f"<{own[1]}>"), apart))


def folded(text: str) -> str:
    """The text on one line, with wide and decomposed letters as usual ones."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


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


class _Value(NamedTuple):
    """A text of an argument, its words in lower case, those that its error may hold, and the signs around."""

    name: str
    text: str
    words: tuple[str, ...]
    sought: tuple[str, ...]
    lead: str
    trail: str


@lru_cache(maxsize=16_384)  # the same companies, topics and years recur in thousands of calls
def _value(name: str, text: str) -> _Value:
    text = folded(text)
    spans = [word.span() for word in _WORD.finditer(text)] or [(0, len(text))]
    words = tuple(word.casefold() for word in _WORD.findall(text))
    sought = tuple(word[_FULL_NAME.fullmatch(word) is not None :] for word in words)
    return _Value(name, text, words, sought, text[: spans[0][0]].strip(), text[spans[-1][1] :].strip())


class _Taken(NamedTuple):
    """A word that is taken out; the signs between words of one ``whole`` value go with them."""

    start: int
    end: int
    own: str
    whole: int


class _Error:
    """An error's text, and which of its words are taken out."""

    def __init__(self, text: str) -> None:
        self._taken: dict[int, _Taken] = {}
        self._text = text
        self._spans = [word.span() for word in _WORD.finditer(text)]
        self._words = [text[start:end].casefold() for start, end in self._spans]

    def take_whole(self, value: _Value) -> None:
        """Take out each place where all words of a value follow each other; the last may have a particle."""
        *before, final = value.words or ("",)
        if not any(_tells(word, least=2) for word in value.words):
            return
        for last in self._places(final):
            first = last - len(before)
            if first < 0 or self._words[first:last] != before or self._taken.keys() & {first, last}:
                continue
            for place, word in enumerate(value.words, first):
                self._take(place, value.name, word, first)
            begin, end = self._taken[first], self._taken[last]
            if value.lead and self._text.endswith(value.lead, 0, begin.start):
                self._taken[first] = begin._replace(start=begin.start - len(value.lead))
            if value.trail and self._text.startswith(value.trail, end.end):
                self._taken[last] = self._taken[last]._replace(end=end.end + len(value.trail))

    def take_words(self, value: _Value) -> None:
        """Take out the words of a value."""
        words = {*value.words, *(word[1:] for word in value.words if _FULL_NAME.fullmatch(word))}
        for word in words:  # 김민수 is called 민수, too
            if _tells(word, least=3 if word.isascii() else 2):
                for place in self._places(word):
                    self._take(place, value.name, word, -1)

    def masked(self) -> Masked:
        """The text with private characters."""
        pieces: list[str] = []
        own: list[str] = []
        at, whole = 0, -1
        for _, word in sorted(self._taken.items()):
            between = self._text[at : word.start]
            if word.whole >= 0 and word.whole == whole:
                between = " " * (" " in between)
            pieces += [between, chr(_FIRST_PIECE + len(own))]
            own.append(word.own)
            at, whole = word.end, word.whole
        return Masked("".join(pieces) + self._text[at:], own)

    def _places(self, word: str) -> list[int]:
        words = enumerate(self._words)
        return [place for place, own in words if own == word or (word in own and self._holds(own, word))]

    @staticmethod
    def _holds(longer: str, word: str) -> bool:
        """Whether a word has another: Korean with a particle, Chinese and Japanese anywhere."""
        if word.isascii() or len(word) < 2:
            return False
        is_korean = "가" <= word[0] <= "힣"
        if (word >= "\u3040" and not is_korean) or (is_korean and len(word) >= 3):
            return True
        return longer.startswith(word) and (longer[len(word) :] in PARTICLES or len(word) >= 4)

    def _take(self, place: int, name: str, word: str, whole: int) -> None:
        start, end = self._spans[place]
        if self._words[place] != word:  # a word with a particle, or in a sentence without spaces
            start += max(0, self._words[place].find(word))
            end = min(end, start + len(word))
        label = _NO_NAME.sub("", folded(name))[:_MAX_NAME_CHARS] or "value"
        self._taken.setdefault(place, _Taken(start, end, f"<{label}:{hashed(word)}>", whole))


def _tells(word: str, *, least: int) -> bool:
    return len(word) >= least and word not in ORDINARY and not word.isdecimal()


@lru_cache(maxsize=16_384)
def hashed(word: str) -> str:
    """Four letters of the hash of a word in lower case, as in `template`."""
    number = digest64(word)
    return "".join(chr(ord("a") + (number >> shift & 15)) for shift in (0, 4, 8, 12))
