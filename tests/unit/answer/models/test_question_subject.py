"""Small files and questions: a sentence about another year, company or fact is no answer."""

from coreloop.answer.models.contracts import SynthesisResponse
from coreloop.answer.models.model import CallLimits
from coreloop.answer.models.offline import OfflineModel
from coreloop.answer.models.prompt import Material, NumberedSource, user_message
from rows import each_row

SAMSUNG = ("삼성전자", "삼성전자의 2023년 매출은 258조 9,355억 원이다. 본사는 수원에 있다.")
YEARS = ("삼성전자", "2022년 매출은 302조 원이다. 2023년 매출은 258조 원이다.")
KT = ("KT 배당", "KT는 2023년에 주당 1,960원을 배당했다.")
KIA = ("기아", "기아는 2023년 배당금을 주당 5,600원으로 정했다.")
LG_CHEM = ("LG화학", "LG화학의 2023년 매출은 55조 원이다.")
LG_BOTH = ("LG", "LG화학의 2023년 매출은 55조 원이다. LG전자의 2023년 매출은 84조 원이다.")
NAVER = ("네이버", "네이버의 2023년 매출은 9조 6,706억 원이다.")
CHOI = ("네이버", "네이버는 인터넷 회사이다. 대표는 최수연이다. 그는 2022년 3월에 취임했다.")
BETA = ("Beta", "Beta revenue was 20 million dollars in 2023. Alpha was founded by Ann Park.")
ACME = ("Acme", "Acme was founded in 1998 by Ada Jansen. Its revenue was 5 million in Q1 2024.")
RATE = (
    "rate_of",
    "rate_of parameter customer (str): Id of the customer.\n\nrate_of returns (float): Share of the price.",
)
REPORT = ("Acme › Revenue 2024", "The total revenue was 7 million dollars.")


def quotes(question: str, *sources: tuple[str, str]) -> list[str]:
    numbered = tuple(
        NumberedSource(number=number, title=title, text=text)
        for number, (title, text) in enumerate(sources, 1)
    )
    message = user_message(Material(question=question, sources=numbered))
    answer = OfflineModel().complete([message], SynthesisResponse, CallLimits()).value.answer
    return [line.rpartition(" [")[0] for line in answer.splitlines()[1:]]


@each_row(
    ("question", "sources", "answer"),
    [
        ("삼성전자의 2023년 매출은 얼마인가?", [SAMSUNG], "삼성전자의 2023년 매출은 258조 9,355억 원이다."),
        ("삼성전자의 2024년 매출은 얼마인가?", [SAMSUNG], None),
        ("삼성전자의 2023년 매출은?", [YEARS], "2023년 매출은 258조 원이다."),
        ("삼성전자의 2021년 매출은?", [YEARS], None),
        (
            "rate_of의 매개변수 customer는 무엇인가?",
            [RATE],
            "rate_of parameter customer (str): Id of the customer.",
        ),
        ("rate_of는 무엇을 반환하나?", [RATE], "rate_of returns (float): Share of the price."),
        ("rate_of의 매개변수 supplier는 무엇인가?", [RATE], None),
        (
            "Within how many days can a parcel be returned?",
            [("Parcels", "Parcels are shipped within 2 days. A parcel can be returned for 30 days.")],
            "A parcel can be returned for 30 days.",
        ),
        ("KT가 2023년에 배당했나?", [NAVER, KT], "KT는 2023년에 주당 1,960원을 배당했다."),
        ("두산이 2023년에 배당했나?", [KT], None),
        ("포스코는 2023년 배당금을 얼마로 정했나?", [KIA, KT], None),
        ("기아는 2023년 배당금을 얼마로 정했나?", [KT, KIA], KIA[1]),
        ("LG전자의 2023년 매출은?", [LG_CHEM], None),
        ("LG전자의 2023년 매출은?", [LG_BOTH], "LG전자의 2023년 매출은 84조 원이다."),
        ("네이버가 2023년에 배당했나?", [NAVER, KT], None),
        ("네이버 대표 최수연은 언제 취임했나?", [CHOI], "그는 2022년 3월에 취임했다."),
        ("Who founded Beta?", [BETA], None),
        ("Who founded Acme?", [BETA, ACME], "Acme was founded in 1998 by Ada Jansen."),
        ("What was Acme's revenue in Q1 2024?", [ACME], "Its revenue was 5 million in Q1 2024."),
        ("What was Acme's revenue in Q2 2024?", [ACME], None),
        ("What was Acme's total revenue in 2024?", [REPORT], "The total revenue was 7 million dollars."),
        ("What was Acme's total revenue in 2023?", [REPORT], None),
    ],
)
def test_only_what_is_asked_is_an_answer(question: str, sources: list[tuple[str, str]], answer: str | None):
    found = quotes(question, *sources)
    assert found[:1] == ([answer] if answer else [])
    assert not any("LG화학" in text for text in found)


@each_row(
    ("text", "answer"),
    [
        ("```\nThe guard checks 3 files\n```\n\nThe guard checks each file.", "The guard checks each file."),
        ("The guard checks the files:\n\nIt reads them.", None),
        ("| guard | checks |\n|---|---|\n\nThe guard checks each file.", "The guard checks each file."),
        ("| the guard | checks files |", "| the guard | checks files |"),
        ("$ guard checks files", None),
    ],
    ids=["code", "an announcement", "a row beside a sentence", "only a row", "a command"],
)
def test_code_and_announcements_are_not_quoted(text: str, answer: str | None):
    assert quotes("What does the guard check?", ("Guard", text)) == ([answer] if answer else [])
