"""Korean for a person who asks in Korean; everything else is English."""

import ast
import string
import unicodedata
from pathlib import Path

import pytest

import coreloop
from coreloop.base.messages import in_language_of, korean
from source_files import nodes

SOURCE = Path(coreloop.__file__).parent


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Why?", "answer q1"),
        ("왜?", "q1에 답하기"),
        (unicodedata.normalize("NFD", "왜?"), "q1에 답하기"),
    ],
    ids=["English", "Korean", "decomposed, as macOS has it"],
)
def test_the_question_decides_the_language(question: str, said: str):
    assert in_language_of(question)("answer {part}", part="q1") == said


def test_what_the_catalogue_does_not_have_is_said_as_it_is():
    tell = in_language_of("왜?")
    assert (tell("no such {thing}", thing="text"), tell("{a}")) == ("no such text", "{a}")


def test_every_message_of_the_catalogue_stands_in_the_code():
    files = [path for path in SOURCE.rglob("*.py") if "projects" not in path.parts]
    texts = {node.value for path in files for node in nodes(path) if isinstance(node, ast.Constant)}
    assert korean().keys() - texts == set()


def test_a_message_and_its_korean_have_the_same_fields():
    for english, translated in korean().items():
        assert fields(translated) == fields(english), english


def fields(text: str) -> set[tuple[str, str | None]]:
    return {(name, form) for _, name, form, _ in string.Formatter().parse(text) if name is not None}
