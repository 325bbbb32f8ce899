"""Every word of ours that a page shows has its Korean, with the same values in it."""

import re
from importlib.resources import files
from pathlib import Path
from string import Formatter

import yaml

from coreloop.web.pages import health
from coreloop.web.pages.sections import SECTIONS
from rows import each_row

PAGES = Path(str(files("coreloop.web.pages")))
TABLES = {path.name: yaml.safe_load(path.read_text("utf-8")) for path in sorted(PAGES.glob("korean/*.yaml"))}
TEMPLATES = sorted(path.name for path in PAGES.glob("templates/*.html"))
LITERAL = re.compile(r"""\b_\((?:"([^"]*)"|'([^']*)')\)""")


def said(template: str) -> set[str]:
    """The English words of a template."""
    text = (PAGES / "templates" / template).read_text("utf-8")
    return {double or single for double, single in LITERAL.findall(text)}


def lacking(words: set[str]) -> set[str]:
    known = {english for table in TABLES.values() for english in table}
    return words - known


@each_row("template", TEMPLATES)
def test_each_text_of_a_template_has_its_korean(template: str):
    assert lacking(said(template)) == set()


def test_words_that_views_choose_have_their_korean():
    gates = {word for pair in health._GATES.values() for word in pair if word}
    source = Path(health.__file__).read_text("utf-8")
    falls = {word for pair in re.findall(r'Fall\("([^"]+)", "([^"]+)"', source) for word in pair}
    assert len(falls) > 5
    refusals = set(health._REFUSALS.values()) | falls
    assert lacking(gates | refusals | {section.title for section in SECTIONS}) == set()


@each_row("table", TABLES)
def test_the_korean_has_the_same_values(table: str):
    for english, korean in TABLES[table].items():
        assert values(korean) == values(english), english


def values(text: str) -> list[str]:
    return sorted(name for _, name, _, _ in Formatter().parse(text) if name is not None)


def test_a_word_is_translated_once():
    words = [english for table in TABLES.values() for english in table]
    assert sorted({word for word in words if words.count(word) > 1}) == []
