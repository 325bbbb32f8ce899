from bounded import bounded
from coreloop.answer.search.extract.document import Document
from coreloop.answer.search.extract.split_passages import split_passages
from coreloop.answer.search.extract.text import extract_markdown
from rows import each_row


def read(text: str) -> Document:
    document = extract_markdown(text.encode())
    assert isinstance(document, Document)
    return document


def test_each_heading_begins_a_section_with_its_path():
    document = read("intro\n# Guide\ntext\n## Install ##\nmore\n# Other\nend\n")
    assert [(section.heading, section.line) for section in document.sections] == [
        ("", 1),
        ("Guide", 2),
        ("Guide › Install", 4),
        ("Other", 6),
    ]
    assert document.title == "Guide"
    assert document.text[document.sections[2].start : document.sections[2].end] == "## Install ##\nmore\n"


def test_a_comment_in_code_is_no_heading():
    document = read("# Guide\n```sh\n# not a heading\n~~~\n```\n~~~\n# nor this\n~~~~\n## Real\n")
    assert [section.heading for section in document.sections] == ["Guide", "Guide › Real"]


def test_the_title_of_the_front_matter_comes_first():
    assert read('---\ndate: 2026-01-01\ntitle: "Third quarter"\n---\n# Heading\n').title == "Third quarter"


def test_passages_quote_the_text_at_their_offsets_and_lines():
    text = "# Guide\n\n" + "\n\n".join(f"Paragraph {number}. " + "word " * 80 for number in range(12))
    passages = list(split_passages(read(text)))
    assert len(passages) > 3
    for passage in passages:
        assert text[passage.start : passage.end] == passage.text
        assert text.count("\n", 0, passage.start) + 1 == passage.line
        assert passage.text == passage.text.strip()
    assert "".join("".join(p.text.split()) for p in passages) == "".join(text.split())


def test_a_huge_line_is_cut():
    passages = list(split_passages(read("x" * 1_000_000)))
    assert sum(len(passage.text) for passage in passages) == 1_000_000
    assert max(len(passage.text) for passage in passages) <= 1_500


def test_comments_are_no_text_and_offsets_stay():
    text = "# Guide\n\n<!-- setup\n# hidden -->\nText `<!-- shown -->`.\n\n```html\n<!-- code -->\n```\n"
    document = read(text)
    assert len(document.text) == len(text)
    assert "setup" not in document.text
    assert "hidden" not in document.text
    assert {"`<!-- shown -->`", "<!-- code -->"} <= {
        line.strip("Text .") for line in document.text.splitlines()
    }
    assert document.text.count("\n") == text.count("\n")


@each_row("unit", ["<!--", "<!-- -->", "-->", "`", "```\n", "~~~\n<!--"])
def test_reading_comments_is_linear_on_hostile_files(unit: str):
    with bounded():
        read((unit * 200_000)[:200_000] + "-->")
