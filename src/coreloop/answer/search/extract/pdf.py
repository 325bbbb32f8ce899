"""PDF: a section per page. pypdf reads it in a process of its own, whose time and memory are limited.

A small PDF can ask for gigabytes or hours; a process can be ended, a call cannot. It has the bytes on stdin,
and writes the pages to stdout, each ended by a form feed.
"""

import importlib.util
import io
import subprocess
import sys
from contextlib import suppress
from itertools import accumulate
from typing import Final

from coreloop.answer.search.extract.document import Document, Section, Unreadable, clean_text
from coreloop.base.extras import needs

TIMEOUT_S: Final = 30.0  # chosen: who asks does not wait longer for one file
_MAX_TEXT_CHARS: Final = 20_000_000
_MEMORY_BYTES: Final = 2 << 30


def extract_pdf(data: bytes, *, timeout_s: float = TIMEOUT_S) -> Document | Unreadable:
    """Read a PDF; ``line`` of a section is its page."""
    if importlib.util.find_spec("pypdf") is None:
        return Unreadable(needs("research", feature="PDF"))
    # -P: modules of the current folder, which may be hostile, are not imported
    command = [sys.executable, "-P", "-m", "coreloop.answer.search.extract.pdf"]
    try:
        done = subprocess.run(command, input=data, capture_output=True, check=False, timeout=timeout_s)
    except subprocess.TimeoutExpired:
        return Unreadable(f"PDF takes longer than {timeout_s:g} s")
    if done.returncode:
        return Unreadable("PDF is damaged, encrypted or too large")
    pages = [clean_text(page).strip() for page in done.stdout.decode("utf-8", "replace").split("\f")]
    if not any(pages):
        return Unreadable("PDF without text")
    starts = accumulate((len(page) + 2 for page in pages), initial=0)
    sections = tuple(
        Section(start, start + len(page), number)
        for number, (start, page) in enumerate(zip(starts, pages, strict=False), start=1)
        if page
    )
    return Document(type="pdf", text="\n\n".join(pages), sections=sections)


def _main() -> None:
    """Write the text of a PDF; exits with 1 if it cannot be read."""
    with suppress(ImportError):  # Windows
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (int(TIMEOUT_S), int(TIMEOUT_S)))
    from pypdf import PdfReader

    data = sys.stdin.buffer.read()
    sys.stdin.close()
    try:
        parts, size = list[str](), 0
        for page in PdfReader(io.BytesIO(data)).pages:
            parts.append(page.extract_text())
            size += len(parts[-1])
            if size > _MAX_TEXT_CHARS:
                break
    except Exception:  # pypdf raises whatever a damaged file leads it to
        sys.exit(1)
    text = "\f".join(part.replace("\f", " ") for part in parts)
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))


if __name__ == "__main__":
    _main()
