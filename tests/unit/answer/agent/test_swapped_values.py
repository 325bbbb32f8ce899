"""A value belongs to its word, a direction to its clause: what is exchanged is not believed."""

from coreloop.answer.agent.quotes import check_quote, holds
from coreloop.answer.research.support import Supported, Unsupported
from rows import each_row

SALES = "가온페이는 2025년 3분기에 매출 1,284억 원, 영업이익 97억 원을 기록했다."
GREW = "전년 동기 대비 매출은 18.3% 늘었고 영업이익은 42.6% 증가했다."
RATE = "연체율은 2분기 2.31%에서 3분기 2.08%로 0.23%p 낮아졌습니다."
PLANTS = "공장은 구미와 평택에 있으며 각각 1,340명과 2,075명이 일한다."
SOLD = "In 2024 Acme sold 48,000 trucks and 131,000 cars."
FELL = "The rate fell from 2.31% in the second quarter to 2.08% in the third quarter."
OWN = "Smith, Lee and Garcia own 12%, 9% and 7% of the shares, respectively."


@each_row(
    ("claim", "said"),
    [
        ("가온페이는 2025년 3분기에 매출 97억 원, 영업이익 1,284억 원을 기록했다.", SALES),
        ("2025년 3분기 영업이익은 1,284억 원이다.", SALES),
        ("전년 동기 대비 매출은 42.6% 늘었다.", GREW),
        ("전년 동기 대비 매출은 18.3% 줄었다.", GREW),
        ("2분기 연체율은 2.08%이다.", RATE),
        ("연체율은 2.08%에서 2.31%로 낮아졌습니다.", RATE),
        ("연체율은 2분기 2.31%에서 3분기 2.08%로 0.23%p 높아졌습니다.", RATE),
        ("구미에서는 2,075명이 일한다.", PLANTS),
        ("회사는 수수료를 내리겠다고 약속했다.", "회사는 수수료를 올리지 않겠다고 약속했다."),
        ("기준금리는 연 2.50%로 인하되었다.", "기준금리는 연 2.50%로 동결되었다."),
        ("일간 활성 이용자는 1,120만 명이다.", "월간 활성 이용자는 1,120만 명으로 집계되었다."),
        ("신용 등급은 AA+이다.", "신용 등급은 AA-이다."),
        ("수수료율은 평균 1.45%p다.", "수수료율은 평균 1.45%다."),
        ("LG전자는 삼성전자보다 매출이 크다.", "삼성전자는 LG전자보다 매출이 크다."),
        ("신제품은 10월에 출시되었다.", "신제품은 10월에 출시될 예정이다."),
        ("개인정보가 유출되지 않은 것은 아니다.", "개인정보는 유출되지 않았다."),
        ("Acme sold 131,000 trucks in 2024.", SOLD),
        ("The rate in the second quarter was 2.08%.", FELL),
        ("The rate rose from 2.31% in the second quarter to 2.08% in the third quarter.", FELL),
        ("Garcia owns 12% of the shares.", OWN),
        ("The board rejected the merger.", "The board approved the merger."),
        ("The daily active users are 11.2 million.", "The monthly active users are 11.2 million."),
        (
            "The southern line is longer than the northern line.",
            "The northern line is longer than the southern line.",
        ),
    ],
)
def test_a_value_a_direction_or_a_role_that_is_exchanged_is_not_believed(claim: str, said: str):
    assert not isinstance(check_quote(claim, said, [said]), Supported)


@each_row(
    ("claim", "said"),
    [
        ("가온페이의 2025년 3분기 영업이익은 97억원이다.", SALES),
        ("가온페이는 '25년 3분기에 1,284억원의 매출을 올렸다.", SALES),
        ("2025년 3Q 가온페이의 매출은 약 1,284억 원으로 집계됐다.", SALES),
        ("매출이 1년 전보다 18.3% 증가했다.", GREW),
        ("연체율이 0.23%포인트 하락했다.", RATE),
        ("연체율은 2.31%에서 2.08%로 떨어졌다.", RATE),
        ("평택에서는 2,075명이 일한다.", PLANTS),
        ("기준금리가 2.50%로 유지되었다.", "기준금리는 연 2.50%로 동결되었다."),
        ("LG전자는 삼성전자보다 매출이 작다.", "삼성전자는 LG전자보다 매출이 크다."),
        ("가맹점은 38만 5,000개다.", "가맹점은 38만 5천 곳이다."),
        ("2025년 9월 30일 기준 부채비율은 143.7%다.", "2025. 9. 30. 기준 부채비율이 143.7%라고 공시하였다."),
        ("Acme sold 131,000 cars in 2024.", SOLD),
        ("The rate decreased from 2.31% to 2.08%.", FELL),
        ("The rate in the third quarter was 2.08%.", FELL),
        ("Lee owns 9% of the shares.", OWN),
    ],
)
def test_the_same_in_other_words_or_another_spelling_is_believed(claim: str, said: str):
    assert isinstance(check_quote(claim, said, [said]), Supported)


def test_the_blanks_of_korean_do_not_matter():
    assert holds("시리즈 C에서 1,500억 원을 유치하였다.", "1,500억원을 유치하였다.")
    assert not holds("It is not able to.", "It is notable to.")


def test_the_reason_names_what_the_quote_says_instead():
    reason = check_quote("2분기 연체율은 2.08%이다.", RATE, [RATE])
    assert isinstance(reason, Unsupported)
    assert "2.08%" in reason.reason
    assert "2.31%" in reason.reason
