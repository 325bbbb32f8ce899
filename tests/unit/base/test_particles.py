from coreloop.base.particles import with_particle
from rows import each_row


@each_row(
    "text,forms,expected",
    [
        ("기록", "을를", "기록을"),
        ("후보", "을를", "후보를"),
        ("파일", "으로", "파일로"),
        ("실행", "으로", "실행으로"),
        ("도구", "으로", "도구로"),
        ("7", "이가", "7이"),  # 칠
        ("2", "이가", "2가"),  # 이
        ("1", "으로", "1로"),  # 일
        ("3", "으로", "3으로"),  # 삼
        ("1,000", "은는", "1,000은"),  # 천
        ("80%", "이가", "80%가"),  # 퍼센트
        ("coreloop.yaml", "을를", "coreloop.yaml을"),  # 야믈
        ("status", "이가", "status가"),  # 스테이터스
        ("check", "을를", "check를"),
        ("'기록'", "은는", "'기록'은"),  # quotes are not read
        ("(기록)", "을를", "(기록)을"),
        ("", "을를", "를"),
    ],
)
def test_the_last_sound_decides_the_particle(text: str, forms: str, expected: str):
    assert with_particle(text, forms) == expected
