"""Templates with values; all text is escaped, and what cannot be seen is shown as an escape."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import cycle
from secrets import token_hex
from typing import Any, Final
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined

from coreloop.answer.research.run import MAX_QUESTION_CHARS
from coreloop.web.pages.ask import ASK
from coreloop.web.pages.charts import count, escape, interval_chart, rate, seconds, short, timestamp
from coreloop.web.pages.health import HEALTH
from coreloop.web.pages.markdown import render_line, render_marked
from coreloop.web.pages.page_data import PageSection, PageSource
from coreloop.web.pages.review import REVIEW, VERDICTS, read_review
from coreloop.web.pages.runs import KINDS, RUNS
from coreloop.web.pages.tools import TOOLS

SECTIONS: Final[tuple[PageSection, ...]] = (ASK, RUNS, REVIEW, TOOLS, HEALTH)


def first_section(source: PageSource) -> PageSection:
    """Return the first section with something to do: Review if proposals wait, else Ask."""
    return REVIEW if read_review(source)["n_proposals"] else ASK


ROOT: Final = "/ui/"
"""The address of the pages of a service."""
REPORT_POLICY: Final = (
    "default-src 'none'; style-src 'self' file:; img-src 'self' file:; form-action 'none'; base-uri 'none'"
)
"""What a page of a report may load (Content-Security-Policy); browsers differ on whether a file is 'self'."""
_MAX_NAME: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What surrounds a page.

    Attributes
    ----------
    section : str
        The page's entry in the navigation.
    root : str
        Before each link: `ROOT` in a service, else the way up to the first file, ``""`` or ``"../"``.
    reader : str
        The name of the API key; empty without keys.
    may_run, may_review : bool
        Whether there are buttons for runs and for verdicts, and private text.
    csrf : str
        The hidden field of each form.
    once : str
        Another one, by which a form that is sent twice does its work once.
    """

    section: str = ""
    root: str = ROOT
    reader: str = ""
    may_run: bool = False
    may_review: bool = False
    csrf: str = ""
    once: str = field(default_factory=lambda: token_hex(8))

    @property
    def is_live(self) -> bool:
        """Whether a service serves the page, not a file."""
        return self.root == ROOT

    def href(self, *parts: str) -> str:
        """Return the link to the page of a path; without parts, to the first page."""
        if self.is_live:
            return self.root + "/".join(quote(part, safe="") for part in parts)
        return self.root + quote(file_path(*parts))

    def asset(self, name: str) -> str:
        """Return the link to a file of the folder ``static``."""
        return f"{self.root}static/{name}"


def file_path(*parts: str) -> str:
    """Return the file of a page in a report; names of tools and runs may have any characters."""
    return "/".join(map(_file_name, parts or ("index",))) + ".html"


def _file_name(part: str) -> str:
    name = quote(part, safe="").replace(".", "%2E")
    return name if len(name) <= _MAX_NAME else sha256(part.encode("utf-8", "replace")).hexdigest()[:32]


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
    page = _environment().get_template(template).render(view, frame=frame, href=frame.href, sections=SECTIONS)
    return _TABLE.sub(_with_labels, page)


_TABLE: Final = re.compile(r"<thead>(.*?)</thead>.*?</table>", re.DOTALL)


def _with_labels(table: re.Match[str]) -> str:
    """Name each cell after its column: on a phone, a row is a card."""
    head, rows = table[0].split("</thead>")
    names = cycle(re.findall("<th[^<>]*>([^<]*)</th>", head))
    labelled = re.sub("<t[dh](?= |>)", lambda cell: f'{cell[0]} data-label="{next(names)}"', rows)
    return f"{head}</thead>{labelled}"


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
    environment.globals.update(
        interval_chart=interval_chart, policy=REPORT_POLICY, verdicts=VERDICTS, max_chars=MAX_QUESTION_CHARS
    )
    environment.filters.update(short=short, rate=rate, seconds=seconds, timestamp=timestamp, count=count)
    environment.filters.update(
        line=render_line, marked=render_marked, kind=lambda kind: KINDS.get(kind, kind)
    )
    return environment
