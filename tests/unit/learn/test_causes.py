"""Templates of one cause get one text, in which no value stands."""

from collections import Counter
from collections.abc import Iterable, Mapping

import pytest

from coreloop.learn.causes import causes
from coreloop.observe.reading.error_texts import template
from rows import each_row

PEOPLE = ("Jane Roe", "Luis Ortega", "Anna de la Cruz", "Kim Min-su", "O'Brien", "Li Na", "Müller")
NO_PATIENT = [(f"no patient called {name}", {"name": name}) for name in PEOPLE]
NOTES = ("the customer wants his register", "patients in line", "urgent", "look at the register of patients")


def rows_of(calls: Iterable[tuple[str, Mapping[str, object]]]) -> dict[str, int]:
    """How many calls each cause has, of errors with their arguments."""
    calls = list(calls)
    templates = [("find", template(error, args)) for error, args in calls]
    found = causes(Counter(templates), {name for _, args in calls for name in args})
    return dict(Counter(found[one] for one in templates))


@each_row(
    ("calls", "rows"),
    [
        pytest.param(
            NO_PATIENT,
            {"no patient called <name>": 7},
            id="names of any length",
        ),
        pytest.param(
            [("no patient called <name>", {}), *NO_PATIENT],
            {"no patient called <name>": 8},
            id="one that was masked as it was recorded",
        ),
        pytest.param(
            [
                (f"no customer named {name} in the register of patients", {"name": name, "note": note})
                for name in PEOPLE
                for note in NOTES
            ],
            {"no customer named <name> in the register of patients": 28},
            id="words that a note has in common with the error",
        ),
        pytest.param(
            [
                (f"{side} must be a date", {"note": note})
                for side in ("start", "end")
                for note in ("start of the project", "end of the year", "none", "x")
            ],
            {"start must be a date": 4, "end must be a date": 4},
            id="two causes that differ in a word of a note",
        ),
        pytest.param(
            [(f"order {order} is closed", {"order_id": order}) for order in ("#W1", "W12", "W13", 4, "4711")],
            {"order <order_id> is closed": 5},
            id="ids with and without letters",
        ),
        pytest.param(
            [
                (f"{name}{particle} 찾을 수 없습니다", {"name": name})
                for name, particle in (("김민수", "를"), ("박지훈", "을"), ("최수아", "를"))
            ],
            {"<name>를 찾을 수 없습니다": 3},
            id="particles",
        ),
        pytest.param(
            [(f"unknown members: {list(PEOPLE[:n])}", {"members": PEOPLE[:n]}) for n in (1, 2, 3)],
            {"unknown members: [<value>]": 3},
            id="lists",
        ),
        pytest.param(
            [(f"account of {name} is closed today", {"id": n}) for n, name in enumerate(PEOPLE)],
            {"account of <value> is closed today": 7},
            id="names that no argument has",
        ),
        pytest.param(
            [*NO_PATIENT, ("no patient called JeanRoe", {"name": "Jean Roe"})],
            {"no patient called <name>": 8},
            id="a value in another spelling",
        ),
        pytest.param(
            [(f"field {name} is required here", {"city": 1, "date": 2}) for name in ("city", "date", "zip")],
            dict.fromkeys((f"field {name} is required here" for name in ("city", "date", "zip")), 1),
            id="fields",
        ),
        pytest.param(
            [("KeyError: no", {}), ("TypeError: no", {}), ("5", {}), ("'a'", {})],
            {"KeyError: no": 1, "TypeError: no": 1, "<n>": 1, "<value>": 1},
            id="short texts",
        ),
    ],
)
def test_calls_of_a_cause_are_one_row(
    calls: list[tuple[str, Mapping[str, object]]], rows: dict[str, int]
) -> None:
    assert rows_of(calls) == rows


def test_a_name_is_not_shown_since_others_fail_about_it() -> None:
    by_id = [("account of Jane Roe is closed", {"id": n}) for n in range(9)]
    by_name = [(f"no chart of {name} in the archive", {"name": name}) for name in PEOPLE]
    assert rows_of([*by_id, *by_name])["no chart of <name> in the archive"] == len(PEOPLE)


def test_a_text_that_was_cut_belongs_to_the_longest_that_begins_like_it():
    whole = "could not validate the act"
    cut, own = ("could not val", "could not validate t..."), ("could not validate", "not found")
    found = causes(dict.fromkeys((("find", text) for text in (whole, *cut, *own)), 1))
    assert {text: found["find", text] for text in cut} == dict.fromkeys(cut, whole)
    assert {text: found["find", text] for text in own} == {text: text for text in own}
