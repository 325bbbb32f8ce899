"""ULIDs sort by time and are recognised, in upper case only."""

from datetime import UTC, datetime, timedelta
from secrets import token_bytes

from hypothesis import given
from hypothesis import strategies as st

from coreloop.runs.ulid import is_ulid, new_ulid
from rows import each_row

MOMENTS = st.datetimes(datetime(1970, 1, 2), datetime(2999, 1, 1), timezones=st.just(UTC))


@given(MOMENTS, st.binary(min_size=10, max_size=10))
def test_an_id_is_recognised(moment: datetime, entropy: bytes):
    assert is_ulid(new_ulid(moment, entropy))


@given(MOMENTS, st.binary(min_size=10, max_size=10), st.binary(min_size=10, max_size=10))
def test_ids_sort_by_their_microseconds(moment: datetime, entropy: bytes, other: bytes):
    assert new_ulid(moment, entropy) < new_ulid(moment + timedelta(microseconds=1), other)


def test_ids_of_one_moment_differ_by_chance():
    moment = datetime(2026, 11, 24, tzinfo=UTC)
    ids = {new_ulid(moment, token_bytes(10)) for _ in range(1000)}
    assert len(ids) == 1000


def test_a_clock_before_1970_gives_a_valid_id():
    assert new_ulid(datetime(1969, 12, 31, tzinfo=UTC), bytes(10)) == "0" * 26


def test_the_example_of_the_specification():
    moment = datetime.fromtimestamp(1_469_918_176.385, UTC)
    assert new_ulid(moment, bytes(10)) == "01ARYZ6S41" + "0" * 16


@each_row(
    "text",
    [
        "",
        "../../etc",
        "01ARYZ6S41TSV4RRFFQ69G5FA",
        "81ARYZ6S41TSV4RRFFQ69G5FAV",
        "01aryz6s41tsv4rrffq69g5fav",
    ],
)
def test_anything_else_is_no_id(text: str):
    assert not is_ulid(text)
