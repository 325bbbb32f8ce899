"""Companies are found with particles and in any spelling, but not if the name is an ordinary word."""

from pathlib import Path

import pytest

from coreloop.base.errors import WorkspaceError
from coreloop.sanitize.company_names import Names, companies
from coreloop.sanitize.detectors.rule import Detection, using
from coreloop.sanitize.find_in_text import sanitize_text
from rows import each_row

NO_LISTING = Detection(countries=())


def masked_with(text: str, names: Names) -> str:
    with using(Detection(companies=names)):
        return sanitize_text(text)


NAMES = Names(
    [
        ("005930", "삼성전자", ["삼전", "Samsung Electronics"]),
        ("000660", "SK하이닉스", ["SK hynix", "하이닉스"]),
        ("003550", "LG", []),
        ("051910", "LG화학", ["LG Chem"]),
        ("000270", "기아", ["기아차"]),
        ("001680", "대상", []),
        ("004370", "농심", []),
        ("035720", "카카오", []),
        ("0001A0", "덕양에너젠", []),
        ("105560", "KB금융", []),
    ]
)
MASKED = {
    "a particle": ("삼성전자는 어때", "[COMPANY-1]는 어때"),
    "two particles": ("SK하이닉스에서도", "[COMPANY-1]에서도"),
    "a code in brackets": ("SK하이닉스(000660)", "[COMPANY-1]([STOCK-1])"),
    "a code before": ("005930 삼성전자", "[STOCK-1] [COMPANY-1]"),
    "an alias has the company's number": ("삼전과 삼성전자", "[COMPANY-1]과 [COMPANY-1]"),
    "glued to a noun": ("삼성전자주가 알려줘", "[COMPANY-1]주가 알려줘"),
    "glued to a word before": ("오늘삼성전자", "오늘[COMPANY-1]"),
    "a space inside": ("삼성 전자 실적", "[COMPANY-1] 실적"),
    "another case": ("samsung electronics", "[COMPANY-1]"),
    "full width": ("ＬＧ화학을", "[COMPANY-1]을"),
    "the longest of two": ("LG화학과 LG", "[COMPANY-1]과 [COMPANY-2]"),
    "a short name": ("농심의 매출", "[COMPANY-1]의 매출"),
    "an ordinary word with its mark": ("㈜대상 주식", "㈜[COMPANY-1] 주식"),
    "an ordinary word with another mark": ("주식회사 기아", "주식회사 [COMPANY-1]"),
    "an ordinary word with its code": ("기아(000270)", "[COMPANY-1]([STOCK-1])"),
    "a mark torn by a line break": ("왜 (\n주)기아이", "왜 (\n주)[COMPANY-1]이"),
    "an ordinary word torn before its code": ("기\n아(000270)는", "[COMPANY-1]([STOCK-1])는"),
    "an alias of an ordinary word": ("기아차 배당", "[COMPANY-1] 배당"),
    "a code with a letter": ("0001A0 분석", "[STOCK-1] 분석"),
    "a code after a telling word": ("종목코드 051910", "종목코드 [STOCK-1]"),
    "only a code": ("005930", "[STOCK-1]"),
    "a code without a word": ("035720은 맞고 105560은 틀려요", "[STOCK-1]은 맞고 [STOCK-2]은 틀려요"),
}
UNCHANGED = {
    "an ordinary word before a month": "조사 대상 2024 12월",
    "an ordinary word": "비교 대상 기업과 기아 문제",
    "a word with the same beginning": "농심리 조사",
    "letters of another word": "ALGO trading",
    "an unknown code": "999999 분석",
    "a figure": "매출 051,910원",
    "a price": "660000원",
    "an amount with a code's digits": "매출 105560 기준",
    "a row with a code's digits": "102030 105560 304050",
}


@each_row(("before", "after"), MASKED.values(), ids=MASKED)
def test_a_company_is_masked(before: str, after: str):
    assert masked_with(before, NAMES) == after


@each_row("text", UNCHANGED.values(), ids=UNCHANGED)
def test_other_words_stay(text: str):
    assert masked_with(text, NAMES) == text


def test_the_file_may_have_a_byte_order_mark_blank_lines_and_windows_line_endings(tmp_path: Path):
    path = tmp_path / "names.tsv"
    path.write_bytes("\ufeff005930\t삼성전자\t삼전|\r\n\r\n000660\tSK하이닉스\r\n".encode())
    assert len(companies(path, NO_LISTING)) == 3


@pytest.mark.parametrize(
    "content", [b"005930\n", b"005930\t\n", b"\xb1\xe8\t\xb1\xe8\n"], ids=["no name", "empty", "not UTF-8"]
)
def test_a_damaged_file_is_named(content: bytes, tmp_path: Path):
    path = tmp_path / "names.tsv"
    path.write_bytes(content)
    with pytest.raises(WorkspaceError, match=r"names\.tsv: "):
        companies(path, NO_LISTING)


def test_every_listed_company_is_found_with_its_code(shared_data: Path):
    path = shared_data / "krx_companies.tsv"
    if not path.is_file():
        pytest.skip(f"no {path}; name its folder with CORELOOP_SHARED_DATA")
    names = companies(path, NO_LISTING)
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    missed = [row[1] for row in rows if row[1] in masked_with(f"어제 {row[1]}({row[0]})를 샀다", names)]
    assert missed == []


WORDS = Names([("004170", "신세계", []), ("001680", "대상", []), ("000001", "바른유통", [])])


@each_row(
    ("before", "after"),
    [
        ("신세계 주가", "[COMPANY-1] 주가"),
        ("혹시 신세계의 실적", "혹시 [COMPANY-1]의 실적"),
        ("신세계그룹", "[COMPANY-1]그룹"),
        ("대상 배당 맞나요", "[COMPANY-1] 배당 맞나요"),
        ("바른 유통 실적", "[COMPANY-1] 실적"),
        ("신세계 질서", "신세계 질서"),
        ("신세계를 열다", "신세계를 열다"),
        ("조사 대상 실적", "조사 대상 실적"),
        ("바른 유통기한", "바른 유통기한"),
    ],
)
def test_a_company_whose_name_is_a_word_needs_a_neighbour(before: str, after: str):
    assert masked_with(before, WORDS) == after
