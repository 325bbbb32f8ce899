"""What a quote may be used for: a row, an item and a line give nothing to the ones beside them."""

import pytest

from coreloop.answer.agent.quotes import check_quote
from coreloop.answer.research.findings import Supported
from rows import each_row

TEXT = """# 한국의 강

| 강 | 길이 (km) | 유역 |
|---|---|---|
| 한강 | 494 | 26,219 |
| 낙동강 | 510 | 23,384 |

강의 길이:
- 한강 494 km
- 낙동강 510 km

한강 494 km
낙동강 510 km

The Han river has a length of 494 km in the survey
The Nakdong river has a length of 510 km in the survey

It is not true that
the Imjin river is 900 km long.

The Amur river flows in Russia. It is 2,824 km long.

Han,494,26219
Nakdong,510,23384

섬진강
223 km
영산강
130 km

한강은 태백산맥에서 시작하여 서해로
흐르며 길이는 494 km이다.
"""
TABLE, ITEMS = "| 한강 | 494 | 26,219 | | 낙동강 | 510 | 23,384 |", "- 한강 494 km - 낙동강 510 km"
LINES = "length of 494 km in the survey The Nakdong river has a length of 510 km in the survey"


@each_row(
    ("claim", "quote"),
    [
        ("한강의 길이는 510 km이다", TABLE),
        ("낙동강의 길이는 494 km이다", TABLE),
        ("낙동강의 길이는 494 km이다", "494 | 26,219 | | 낙동강 | 510"),
        ("한강의 길이는 26,219 km이다", "| 한강 | 494 | 26,219 |"),
        ("한강의 유역은 494이다", "| 한강 | 494 | 26,219 |"),
        ("낙동강의 길이는 494 km이다", ITEMS),
        ("낙동강은 494 km이다", "494 km 낙동강 510 km"),
        ("낙동강은 494 km이다", "494 km 낙동강"),
        ("The Nakdong river has a length of 494 km", LINES),
        ("The Imjin river is 900 km long", "the Imjin river is 900 km long."),
        ("Nakdong is 494", "Han,494,26219 Nakdong,510,23384"),
        ("영산강은 223 km이다", "섬진강 223 km 영산강 130 km"),
        ("영산강은 223 km이다", "223 km 영산강"),
    ],
)
def test_a_value_of_another_row_item_line_or_column_is_not_believed(claim: str, quote: str):
    assert quote in " ".join(TEXT.split())
    assert not isinstance(check_quote(claim, quote, [TEXT]), Supported)


@each_row(
    ("claim", "quote"),
    [
        ("한강의 길이는 494 km이다", TABLE),
        ("낙동강의 길이는 510km이다", "| 낙동강 | 510 | 23,384 |"),
        ("한강의 유역은 26,219이다", "| 한강 | 494 | 26,219 |"),
        ("낙동강의 길이는 510 km이다", ITEMS),
        ("The Nakdong river has a length of 510 km", LINES),
        ("The Amur river is 2,824 km long", "It is 2,824 km long."),
        ("Nakdong 510", "Han,494,26219 Nakdong,510,23384"),
        ("섬진강은 223 km이다", "섬진강 223 km"),
        ("한강은 길이가 494 km이다", "태백산맥에서 시작하여 서해로 흐르며 길이는 494 km이다."),
    ],
)
def test_the_value_of_its_own_row_item_or_line_is_believed(claim: str, quote: str):
    assert quote in " ".join(TEXT.split())
    assert isinstance(check_quote(claim, quote, [TEXT]), Supported)


LENGTH = "한강의 길이는 494 km이다."
FOUNDED = "세종대왕은 1443년에 훈민정음을 창제하였다."


@each_row(
    ("claim", "said"),
    [
        ("한강의 길이는 494km이다.", LENGTH),
        ("한강의 길이는 494km입니다.", LENGTH),
        ("한강은 길이가 494km임", LENGTH),
        ("한강 길이는 494km", LENGTH),
        ("서울이 대한민국 수도임", "서울은 대한민국의 수도이다."),
        ("훈민정음은 세종대왕이 1443년에 창제했다.", FOUNDED),
        ("경복궁이 1395년에 지어졌음", "경복궁은 1395년에 지어졌다."),
        ("남산서울타워는 높이가 236.7m이다", "남산서울타워의 높이는 236.7 m입니다."),
        (
            "삼성전자의 2023년 매출액은 258조 9,355억 원이었다.",
            "삼성전자는 2023년에 매출액 258조 9,355억 원을 기록했다.",
        ),
        ("포항제철소는 1973년에 준공되었음", "포항제철소가 1973년 준공됐다."),
    ],
)
def test_another_korean_ending_or_particle_says_the_same(claim: str, said: str):
    assert isinstance(check_quote(claim, said, [said]), Supported)


