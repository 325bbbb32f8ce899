"""A docstring with a heading and nothing below it is read like one without the section."""

import pytest

from coreloop.answer.search.extract.docstring_items import read_docstring
from coreloop.answer.search.extract.document import Document
from coreloop.answer.search.extract.python import extract_python


@pytest.mark.parametrize(
    "section", ["Parameters\n----------\n", "Returns\n-------\n", "Args:\n", "Fields\n------\n"]
)
def test_an_empty_section_has_no_items(section: str) -> None:
    assert read_docstring(f"Give the price.\n\n{section}").items == ()
    assert isinstance(extract_python(f'def price():\n    """Give it.\n\n{section}"""\n'.encode()), Document)
