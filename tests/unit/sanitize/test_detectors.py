"""What each rule masks and what stays unchanged: before, after, and the reason."""

import base64
import unicodedata
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from coreloop.sanitize.find_in_text import find_hits, sanitize_text
from rows import each_row

# Invented values.
ANTHROPIC = "sk-ant-api03-" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0" * 2 + "AA"
AWS = "AKIA" + "J7QX2M5RT9WZ4KDP"
STRIPE = "sk_live_" + "51urGWpRnAVGZ4y9iCwodP9xXQ6p2IYX"
GITLAB = "gldt-" + "QREHR2UZa7DPSc2xKPKS"
GITHUB = "ghp_" + "k2Jd8Sm4Qw6Zx1Cv5Bn9Lp3Ty7Ru0HgFeDaX"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA7bq\nq83nFvKq\n-----END RSA PRIVATE KEY-----"
DER = "MIIEvQIBAAU2rzn9HA0c6YAG2U9qCT2fwMUxok8IP7wDk7LP39LybW1V9Q2g4kdxJwq7e0djvAL5SDijdFVEcf6"

MASKED = {
    "an address with a particle": ("메일은 hong@example.com으로", "메일은 [EMAIL-1]으로"),
    "an address spoken in brackets": ("hong (at) example dot com", "[EMAIL-1]"),
    "an address spoken in words": ("hong at example dot com", "[EMAIL-1]"),
    "an address spoken in Korean": ("hong 골뱅이 example 점 com", "[EMAIL-1]"),
    "an address of other letters": ("홍길동@예시.한국", "[EMAIL-1]"),
    "a link with its query": ("보기: https://a.example/x?token=abc 참고", "보기: [URL-1] 참고"),
    "a link without a scheme": ("www.example.com/private", "[URL-1]"),
    "a bare host with a query": ("a.example.com/p?key=12", "[URL-1]"),
    "an IPv4 with a port": ("서버 10.20.30.40:8080", "서버 [IP-1]:8080"),
    "an IPv6": ("from 2001:db8::8a2e:370:7334", "from [IP-1]"),
    "a mobile number without dashes": ("연락처01012345678", "연락처[PHONE-1]"),
    "a landline": ("(02) 345-6789", "[PHONE-1]"),
    "a Korean number from abroad": ("+82 10-1234-5678", "[PHONE-1]"),
    "a foreign number": ("call +1 415-555-2671", "call [PHONE-1]"),
    "a US number with a 1 and no plus": ("ring 1 (415) 555-0198", "ring [PHONE-1]"),
    "a telephone behind a dash": ("phone - 4155550198", "phone - [PHONE-1]"),
    "a particle, not ten thousand": ("+1 212 476 9821만 다시", "[PHONE-1]만 다시"),
    "a MAC address right behind its word": ("detect:C3:D6:9C:64:8B:32", "detect:[MAC-1]"),
    "an IPv6 right behind its word": ("ip:2001:1408:e8d3:3e2e:dd68:7461:733a:4333", "ip:[IP-1]"),
    "a day of the month with an ending": ("born on the 14th of July 1979", "born on the [BIRTH-1]"),
    "a month before a day with an ending": ("birthday is on July 14th, 1979", "birthday is on [BIRTH-1]"),
    "a birth behind a dash": ("DOB - 1979-07-14", "DOB - [BIRTH-1]"),
    "a blank before a comma of a date": ("DOB: May 1 , 1993", "DOB: [BIRTH-1]"),
    "a name behind a dash": ("Name - Amelia Wexford", "Name - [PERSON-1]"),
    "a Korean name behind a dash": ("이름 - 이도윤", "이름 - [PERSON-1]"),
    "a name right behind its word": (
        "받는 사람 장준영, 이름 김민수",
        "받는 사람 [PERSON-1], 이름 [PERSON-2]",
    ),
    "a surname with particles": ("Mr. van der Berg called", "Mr. [PERSON-1] called"),
    "a password behind a space": ("pw zz81kkqq", "pw [SECRET-1]"),
    "a password in a row with commas": ("kim,password hunter87,3", "kim,password [SECRET-1]"),
    "a password behind is": ("pw is tiger03", "pw is [SECRET-1]"),
    "a password behind a dash": ("비밀번호 - zz81kkqq", "비밀번호 - [SECRET-1]"),
    "passwords with numbers": (
        "password1: zz81kkqq, password_2: yy92llrr",
        "password1: [SECRET-1], password_2: [SECRET-2]",
    ),
    "an AWS secret with short words": (
        "rINIDDclL2p32XLHFmRp0w0J7d9ZF0/sdhx/xmzK",
        "[SECRET-1]",
    ),
    "a company's line beside a word": ("고객센터 1588-1234", "고객센터 [PHONE-1]"),
    "a resident born since checksums ended": ("2103054123456", "[RRN-1]"),
    "a foreigner": ("900101-5234567", "[RRN-1]"),
    "a resident after a telling word": ("주민번호 9001011234567", "주민번호 [RRN-1]"),
    "a business after a telling word, without dashes": (
        "사업자등록번호 2208162517",
        "사업자등록번호 [BRN-1]",
    ),
    "a new passport": ("M123A4567", "[PASSPORT-1]"),
    "another passport after a telling word": ("여권번호 S98765432", "여권번호 [PASSPORT-1]"),
    "a driver's licence by region": ("서울 12-345678-90", "[LICENCE-1]"),
    "a card in groups": ("4111-1111-1111-1111", "[CARD-1]"),
    "an American card": ("3782 822463 10005", "[CARD-1]"),
    "an account beside its bank": ("국민은행 123456-04-123456", "국민은행 [ACCOUNT-1]"),
    "an account beside a short bank": ("신한 110-123-456789", "신한 [ACCOUNT-1]"),
    "an account after a telling word": ("계좌번호는 12345678901234", "계좌번호는 [ACCOUNT-1]"),
    "a PEM key": (f"key\n{PEM}\nend", "key\n[SECRET-1]\nend"),
    "a cut PEM key": (f"key {PEM[:60]}", "key [SECRET-1]"),
    "a password beside its name": ("password=hunter2!", "password=[SECRET-1]"),
    "a password with a prefix": ("DB_PASSWORD: s3cr3t", "DB_PASSWORD: [SECRET-1]"),
    "a password in Korean": ("비밀번호는 abcd1234 입니다", "비밀번호는 [SECRET-1] 입니다"),
    "a password of an option": ("mysql --password hunter2", "mysql --password [SECRET-1]"),
    "a header": ("Authorization: Bearer abcdef123456789", "Authorization: Bearer [SECRET-1]"),
    "a header of another scheme": (
        "Authorization: KakaoAK 7bc3b25c0ce34ba5c3f7077f94a1f8ea",
        "Authorization: KakaoAK [SECRET-1]",
    ),
    "a password in Markdown": ("**Password:** `Lotus_5519`", "**Password:** `[SECRET-1]`"),
    "a password behind a remark": ("비밀번호(임시): Lotus_5519", "비밀번호(임시): [SECRET-1]"),
    "a short word for a password": ("pass: Lotus_5519", "pass: [SECRET-1]"),
    "a name and its value": (
        '{"name": "api_key", "value": "q1w2e3r4"}',
        '{"name": "api_key", "value": "[SECRET-1]"}',
    ),
    "an option and its value": ('["--token", "q1w2e3r4t5"]', '["--token", "[SECRET-1]"]'),
    "a connection string": ("postgres://app:p4ss@db.local:5432/x", "[SECRET-1]"),
    "a Unix home": ("open /home/minsu/a.xlsx", "open [PATH-1]"),
    "a macOS home": ("/Users/minsu/Documents", "[PATH-1]"),
    "a Windows home": (r"C:\Users\Min Su\Desktop", "[PATH-1]"),
    "a WSL home": ("/mnt/c/Users/minsu/x", "[PATH-1]"),
    "a file URL": ("file:///home/minsu/a", "[URL-1]"),
    "a person with an honorific": ("김민수 님께", "[PERSON-1] 님께"),
    "a person with a title and a particle": ("김민수 대표가", "[PERSON-1] 대표가"),
    "a person behind a title": ("담당자: 이서연", "담당자: [PERSON-1]"),
    "a person of two letters": ("허준 씨는", "[PERSON-1] 씨는"),
    "a person of four letters": ("남궁민수 부장", "[PERSON-1] 부장"),
    "a person in English": ("ask Mr. John Smith today", "ask Mr. [PERSON-1] today"),
    "a letter with a title": ("Dear Ms. Hallström,", "Dear Ms. [PERSON-1],"),
    "a doctor": ("Dr. Kim Minsu", "Dr. [PERSON-1]"),
    "a card before a year": ("gave 378282246310005 2024년", "gave [CARD-1] 2024년"),
    "a number of a row's length among years": ("2024 010 1234 5678 2025", "2024 [PHONE-1] 2025"),
    "an address spoken in Korean words": ("hong33 앳 example 닷 or 닷 kr,", "[EMAIL-1],"),
    "a secret behind two names": ('api_key: secret: "l1hqw3rl6^6k"', 'api_key: secret: "[SECRET-1]"'),
    "a password of capitals and signs": ("비번 3VA96MN27#J0", "비번 [SECRET-1]"),
    "a private key without its first line": (f"키 {DER[:20]}  {DER[20:60]}  {DER[60:]}", "키 [SECRET-1]"),
    "a broken key below a line": (f"in FY2025\n{STRIPE[:13]}\n{STRIPE[13:]}", "in FY2025\n[SECRET-1]"),
    "a broken card of fifteen digits": (
        "verified with 3782\n 822463 10005 on file",
        "verified with [CARD-1] on file",
    ),
    "a resident in a row with commas": ("1,730921-1967635,부산", "1,[RRN-1],부산"),
    "a resident of digits in a row with commas": ("VALUES (3,7309211967635);", "VALUES (3,[RRN-1]);"),
    "a resident before a comma": ("주민번호 880101-1716843,34", "주민번호 [RRN-1],34"),
    "phones with a comma between them": ("010-8842-1937,010-2284-7719", "[PHONE-1],[PHONE-2]"),
    "a card in a row with commas": ("7,4264-7716-8426-8377,12/27", "7,[CARD-1],12/27"),
    "a business in a row with commas": ("1,214-86-20007,서울", "1,[BRN-1],서울"),
    "a phone with points in a row with commas": ("611,042.876.7869,CA", "611,[PHONE-1],CA"),
    "a card behind a year": ("Q4 2024 3681 244844 9336 로 확인", "Q4 2024 [CARD-1] 로 확인"),
    "a street in a row with commas": ("17,531 Maple Dr,3", "17,[ADDRESS-1],3"),
    "an account in a row with commas": ("국민은행,1,458802-01-337719", "국민은행,1,[ACCOUNT-1]"),
    "a key above a setting": (f"TOKEN: {GITLAB}\n  STAGE: prod", "TOKEN: [SECRET-1]\n  STAGE: prod"),
    "a password above a word": ("pw: Tiger2291x\n감사합니다", "pw: [SECRET-1]\n감사합니다"),
    "an address in a signature": (
        "Senior Analyst\nmarta@acme.io\nPhone 1",
        "Senior Analyst\n[EMAIL-1]\nPhone 1",
    ),
    "an account before a sentence that begins with a year": (
        "국민은행=417919-92-341088. 2025년 실적",
        "국민은행=[ACCOUNT-1]. 2025년 실적",
    ),
}


