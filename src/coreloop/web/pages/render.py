"""Templates with values: all text is escaped, and what cannot be seen is shown as an escape."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from coreloop.web.pages import charts
from coreloop.web.pages.formats import count, escape, rate, seconds, short, timestamp
from coreloop.web.pages.frame import Frame
from coreloop.web.pages.markdown import render_line


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
    from coreloop.web.pages.sections import SECTIONS

    return _environment().get_template(template).render(view, frame=frame, href=frame.href, sections=SECTIONS)


ASSETS: Final = {
    "coreloop.css": "text/css",
    "coreloop.js": "text/javascript",
    "coreloop.svg": "image/svg+xml",
}
"""Files of the folder ``static`` and their media types."""


@cache
def asset(name: str) -> bytes:
    """Return a file of the folder ``static``."""
    return (files("coreloop.web.pages") / "static" / name).read_bytes()


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("coreloop.web.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=escape,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.globals.update(interval_chart=charts.interval_chart, bar_chart=charts.bar_chart)
    environment.filters.update(
        line=render_line, short=short, rate=rate, seconds=seconds, timestamp=timestamp, count=count
    )
    return environment
