"""Origins: copies and pages of one site count once."""

import unicodedata

import pytest

from coreloop.answer.research.run_searches import is_copy, origin_of
from researching import source
from rows import each_row


@each_row(
    ("location", "origin"),
    [
        ("https://www.example.com/a", "example.com"),
        ("https://news.example.com/b?c=1", "example.com"),
        ("https://news.example.co.kr/b", "example.co.kr"),
        ("https://example.kr/b", "example.kr"),
        ("https://localhost/b", "localhost"),
        ("http://192.0.2.7:8080/b", "192.0.2.7"),
        ("http://[2001:db8::1]/b", "2001:db8::1"),
        ("docs/han.md", "docs/han.md"),
        ("docs/x://y.md", "docs/x://y.md"),
    ],
)
def test_a_site_is_one_origin_and_a_file_another(location: str, origin: str):
    assert origin_of(source("other words", location), []) == origin


REPORT = (
    "한빛전자는 2026년 3분기 연결 기준 매출액이 12조 3천억 원으로 지난해 같은 기간보다 8% 늘었다고 밝혔다. "
    "영업이익은 9천억 원으로 5% 줄었다. 회사는 반도체 공장의 새 설비에 든 비용이 이익을 줄였다고 설명했다. "
    "증권사들은 4분기에는 이익이 다시 늘 것으로 내다봤다."
)
NOTICE = "{0}는 보통주 1주당 {1}원의 현금 배당을 결정했다고 {2}일 공시했다. 배당금 총액은 {3}억 원이다."


@each_row(
    "copy",
    [
        pytest.param(f"[속보] 서울 경제 — {REPORT} 무단 전재 및 재배포 금지", id="another head and foot"),
        pytest.param(REPORT[: len(REPORT) // 2], id="cut to half"),
        pytest.param(REPORT.replace("기준 ", "기준").replace("지난해 같은", "지난해같은"), id="other spaces"),
        pytest.param(unicodedata.normalize("NFD", REPORT), id="decomposed syllables"),
    ],
)
def test_an_edited_copy_is_a_copy(copy: str):
    assert is_copy(copy, REPORT)
    assert is_copy(REPORT, copy)


@each_row(
    ("text", "other"),
    [
        (NOTICE.format("한빛전자", 300, 7, 120), NOTICE.format("대한조선", 1450, 21, 88)),
        (REPORT, "3분기 한빛전자의 매출은 12조 3천억 원, 영업이익은 9천억 원이었다. 설비 투자가 늘었다."),
        ("", ""),
    ],
)
def test_a_text_of_its_own_is_no_copy(text: str, other: str):
    assert not is_copy(text, other)
