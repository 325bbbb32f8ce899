"""The public listing of `kr`: its companies are found without a file, names that are everyday words stay."""

import json
from pathlib import Path

import pytest

from coreloop.sanitize.company_names import Names, companies
from coreloop.sanitize.detectors.rule import Detection, using
from coreloop.sanitize.find_in_text import sanitize_text
from coreloop.sanitize.find_in_value import find_in_number

LISTED = companies(None, Detection())
NO_LIST = "no list of companies is in use"
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
    "a name and its code": ("SK하이닉스(000660)의 매출", "[COMPANY-1]([STOCK-1])의 매출"),
    "an alias": ("Samsung Electronics revenue", "[COMPANY-1] revenue"),
    "a word with a neighbour": ("사람인 주가", "[COMPANY-1] 주가"),
    "a word with its mark": ("(주)디바이스", "(주)[COMPANY-1]"),
    "a word with its code": ("하이브(352820)", "[COMPANY-1]([STOCK-1])"),
}


def masked_with(text: str, names: Names | None) -> str:
    with using(Detection(companies=names)):
        return sanitize_text(text)


def write_log(folder: Path, question: str) -> Path:
    log = folder / "data/audit/ai-ask/2026-04-23.jsonl"
    log.parent.mkdir(parents=True)
    log.write_text(json.dumps({"schema": 2, "question": question}) + "\n", encoding="utf-8")
    return log


@pytest.mark.parametrize(("before", "after"), COMPANIES.values(), ids=COMPANIES)
def test_a_listed_company_is_masked(before: str, after: str):
    assert masked_with(before, LISTED) == after


@pytest.mark.parametrize("text", EVERYDAY.values(), ids=EVERYDAY)
def test_an_everyday_word_stays(text: str):
    assert masked_with(text, LISTED) == text


def masked_question(folder: Path, command) -> str:
    done = command(folder, "sanitize", "--mode", "mask", "--out", "out", "--keep-times")
    assert (done.returncode, NO_LIST in done.stderr) == (0, False)
    (log,) = (folder / "out").rglob("*.jsonl")
    return json.loads(log.read_bytes())["question"]


def test_mask_and_check_know_the_listing_without_names(tmp_path: Path, command):
    write_log(tmp_path, "삼성전자 어때")
    checked = command(tmp_path, "sanitize", "--check")
    assert checked.returncode == 1
    assert "COMPANY in question" in checked.stdout
    assert masked_question(tmp_path, command) == "[COMPANY-1] 어때"


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
