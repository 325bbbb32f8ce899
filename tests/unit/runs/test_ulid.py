"""ULIDs sort by time and are recognised, in upper case only."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from coreloop.runs.ulid import is_ulid, new_ulid

MOMENTS = st.datetimes(datetime(1970, 1, 2), datetime(2999, 1, 1), timezones=st.just(UTC))


@given(MOMENTS, st.binary(min_size=10, max_size=10))
def test_an_id_is_recognised(moment: datetime, entropy: bytes):
    assert is_ulid(new_ulid(moment, entropy))


@given(MOMENTS, st.binary(min_size=10, max_size=10), st.binary(min_size=10, max_size=10))
def test_ids_sort_by_their_microseconds(moment: datetime, entropy: bytes, other: bytes):
    assert new_ulid(moment, entropy) < new_ulid(moment + timedelta(microseconds=1), other)


def test_the_example_of_the_specification():
    moment = datetime.fromtimestamp(1_469_918_176.385, UTC)
    assert new_ulid(moment, bytes(10)) == "01ARYZ6S41" + "0" * 16