@each_row(("before", "after"), MASKED.values(), ids=MASKED)
def test_private_data_is_masked(before: str, after: str):
    assert sanitize_text(before) == after


KEPT = {
    "a hash's name behind password": "store the password sha256 hashed",
    "a comma behind password": "reset the password, 3 days later",
    "a rule about passwords": "password version-2 policy, password 12-character minimum",
    "a verb behind name": "이름 변경해 주세요, 이름 설정은 어디",
    "a range of years near a word": "문의 기간 1987-2005",
    "a placeholder with a particle": "password: ****로, Bearer <token>를, 비밀번호: ********이",
    "a variable with a particle": "password: ${DB_PW}입니다",
    "a clock behind a word": "table:12:30:45",
    "ten thousands": "매출 12345678만 원",
    "revenue": "매출 9001011234567원",
    "revenue that ends like a card": "영업이익 4111111111111111원",
    "figures in a row with commas": "3,141592653589793,900,101,1234567,1,234-5,678",
    "revenue with commas": "매출 1,234,567,890,123원",
    "a share": "전년 대비 +12.5%",
    "a date": "2026-04-25 09:30:12",
    "a range of years": "2019 2020 2021 2022 2023 2024",
    "a version": "v1.2.3.4",
    "a product's version": "Chrome 120.0.114.108",
    "a section": "3.1.2.4 절",
    "a package": "react@18.2.0",
    "a decorator": "@observed_tool",
    "a hash": "ae89748d2c4839b8ae89748d2c4839b8",
    "a request": "req-ce30719153cd63e3",
    "an ISBN": "978-3-16-148410-0",
    "coordinates": "37.5665, 126.9780",
    "a stock code": "005930 실적",
    "a product's id": "product_id 1656367028",
    "a card with a wrong digit": "4111-1111-1111-1112",
    "a business with a wrong digit": "220-81-62518",
    "no date of birth": "901399-1234567",
    "a company's registration": "법인등록번호 200111-1234567",
    "milliseconds": "1609012345671",
    "an ISIN": "ISIN US0231351067",
    "a UUID with a country's code": "run 2ea46c82-2028-4819-b4c3-2d9f28dffe6a",
    "days beside a bank": "은행 배당 2023-07-25 2024-04-01 2019-06-05",
    "years beside a bank": "신한은행 2019 2020 2021 2022 배당",
    "figures beside a bank": "은행 배당 408 368 587 875",
    "a row of fractions": "growth 23.2 28.2 37.1 16.8 2.6 33.5",
    "a row of changes": "row -87 +57 -62 -79 -82 +24 +8",
    "a row of four digits": "row 5833 4665 2399 6118 7076 9642",
    "a row of two digits": "값: 94 76 04 49 46 29 69",
    "digits in prose": "one two three four five, 이사 이사회, 일이 삼사일",
    "words before a title": "이 사람 대표로, 이 정도 대표 기업",
    "a column of numbers": "93903 64492 18326 22919 38493 29931 37280 57942 27894",
    "a call": 'analysis(axis="수익성") -> show(topic)',
    "a category": "FIN-profitability-KR",
    "a scope": "std::vector<int>",
    "prose about passwords": "password is required",
    "prose about passwords in Korean": "비밀번호를 잊었어요",
    "a colon in prose": "the tests pass: all green",
    "a reference to a secret": "password: ${{ secrets.DB_PASSWORD }}",
    "a limit": "max_tokens=512",
    "a library": "sk-learn is a library for machine learning",
    "a host in prose": "look at naver.com",
    "a system's path": "/usr/local/bin/python",
    "a board": "이번 대표 이사회 이사 선임 안건",
    "an auditor": "외부 감사 의견",
    "own labels": "[EMAIL-1] password=[SECRET-2]",
}


