"""Templates of errors -> their causes: the text that all errors of a cause share, by tool.

A template says what varies in one error; only many of them together show which words are the errors' own.
"""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from coreloop.observe.reading.error_texts import ORDINARY, OWN_WORD, PARTICLES, cut, hashed

_RARE_BELOW: Final = 5  # k-anonymity as in reports
_MIN_VARIANTS: Final = 3  # rare words at one place: two may well be two causes
_MIN_SHARED: Final = 2  # words beside them
_MAX_VARYING: Final = 3  # words of a name
_ANY: Final = "<>"
# Matches "<name:abcd>를", "<value>을(를)" and "page".
_AFTER: Final = "|".join(sorted(PARTICLES, key=len, reverse=True))
_TOKEN: Final = re.compile(
    rf"""
    <[\w-]{{1,40}}(?::[a-p]{{4}})?>
    (?: [가-힣]{{1,2}}\([가-힣]{{1,2}}\) | (?:{_AFTER})(?![가-힣]) )?
    | [^\W_]+
    """,
    re.VERBOSE,
)
# Matches "<ids>, <ids> and <ids>".
_REPEATED: Final = re.compile(r"(<([\w-]{1,40})>)(?:(?:[\s,;.&/+@-]{1,3}|\s(?:and|or)\s)?<\2>)+")
_WORD: Final = re.compile(r"[^\W_]+")
_OWN_BESIDE: Final = re.compile(r"(:[a-p]{4}>)(?=<)")
_ARTICLES: Final = frozenset({"a", "an"})
_JOINING: Final = frozenset({"and", "or"})
_Key = tuple[str, ...]
_Frame = tuple[_Key, _Key]


def causes(counts: Mapping[tuple[str, str], int], names: Iterable[str] = ()) -> dict[tuple[str, str], str]:
    """Find the cause of each template.

    A word of an argument is the error's own if it stands in more errors of the tool where no argument has it.
    Texts that differ only in what was replaced are one cause; so are texts that differ in one rare word, or
    name, if a value stands there in others, or three rare words.

    Parameters
    ----------
    counts : mapping of (str, str) to int
        Failed calls by tool and `coreloop.observe.reading.error_texts.template`.
    names : iterable of str
        Names of arguments, whose words are never rare.

    Returns
    -------
    dict of (str, str) to str
        The cause by tool and template: without values, at most 200 characters.
    """
    by_tool: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for (tool, template), n in counts.items():
        by_tool[tool][template] = n
    kept = ORDINARY.union(*map(_key, names))
    found = {}
    for tool, of_tool in by_tool.items():
        named = _named(of_tool)
        texts: Counter[str] = Counter()
        for template, n in of_tool.items():
            texts[named[template]] += n
        shown = _shown(texts, kept)
        found.update({(tool, template): shown[named[template]] for template in of_tool})
    return found


def _named(counts: Mapping[str, int]) -> dict[str, str]:
    """Each template with the names of arguments for their values, and the words that are its own."""
    own: Counter[str] = Counter()
    for template, n in counts.items():
        for number in {match[2] for match in OWN_WORD.finditer(template)}:
            own[number] += n
    if not own:
        return {template: template for template in counts}
    clear: Counter[str] = Counter()
    for template, n in counts.items():
        for word in set(_WORD.findall(OWN_WORD.sub(" ", template))):
            clear[word] += n
    words = {
        hashed(word.casefold()): word for word, n in clear.items() if n > own[hashed(word.casefold())] > 0
    }
    keys = set(map(_key, counts))
    return {template: _restored(template, words, keys) for template in counts}


def _restored(template: str, words: Mapping[str, str], keys: Collection[_Key]) -> str:
    """Restore its own words: if the whole text occurs in clear, else those in small letters."""
    whole = _with_names(template, words)
    if _key(whole) in keys:
        return whole
    small = {number: word for number, word in words.items() if word.isascii() and word.islower()}
    return _with_names(template, small)


