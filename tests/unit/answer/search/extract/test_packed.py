import io
import zlib
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from coreloop.answer.search.extract import packed
from coreloop.answer.search.extract.document import Document, Unreadable
from coreloop.answer.search.extract.packed import extract_packed
from coreloop.base.extras import install_line


def make_pdf(pages: list[str]) -> bytes:
    """A PDF with one line of text per page."""
    from pypdf import PdfWriter
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    writer = PdfWriter()
    font = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica"}
    fonts = DictionaryObject({NameObject(key): NameObject(value) for key, value in font.items()})
    for text in pages:
        page = writer.add_blank_page(300, 300)
        stream = DecodedStreamObject()
        stream.set_data(f"BT /F1 12 Tf 10 100 Td ({text}) Tj ET".encode())
        page[NameObject("/Contents")] = writer._add_object(stream.flate_encode())
        resources = DictionaryObject({NameObject("/F1"): fonts})
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): resources})
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def test_each_page_is_a_section():
    document = extract_packed(make_pdf(["Revenue rose", "Costs fell"]), kind="pdf")
    assert isinstance(document, Document)
    pages = {part.line: document.text[part.start : part.end] for part in document.sections}
    assert pages == {1: "Revenue rose", 2: "Costs fell"}


@pytest.mark.slow
def test_a_small_file_that_unpacks_to_two_gigabytes_is_bounded():
    packing = zlib.compressobj(9)
    bomb = b"".join(packing.compress(b"(x) Tj " * 1_000_000) for _ in range(300)) + packing.flush()
    whole = make_pdf(["x"])
    start = whole.index(b"stream\n") + len(b"stream\n")
    end = whole.index(b"\nendstream")
    length = f"/Length {end - start}".encode()
    data = whole[:start].replace(length, f"/Length {len(bomb)}".encode()) + bomb + whole[end:]
    assert len(data) < 5_000_000
    assert isinstance(extract_packed(data, kind="pdf"), Unreadable)


def test_a_module_in_the_current_folder_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("pypdf", "coreloop"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'run')!r}, 'w')")
    monkeypatch.chdir(tmp_path)
    assert isinstance(extract_packed(make_pdf(["x"]), kind="pdf"), Document)
    assert not (tmp_path / "run").exists()


def test_a_file_that_takes_too_long_is_unreadable():
    assert extract_packed(make_pdf(["x"]), kind="pdf", timeout_s=0.01) == Unreadable(
        "PDF takes longer than 0.01 s"
    )


def test_without_the_extra_the_reason_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    def absent(_name: str) -> ModuleSpec | None:
        return None

    monkeypatch.setattr(packed.importlib.util, "find_spec", absent)
    assert extract_packed(b"%PDF", kind="pdf") == Unreadable(
        f"PDF needs an extra; install it: {install_line('research')}"
    )
