"""Findings that cannot both be true, and pairs that only look like it."""

from coreloop.answer.research.findings import SourcedText, contradictions
from rows import each_row


def kinds(one: str, other: str) -> list[str]:
    return [found.kind for found in contradictions([SourcedText(one, (1,)), SourcedText(other, (2,))])]


@each_row(
    ("one", "other", "kind"),
    [
        ("Acme has 300 employees.", "Acme has 450 employees.", "number"),
        ("Acme's revenue was $1.2 million in 2024.", "In 2024, Acme's revenue was $1.9 million.", "number"),
        ("Acme was founded in 1998.", "Acme was founded in 2001.", "date"),
        ("The library supports Windows.", "The library does not support Windows.", "negation"),
        ("서울의 인구는 940만 명이다.", "서울의 인구는 1,020만 명이다.", "number"),
        ("한강은 길이가 494km이다.", "한강은 길이가 514 km이다.", "number"),
        ("대우는 1967년 3월 22일에 설립되었다.", "대우는 1969년에 설립되었다.", "date"),
        ("이 도구는 한국어를 지원한다.", "이 도구는 한국어를 지원하지 않는다.", "negation"),
    ],
)
def test_another_number_date_or_negation_about_the_same_contradicts(one: str, other: str, kind: str):
    assert kinds(one, other) == [kind]
    assert kinds(other, one) == [kind]


@each_row(
    ("one", "other"),
    [
        ("Acme has 300 employees.", "Acme has 300 employees."),
        ("Acme's revenue was $1.2 million in 2023.", "Acme's revenue was $1.9 million in 2024."),
        ("Acme's revenue rose 5% in Q1 2024.", "Acme's revenue rose 7% in Q2 2024."),
        ("Acme has 300 employees.", "Globex has 450 employees."),
        ("Acme's net profit was $5.", "Acme's gross profit was $9."),
        ("Acme's profit was $5.", "Acme's revenue was $9."),
        ("The bridge is 3 km long.", "The bridge is 3,000 m long."),
        ("The trail is 10 miles long.", "The trail is 16 km long."),
        ("The price is $5.", "The price is €4."),
        ("The city has 1.2 million people.", "The city has 1,213,480 people."),
        ("The share is 10–20 %.", "The share is 15 %."),
        ("The bridge is over 300 m long.", "The bridge is 340 m long."),
        ("The city has about 50 parks.", "The city has 51 parks."),
        ("Acme was founded in 1998.", "Acme was founded in March 1998."),
        ("Acme was founded in 1998.", "Acme was sold in 2001."),
        ("It is not only fast.", "It is fast."),
        ("The library supports Windows.", "The library does not support Solaris."),
        ("서울의 인구는 940만 명이다.", "부산의 인구는 330만 명이다."),
        ("2023년 매출은 258조 원이다.", "2024년 매출은 300조 원이다."),
        ("서울의 인구는 940만 명이다.", "서울의 인구는 9,386,034명이다."),
        ("길이는 494km이다.", "길이는 494,000m이다."),
        ("가격은 1만 원 이상이다.", "가격은 1만 5천 원이다."),
        ("점유율은 10~20%이다.", "점유율은 15%이다."),
        ("직원은 약 300명이다.", "직원은 310명이다."),
        ("영업이익은 3조 원이다.", "순이익은 2조 원이다."),
        ("한국어를 지원한다.", "일본어를 지원하지 않는다."),
        ("", ""),
    ],
)
def test_what_only_looks_alike_does_not_contradict(one: str, other: str):
    assert kinds(one, other) == []
    assert kinds(other, one) == []


def test_a_number_of_a_list_is_no_other_length():
    said = [
        SourcedText("1. The Han river is 494 kilometres long.", (1,)),
        SourcedText("2. The Han river is 494 km long.", (2,)),
        SourcedText("3. The Han river is 481 km long.", (3,)),
    ]
    pairs = contradictions(said, "How long is the Han river?")
    assert [(pair.a.sources, pair.b.sources) for pair in pairs] == [((2,), (3,))]
