"""Error texts without personal data."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coreloop.base.error_classes import error_class
from coreloop.observe.reading.error_texts import named, template, unwrapped
from coreloop.observe.record_parts import error_text
from rows import each_row


@each_row(
    ("text", "expected"),
    [
        ("two\n\tlines  here", "two lines here"),
        ("order 12 of 340", "order <n> of <n>"),
        ("1,234,567 or 1 234 567 or 12,5", "<n> or <n> or <n>"),
        ("cannot open '/data/Jane Roe.txt' now", "cannot open <value> now"),
        ("order #W2378156 is missing", "order <n> is missing"),
        ("id 3f2a-99 and user_12", "id <n> and <n>"),
        ("user jane.doe@example.com unknown", "user <address> unknown"),
        ("see https://host/a?b=1 now", "see <address> now"),
        ("cannot open /home/jane/x.txt", "cannot open <path>"),
        (r"cannot open C:\Users\jane", "cannot open <path>"),
        ("KeyError: 'jane doe'", "KeyError: <value>"),
        ('no "jane doe" here', "no <value> here"),
        ("no “jane” here", "no <value> here"),
        ("doesn't have the user's page", "doesn't have the user's page"),
        # a log that cuts texts cuts within quotes too
        ("input_value='jane d", "input_value=<value>"),
        ('no "jane d', "no <value>"),
        ("no “jane d", "no <value>"),
        ("shop.errors2.NoSeat: no seat is free", "NoSeat: no seat is free"),
        # what one replacement leaves is quoted only then
        ("a 'b \"c'd\" e' f", "a <value> f"),
    ],
)
def test_varying_parts_are_replaced(text: str, expected: str) -> None:
    assert template(text) == expected


@each_row(
    ("text", "expected", "named"),
    [
        ("종목코드 005930을 찾을 수 없습니다", "종목코드 <n> 찾을 수 없습니다", "not_found"),
        ("'삼성전자'을(를) 찾을 수 없습니다", "<value>을(를) 찾을 수 없습니다", "not_found"),
        ("지원하지 않는 축: ‘수익’", "지원하지 않는 축: <value>", "invalid_argument"),
        ("2024년 3분기 자료가 없습니다", "<n> <n> 자료가 없습니다", "not_found"),
        ("요청 한도 초과: 분당 60회", "요청 한도 초과: 분당 <n>", "rate_limit"),
        (
            "서버 연결에 실패했습니다 http://127.0.0.1:8400",
            "서버 연결에 실패했습니다 <address>",
            "transient_network",
        ),
        ("필수 인자 axis가 없습니다", "필수 인자 axis가 없습니다", "invalid_argument"),
        ("접근 권한이 없습니다: 홍길동@회사.kr", "접근 권한이 없습니다: <address>", "auth"),
        ("파일 /홈/길동/자료.xlsx 열기", "파일 <path> 열기", "other"),
    ],
)
def test_korean_error_texts_lose_their_values_and_keep_their_class(
    text: str, expected: str, named: str
) -> None:
    assert template(text) == expected
    assert error_class(text) == error_class(expected) == named


def test_wide_and_decomposed_spellings_are_one_text() -> None:
    assert template("ＫｅｙＥｒｒｏｒ １２３") == template("KeyError 123") == "KeyError <n>"
    assert template("\u1112\u1161\u11ab\u1100\u1173\u11af") == "한글"


def test_a_long_text_is_cut_between_words() -> None:
    cut = template("word " * 100)
    assert cut == ("word " * 40).strip()
    assert template("x" * 201) == "<value>"


SIGNS = """
error user 없습니다 can't a'b ( ) = : , \u0338 \u0301 ' " ` “ ” ‘ ’ 「 」 « » < > <n> <value> # - . _
0 12 ٣ ½ ① @ a@b.c / \\ :// http://h/p /home/x
"""
PIECES = st.sampled_from([*SIGNS.split(), " ", "  ", "\n", "word " * 45])
TEXTS = st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=60).map("".join))


@each_row(
    ("error", "said"),
    [
        ("Error: Error executing tool find: the city is closed", "the city is closed"),
        ("Error calling tool <value>: the city is closed", "the city is closed"),
        ("ToolException: failed to run the tool find: no seat", "no seat"),
        (
            "Error invoking tool <value> with kwargs {<value>: <value>} with error: no seat Please fix it",
            "no seat Please fix it",
        ),
        pytest.param("ValueError: no seat", "ValueError: no seat", id="a type says what is wrong"),
        pytest.param("Error executing tool find:", "Error executing tool find:", id="nothing is inside"),
    ],
)
def test_what_frameworks_put_before_an_error_is_taken_off(error: str, said: str) -> None:
    assert unwrapped(error) == said


@each_row(
    "error",
    [
        "no seat in 'Rome'",
        "Error: no seat in 'Rome'\n Please fix your mistakes.",
        "ToolRetryError: no seat in 'Rome'\n\nFix the errors and try again.",
        "ModelRetry: no seat in 'Rome'",
        "Error: ValueError(\"no seat in 'Rome'\")\n Please fix your mistakes.",
        "Error: NoSeat('no seat in \\'Rome\\'')",
        "ToolExecutionError: no seat in 'Rome'",
        "MCP error -32602: no seat in 'Rome'",
        "Error calling tool 'find': no seat in 'Rome'",
        "Error when executing tool 'find' with arguments {'city': 'Rome'}: no seat in 'Rome'",
        "Failed to invoke Tool `find` with parameters {'city': 'Rome'}. Error: no seat in 'Rome'",
        'MCP error -32602: [{"code":"custom","path":[],"message":"no seat in \'Rome\'"}]',
        "An error occurred while running the tool. Please try again. Error: no seat in 'Rome'",
        "I encountered an error while trying to use the tool. This was the error: no seat in 'Rome'",
    ],
)
def test_a_cause_has_one_text_in_all_frameworks(error: str) -> None:
    assert template(error) == "no seat in <value>"


def test_the_cause_of_a_long_error_is_not_cut_off() -> None:
    kwargs = ", ".join(f"'name{'x' * n}': value" for n in range(30))
    error = f"Error: Error invoking tool 'find' with kwargs {{{kwargs}}} with error:\n no seat is left"
    assert template(error) == "no seat is left"


def test_issues_of_zod_say_the_field_and_the_reason() -> None:
    """As Vercel's AI SDK writes them: after the arguments, however long."""
    issues = [
        {"origin": "string", "code": "invalid_format", "pattern": "/^\\d{2}/", "path": ["seats", 0, "row"]},
        {"expected": "string", "code": "invalid_type", "path": ["guest"]},
    ]
    told = json.dumps([issue | {"message": "Invalid input"} for issue in issues], indent=2)
    value = json.dumps({"seats": [{"row": "A"}], "note": "late " * 300})
    head = f"AI_InvalidToolInputError: Invalid input for tool book: Type validation failed: Value: {value}."
    error = error_text(f"{head}\nError message: {told}")
    assert template(str(error)) == "seats[].row: Invalid input; guest: Invalid input"


@given(TEXTS)
def test_a_template_is_one_short_line_without_digits_addresses_and_paths(text: str) -> None:
    result = template(text)
    assert len(result) <= 200
    assert len(result.splitlines()) <= 1
    assert re.search(r"\d|@|://|[/\\]", result) is None


WORDS = st.lists(st.sampled_from(["error", "없습니다", "of", "user:", "12"]), max_size=5).map(" ".join)
SECRET = st.text("abcxyzABC가나다 ._-", min_size=1, max_size=40).map(lambda text: f"SECRET{text}")
QUOTES = st.sampled_from(["''", '""', "``", "“”", "‘’", "「」", "『』", "«»"])


@given(before=WORDS, secret=SECRET, quotes=QUOTES)
def test_no_value_is_kept_whose_closing_quote_was_cut_off(before: str, secret: str, quotes: str) -> None:
    assert "SECRET" not in template(f"{before} {quotes[0]}{secret}")


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
