"""What every page has around its own content: the links, and what the reader may do."""

from dataclasses import dataclass
from hashlib import sha256
from typing import Final
from urllib.parse import quote

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
    """

    section: str = ""
    root: str = ROOT
    reader: str = ""
    may_run: bool = False
    may_review: bool = False
    csrf: str = ""

    @property
    def policy(self) -> str:
        """What the page of a file may load; a service says it in a header."""
        return REPORT_POLICY

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
