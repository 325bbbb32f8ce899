"""Values in separators, blanks, letters and encodings other than their usual ones are found whole."""

from coreloop.sanitize.company_names import Names
from coreloop.sanitize.mask_text import sanitize_text
from rows import each_row

FOUND = {
    "생년월일 19941112 in the footer": "생년월일 [BIRTH-1] in the footer",
    "Tel. 0161/947/3805": "Tel. [PHONE-1]",
    "전화 042_549_3984": "전화 [PHONE-1]",
    "EIN 52 7202615": "EIN [EIN-1]",
    "name: Lucas Ca stellano": "name: [PERSON-1]",
    "patient Desmond K. Lindqvist came": "patient [PERSON-1] came",
    "원 수빈 교수님": "[PERSON-1] 교수님",
    "예금주: 홍 힘 찬": "예금주: [PERSON-1]",
    "이상원 과장님": "[PERSON-1] 과장님",
    "6309 Juniper Rd #46": "[ADDRESS-1]",
    "SSN: NzY2MzE3NDY0": "SSN: [SSN-1]",
    "비번은 OxIglTrqwXDv": "비번은 [SECRET-1]",
    "diBe4BA13zzbjfRvQgto\nBKPlNS8pW8KB8TiRAA3R": "[SECRET-1]",
}
KEPT = (
    "1 - 2 - 3 - 4",
    "전화 2026-04-25 10:30",
    "생년월일 480 990",
    "이 상품 대표, 한 유명 작가, 금융주 대표, 전 직원 대표",
    "name: Anna I would like",
    "5DayMovingAverageClose",
    "-----BEGIN PRIVATE KEY-----",
    "비밀번호 resetToken 입력",
)


@each_row("text", FOUND)
def test_value_is_found_whole(text: str) -> None:
    assert sanitize_text(text) == FOUND[text]


@each_row("text", KEPT)
def test_similar_text_stays(text: str) -> None:
    masked = sanitize_text(text)
    assert masked == text or masked == text.replace("Anna", "[PERSON-1]")


def test_a_company_in_base64_is_found() -> None:
    names = Names([("123456", "해오름에너지", ())])
    assert sanitize_text("메모: 7ZW07Jik66aE7JeQ64SI7KeA", names=names) == "메모: [COMPANY-1]"
