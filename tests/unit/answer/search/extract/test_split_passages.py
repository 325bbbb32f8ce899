from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from coreloop.answer.search.extract.document import Document, Section
from coreloop.answer.search.extract.text import MAX_PASSAGE_CHARS, plain_document, split_passages

PARTS = st.sampled_from(["word ", "가나다. ", "\n", "\n\n", "x" * 900, " "])
TEXTS = st.lists(PARTS, max_size=40).map("".join)


@given(TEXTS)
def test_passages_are_slices_that_leave_out_only_white_space(text: str):
    passages = list(split_passages(plain_document(text)))
    assert all(text[part.start : part.end] == part.text for part in passages)
    assert all(0 < len(part.text) <= MAX_PASSAGE_CHARS for part in passages)
    assert all(one.end <= other.start for one, other in pairwise(passages))
    assert "".join("".join(part.text.split()) for part in passages) == "".join(text.split())
    assert [part.line for part in passages] == [text.count("\n", 0, part.start) + 1 for part in passages]


def test_a_passage_ends_at_a_paragraph_if_it_can():
    text = f"{'word ' * 200}\n\n{'other ' * 200}"
    first, second = split_passages(plain_document(text))
    assert (first.text, second.text) == (("word " * 200).strip(), ("other " * 200).strip())


def test_passages_of_a_page_have_the_line_of_their_section():
    document = Document(type="pdf", text="a\n" * 2_000, sections=(Section(0, 4_000, 7, "Report"),))
    assert {(part.line, part.heading) for part in split_passages(document)} == {(7, "Report")}