def _with_names(template: str, words: Mapping[str, str]) -> str:
    apart = _OWN_BESIDE.sub(r"\1 ", template)
    return _REPEATED.sub(r"\1", OWN_WORD.sub(lambda own: words.get(own[2], f"<{own[1]}>"), apart))


def _shown(texts: Mapping[str, int], kept: Collection[str]) -> dict[str, str]:
    """The text that is shown for each one."""
    by_key: defaultdict[_Key, list[str]] = defaultdict(list)
    for text in sorted(texts, key=lambda text: (-texts[text], len(text), text)):
        by_key[_key(text)].append(text)
    varying = _Varying({key: sum(map(texts.__getitem__, same)) for key, same in by_key.items()}, kept)
    shown = {key: same[0] for key, same in by_key.items()}
    shown |= varying.merged(shown)
    return {text: cut(shown[key]) for key, same in by_key.items() for text in same}


def _key(text: str) -> _Key:
    """The words of a text in small letters, and one sign for what was replaced between them."""
    key: list[str] = []
    for token in _TOKEN.findall(text):
        word = _ANY if token[0] == "<" else token.casefold()
        if word != _ANY:
            key += [word] * (word not in _ARTICLES)
        elif key[-2:-1] == [_ANY] and key[-1] in _JOINING:
            key.pop()
        elif key[-1:] != [_ANY]:
            key.append(_ANY)
    return tuple(key) if set(key) - {_ANY} else (text,)


class _Varying:
    """The causes of a tool's errors that differ in rare words."""

    def __init__(self, counts: Mapping[_Key, int], kept: Collection[str]) -> None:
        words: Counter[str] = Counter()
        for key, n in counts.items():
            for word in set(key):
                words[word] += n
        self._counts = counts
        self._words = sorted(words)
        self._rare = {word for word, n in words.items() if n < _RARE_BELOW} - {_ANY, *kept}

    def merged(self, shown: Mapping[_Key, str]) -> dict[_Key, str]:
        """The texts that are shown instead of these, by key."""
        merged: dict[_Key, str] = {}
        rest = [key for key in self._counts if not self._rare.isdisjoint(key)]
        for length in range(1, _MAX_VARYING + 1):
            rest = [key for key in rest if key not in merged]
            for frame, variants in self._frames(rest, length).items():
                new = {words: key for words, key in variants.items() if key not in merged}
                if text := self._text(frame, new, shown):
                    merged.update(dict.fromkeys(new.values(), text))
        return merged

    def _frames(self, keys: Iterable[_Key], length: int) -> dict[_Frame, dict[_Key, _Key]]:
        """The keys by their rare words, by what stands before and behind these."""
        frames: defaultdict[_Frame, dict[_Key, _Key]] = defaultdict(dict)
        for key in keys:
            for at in range(len(key) - length + 1):
                words, frame = key[at : at + length], (key[:at], key[at + length :])
                is_torn = not frame[1] and self._is_torn(words[-1])
                if self._rare.issuperset(words) and not is_torn and _n_words(frame) >= _MIN_SHARED:
                    frames[frame][words] = key
        return frames

    def _is_torn(self, last: str) -> bool:
        """Whether the last word of a text begins another word: logs cut texts anywhere."""
        following = bisect_right(self._words, last)
        return following < len(self._words) and self._words[following].startswith(last)

    def _text(self, frame: _Frame, variants: Mapping[_Key, _Key], shown: Mapping[_Key, str]) -> str:
        """The text of variants of a cause; empty if they are none."""
        with_value = (*frame[0], _ANY, *frame[1])
        if with_value in self._counts:
            return shown[with_value]
        if len(variants) < _MIN_VARIANTS:
            return ""
        words, key = min(variants.items(), key=lambda variant: (-self._counts[variant[1]], variant))
        pattern = r"[\W_]+".join(map(re.escape, words))
        text, n = re.subn(rf"(?i)(?<![^\W_]){pattern}(?![^\W_])", "<value>", shown[key])
        return text if n else " ".join(frame[0] + ("<value>",) + frame[1])


def _n_words(frame: _Frame) -> int:
    return sum(word != _ANY for side in frame for word in side)
