from coreloop.answer.search.extract.document import Document
from coreloop.answer.search.extract.python import extract_python

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
    document = extract_python(text)
    assert isinstance(document, Document)
    return document


def test_every_symbol_has_its_body_and_what_stands_between_them_is_the_modules():
    document = read(SOURCE)
    parts = [(part.heading, document.text[part.start : part.end].strip()) for part in document.sections]
    assert [heading for heading, _ in parts] == [
        *("", "first", "Shop", "Shop.price", "Shop.sell", "", "conditional"),
    ]
    assert parts[0][1] == '"""What the module holds."""\n\nimport re'
    assert parts[1][1].startswith("@cached\ndef first(")
    assert parts[1][1].endswith("return a + 1")
    assert parts[-1][1].endswith('return re.compile("\\d")')
    assert (
        "".join(document.text[part.start : part.end] for part in document.sections).split() == SOURCE.split()
    )
