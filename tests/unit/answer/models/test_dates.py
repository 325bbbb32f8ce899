"""Dates in one form, however they are written."""

from coreloop.answer.models.dates import Date, dates_agree, holds_date, split_dates
from rows import each_row


@each_row(
    "text",
    [
        "2024-03-01", "2024.3.1", "2024. 3. 1.", "2024/03/01", "March 1, 2024", "Mar. 1 2024", "1 March 2024",
        "the 1st of March 2024", "2024년 3월 1일", "2024년3월1일",
    ],
)  # fmt: skip
def test_a_day_is_read_in_every_form(text: str):
    assert split_dates(text)[0] == (Date(2024, month=3, day=1),)


@each_row(
    ("text", "dates"),
    [
        ("in 1998", [Date(1998)]),
        ("1939–1945", [Date(1939), Date(1945)]),
        ("1990s, 1980년대", [Date(1990), Date(1980)]),
        ("2024-05", [Date(2024, month=5)]),
        ("May 2020", [Date(2020, month=5)]),
        ("같은 해 6월 30일", [Date(month=6, day=30)]),
        ("2024년 3분기, Q3 2024", [Date(2024, quarter=3), Date(2024, quarter=3)]),
        ("they may come", []),
        ("1,998 people, 2024명, 1998.5, 10년간", []),
    ],
)
def test_what_is_no_full_date_keeps_its_parts(text: str, dates: list[Date]):
    assert list(split_dates(text)[0]) == dates


def test_the_text_without_its_dates_is_returned():
    assert split_dates("on 2024-03-01 it sold 5")[1].split() == ["on", "it", "sold", "5"]


@each_row(
    ("found", "claimed", "holds"),
    [
        ([Date(2024, month=3, day=1)], Date(2024), True),
        ([Date(2024, month=3, day=1)], Date(2024, month=3), True),
        ([Date(2024, month=5, day=1)], Date(2024, quarter=2), True),
        ([Date(2024)], Date(2024, month=3), False),
        ([Date(1989), Date(month=6, day=30)], Date(1989, month=6, day=30), True),
        ([Date(1990), Date(month=6, day=30)], Date(1989, month=6, day=30), False),
        ([], Date(2024), False),
    ],
)
def test_a_claimed_date_must_not_say_more_than_the_found_ones(found: list[Date], claimed: Date, holds: bool):
    assert holds_date(tuple(found), claimed, {date.year for date in found}) is holds


def test_dates_agree_if_no_part_differs():
    assert dates_agree(Date(2024), Date(2024, month=3))
    assert not dates_agree(Date(2024, month=4), Date(2024, month=3))
    assert not dates_agree(Date(2024), Date(month=3))
