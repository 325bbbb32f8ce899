"""Private data without what usually marks it: a key's body without its first line, a name in lower case,
addresses and links made unclickable."""

import base64
import random
from textwrap import fill

import pytest

from coreloop.sanitize.find_in_text import sanitize_text

RANDOM = random.Random(11)


def body_of(n_bytes: int, *, begins: bytes = b"") -> str:
    return base64.b64encode(begins + RANDOM.randbytes(n_bytes)).decode()


UNCLICKABLE = {
    "kim[at]naver.com": "[EMAIL-1]",
    "kim[at]firm.finance": "[EMAIL-1]",
    "lee(at)firm[.]shop으로": "[EMAIL-1]으로",
    "hxxp://acme.example/x?a=1": "[URL-1]",
    "hxxps[:]//acme[.]example[/]x": "[URL-1]",
    "see hxxp[://]acme.example/x now": "see [URL-1] now",
    "acme[.]example/t/9": "[URL-1]",
    "www[.]acme[.]example": "[URL-1]",
    "rows[at].price": "rows[at].price",
    "any of [.] and (.)": "any of [.] and (.)",
    "the regex example[.]com": "the regex example[.]com",
}
NAMES = {
    "customer name: alice johnson": "customer name: [PERSON-1]",
    "full_name=maria garcia lopez, 3 rooms": "full_name=[PERSON-1], 3 rooms",
    'patient: "jane doe"': 'patient: "[PERSON-1]"',
    "cardholder name - anna de vries": "cardholder name - [PERSON-1]",
    "my name is alice johnson.": "my name is [PERSON-1].",
    "customer name: not given": "customer name: not given",
    "customer name: the name of the customer": "customer name: the name of the customer",
    "my name is on the list": "my name is on the list",
}
INTRODUCTIONS = {
    "제 이름은 김민수예요": "제 이름은 [PERSON-1]예요",
    "제 이름은 존 스미스입니다": "제 이름은 [PERSON-1]입니다",
    "저는 이영희라고 합니다": "저는 [PERSON-1]라고 합니다",
    "저 최수아인데요, 주문을 취소해 주세요": "저 [PERSON-1]인데요, 주문을 취소해 주세요",
    "안녕하세요, 박지훈입니다": "안녕하세요, [PERSON-1]입니다",
    "I'm Jane Roe from Acme": "I'm [PERSON-1] from Acme",
    "Hello, this is Jane Roe.": "Hello, this is [PERSON-1].",
    "John Smith speaking": "[PERSON-1] speaking",
    "my name’s john smith and I wait": "my name’s [PERSON-1] and I wait",
    "please call me Jane": "please call me [PERSON-1]",
    "Best regards,\nJane Roe": "Best regards,\n[PERSON-1]",
    "저는 공무원입니다": "저는 공무원입니다",
    "저는 예약하려고 합니다": "저는 예약하려고 합니다",
    "제 이름은 무엇인가요": "제 이름은 무엇인가요",
    "저는 Premium입니다": "저는 Premium입니다",
    "This is New York": "This is New York",
}


@pytest.mark.parametrize(("before", "after"), [*UNCLICKABLE.items(), *NAMES.items(), *INTRODUCTIONS.items()])
def test_what_has_no_mark_is_masked_and_a_look_alike_is_not(before: str, after: str):
    assert sanitize_text(before) == after


@pytest.mark.parametrize("width", [64, 70, 76, 5000], ids=["PEM", "OpenSSH", "MIME", "one line"])
@pytest.mark.parametrize("n_bytes", [138, 600, 1200], ids=["P-256", "RSA 1024", "RSA 2048"])
def test_a_key_body_without_its_first_line_is_masked(width: int, n_bytes: int):
    text = f"the key is\n{fill(body_of(n_bytes), width)}\nthanks"
    assert sanitize_text(text) == "the key is\n[SECRET-1]\nthanks"


@pytest.mark.parametrize(
    "begins",
    ["3077020101", "302e020100300506032b6570", "308187020100301306", "6f70656e7373682d6b65792d7631"],
    ids=["EC", "Ed25519", "PKCS#8", "OpenSSH"],
)
def test_the_short_body_of_a_key_is_masked(begins: str):
    body = body_of(48, begins=bytes.fromhex(begins))
    assert sanitize_text(body) == "[SECRET-1]"
