"""A test of a message asserts its fact, not its sentence: a better word in a message fails no test."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
LONG = 60
"""Characters: names, figures and what to do fit into fewer."""
WORDS = re.compile(r"[a-z]{2,} [a-z]{2,} [a-z]{2,}")
"""Three words in a row, as in no table, path or command."""
MOST = 84  # printed screens, what documents and workflows promise, one text per command; only to be lowered


def pinned(tree: ast.Module) -> Iterator[str]:
    """The sentences in the conditions of assertions."""
    conditions = [node.test for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    for part in (part for condition in conditions for part in ast.walk(condition)):
        if isinstance(part, ast.Constant) and len(text := str(part.value)) > LONG and WORDS.search(text):
            yield text


@pytest.mark.slow
def test_few_sentences_are_pinned():
    paths = [path for path in TESTS.rglob("test_*.py") if path.relative_to(TESTS).parts[0][0] != "."]
    sentences = {path.name: list(pinned(ast.parse(path.read_bytes()))) for path in paths}
    n_pinned = sum(map(len, sentences.values()))
    assert n_pinned <= MOST, f"{n_pinned} sentences are asserted; assert the number, name or state instead"


def test_a_sentence_is_counted_and_its_fact_is_not():
    sentence = "the report was not written, since its folder is not there any more"
    tree = ast.parse(f"assert said == {sentence!r}\nassert 'not written' in said\nsaid = {sentence!r}\n")
    assert list(pinned(tree)) == [sentence]
