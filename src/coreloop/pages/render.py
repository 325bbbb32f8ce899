"""Templates with values: all text is escaped, and what cannot be seen is shown as an escape."""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any, Final

import yaml
from jinja2 import Environment, PackageLoader, StrictUndefined

from coreloop.pages.frame import Frame, Language
from coreloop.pages.shown import shown

_SECONDS: Final = {"d": 86_400, "h": 3_600, "min": 60}


def render(template: str, frame: Frame, view: Mapping[str, Any]) -> str:
    """Render a page.

    Parameters
    ----------
    template : str
        File name in ``templates``.
    frame : Frame
        The template has it as ``frame``, and its method ``href``.
    view : mapping
        Further values. Only `markupsafe.Markup` is not escaped, and only our charts are that.
    """
    words = translate(frame.language)
    from coreloop.pages.sections import SECTIONS

    return (
        _environment()
        .get_template(template)
        .render(view, frame=frame, href=frame.href, _=words, sections=SECTIONS)
    )


def translate(language: Language) -> Callable[[str], str]:
    """Return what gives English words of ours in a language; unknown words stay English."""
    words = _korean() if language == "ko" else {}
    return lambda text: words.get(text, text)


def rate(value: float | None) -> str:
    """Return a share as ``12.3 %``; a dash if there is none."""
    return "–" if value is None else f"{100 * value:.1f} %"


def seconds(value: float | None) -> str:
    """Return a length of time as ``3.2 s``, ``5 min``, ``2 h`` or ``12 d``."""
    if value is None:
        return "–"
    for unit, length in _SECONDS.items():
        if value >= 2 * length:
            return f"{value / length:,.0f} {unit}"
    return f"{value:.1f} s"


def moment(value: datetime | None) -> str:
    """Return a time as ``2026-11-23 14:05 UTC``."""
    return "–" if value is None else f"{value:%Y-%m-%d %H:%M} UTC"


def count(value: int | None) -> str:
    """Return a number as ``12,345``."""
    return "–" if value is None else f"{value:,}"


@cache
def asset(name: str) -> bytes:
    """Return a file of the folder ``static``."""
    return (files("coreloop.pages") / "static" / name).read_bytes()


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("coreloop.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=shown,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters.update(rate=rate, seconds=seconds, moment=moment, count=count)
    return environment


@cache
def _korean() -> dict[str, str]:
    """Read the Korean of all sections: a mapping of English words to Korean ones a file."""
    folder = files("coreloop.pages") / "korean"
    tables = (
        yaml.safe_load(file.read_text("utf-8")) for file in folder.iterdir() if file.name.endswith(".yaml")
    )
    return {english: korean for table in tables for english, korean in table.items()}
