"""Rejected arguments: the error names the argument and never repeats its value."""

from coreloop.base.error_classes import error_class
from coreloop.observe.adapters.plain_values import (
    plain_result,
    rejected,
    rejection,
    rejection_in,
)
from rows import each_row


@each_row(
    ("args", "detail", "said"),
    [
        ('{"city": ', "", "arguments: not JSON"),
        ({"seats": "private"}, "Invalid JSON input for tool find: private", "rejected before the tool ran"),
        (
            {},
            "1 validation error for find\nseats\n  Field required [type=missing, input_value={}]",
            "seats: Field required",
        ),
    ],
)
def test_rejected_argument_is_named_without_its_value(args: object, detail: str, said: str) -> None:
    error = rejected(args, detail)
    assert error == f"invalid_argument: {said}"
    assert error_class(error) == "invalid_argument"


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
