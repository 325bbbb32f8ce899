"""Values of a call's own arguments are taken out of its error, by whole values and by words."""

import pytest

from coreloop.observe.reading.error_texts import template
from coreloop.observe.reading.own_values import named
from rows import each_row


@each_row(
    ("error", "args", "expected"),
    [
        ("no patient called Jane Roe", {"name": "Jane Roe"}, "no patient called <name>"),
        ("no patient called JANE ROE", {"name": "jane roe"}, "no patient called <name>"),
        ("Roe, Jane is unknown here", {"who": [{"first": "Jane", "last": "Roe"}]}, "<who> is unknown here"),
        (
            "no patient called Anna de la Cruz",
            {"q": "find Anna de la Cruz"},
            "no patient called <q> de la <q>",
        ),
        ("Jane Roe's chart, O'Brien's", {"a": "Jane Roe", "b": "O'Brien"}, "<a>'s chart, <b>'s"),
        ("no user jane.roe@x.org", {"email": "Jane.Roe@x.org"}, "no user <email>"),
        ("order #W7, then #W77", {"a": "#W7", "b": "#W77"}, "order <a>, then <b>"),
        ("unknown: Li, Bo and Ed", {"ids": ["Bo", "Ed", "Li"]}, "unknown: <ids>"),
        ("no key user_jane_roe here", {"name": "Jane Roe"}, "no key user_<name> here"),
        pytest.param(
            "김민수를 찾을 수 없습니다", {"이름": "김민수"}, "<이름>를 찾을 수 없습니다", id="a particle"
        ),
        pytest.param("환자 김민수님의 예약", {"q": "김민수 환자"}, "<q>님의 예약", id="a title"),
        pytest.param("田中太郎さんがいません", {"name": "田中太郎"}, "<name>さんがいません", id="no spaces"),
        pytest.param("1 error: limit 500", {"page": 1, "limit": "500"}, "<n> error: limit <n>", id="numbers"),
        pytest.param("the page is not found", {"q": "not found the"}, "the page is not found", id="ordinary"),
        pytest.param("no Jane", {"address2": "Jane"}, "no <address>", id="a name of an argument"),
        pytest.param("no Jane", {'{"a": 1}': {"Jane": 1}}, "no Jane", id="names of fields are no values"),
        pytest.param("no Jane Roe", {"by": {"Jane Roe": 1}}, "no <by>", id="keys that are values"),
    ],
)
def test_own_values_are_taken_out(error: str, args: dict[str, object], expected: str) -> None:
    assert named(template(error, args)) == expected
