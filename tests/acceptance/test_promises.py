"""Each promise has a test, and each test a promise."""

import ast
from collections.abc import Iterator

import pytest

from acceptance.promises import DOCUMENTS, FOLDER, read_promises


@pytest.mark.parametrize("document", DOCUMENTS)
def test_each_row_has_a_test_that_names_it(document: str) -> None:
    marked = {row for _, rows in _marked_tests(document) for row in rows}

    assert marked == {promise.id for promise in read_promises(document)}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_each_test_has_its_first_row_in_its_name(document: str) -> None:
    wrong = [
        name
        for name, rows in _marked_tests(document)
        if not rows or not name.startswith(f"test_{int(rows[0].removeprefix(f'{document}-')):02d}_")
    ]

    assert not wrong


def _marked_tests(document: str) -> Iterator[tuple[str, list[str]]]:
    """Each test of a document's files, and the rows that its marks name."""
    trees = (ast.parse((FOLDER / name).read_text(encoding="utf-8")) for name in DOCUMENTS[document])
    for node in (node for tree in trees for node in tree.body):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node.name, [row for decorator in node.decorator_list for row in _rows(decorator)]


def _rows(decorator: ast.expr) -> list[str]:
    if not isinstance(decorator, ast.Call) or ast.unparse(decorator.func) != "pytest.mark.promise":
        return []
    return [ast.literal_eval(row) for row in decorator.args]
