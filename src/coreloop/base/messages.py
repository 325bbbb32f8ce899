"""What is said to people: English in the code, Korean from the files of ``korean``.

A sentence that is printed where it stands is `say`; one that travels (an error, an alarm, a diagnosis) is a
`Phrase`, whose value is the English: files and ``--json`` are the same in both languages.
"""

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Literal, Self

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

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


def text_of(error: BaseException) -> str:
    """The message of an error, as `Phrase` if it is one."""
    is_message = len(error.args) == 1 and isinstance(error.args[0], Phrase)
    return error.args[0] if is_message else str(error)


def say(message: str, /, **values: object) -> str:
    """Return a message in the language of the process; without Korean, in English."""
    return in_english(message, **values) if _spoken == "en" else in_korean(message, **values)


def in_english(message: str, /, **values: object) -> str:
    """Return a message in English."""
    return message.format(**values) if values else str(message)


def in_korean(message: str, /, **values: object) -> str:
    """Return a message in Korean, or in English if the catalogue does not have it.

    A field may name the two forms of a particle: ``{path:을를}``, ``{n:,|은는}``.
    """
    if isinstance(message, Phrase):
        return in_korean(message.template, **message.values)
    from coreloop.base.particles import korean_format

    korean = catalogue().get(message)
    if not values:
        return korean or str(message)
    filled = {name: _translated(value) for name, value in values.items()}
    return korean_format(korean, filled) if korean else message.format(**filled)


def in_language_of(question: str) -> Callable[..., str]:
    """Return `in_korean` for a question with Hangul, else `in_english`: what says messages as it asks."""
    from coreloop.base.language.words import is_hangul

    is_korean = any(map(is_hangul, unicodedata.normalize("NFC", question)))
    return in_korean if is_korean else in_english


def _translated(value: object) -> object:
    """A value of a message: ours is translated, a user's is not."""
    if isinstance(value, BaseException):
        return in_korean(text_of(value)) if isinstance(text_of(value), Phrase) else str(value)
    return in_korean(value) if isinstance(value, Phrase) else value


def speak(language: Language) -> None:
    """Choose the language of this process, also for what click says; before click is imported."""
    global _spoken  # noqa: PLW0603 - one process speaks to one person
    _spoken = language
    if language == "ko":
        import gettext

        gettext.gettext = _from_catalogue(gettext.gettext)  # type: ignore[assignment]  # of the same shape


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


@cache
def catalogue() -> dict[str, str]:
    """Read the Korean of all messages."""
    from importlib.resources import files

    return read_korean(files("coreloop.base") / "korean")


def read_korean(folder: "Traversable") -> dict[str, str]:
    """Read a folder of YAML files, each a mapping of English messages to Korean ones."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # nine times as fast, where libyaml is
    tables = [
        yaml.load(file.read_text("utf-8"), loader)
        for file in sorted(folder.iterdir(), key=lambda file: file.name)
        if file.name.endswith(".yaml")
    ]
    return {english: korean for table in tables if table for english, korean in table.items()}
