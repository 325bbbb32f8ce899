"""What is said to people: English in the code, Korean from the files of ``korean``.

A sentence that is printed where it stands is `say`; one that travels (an error, an alarm, a diagnosis) is a
`Phrase`, whose value is the English: files and ``--json`` are the same in both languages.
"""

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from coreloop.base.written import Reader

Language = Literal["en", "ko"]
_spoken: Language = "en"


class Phrase(str):
    """An English sentence that `say` can say in another language.

    Parameters
    ----------
    template : str
        The key in the catalogue; without values, braces are letters.
    values : object
        What its fields hold; a `Phrase` among them is translated too.
    """

    __slots__ = ("template", "values")
    template: str
    values: dict[str, object]

    def __new__(cls, template: str, /, **values: object) -> Self:
        """Fill in the English."""
        text = super().__new__(cls, template.format(**values) if values else template)
        text.template, text.values = template, values
        return text


def number_of(number: int, noun: str) -> Phrase:
    """Return ``1 file`` or ``2,000 files``; the catalogue has ``{n} file`` with the Korean counter."""
    text = Phrase(f"{{n:,}} {noun}{'' if number == 1 else 's'}", n=number)
    text.template = f"{{n}} {noun}"
    return text


def join(texts: Sequence[str], *, separator: str = ", ") -> Phrase:
    """Join texts, each of which is translated by itself."""
    names = {f"text{place}": text for place, text in enumerate(texts)}
    return Phrase(separator.join(f"{{{name}}}" for name in names), **names) if names else Phrase("")


def text_of(error: BaseException) -> Phrase:
    """The message of an error."""
    is_message = len(error.args) == 1 and isinstance(error.args[0], Phrase)
    return error.args[0] if is_message else Phrase(str(error))


def say(message: str, /, **values: object) -> str:
    """Return a message in the language of the process; without Korean, in English."""
    return in_english(message, **values) if _spoken == "en" else in_korean(message, **values)


def in_english(message: str, /, **values: object) -> str:
    """Return a message in English."""
    return message.format(**values) if values else str(message)


def in_korean(message: str, /, **values: object) -> str:
    """Return a message in Korean, or in English if the catalogue does not have it.

    A text of a file is known by the message that wrote it. A field may name the two forms of a particle:
    ``{path:을를}``, ``{n:,|은는}``.
    """
    if isinstance(message, Phrase):
        return in_korean(message.template, **message.values)
    from coreloop.base.particles import korean_format

    korean = catalogue().get(message)
    if not values:
        is_sentence = " " in message and message[0].isascii()  # one that is Korean already is not searched
        return korean or (_reader().read(message) if is_sentence else str(message))
    filled = {name: _translated(value) for name, value in values.items()}
    return korean_format(korean, filled) if korean else message.format(**filled)


@cache
def _reader() -> "Reader":
    from coreloop.base.written import Reader

    return Reader(catalogue(), in_korean)


def in_language_of(question: str) -> Callable[..., str]:
    """Return `in_korean` for a question with Hangul, else `in_english`: what says messages as it asks."""
    from coreloop.base.language.words import is_hangul

    is_korean = any(map(is_hangul, unicodedata.normalize("NFC", question)))
    return in_korean if is_korean else in_english


def _translated(value: object) -> object:
    """A value of a message: ours is translated, a user's is not."""
    if isinstance(value, BaseException):
        return in_korean(text_of(value))
    return in_korean(value) if isinstance(value, Phrase) else value


def speak(language: Language) -> None:
    """Choose the language of this process, also for what click says; before click is imported."""
    global _spoken  # noqa: PLW0603 - one process speaks to one person
    _spoken = language
    if language == "ko":
        import gettext

        gettext.gettext = _from_catalogue(gettext.gettext)  # type: ignore[assignment]  # of the same shape
        gettext.ngettext = _of_number  # type: ignore[assignment]  # as above


@contextmanager
def speaking(language: Language) -> Iterator[None]:
    """Speak a language for a while."""
    global _spoken  # noqa: PLW0603 - as above
    before, _spoken = _spoken, language
    try:
        yield
    finally:
        _spoken = before


def spoken() -> Language:
    """Return the language of this process."""
    return _spoken


def _from_catalogue(fallback: Callable[[str], str]) -> Callable[[str], str]:
    def translate(message: str) -> str:
        return catalogue().get(message) or fallback(message)

    return translate


def _of_number(singular: str, plural: str, n: int) -> str:
    """Return one of two forms, of which click has no translation of its own."""
    message = singular if n == 1 else plural
    return catalogue().get(message, message)


@cache
def catalogue() -> dict[str, str]:
    """Read the Korean of all messages.

    The files are YAML with a line of JSON for each message, which is read in a twentieth of the time.
    """
    import json

    lines = [line for text in _texts(Path(__file__).with_name("korean")) for line in text.splitlines()]
    korean: dict[str, str] = json.loads(f"{{{','.join(lines)}}}")
    return korean


def read_korean(folder: "Traversable") -> dict[str, str]:
    """Read a folder of YAML files, each a mapping of English messages to Korean ones."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # nine times as fast, where libyaml is
    tables = [yaml.load(text, loader) for text in _texts(folder)]
    return {english: korean for table in tables if table for english, korean in table.items()}


def _texts(folder: "Traversable") -> list[str]:
    files = sorted(folder.iterdir(), key=lambda file: file.name)
    return [file.read_text("utf-8") for file in files if file.name.endswith(".yaml")]
