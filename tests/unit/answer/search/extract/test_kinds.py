"""Kinds of files: what their passages stand under, which values stay out, and what hostile ones are."""

import io
import zipfile

import pytest
from hwpx import HwpxDocument

from bounded import bounded
from coreloop.answer.search.extract.document import Document, Unreadable
from coreloop.answer.search.extract.kinds import document_of
from coreloop.answer.search.extract.text import SYNTAXES, split_passages
from rows import each_row

ASCIIDOC = "= Guide\n\n== Setup\n\n----\n== no heading\n----\n\n=== Deep\nText.\n"
ORG = "#+TITLE: Notes\n* Setup\n#+begin_src sh\n* no heading\n#+end_src\n** Deep\nText.\n"
YAML = "# answers\nserver:\n  port: 8080  # of http\n  tls:\n    cert: a.pem\n  host: x\nname: shop\n"
TYPESCRIPT = (
    "/** Asks. */\nexport class Client {\n  // Gets one.\n  async get(a: string): Promise<Page> {\n  }\n}\n"
)
JAVA = "class Order {\n  /** Sums. */\n  @Override\n  public Map<A, B> total(List<A> all) {\n  }\n}\n"
NOTEBOOK = (
    '{"cells": [{"cell_type": "markdown", "source": ["# Report\\n", "Revenue rose."]},'
    '{"cell_type": "code", "source": "1 + 1", "outputs": [{"data": {"text/plain": ["2"]}}]}]}'
)


def passages(name: str, content: str | bytes) -> list[tuple[str, int, str]]:
    document = document_of(content if isinstance(content, bytes) else content.encode(), name)
    assert isinstance(document, Document), document
    return [(part.heading, part.line, part.text) for part in split_passages(document)]


@each_row(
    ("name", "text", "place", "said"),
    [
        ("a.rst", "=====\nGuide\n=====\n\nSetup\n-----\n\nRun it.\n", ("Guide › Setup", 5), "Run it."),
        ("a.adoc", ASCIIDOC, ("Guide › Setup", 3), "== no heading"),
        ("a.asciidoc", ASCIIDOC, ("Guide › Setup › Deep", 9), "Text."),
        ("a.org", ORG, ("Setup", 2), "* no heading"),
        ("a.md", "---\nid: x\n---\nTop\n===\n\nSub\n---\n\nText.\n", ("Top › Sub", 7), "Text."),
        ("a.yaml", YAML, ("server", 1), "# answers\nserver:\n  port: 8080"),
        ("a.yml", YAML, ("server › tls", 4), "cert: a.pem"),
        ("a.yml", YAML, ("server", 6), "host: x"),
        ("a.toml", 'id = "x"\n\n# how long\n[tool.ruff]\nline = 110\n', ("tool.ruff", 3), "# how long"),
        ("a.ini", "[db]\n; of the shop\nport: 5432\n", ("db", 1), "; of the shop\nport: 5432"),
        ("a.json", '{\n  "server": {\n    "port": 8080\n  }\n}\n', ("server", 2), '"port": 8080'),
        ("b.json", '{"이름": {"\\uac00\\uaca9": 1200}}', ("이름", 0), '"가격": 1200'),
        ("a.csv", 'city,price\n"A\nB",3\nSeoul,"1,2"\n', ("city, price", 1), "\n- city: Seoul; price: 1,2"),
        ("a.sql", "-- Of all\nCREATE TABLE IF NOT EXISTS o (\n a int\n);\n", ("o", 1), "-- Of all"),
        ("a.rs", "pub(crate) fn start(p: u8) -> u8 {\n}\n", ("start", 1), "fn start"),
        ("a.sh", "set -e\n\n# Brings it.\ndeploy() {\n  scp a b\n}\n", ("deploy", 3), "# Brings it."),
        ("a.js", "/** Most. */\nexport const MAX = 5;\n", ("MAX", 1), "/** Most. */"),
        ("a.ts", TYPESCRIPT, ("Client › get", 3), "// Gets one."),
        ("a.go", "package a\n\n// Listens.\nfunc (s *S) Start(p int) error {\n}\n", ("Start", 3), "Listens."),
        ("A.java", JAVA, ("Order › total", 2), "/** Sums. */"),
        ("a.ipynb", NOTEBOOK, ("Report", 0), "Revenue rose.\n\n```\n1 + 1\n```\n\n```\n2\n```"),
    ],
)
def test_a_passage_knows_what_it_stands_under(name: str, text: str, place: tuple[str, int], said: str):
    assert [found[:2] for found in passages(name, text) if said in found[2]] == [place]


