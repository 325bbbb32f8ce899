"""PDF: a section per page. pypdf reads it in a process of its own, whose time and memory are limited.

A small PDF can ask for gigabytes or hours; a process can be ended, a call cannot.
"""

import importlib.util
import subprocess
import sys
from itertools import accumulate
from typing import Final

from coreloop.answer.search.extract.decode import clean_text
from coreloop.answer.search.extract.document import Document, Section, Unreadable
from coreloop.base.extras import needs

TIMEOUT_S: Final = 30.0  # chosen: who asks does not wait longer for one file
_PAGE_END: Final = "\f"
_PROGRAM: Final = "coreloop.answer.search.extract.pdf_process"


def extract_pdf(data: bytes, *, timeout_s: float = TIMEOUT_S) -> Document | Unreadable:
    """Read a PDF; ``line`` of a section is its page."""
    if importlib.util.find_spec("pypdf") is None:
        return Unreadable(needs("research", feature="PDF"))
    # -P: modules of the current folder, which may be hostile, are not imported
    command = [sys.executable, "-P", "-m", _PROGRAM]
    try:
        done = subprocess.run(command, input=data, capture_output=True, check=False, timeout=timeout_s)
    except subprocess.TimeoutExpired:
        return Unreadable(f"PDF takes longer than {timeout_s:g} s")
    if done.returncode:
        return Unreadable("PDF is damaged, encrypted or too large")
    title, *pages = done.stdout.decode("utf-8", "replace").split(_PAGE_END)
    return _document(clean_text(title), [clean_text(page).strip() for page in pages])


def _document(title: str, pages: list[str]) -> Document | Unreadable:
    if not any(pages):
        return Unreadable("PDF without text")
    heading = " ".join(title.split())[:200]
    starts = accumulate((len(page) + 2 for page in pages), initial=0)
    sections = tuple(
        Section(start, start + len(page), number, heading)
        for number, (start, page) in enumerate(zip(starts, pages, strict=False), start=1)
        if page
    )
    return Document(
        type="pdf", text="\n\n".join(pages), title=heading, sections=sections, has_own_lines=False
    )
