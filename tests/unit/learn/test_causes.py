"""Templates of one cause get one text, in which no value stands."""

from collections import Counter
from collections.abc import Iterable, Mapping

from coreloop.learn.causes import causes
from coreloop.observe.reading.error_texts import template, with_code
from rows import each_row

PEOPLE = ("Jane Roe", "Luis Ortega", "Anna de la Cruz", "Kim Min-su", "O'Brien", "Li Na", "Müller")
NO_PATIENT = [(f"no patient called {name}", {"name": name}) for name in PEOPLE]
NOTES = ("the customer wants his register", "patients in line", "urgent", "look at the register of patients")


def rows_of(calls: Iterable[tuple[str, Mapping[str, object]]]) -> dict[str, int]:
    """How many calls each cause has, of errors with their arguments."""
    calls = list(calls)
    templates = [("find", with_code(template(error, args), error, args)) for error, args in calls]
    found = causes(Counter(templates), {name for _, args in calls for name in args})
    return dict(Counter(found[one] for one in templates))


@each_row(
    ("calls", "rows"),
    [
        (NO_PATIENT, {"no patient called <name>": 7}),
        ([("no patient called <name>", {}), *NO_PATIENT], {"no patient called <name>": 8}),
        (
            [
                (f"no customer named {name} in the register of patients", {"name": name, "note": note})
                for name in PEOPLE
                for note in NOTES
            ],
            {"no customer named <name> in the register of patients": 28},
        ),
        (
            [
                (f"{side} must be a date", {"note": note})
                for side in ("start", "end")
                for note in ("start of the project", "end of the year", "none", "x")
            ],
            {"start must be a date": 4, "end must be a date": 4},
        ),
        (
            [(f"order {order} is closed", {"order_id": order}) for order in ("#W1", "W12", "W13", 4, "4711")],
            {"order <order_id> is closed": 5},
        ),
        (
            [
                (f"{name}{particle} 찾을 수 없습니다", {"name": name})
                for name, particle in (("김민수", "를"), ("박지훈", "을"), ("최수아", "를"))
            ],
            {"<name>를 찾을 수 없습니다": 3},
        ),
        (
            [(f"unknown members: {list(PEOPLE[:n])}", {"members": PEOPLE[:n]}) for n in (1, 2, 3)],
            {"unknown members: [<value>]": 3},
        ),
        (
            [(f"account of {name} is closed today", {"id": n}) for n, name in enumerate(PEOPLE)],
            {"account of <value> is closed today": 7},
        ),
        ([*NO_PATIENT, ("no patient called JeanRoe", {"name": "Jean Roe"})], {"no patient called <name>": 8}),
        (
            [(f"field {name} is required here", {"city": 1, "date": 2}) for name in ("city", "date", "zip")],
            dict.fromkeys((f"field {name} is required here" for name in ("city", "date", "zip")), 1),
        ),
        (
            [
                (f"app.NoSeat: WMS-417: {n} seats are too many", {"n": n})
                for n in (300, 400, 417, 500, 600, 700)
            ],
            {"NoSeat: WMS-417: <n> seats are too many": 6},
        ),
        ([("CUST-7: is blocked", {})] * 4, {"<n>: is blocked": 4}),
        ([("CUST-7: is blocked", {"id": 7})] * 9, {"<n>: is blocked": 9}),
        ([(f"CUST-{n}: is blocked", {}) for n in (7, 8)] * 9, {"<n>: is blocked": 18}),
        (
            [("KeyError: no", {}), ("TypeError: no", {}), ("5", {}), ("'a'", {})],
            {"KeyError: no": 1, "TypeError: no": 1, "<n>": 1, "<value>": 1},
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
