"""Origins: copies and pages of one site count once."""

import pytest

from coreloop.research.knowledge import ReadSource
from coreloop.research.origins import origin_of
from researching import source

TEXT = "The Han river is 494 kilometres long and flows through Seoul into the Yellow Sea."


@pytest.mark.parametrize(
    ("location", "origin"),
    [
        ("https://www.example.com/a", "example.com"),
        ("https://news.example.com/b?c=1", "example.com"),
        ("https://news.example.co.kr/b", "example.co.kr"),
        ("https://example.kr/b", "example.kr"),
        ("https://localhost/b", "localhost"),
        ("docs/han.md", "docs/han.md"),
        ("docs/x://y.md", "docs/x://y.md"),
    ],
)
def test_a_site_is_one_origin_and_a_file_another(location: str, origin: str):
    assert origin_of(source("other words", location), []) == origin


def test_a_syndicated_copy_has_the_origin_of_what_was_read_first():
    first = ReadSource(1, source(TEXT, "https://agency.example/1"), "agency.example", "q", 1)
    copy = source(f"SEOUL, 1 March - {TEXT} All rights reserved.", "https://paper.example/2")
    assert origin_of(copy, [first]) == "agency.example"
    own = source(
        "It is 494 kilometres from its source to the sea, our reporter writes.", "https://other.example"
    )
    assert origin_of(own, [first]) == "other.example"
