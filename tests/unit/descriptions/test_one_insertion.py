"""One insertion into one docstring is accepted; every other change is refused."""

import pytest

from coreloop.descriptions.edit import refuse_change
from merging import inserted
from promoting import SOURCE
from rows import each_row

TWO = SOURCE + b'\n\ndef show(company: str) -> None:\n    """Show it."""\n'


def changed(old: bytes, new: bytes, source: bytes = TWO) -> bytes:
    assert source.count(old) == 1
    return source.replace(old, new)


@each_row(
    ("before", "after"),
    [
        pytest.param(TWO, inserted(TWO, "- Call: show."), id="a section"),
        pytest.param(TWO, changed(b"Ratios of", b"Ratios, ratios of"), id="a word"),
        pytest.param(TWO, changed(b"Which.\n    ", b"Which.\n    \n    "), id="before the closing quotes"),
        pytest.param(TWO.replace(b"\n", b"\r\n"), inserted(TWO, "- a.").replace(b"\n", b"\r\n"), id="CRLF"),
        pytest.param(
            b"# coding: euc-kr\n" + TWO.replace(b"Which", "어느 것".encode("euc-kr")),
            b"# coding: euc-kr\n" + TWO.replace(b"Which", "어느 것, 또".encode("euc-kr")),
            id="another encoding",
        ),
    ],
)
def test_one_insertion_is_not_refused(before: bytes, after: bytes) -> None:
    assert refuse_change(before, after, "analysis") is None


@each_row(
    ("after", "reason"),
    [
        pytest.param(TWO, "not a single insertion", id="nothing"),
        pytest.param(changed(b"Ratios of", b"of"), "not a single insertion", id="a deletion"),
        pytest.param(changed(b"Ratios", b"Figures"), "not a single insertion", id="a replacement"),
        pytest.param(
            changed(b"Which.", b"Which one.", changed(b"Ratios", b"All ratios")),
            "not a single insertion",
            id="two insertions",
        ),
        pytest.param(changed(b"Show it", b"Show it all"), "more than the docstring", id="another docstring"),
        pytest.param(changed(b'"axis": axis', b'"axis": axis, "a": 1'), "more than the docstring", id="code"),
        pytest.param(TWO + b"# more\n", "not a single insertion", id="a comment"),
        pytest.param(changed(b'    """Ratios', b'    f"""Ratios'), "f-string", id="an f-string now"),
    ],
)
def test_any_other_change_is_refused(after: bytes, reason: str) -> None:
    assert reason in (refuse_change(TWO, after, "analysis") or "")


def test_the_line_chooses_among_definitions_of_one_name() -> None:
    twice = TWO.replace(b"def show(company", b"def analysis(company").replace(b"Show it", b"Again")
    after = twice.replace(b"Again", b"Again, please")
    line = twice[: twice.index(b"def analysis", 30)].count(b"\n") + 1
    assert refuse_change(twice, after, f"analysis:{line}") is None
    assert refuse_change(twice, after, "analysis:4") == "it changed more than the docstring of analysis"
    assert "more than once" in (refuse_change(twice, after, "analysis") or "")
