from bounded import bounded
from coreloop.answer.search.extract.document import Document
from coreloop.answer.search.extract.text import extract_markdown, split_passages
from rows import each_row


def read(text: str) -> Document:
    document = extract_markdown(text)
    assert isinstance(document, Document)
    return document


def test_each_heading_begins_a_section_with_its_path():
    document = read("intro\n# Guide\ntext\n## Install ##\nmore\n# Other\nend\n")
    assert [(part.heading, part.line) for part in split_passages(document)] == [
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


def test_comments_are_no_text_and_offsets_stay():
    text = "# Guide\n\n<!-- setup\n# hidden -->\nText.\n<!-- no end\n"
    document = read(text)
    assert document.text == f"# Guide\n\n{' ' * 10}\n{' ' * 12}\nText.\n<!-- no end\n"


@each_row("unit", ["<!--", "<!-- -->", "-->", "`", "```\n", "~~~\n<!--"])
def test_reading_comments_is_linear_on_hostile_files(unit: str):
    with bounded():
        read((unit * 200_000)[:200_000] + "-->")
