"""PDF, docx and hwpx, each read by a package in a process of its own, whose time and memory are limited.

A small file can ask for gigabytes or hours; a process can be ended, a call cannot. It has the bytes on stdin,
and writes to stdout: of a PDF the pages, each ended by a form feed, of docx HTML, of hwpx Markdown.
"""

import importlib.util
import io
import re
import subprocess
import sys
from contextlib import suppress
from typing import Final

from coreloop.answer.search.extract.document import Document, Section, Unreadable, clean_text
from coreloop.answer.search.extract.html import extract_html
from coreloop.answer.search.extract.text import extract_markdown, without_lines
from coreloop.base.extras import needs

TIMEOUT_S: Final = 30.0  # chosen: who asks does not wait longer for one file
_MAX_TEXT_CHARS: Final = 20_000_000
_MEMORY_BYTES: Final = 2 << 30
# The package that reads a kind, and the extra that brings it.
_READERS: Final = {"pdf": ("pypdf", "research"), "docx": ("mammoth", "office"), "hwpx": ("hwpx", "office")}


def lacks_package(location: str) -> bool:
    """Whether a file is of a kind whose package is not installed."""
    package, _ = _READERS.get(location.rpartition(".")[2].lower(), ("", ""))
    return bool(package) and importlib.util.find_spec(package) is None


def extract_packed(data: bytes, *, kind: str, timeout_s: float = TIMEOUT_S) -> Document | Unreadable:
    """Read a PDF, whose pages are the lines of its sections, or a docx or hwpx by its headings."""
    name = kind.upper() if kind == "pdf" else kind
    if lacks_package(f".{kind}"):
        return Unreadable(needs(_READERS[kind][1], feature=name))
    # -P: modules of the current folder, which may be hostile, are not imported
    command = [sys.executable, "-P", "-m", "coreloop.answer.search.extract.packed", kind]
    try:
        done = subprocess.run(command, input=data, capture_output=True, check=False, timeout=timeout_s)
    except subprocess.TimeoutExpired:
        return Unreadable(f"{name} takes longer than {timeout_s:g} s")
    if done.returncode:
        return Unreadable(f"{name} is damaged, encrypted or too large")
    text, read = done.stdout.decode("utf-8", "replace"), {"docx": extract_html, "hwpx": extract_markdown}
    document = without_lines(read[kind](clean_text(text)), kind) if kind in read else _of_pages(text)
    return document if document.text.strip() else Unreadable(f"{name} without text")


def _of_pages(text: str) -> Document:
    whole, sections = "", list[Section]()
    for number, page in enumerate(text.split("\f"), 1):
        shown = clean_text(page).strip()
        if shown:
            sections.append(Section(len(whole), len(whole) + len(shown), number))
        whole += f"{shown}\n\n"
    return Document(type="pdf", text=whole.rstrip(), sections=tuple(sections))


def _main(kind: str) -> None:
    """Write the text of a file; exits with 1 if it cannot be read."""
    with suppress(ImportError):  # Windows
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (int(TIMEOUT_S), int(TIMEOUT_S)))
    data = sys.stdin.buffer.read()
    sys.stdin.close()
    try:
        text = {"pdf": _read_pdf, "docx": _read_docx, "hwpx": _read_hwpx}[kind](io.BytesIO(data))
    except Exception:  # the packages raise whatever a damaged file leads them to
        sys.exit(1)
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))


def _read_pdf(file: io.BytesIO) -> str:
    from pypdf import PdfReader

    parts, size = list[str](), 0
    for page in PdfReader(file).pages:
        parts.append(page.extract_text().replace("\f", " "))
        size += len(parts[-1])
        if size > _MAX_TEXT_CHARS:
            break
    return "\f".join(parts)


def _read_docx(file: io.BytesIO) -> str:
    import mammoth

    no_image = mammoth.images.img_element(lambda _image: {})
    shown = mammoth.convert_to_html(file, convert_image=no_image).value
    return re.sub(r"(?<=<t[dh]>)<p>|</p>(?=</t[dh]>)", "", shown)  # a row of a table is one line


def _read_hwpx(file: io.BytesIO) -> str:
    from hwpx import HwpxDocument

    return str(HwpxDocument.open(file).text.markdown())


if __name__ == "__main__":
    _main(sys.argv[1])
