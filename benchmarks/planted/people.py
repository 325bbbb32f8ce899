"""Names of people and firms. No real person: given names and surnames are drawn apart."""

from random import Random

from .kind import Kind, Value, words

SURNAMES = tuple(
    "김이박최정강조윤장임한오서신권황안송류홍전고문양손배백허유남심노하곽성차주우구민진지엄채원천방공현"
)
GIVEN = words(
    "민준 서연 도윤 지우 하준 서현 예준 지민 주원 수아 시우 하은 지호 윤서 건우 채원 현우 다은 우진 "
    "은서 선우 예은 연우 수빈 정우 소율 승현 지아 준혁 예린 성민 영희 철수 순자 정숙 미경 상훈 경수 "
    "병철 옥순 태형 나연 동현 보람"
)
RARE_GIVEN = words(
    "하람 로운 겨울 샛별 이솔 라온 가람 나래 다올 마루 바다 슬옹 여름 온유 찬솔 초롱 해솔 힘찬 빛나 "
    "아라 한결 미르"
)
TITLES = words(
    "대리 과장 차장 부장 팀장 팀장님 대표 대표님 이사 상무 전무 교수 교수님 선생님 원장님 변호사 "
    "회계사 박사 고객님 회원님 담당자님 씨 님 실장 주임"
)
SPACED_TITLES = tuple(title for title in TITLES if title not in {"님", "씨"})

FIRST = words(
    "Emily James Olivia Liam Sophia Noah Charlotte Caleb Amelia Lucas Harper Mason Evelyn Logan "
    "Abigail Henry Ella Samuel Grace Daniel Chloe Nathan Zoe Marcus Priya Mateo Ingrid Yusuf Aisha "
    "Kenji Oluwaseun Siobhan"
)
LAST = words(
    "Carter Bennett Hughes Morrison Fletcher Okafor Ramirez Lindqvist Novak Kowalski Fitzgerald "
    "Ashworth Delgado Nakamura Patel Johansson Moreau Schneider Rossi Murphy Whitaker Sanderson "
    "Holloway Pembroke Castellano Vanderberg"
)

COMPANIES = {
    "들찬푸드": "093110",
    "새론화학": "041980",
    "누리해운": "067520",
    "다솜제약": "018340",
    "바른유통": "072930",
    "온새로보틱스": "352790",
    "해오름에너지": "129460",
    "Brightfjord Energy": "264180",
}
COMPANY_WORDS = {"신세계": "004170", "대상": "001680", "동서": "026960", "우리손": "073560"}
"""Listed companies whose name is a word: private only beside a word that shows the company."""


def names_file() -> str:
    """The table for ``--names``: code, name, aliases."""
    rows = {**COMPANIES, **COMPANY_WORDS}
    return "".join(f"{code}\t{name}\t{name}\n" for name, code in rows.items())


def korean_name(chance: Random) -> Value:
    given = chance.choice(GIVEN)
    return Value(chance.choice(SURNAMES) + given, (given,))


def rare_korean_name(chance: Random) -> Value:
    given = chance.choice(GIVEN + RARE_GIVEN * 2)
    return Value(chance.choice(SURNAMES) + given, (given,))


def english_name(chance: Random) -> Value:
    first, last = chance.choice(FIRST), chance.choice(LAST)
    middle = f"{chance.choice('ABCDEFGHJKLMRST')}. " if chance.random() < 0.15 else ""
    return Value(f"{first} {middle}{last}", (first, last))


def english_surname(chance: Random) -> Value:
    return Value(chance.choice(LAST))


def company(chance: Random) -> Value:
    return Value(chance.choice(list(COMPANIES)))


def stock_code(chance: Random) -> Value:
    return Value(chance.choice(list(COMPANIES.values())))


def company_word(chance: Random) -> Value:
    return Value(chance.choice(list(COMPANY_WORDS)))


KINDS = (
    Kind(
        "Korean name before a title",
        korean_name,
        beside=tuple(f"{{}} {title}" for title in SPACED_TITLES) + tuple(f"{{}}{title}" for title in TITLES),
        bare=False,
        disguises="hangul text",
    ),
    Kind(
        "Korean name beside its word",
        rare_korean_name,
        beside=(
            "예금주 {}",
            "예금주: {}",
            "예금주는 {}입니다",
            "성함은 {}이고",
            "성함: {}",
            "이름: {}",
            "제 이름은 {}입니다",
            "수취인 {}",
            "보호자 {}",
            "환자명: {}",
            "받는 사람: {}",
            "담당자: {}",
        ),
        bare=False,
        keys=("예금주", "성함", "이름", "full_name", "customer_name", "recipient"),
        disguises="hangul text",
    ),
    Kind(
        "English name beside its word",
        english_name,
        beside=(
            "name: {}",
            "Name: {}",
            "customer: {}",
            "Customer name: {}",
            "Dear {},",
            "my name is {}",
            "My name is {}.",
            "patient: {}",
            "Mr. {}",
            "Ms. {}",
            "Dr. {}",
            "I am writing on behalf of Mrs. {}",
            "account holder: {}",
        ),
        bare=False,
        keys=("full_name", "customer_name", "fullName", "patient_name", "account_holder"),
        disguises="latin text",
    ),
    Kind(
        "surname after Mr., Ms., Dr.",
        english_surname,
        beside=("Mr. {}", "Ms. {}", "Mrs. {}", "Dear Mr. {},", "Dr. {}"),
        bare=False,
        disguises="latin text",
    ),
    Kind("listed company", company, keys=("company", "corp_name"), disguises="hangul text"),
    Kind("stock code", stock_code, keys=("stockCode", "종목코드"), disguises="code"),
    Kind(
        "listed company whose name is a word",
        company_word,
        beside=("{} 주가", "{} 실적", "(주){}", "{}그룹", "{} 공시", "{} 배당"),
        bare=False,
        disguises="hangul text",
    ),
)