@each_row("text", KEPT.values(), ids=KEPT)
def test_look_alikes_are_unchanged(text: str):
    assert sanitize_text(text) == text


PLAIN = {
    "EMAIL": "hong.gildong@example.com",
    "PHONE": "010-1234-5678",
    "RRN": "900101-1234567",
    "BRN": "220-81-62517",
    "CARD": "4111-1111-1111-1111",
    "IBAN": "DE89370400440532013000",
    "LICENCE": "11-22-333333-44",
    "SECRET": GITHUB,
}
DISGUISES = {
    "full width": lambda text: "".join(chr(ord(char) + 0xFEE0) for char in text),
    "Arabic digits": lambda text: text.translate(str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")),
    "mathematical digits": lambda text: "".join(chr(0x1D7CE + int(c)) if c.isdigit() else c for c in text),
    "other dashes": lambda text: text.replace("-", "–"),
    "invisible": "\u200b".join,
    "percent": lambda text: "".join(f"%{ord(char):02X}" for char in text),
    "percent twice": lambda text: "".join(f"%25{ord(char):02x}" for char in text),
    "entities": lambda text: "".join(f"&#{ord(char)};" for char in text),
    "entities twice": lambda text: "".join(f"&amp;#x{ord(char):x};" for char in text),
    "escapes": lambda text: "".join(f"\\u{ord(char):04x}" for char in text),
    "escapes twice": lambda text: "".join(f"\\\\u{ord(char):04x}" for char in text),
    "a line break": lambda text: f"{text[:7]}\n{text[7:]}",
}


@each_row("disguise", DISGUISES.values(), ids=DISGUISES)
@each_row("kind", PLAIN)
def test_a_disguise_hides_nothing(kind: str, disguise):
    hidden = disguise(PLAIN[kind])
    masked = sanitize_text(f"제 것은 {hidden} 입니다")
    assert masked in {f"제 것은 [{kind}-1] 입니다", f"제 것은 [{kind}-1][{kind}-2] 입니다"}


def test_decomposed_korean_is_read():
    text = unicodedata.normalize("NFD", "김민수 대표")
    assert sanitize_text(text).startswith("[PERSON-1] ")


@each_row("encode", [base64.b64encode, base64.urlsafe_b64encode])
@each_row("secret", [AWS, GITHUB, ANTHROPIC, "password=hunter2!"])
def test_base64_of_a_secret_is_found(secret: str, encode):
    token = encode(secret.encode()).decode()
    assert sanitize_text(f"값은 {token}") == "값은 [SECRET-1]"
    twice = encode(token.encode()).decode()
    assert twice not in sanitize_text(f"값은 {twice}")


@each_row("text", ["\ud800 010-1234-5678", "\\ud800 010-1234-5678"])
def test_a_lone_surrogate_hides_nothing(text: str):
    assert sanitize_text(text) == text[:-13] + "[PHONE-1]"


def test_all_spellings_of_a_value_have_the_same_number():
    assert sanitize_text("010-1234-5678, 01012345678, ０１０ １２３４ ５６７８, 010-9999-0000") == (
        "[PHONE-1], [PHONE-1], [PHONE-1], [PHONE-2]"
    )


@given(st.text())
def test_findings_lie_within_the_text_and_do_not_overlap(text: str):
    findings = find_hits(text)
    assert all(0 <= finding.start < finding.end <= len(text) for finding in findings)
    assert all(finding.end <= following.start for finding, following in pairwise(findings))


@given(
    st.lists(
        st.sampled_from([*PLAIN.values(), "매출", "a", " ", "\n", "%40", "&#64;", "\\u0040", "\u200b", "12"])
    )
)
def test_sanitized_text_has_no_findings(pieces: list[str]):
    masked = sanitize_text(" ".join(pieces))
    assert find_hits(masked) == ()
    assert sanitize_text(masked) == masked
