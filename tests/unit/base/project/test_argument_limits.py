"""What a schema says of an argument is read from the signature."""

import ast

import pytest

from coreloop.base.project.allowed_values import listed_values
from coreloop.base.project.argument_limits import SchemaLimits, declared_limits


def _limits(signature: str, above: str = "") -> dict[str, SchemaLimits]:
    tree = ast.parse(f"{above}\ndef book({signature}): ...\n")
    (function,) = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    return declared_limits(function, tree)


@pytest.mark.parametrize(
    ("signature", "limits"),
    [
        pytest.param("hours: int", SchemaLimits(required=True), id="no default"),
        pytest.param("*, hours: int", SchemaLimits(required=True), id="keyword only"),
        pytest.param("hours: int = 2", SchemaLimits(), id="a default"),
        pytest.param("hours: int = Field(le=4)", SchemaLimits(required=True, over=4), id="field as default"),
        pytest.param("hours: int = Field(..., le=4)", SchemaLimits(required=True, over=4), id="ellipsis"),
        pytest.param(
            "hours: int = Field(2, ge=1, le=4)", SchemaLimits(over=4, under=1), id="field with a default"
        ),
        pytest.param("hours: int = Field(default=2, lt=5, gt=0)", SchemaLimits(over=4, under=1), id="strict"),
        pytest.param("hours: float = Field(default=2, lt=4.5)", SchemaLimits(over=4.5), id="strict fraction"),
        pytest.param("hours: Annotated[int, Field(le=4)] = 1", SchemaLimits(over=4), id="annotated"),
        pytest.param("hours: conint(ge=-1) = 1", SchemaLimits(under=-1), id="constrained type"),
        pytest.param("hours: list = Field([], min_length=1)", SchemaLimits(never_empty=True), id="length"),
        pytest.param("hours: int = Field(1, le=MOST)", SchemaLimits(), id="a name is not followed"),
    ],
)
def test_limits_of_a_signature(signature: str, limits: SchemaLimits):
    assert _limits(signature) == {"hours": limits}


def test_a_named_annotation_is_looked_up():
    assert _limits("hours: Hours = 1", "Hours = Annotated[int, Field(le=4)]") == {
        "hours": SchemaLimits(over=4)
    }


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