@each_row(
    ("name", "text", "shown"),
    [
        (".env", "# Of it\nPORT=80\nexport KEY='a\nb'\n#OLD=x\n", "# Of it\nPORT=\nexport KEY=\n\n#OLD="),
        ("a.yaml", "db:\n  password: hunter2\n  port: 1\n", "db:\n  password: *******\n  port: 1"),
        ("a.py", "key_of(token=self.api_token_of)\nTOKEN = '4f1c9a7b2d8e6f30'\n", f"TOKEN = '{'*' * 16}'"),
        ("a.md", "Use ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a here.\n", f"Use {'*' * 40} here."),
    ],
)
def test_names_of_secrets_are_read_and_no_values(name: str, text: str, shown: str):
    assert shown in "\n".join(said for _, _, said in passages(name, text))


def docx(text: str) -> bytes:
    of, out = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"', io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        style = '<w:style w:type="paragraph" w:styleId="a"><w:name w:val="heading 1"/></w:style>'
        archive.writestr("word/styles.xml", f"<w:styles {of}>{style}</w:styles>")
        body = f'<w:p><w:pPr><w:pStyle w:val="a"/></w:pPr><w:r><w:t>요금</w:t></w:r></w:p>{text}'
        archive.writestr("word/document.xml", f"<w:document {of}><w:body>{body}</w:body></w:document>")
    return out.getvalue()


def test_office_files_are_read_with_rows_of_tables_on_a_line():
    cell = "<w:tc><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:tc>"
    row = f"<w:tbl><w:tr>{cell.format('기본')}{cell.format('1,200원')}</w:tr></w:tbl>"
    assert passages("a.docx", docx(row)) == [("요금", 0, "# 요금\n\n| 기본 | 1,200원 |")]
    out, document = io.BytesIO(), HwpxDocument.new()
    table = document.add_table(1, 2)
    table.set_cell_text(0, 0, "기본")
    table.set_cell_text(0, 1, "1,200원")
    document.save_to_stream(out)
    assert "| 기본 | 1,200원 |" in passages("a.hwpx", out.getvalue())[0][2]


@each_row(
    ("name", "data"),
    [
        ("a.ipynb", b'{"cells": [{"cell_type"'),
        ("b.ipynb", b"[" * 100_000),
        ("a.json", b"{" * 100_000),
        ("c.json", b'{"final_answer": "30 days. [1]", "verdict": "says so"}'),
        ("a.ts", b"a" * 10_000_000),
        ("a.csv", b'"' + b"a" * 1_000_000),
        ("a.yaml", b"\0\1\2"),
        ("a.docx", b"PK\3\4" + b"x" * 1_000),
        ("a.hwpx", b"no archive"),
    ],
)
def test_hostile_files_are_unreadable(name: str, data: bytes):
    assert isinstance(document_of(data, name), Unreadable)


@pytest.mark.slow
def test_a_small_document_that_unpacks_to_gigabytes_is_bounded():
    assert isinstance(document_of(docx("<w:p/>" * 30_000_000), "a.docx"), Unreadable)


@each_row(
    "unit",
    ["# a\n", "a: ", "- " * 99 + "\n", "a\n---\n", "(" * 99, "export ", "a b(c, ", "----\n", "[[", '"""'],
)
def test_what_begins_a_part_is_found_in_linear_time(unit: str):
    with bounded():
        for suffixes, *_ in SYNTAXES.values():
            document_of((unit * 100_000)[:100_000].encode(), f"a.{suffixes.split()[0]}")
