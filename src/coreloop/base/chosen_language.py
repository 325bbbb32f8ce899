"""Which language the command line speaks: ``--language``, else coreloop.yaml, else the environment.

It is chosen before click is imported, and so without its parser and without a reader of YAML.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from coreloop.base.messages import Language

_OPTION: Final = "--language"
_VARIABLES: Final = ("LC_ALL", "LC_MESSAGES", "LANG")
_SETTING: Final = re.compile(r"""^language:\s*["']?(en|ko)\b""", re.MULTILINE)
_SETTINGS_FILE: Final = "coreloop.yaml"
_LANGUAGES: Final[Mapping[str, Language]] = {"en": "en", "ko": "ko"}


def choose_language(arguments: Sequence[str], environ: Mapping[str, str], folder: Path) -> Language:
    """Return the language that the command line asks for, else the project, else the environment."""
    locale = next((environ[name] for name in _VARIABLES if environ.get(name)), "")
    spoken: Language = "ko" if re.match(r"ko(?:[_.@-]|$)", locale) else "en"
    named = _named(arguments) or _of_project(folder) or spoken
    return _LANGUAGES.get(named, spoken)


def _named(arguments: Sequence[str]) -> str:
    """The value of ``--language`` before the command; a command may have an option of that name."""
    match arguments:
        case [option, value, *_] if option == _OPTION:
            return value
        case [option, *_] if option.startswith(f"{_OPTION}="):
            return option.partition("=")[2]
    return ""


def _of_project(folder: Path) -> str:
    """What the nearest coreloop.yaml says; a file that cannot be read is reported by the command itself."""
    for place in (folder, *folder.parents):
        path = place / _SETTINGS_FILE
        try:
            if not path.exists():
                continue
            text = path.read_text("utf-8", "replace") if path.is_file() else ""  # a pipe would wait
        except OSError:
            return ""
        setting = _SETTING.search(text)
        return setting[1] if setting else ""
    return ""
