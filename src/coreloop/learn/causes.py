"""Templates of errors -> their causes: the text that all errors of a cause share, by tool.

A template says what varies in one error; only many of them together show which words are the errors' own.
"""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from coreloop.observe.reading.error_texts import CODE, ORDINARY, OWN_WORD, PARTICLES, cut, hashed, named

_RARE_BELOW: Final = 5  # calls; k-anonymity as in reports
_MAX_TEXTS: Final = 2  # that share a rare word
_MIN_VARIANTS: Final = 5  # rare words at one place: fewer may well be as many causes
_MIN_NAMES: Final = 3  # of words with a capital letter
_MIN_SHARED: Final = 2  # words beside them
_MAX_VARYING: Final = 4  # words of a name
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
_WORD: Final = re.compile(r"[^\W_]+")
_ARTICLES: Final = frozenset({"a", "an"})
_JOINING: Final = frozenset({"and", "or"})
_Key = tuple[str, ...]
_Frame = tuple[_Key, _Key]


def causes(counts: Mapping[tuple[str, str], int], names: Iterable[str] = ()) -> dict[tuple[str, str], str]:
    """Find the cause of each template.

    A word of an argument is the error's own if it stands in more errors of the tool where no argument has it,
    and in at least five if it may be a name, or always there, in a text that others have in clear. Texts that
    differ only in what was replaced are one cause; so are texts that differ in a rare word, or name, if a
    value or more such words stand there; and so is a text that was cut with the longest that begins like it.
    A code that it begins with, ``WMS-417: ``, stays if it is the only one of at least five errors.

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
        restored = _with_own_words(of_tool)
        wholes = _wholes(set(restored.values()))
        texts = Counter[str]()
        for template, n in of_tool.items():
            texts[wholes[restored[template]]] += n
        shown = _shown(texts, kept)
        found.update({(tool, template): shown[wholes[text]] for template, text in restored.items()})
    return found


def _wholes(texts: Collection[str]) -> dict[str, str]:
    """The longest text that each is the start of, up to the middle of a word or ``...``: logs cut texts.

    The texts stand in order, so that each is compared only with those that begin like it.
    """
    ordered = sorted(texts)
    found = {}
    for text in texts:
        start, found[text] = text.removesuffix("..."), text
        for place in range(bisect_left(ordered, start), len(ordered)) if start else ():
            whole = ordered[place]
            if not whole.startswith(start):
                break
            is_cut = start != text or (start[-1:] + whole[len(start) : len(start) + 1]).isalnum()
            if is_cut and len(whole) > max(len(start), len(found[text])):
                found[text] = whole
    return found


def _with_own_words(counts: Mapping[str, int]) -> dict[str, str]:
    """Each template with the names of arguments for their values, and the words that are its own."""
    own: Counter[str] = Counter()
    clear: Counter[str] = Counter()
    alike: defaultdict[str, list[list[str]]] = defaultdict(list)
    for template, n in counts.items():
        numbers = [match[2] for match in OWN_WORD.finditer(template)]
        own.update(dict.fromkeys(numbers, n))
        clear.update(dict.fromkeys(_WORD.findall(OWN_WORD.sub(" ", template)), n))
        alike[_without_hashes(template)].append(numbers)
    by_number = {hashed(word.casefold()): word for word in clear} if own else {}
    small = {number: word for number, word in by_number.items() if word.isascii() and word.islower()}
    common = {number: word for number, word in by_number.items() if clear[word] >= _RARE_BELOW}
    words = {number: word for number, word in (small | common).items() if clear[word] > own[number]}
    always = {text: _always(numbers) & small.keys() for text, numbers in alike.items()}
    keys = set(map(_key, counts)) if own else ()
    restored = {}
    for template in counts:
        fixed = {number: small[number] for number in always[_without_hashes(template)]}
        restored[template] = _restored(template, words, fixed, keys)
    return restored


def _without_hashes(template: str) -> str:
    return OWN_WORD.sub(r"<\1>", template)


def _always(alike: Iterable[Sequence[str]]) -> set[str]:
    """The hashes of words that stand at one place in all of some templates.

    An error that was masked as it was recorded has fewer: its places have no hash.
    """
    return {numbers[0] for numbers in zip(*alike, strict=False) if len(set(numbers)) == 1}


def _restored(
    template: str, words: Mapping[str, str], fixed: Mapping[str, str], keys: Collection[_Key]
) -> str:
    """Restore its own words: if the whole text occurs in clear, else those in small letters alone."""
    for known in ({**words, **fixed}, words):
        whole = named(template, known)
        if _key(whole) in keys:
            return whole
    small = {number: word for number, word in words.items() if word.isascii() and word.islower()}
    return named(template, small)


def _shown(texts: Mapping[str, int], kept: Collection[str]) -> dict[str, str]:
    """The text that is shown for each one."""
    by_key: defaultdict[_Key, list[str]] = defaultdict(list)
    for text in sorted(texts, key=lambda text: (-texts[text], len(text), text)):
        by_key[_key(text)].append(text)
    counts = {key: sum(map(texts.__getitem__, same)) for key, same in by_key.items()}
    shown = {key: _with_one_code(same, texts) for key, same in by_key.items()}
    shown |= _Varying(counts, shown, kept).merged()
    return {text: cut(shown[key]) for key, same in by_key.items() for text in same}


def _with_one_code(same: Sequence[str], counts: Mapping[str, int]) -> str:
    """The first of some texts; its code stays if it is the only one: others may be numbers of customers."""
    coded = {text: code[2] for text in same for code in CODE.finditer(text) if code[3]}
    codes, n = {*coded.values()}, sum(map(counts.__getitem__, coded))
    shown = codes.pop() if len(codes) == 1 and n >= _RARE_BELOW else "<n>"
    return CODE.sub(rf"\g<1>{shown}", same[0])


def _key(text: str) -> _Key:
    """The words of a text in small letters, and one sign for what was replaced between them."""
    key: list[str] = []
    for token in _TOKEN.findall(CODE.sub(r"\1<n>", text)):
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

    def __init__(self, counts: Mapping[_Key, int], shown: Mapping[_Key, str], kept: Collection[str]) -> None:
        self._counts, self._shown = counts, shown
        calls, texts = Counter[str](), Counter[str]()
        for key, n in counts.items():
            calls.update(dict.fromkeys(key, n))
            texts.update(set(key))
        rare = {word for word, n in calls.items() if n < _RARE_BELOW and texts[word] <= _MAX_TEXTS}
        self._rare = rare - {_ANY, *kept}
        tokens = (token for text in shown.values() for token in _WORD.findall(text))
        self._capital = {token.casefold() for token in tokens if token[0].isupper()}

    def merged(self) -> dict[_Key, str]:
        """The texts that are shown instead of their own, by key."""
        frames: defaultdict[_Frame, dict[_Key, _Key]] = defaultdict(dict)
        for key in self._counts:
            if span := self._rare_span(key):
                frames[key[: span.start], key[span.stop :]][key[span]] = key
        texts = {frame: self._text(frame, variants) for frame, variants in frames.items()}
        return {key: text for frame, text in texts.items() if text for key in frames[frame].values()}

    def _rare_span(self, key: _Key) -> slice | None:
        """From the first to the last rare word of a text; None if that is no name in a sentence."""
        places = [place for place, word in enumerate(key) if word in self._rare]
        if not places or places[-1] - places[0] >= _MAX_VARYING:
            return None
        span = slice(places[0], places[-1] + 1)
        n_shared = sum(word != _ANY for word in (*key[: span.start], *key[span.stop :]))
        return span if n_shared >= _MIN_SHARED else None

    def _text(self, frame: _Frame, variants: Mapping[_Key, _Key]) -> str:
        """The text of variants of a cause; empty if they are none."""
        before, behind = frame
        is_beside_one = before[-1:] == (_ANY,) or behind[:1] == (_ANY,)
        with_value = (*before, *behind) if is_beside_one else (*before, _ANY, *behind)
        if with_value in self._counts:
            return self._shown[with_value]
        n_names = sum(not self._capital.isdisjoint(words) for words in variants)
        if n_names < _MIN_NAMES and len(variants) < _MIN_VARIANTS:
            return ""
        words, key = min(variants.items(), key=lambda variant: (-self._counts[variant[1]], variant))
        pattern = r"[\W_]+".join(map(re.escape, words))
        text, n = re.subn(rf"(?i)(?<![^\W_]){pattern}(?![^\W_])", "<value>", self._shown[key])
        return text if n else " ".join((*before, "<value>", *behind))
