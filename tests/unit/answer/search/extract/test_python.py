from coreloop.answer.search.extract.document import Document
from coreloop.answer.search.extract.python import extract_python
from rows import each_row

SOURCE = '''"""What the module holds."""

import re


@cached
def first(
    a: int,
) -> int:
    """Add one."""
    return a + 1


class Shop:
    """Sells things."""

    def price(self, item): return 1

    async def sell(self, item):
        """Sell an item."""


if re:
    def conditional():
        # a comment
        return re.compile("\\d")
'''


def read(text: str) -> Document:
    document = extract_python(text.encode())
    assert isinstance(document, Document)
    return document


def test_every_symbol_has_its_signature_and_docstring():
    document = read(SOURCE)
    parts = {part.heading: document.text[part.start : part.end].strip() for part in document.sections}
    assert list(parts) == ["", "first", "Shop", "Shop.price", "Shop.sell", "conditional"]
    assert parts["first"] == 'def first(\n    a: int,\n) -> int:\n    """Add one."""'
    assert parts["Shop"] == 'class Shop:\n    """Sells things."""'
    assert parts["Shop.price"] == "def price(self, item): return 1"
    assert parts["conditional"] == "def conditional():\n        # a comment"
    assert [part.line for part in document.sections] == [1, 7, 14, 17, 19, 24]


@each_row(
    "text",
    ["print 'Python 2'", "(" * 100_000, "-" * 200_000 + "1", "x" + ".y" * 100_000, "[" * 80 + "]" * 80],
    ids=["old", "parentheses", "signs", "attributes", "lists"],
)
def test_what_does_not_parse_is_plain_text(text: str):
    document = read(text)
    assert document.type in {"text", "python"}


def test_names_in_korean_keep_their_lines():
    document = read('이름 = "값"\n\ndef 함수(인자):\n    """설명."""\n')
    assert [(part.heading, part.line) for part in document.sections] == [("함수", 3)]
