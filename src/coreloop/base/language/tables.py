"""Korean particles and endings, function words and question words of search queries.

A particle or ending is here if at least five words of ParaKQC's choosing half end in it, or if it belongs to
written Korean, which that corpus lacks. `benchmarks/duplicates.py` measures what each table earns.
"""

import re
from typing import Final


def _table(words: str) -> frozenset[str]:
    return frozenset(words.split())


PARTICLES: Final = _table("""
    이 에 가 는 을 은 로 를 도 이랑 에서 랑 과 의 와 으로 이야 야 한테 까지 에는 들 만 보다 부터 이나 께
    로는 들이 들을 들의 께서 에게 로부터 이라고 에서는 에선 들은 으로는 으로부터 에도 에게서 처럼 마다
""")
ENDINGS: Final = _table("""
    기 게 지 고 니 어 마 해 나 한 아 인지 하는 나요 할 면 는지 요 까 인가요 하고 서 죠 다 을까 래 음 는게
    입니까 된 하 가요 는데 은데 자 할지 하려면 습니까 라 십니까 어요 까요 세요 하지 던 을까요 라고 냐 하나요
    되어 시는 시나요 해줘 일지 을지 네 하는지 하는게 는거야 려면 하기 일까 으면 거야 신가요 지요 인가 할까
    하니 하게 돼 해서 하면 은지 는거 하세요 해야 되 할까요 어서 는건 줘 하는데 일까요 었어 었나 해요 꺼야
    되는 려고 었지 이니 했 하려고 으려면 하시나요 이에요 건지 한다 습니다 었는지 해봐 이었 는가 였나 했던
    해줄래 였어 해도 합니다 했습니까 입니다
""")
NOUN_LIKE: Final = _table("할 자 기 지")
"""Endings that many nouns end in: 분할, 삼성전자, 경기, 토지."""
SPOKEN: Final = {"야", "이야"} | ENDINGS - _table("""
    할 자 기 지 해 한 서 나 마 고 어 아 게 니 다 음 라 네 하 된 되 돼 던 줘
""")
"""Tails of sentences, not of keywords."""
FUNCTION_WORDS: Final = _table("""
    중 있 더 수 되 좋 하 싶 해 시 때 것 너 지금 좀 아 한 알 거 했 예정 주 다 네 할 내 보 말 돼 나 가능 당신
    원 게 쪽 통 저 건 혹시 둘 걸 지 야 엄 같 아님 생각 될 그쪽 자 선생님 손님 너희 이 그 제 현재 사람 관련
    정보 대한 대해 대하 위한 a an the of for in on at by with to from and or is are was were be been do does
    did can could should would will i me my we our you your it its this that these those there please tell
    show find give get about using use used any some into as s t want need know looking have has had
    they them their theirs he him his she her hers himself herself themselves itself
""")
GLUE: Final = _table("""
    if but not no nor than then so because while after before during between more most other such only own
    same both each few all one two up down out over under again once too very just now also may might must
    shall having being doing yes per via onto upon within without through across against among around above
    below every either neither whether though although since until unless however never ever always still yet
    even well else etc vs off really true false thing
    또 및 등 모두 각각 가장 매우 여부 경우 때문 이런 그런 저런 다른 모든 정말 과연 역시 바 이미 아직 매 각 인
    그것 이것 하나 둘 사실 것 이유 그리고 그러나 하지만 만약 만일
""")
"""Words that a text about anything may have; in queries they do count."""
REQUEST: Final = re.compile("^(?:알려|말해|말씀|찾아|골라|궁금|가르|알고싶|알수|여쭤|묻고|답해|보여줘|부탁)")
INTENTS: Final = {
    "how": re.compile(r"^(?:어떻|어떡|방법|how$)"),
    "where": re.compile(r"^(?:어디|어딘|어딜|어딨|곳|장소|where$)"),
    "when": re.compile(r"^(?:언제|며칠|몇일|날짜|요일|시기|시간|when$)"),
    "much": re.compile(r"^(?:얼마|몇|어느정도|much$|many$)"),
    "who": re.compile(r"^(?:누구|누가|누굴|who$|whom$|whose$)"),
    "why": re.compile(r"^(?:왜$|이유|why$)"),
    "": re.compile(r"^(?:뭐|뭘|뭔|무엇|무슨|어떤|어느|what$|which$)"),
}
"""Question words; those of the last row ask for anything."""
HOW_IS: Final = re.compile(r"어떻게\s?(?=[되돼됩된될])")
"""``어떻게 되나요`` asks what, not how."""
WHAT_TIME: Final = re.compile(r"몇\s?[시일월](?!간)")
_IRREGULAR: Final = """
    fall fell fallen, rise rose risen, grow grew grown, make made, give gave given, take took taken,
    come came, become became, go went gone, hold held, say said, pay paid, sell sold, buy bought,
    build built, lead led, leave left, lose lost, win won, write wrote written, begin began begun,
    bring brought, think thought, find found, tell told, know known knew, show shown, sing sang sung,
    speak spoke spoken, stand stood, meet met, keep kept, send sent, spend spent, draw drew drawn,
    drive drove driven, choose chose chosen, break broke broken, run ran, see saw seen, fight fought,
    teach taught, catch caught, mean meant, bear born, child children, person people, man men, woman women,
    foot feet, tooth teeth, mouse mice
"""
IRREGULAR: Final = {form: word for word, *forms in map(str.split, _IRREGULAR.split(",")) for form in forms}
"""English forms that no ending tells: ``fell`` is ``fall``."""
