"""The values that a file lists are found."""

import ast

import pytest

from coreloop.base.project.allowed_values import listed_values


@pytest.mark.parametrize(
    ("source", "values"),
    [
        pytest.param('STATUSES = ("any", "open")', {"any", "open"}, id="tuple"),
        pytest.param('STATUSES = {"any": 1, "open": 2}', {"any", "open"}, id="keys"),
        pytest.param('class S(StrEnum):\n    A = "any"\n    O = "open"', {"any", "open"}, id="enum"),
        pytest.param('if s == "any": pass\nelif s == "open": pass', {"any", "open"}, id="compared"),
        pytest.param('Status = Literal["any", "open"]', {"any", "open"}, id="literal"),
    ],
)
def test_values_that_a_file_lists_together(source: str, values: set[str]):
    assert values in listed_values(ast.parse(source))
