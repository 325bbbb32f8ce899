"""Words that name nothing, words that do not change what a sentence is about, words that mean the same."""

from typing import Final


def _table(words: str) -> frozenset[str]:
    return frozenset(words.split())


NO_NAMES: Final = _table("""
    i a an the this that these those it its he she they we you his her their our your my there here in on at
    by for of to from with and or but if when while as after before during since however therefore thus also
    although because what which who how why where some many most all each such one two three first second
    third monday tuesday wednesday thursday friday saturday sunday january february march april may june july
    august september october november december mr mrs ms dr s t
""")
"""Capitalised for another reason."""
GENERIC: Final = _table("""
    이것 그것 이는 그는 그녀 우리 저희 자신 이들 그들 대부분 경우 때문 다음 이후 이전 당시 하나 자체 모두 일부
    전체 이번 지난 올해 작년 결과 내용 사실 회사 제품 사람 가운데 이곳 여기 이러한 그러한
""")
"""Korean subjects that name nobody."""
IGNORED: Final = _table("""
    report record reach amount total stand say announc accord estimat about around approximately roughly
    nearly almost over more than least most under up now current currently only still also year
    compan has have had
    약 대략 거의 이상 이하 초과 미만 정도 가량 현재 당시 기록 달 집계 나타나 나타났 이르 발표 밝히 밝혔 따르
    넘 그치 불과 무려 모두 수정 정정
""")
"""Stems that say how sure or how exact a statement is, not what it is about."""
_SAME: Final = """
    found establish creat launch, 설립 창립 창업 세워졌 만들어졌, 매출액 매출, 인구 주민, tall high height,
    employ staff work worker employee, 출생 태어났 태어나
"""
SAME: Final = {word: words[0] for words in map(str.split, _SAME.split(",")) for word in words}
"""Stems that mean the same, by the one that stands for all."""
