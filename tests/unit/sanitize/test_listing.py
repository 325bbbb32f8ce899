"""The public listing of `kr`: its companies are found without a file, names that are everyday words stay."""

import pytest

from coreloop.sanitize.company_names import Names, companies
from coreloop.sanitize.detectors.rule import Detection, using
from coreloop.sanitize.find_in_text import sanitize_text
from coreloop.sanitize.find_in_value import find_in_number

LISTED = companies(None, Detection())
EVERYDAY = {
    "a word for a person": "어느 나라 사람인가",
    "a word for a place": "전자산업의 메카로 불렸다",
    "another word behind it": "나무가 우거진 곳",
    "a longer word": "하이브리드 자동차",
    "another longer word": "카카오톡 계정",
    "a word of the trade": "우리로서는 디바이스를 고른다",
    "a team": "맨체스터 유나이티드와의 경기",
    "a word in two": "우리 기술을 한국 공항에서",
    "capitals": "a NEW order, NICE work",
    "the end of a word before a number": "http 482913, sftp 482913",
}
COMPANIES = {
    "a name": ("삼성전자 담당자를 알려줘", "[COMPANY-1] 담당자를 알려줘"),
    "a word with a neighbour": ("사람인 주가", "[COMPANY-1] 주가"),
    "a word with its mark": ("(주)디바이스", "(주)[COMPANY-1]"),
}


def masked_with(text: str, names: Names | None) -> str:
    with using(Detection(companies=names)):
        return sanitize_text(text)


@pytest.mark.parametrize(("before", "after"), COMPANIES.values(), ids=COMPANIES)
def test_a_listed_company_is_masked(before: str, after: str):
    assert masked_with(before, LISTED) == after


@pytest.mark.parametrize("text", EVERYDAY.values(), ids=EVERYDAY)
def test_an_everyday_word_stays(text: str):
    assert masked_with(text, LISTED) == text


@pytest.mark.parametrize(
    ("key", "number", "kinds"),
    [
        ("stockCode", 660, ["STOCK"]),
        ("status_code", 480, []),
        ("exitCode", 100, []),
        ("종목코드", 5930, ["STOCK"]),
    ],
)
def test_a_number_is_a_stock_code_only_under_a_key_that_says_so(key: str, number: int, kinds: list[str]):
    with using(Detection(companies=LISTED)):
        assert [hit.kind for hit in find_in_number(number, key)] == kinds
