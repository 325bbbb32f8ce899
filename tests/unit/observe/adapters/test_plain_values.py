"""Rejected arguments: the error names the argument and never repeats its value."""

from coreloop.base.error_classes import error_class
from coreloop.observe.adapters.plain_values import (
    plain_result,
    rejection,
    rejection_in,
    schema_rejection,
)
from rows import each_row

SCHEMA = {
    "type": "object",
    "required": ["city", "seats"],
    "additionalProperties": False,
    "properties": {
        "city": {"type": "string"},
        "seats": {"type": "integer", "minimum": 1, "maximum": 20},
        "kind": {"type": "string", "enum": ["desk", "room"]},
    },
}


@each_row(
    ("args", "said"),
    [
        ({"city": "Oslo"}, "seats: Field required"),
        (
            {"city": "Oslo", "seats": "private"},
            "seats: Input should be of type integer, minimum 1, maximum 20",
        ),
        ({"city": "Oslo", "seats": 99}, "seats: Input should be of type integer, minimum 1, maximum 20"),
        (
            {"city": "Oslo", "seats": 1, "kind": "private"},
            "kind: Input should be of type string, enum ['desk', 'room']",
        ),
        ({"city": "Oslo", "seats": 1, "colour": "private"}, "colour: Extra inputs are not permitted"),
        ({"city": "Oslo", "seats": "4"}, "rejected before the tool ran"),  # servers convert it
        ({"value": '{"city": Oslo}'}, "arguments: not a JSON object"),
    ],
)
def test_rejected_argument_is_named_by_the_schema(args: object, said: str) -> None:
    error = schema_rejection(SCHEMA, args)
    assert error == f"invalid_argument: {said}"
    assert error_class(error) == "invalid_argument"


@each_row("schema", [None, [], {"properties": []}, {"required": "x"}, {"properties": {"city": True}}])
def test_schema_that_cannot_be_read_still_says_that_the_arguments_were_rejected(schema: object) -> None:
    assert schema_rejection(schema, {"city": 1}) == "invalid_argument: rejected before the tool ran"


def test_message_that_may_repeat_the_value_is_left_out() -> None:
    errors = [
        {"loc": ("day",), "type": "value_error", "msg": "Value error, private is no day", "input": "private"},
        {"loc": ("kind",), "type": "union_tag_invalid", "msg": "Input tag 'private' found"},
        {"loc": ("prices", "kim@example.com"), "type": "int_type", "msg": "Input should be a valid integer"},
    ]
    assert rejection(errors) == (
        "invalid_argument: day: value_error; kind: union_tag_invalid; "
        "prices.*: Input should be a valid integer"
    )


def test_rejection_is_read_from_a_text_without_its_values() -> None:
    text = (
        "Error executing tool find: 2 validation errors for call[find]\n"
        "seats\n  Input should be a valid integer [type=int_type, input_value='private', input_type=str]\n"
        "    For further information visit https://errors.example\n"
        "city\n  Field required [type=missing, input_value={'a': 'private'}, input_type=dict]\n"
    )
    assert rejection_in(text) == (
        "invalid_argument: seats: Input should be a valid integer; city: Field required"
    )
    assert rejection_in("no room") is None


@each_row(
    ("result", "kept", "size"),
    [
        ("é", "é", 2),
        ({"a": (1, 2)}, {"a": [1, 2]}, 11),
        (..., ..., None),
        (object(), ..., None),
        ("x" * 70_000, ..., 70_000),
    ],
)
def test_result_is_kept_as_plain_values_if_it_is_small(result: object, kept: object, size: int) -> None:
    assert plain_result(result) == (kept, size)


@each_row(
    ("schema", "value"),
    [
        ({"type": "integer", "minimum": "0"}, 3),
        ({"type": "integer"}, 5.0),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, None),
    ],
)
def test_value_that_a_schema_of_another_draft_accepts_is_not_named(schema: object, value: object) -> None:
    said = schema_rejection({"properties": {"seats": schema}}, {"seats": value})
    assert said == "invalid_argument: rejected before the tool ran"


def test_number_that_is_not_listed_is_named() -> None:
    schema = {"properties": {"seats": {"type": "integer", "enum": [1, 2]}}}
    assert "seats" in schema_rejection(schema, {"seats": 3})