@each_row(
    ("claim", "said"),
    [
        ("한강은 길이가 510km이다.", LENGTH),
        ("낙동강의 길이는 494km이다.", LENGTH),
        ("한강의 길이는 494 km가 아니다.", LENGTH),
        ("부산이 대한민국 수도임", "서울은 대한민국의 수도이다."),
        ("세종대왕은 1446년에 훈민정음을 창제했다.", FOUNDED),
        ("이 제도는 2020년에 폐지되었다.", "이 제도는 2020년에 폐지되지 않았다."),
    ],
)
def test_another_number_name_date_or_denial_in_korean_does_not(claim: str, said: str):
    assert not isinstance(check_quote(claim, said, [said]), Supported)


FLOWS = (
    "한강은 검룡소에서 발원한다. 한강은 서울을 지난다. "
    "한강의 옛 이름은 아리수이다. 길이는 514 km로 기록되었다."
)


@each_row(
    ("claim", "quote"),
    [
        ("한강은 서울에서 발원한다", "한강은 검룡소에서 발원한다. 한강은 서울을 지난다."),
        ("한강의 옛 이름은 514 km이다", "한강의 옛 이름은 아리수이다. 길이는 514 km로 기록되었다."),
    ],
)
def test_two_sentences_are_not_mixed_into_a_third(claim: str, quote: str):
    assert not isinstance(check_quote(claim, quote, [FLOWS]), Supported)


def test_each_of_two_sentences_may_be_told_again():
    claim = "한강은 검룡소에서 발원합니다. 한강은 서울을 지납니다."
    quote = "한강은 검룡소에서 발원한다. 한강은 서울을 지난다."
    assert isinstance(check_quote(claim, quote, [FLOWS]), Supported)
    assert isinstance(check_quote("한강은 검룡소에서 발원함", quote, [FLOWS]), Supported)


@each_row(
    ("claim", "said", "expected"),
    [
        ("한강에서 가장 오래된 다리는 한강철교이다.", "한강철교는 1900년에 준공된 한강의 다리이다.", False),
        ("한강에 처음 놓인 다리는 한강철교임", "한강철교는 한강에 처음 놓인 다리이다.", True),
        ("The Han is the longest river of Korea.", "The Han is a long river of Korea.", False),
        ("The Han is the only river of Seoul.", "The Han is a river of Seoul.", False),
        ("The Han is the longest river of Korea.", "The longest river of Korea is the Han.", True),
    ],
)
def test_the_most_the_first_and_the_only_one_stand_in_the_quote(claim: str, said: str, expected: bool):
    assert isinstance(check_quote(claim, said, [said]), Supported) is expected


@pytest.mark.parametrize("ending", ["이다", "입니다", "임", "이며", "에서", ""])
def test_a_latin_unit_is_read_before_a_korean_ending(ending: str):
    from coreloop.answer.research.quantities import split_quantities

    ((amount,), _) = split_quantities(f"길이는 494km{ending}")
    assert (amount.value, amount.unit) == (494_000, "m")


OUTAGE = "# 2025년 8월 14일 결제 장애 보고서\n\n원인은 인증서 만료였다.\n2024년 9월 3일 노드 교체가 끝났다.\n"
RIVERS = "# The Nakdong river\n\nThe Han river is 494 km long.\nThe source of the river is a spring.\n"


@each_row(
    ("claim", "quote", "text", "expected"),
    [
        ("결제 장애의 원인은 인증서 만료였다.", "원인은 인증서 만료였다.", OUTAGE, True),
        ("2025년 8월 14일 장애의 원인은 인증서 만료였다.", "원인은 인증서 만료였다.", OUTAGE, True),
        ("정산 지연의 원인은 인증서 만료였다.", "원인은 인증서 만료였다.", OUTAGE, False),
        ("2025년 8월 14일 노드 교체가 끝났다.", "2024년 9월 3일 노드 교체가 끝났다.", OUTAGE, False),
        (
            "2025년 3분기 매출은 97억 원이다.",
            "매출은 늘었다.",
            "# 2025년 3분기 97억 원\n\n매출은 늘었다.\n",
            False,
        ),
        ("The Nakdong river is 494 km long.", "The Han river is 494 km long.", RIVERS, False),
        (
            "The source of the Nakdong river is a spring.",
            "The source of the river is a spring.",
            RIVERS,
            True,
        ),
    ],
)
def test_a_heading_lends_its_subject_to_a_sentence_without_another(
    claim: str, quote: str, text: str, expected: bool
):
    assert isinstance(check_quote(claim, quote, [text]), Supported) is expected
