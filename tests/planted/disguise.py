"""What people and systems do to a value so that a plain pattern does not see it, and a reader still does."""

import base64
import html
import random
import re
from collections.abc import Callable
from typing import Final
from urllib.parse import quote

_ZERO_WIDTH: Final = "\u200b\u200c\u200d\u2060\ufeff\u180e\u2063\ufe0f\u115f\u3164\u034f"
_SOFT_HYPHEN: Final = "\u00ad"
_TAG_BASE: Final = 0xE0000
_OTHER_DIGITS: Final = "٠۰०০๐𝟎𝟘𝟬𝟶"
"""The zeros of other scripts and of mathematics; the nine that follow each are its other digits."""

TWINS: Final = {
    **dict(zip("аАВсСеЕНіІјКМоОрРѕЅТхХуүԁԛԝһ", "aABcCeEHiIjKMoOpPsSTxXyydqwh", strict=True)),
    **dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαινορυ", "ABEZHIKMNOPTYXaivopu", strict=True)),
    **dict(zip("ɡɩ", "gi", strict=True)),
}
"""Letters of other scripts -> the Latin letter that they look like."""

_TWINS_OF: Final = {
    latin: [twin for twin, other in TWINS.items() if other == latin] for latin in set(TWINS.values())
}

Disguise = Callable[[random.Random, str], str]


def full_width(_: random.Random, text: str) -> str:
    return "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in text)


def other_digits(rng: random.Random, text: str) -> str:
    zero = ord(rng.choice(_OTHER_DIGITS))
    return re.sub("[0-9]", lambda digit: chr(zero + int(digit[0])), text)


def look_alike(rng: random.Random, text: str) -> str:
    places = [place for place, char in enumerate(text) if char in _TWINS_OF]
    changed = set(rng.sample(places, min(len(places), rng.randint(1, 4))))
    return "".join(
        rng.choice(_TWINS_OF[char]) if place in changed else char for place, char in enumerate(text)
    )


def _scatter(rng: random.Random, text: str, signs: str) -> str:
    places = set(rng.sample(range(1, len(text)), min(len(text) - 1, rng.randint(1, 5))))
    return "".join((rng.choice(signs) if place in places else "") + char for place, char in enumerate(text))


def zero_width(rng: random.Random, text: str) -> str:
    return _scatter(rng, text, _ZERO_WIDTH)


def soft_hyphen(rng: random.Random, text: str) -> str:
    return _scatter(rng, text, _SOFT_HYPHEN)


def tags_inside(rng: random.Random, text: str) -> str:
    return _scatter(rng, text, "".join(chr(_TAG_BASE + place) for place in range(0x61, 0x7B)))


def in_tags(_: random.Random, text: str) -> str:
    """Written in tag characters alone: a person sees nothing, a model reads it."""
    return "".join(chr(_TAG_BASE + ord(char)) if " " <= char <= "~" else char for char in text)


def percent(rng: random.Random, text: str) -> str:
    quoted = quote(text, safe="")
    if quoted != text and rng.random() < 0.5:
        return quoted
    return "".join(f"%{byte:02{rng.choice('xX')}}" for byte in text.encode())


def percent_twice(rng: random.Random, text: str) -> str:
    return quote(percent(rng, text), safe="")


def entities(rng: random.Random, text: str) -> str:
    form = rng.choice(("&#{};", "&#{:05};", "&#x{:x};", "&#X{:X};"))
    share = rng.choice((0.4, 1.0))
    written = (
        form.format(ord(char)) if not char.isalnum() or rng.random() < share else char for char in text
    )
    return "".join(written)


def entities_twice(rng: random.Random, text: str) -> str:
    return html.escape(entities(rng, text))


def escapes(rng: random.Random, text: str) -> str:
    share = rng.choice((0.3, 1.0))
    return "".join(
        f"\\u{ord(char):04x}"
        if ord(char) < 0x10000 and (not char.isalnum() or rng.random() < share)
        else char
        for char in text
    )


def escapes_twice(rng: random.Random, text: str) -> str:
    return escapes(rng, text).replace("\\", "\\\\")


def spelled(rng: random.Random, text: str) -> str:
    at, dot = rng.choice(
        (
            (" (at) ", " (dot) "),
            (" [at] ", " [dot] "),
            (" at ", " dot "),
            (" (at) ", " dot "),
            (" AT ", " DOT "),
            ("(at)", "(dot)"),
            ("[at]", "."),
            (" {at} ", " {dot} "),
            (" 골뱅이 ", " 닷 "),
            ("골뱅이", "."),
            (" (골뱅이) ", " (닷) "),
            (" 골뱅이 ", " 점 "),
            (" 앳 ", " 닷 "),
            (" @ ", " . "),
        )
    )
    return text.replace("@", at).replace(".", dot)


def spaced(rng: random.Random, text: str) -> str:
    """A space or two after each few characters, as in a scan or a table."""
    size = rng.choice((1, 2, 4)) if len(text) < 40 else rng.choice((4, 8, 16))
    return rng.choice((" ", "  ", "\u00a0", "\u3000")).join(re.findall(f"(?s).{{1,{size}}}", text))


def broken_line(rng: random.Random, text: str) -> str:
    place = rng.randint(1, len(text) - 1)
    return text[:place] + rng.choice(("\n", "\r\n", "\n  ", "\u2028")) + text[place:]


def in_base64(_: random.Random, text: str) -> str:
    return base64.b64encode(text.encode()).decode()


DISGUISES: Final[dict[str, Disguise]] = {
    "full width": full_width,
    "other digits": other_digits,
    "look-alike letters": look_alike,
    "zero width": zero_width,
    "soft hyphen": soft_hyphen,
    "tags inside": tags_inside,
    "in tags": in_tags,
    "percent": percent,
    "percent twice": percent_twice,
    "entities": entities,
    "entities twice": entities_twice,
    "escapes": escapes,
    "escapes twice": escapes_twice,
    "spelled": spelled,
    "spaced": spaced,
    "broken line": broken_line,
    "base64": in_base64,
}
"""By name; NFD is none of them, since it changes the words around a value too."""
