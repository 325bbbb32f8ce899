"""Names of people and firms. No real person: given names and surnames are drawn apart."""

from random import Random

from .kind import Value, words

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


def english_surname(chance: Random) -> str:
    return chance.choice(LAST)


def company(chance: Random) -> str:
    return chance.choice(list(COMPANIES))


def stock_code(chance: Random) -> str:
    return chance.choice(list(COMPANIES.values()))


def company_word(chance: Random) -> str:
    return chance.choice(list(COMPANY_WORDS))
