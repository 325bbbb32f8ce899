"""The skills by language, as files below a folder of skills; ``dr`` is ``deep-research`` by a short name."""

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final, Literal, get_args

Language = Literal["ko", "en"]
LANGUAGES: Final[tuple[Language, ...]] = get_args(Language)
TEMPLATES: Final = files("coreloop.runs.claude_code").joinpath("templates")
_LONG, _SHORT = "deep-research", "dr"


def skill_files(language: Language) -> Iterator[tuple[str, bytes]]:
    """Yield the paths below a folder of skills, and their contents."""
    for skill in sorted(TEMPLATES.joinpath("skills", language).iterdir(), key=lambda entry: entry.name):
        for name, content in _files(skill, skill.name):
            yield name, content
            if skill.name == _LONG:
                text = content.decode().replace(f"name: {_LONG}\n", f"name: {_SHORT}\n", 1)
                yield name.replace(_LONG, _SHORT, 1), text.encode()


def _files(folder: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _files(entry, f"{name}/{entry.name}")
        else:
            yield f"{name}/{entry.name}", entry.read_bytes()
