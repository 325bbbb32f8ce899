"""Duplicate queries: a table of pairs, the guards, and the bounds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bounded import bounded
from coreloop.base.language.guards import differing_guards, read_guards
from coreloop.base.language.similarity import similarity
from coreloop.base.language.words import MAX_QUERY_CHARS, read_query
from coreloop.runs.duplicates import QueryHistory, Search
from rows import each_row

DUPLICATES = {
    # corporate finance
    "삼성전자 2023년 매출액": "삼성전자의 2023년 매출액은?",
    "삼성전자 2023년 매출액은 얼마인가요": "2023년 삼성전자 매출액이 얼마야?",
    "네이버 부채비율이 높은 이유": "왜 네이버의 부채비율이 높은가요?",
    "유가증권 시장 상장 요건": "유가증권시장 상장요건",
    "NVIDIA Q3 2024 earnings": "earnings of NVIDIA 3Q 2024",
    "최저임금 1,000원 인상": "최저임금 1000원 인상",
    "site:dart.fss.or.kr 삼성전자 사업보고서": "site:dart.fss.or.kr 삼성전자의 사업보고서",
    # code
    "비동기 함수에서 예외를 처리하는 방법": "비동기 함수에서 예외 처리는 어떻게 해?",
    "python sort list of dicts": "sorting a list of dicts in Python",
    "how to parse json in rust": "how do I parse JSON with Rust?",
    "e-mail server setup": "email server setup",
    # academic search
    "What is the capital of France?": "what's the capital of france",
}
DIFFERENT = [
    ("number", "삼성전자 2023년 매출액", "삼성전자 2022년 매출액"),
    ("added keyword", "삼성전자 매출", "삼성전자 매출 전망"),
    ("unit of time", "삼성전자 3분기 실적", "삼성전자 3월 실적"),
    ("scale", "매출 1조 이상 기업", "매출 1억 이상 기업"),
    ("question word", "현대차 배당금은 언제 지급해", "현대차 배당금은 얼마나 지급해"),
    ("opposite verb", "카카오 주가가 오르는 이유", "카카오 주가가 내리는 이유"),
    ("relative date", "이번 분기 실적이 좋은 기업", "지난 분기 실적이 좋은 기업"),
    ("negation", "배당을 하는 기업", "배당을 하지 않는 기업"),
    ("exclusion", "관리종목을 포함한 상장사 목록", "관리종목을 제외한 상장사 목록"),
    ("quarter", "Q3 2024 earnings NVIDIA", "Q2 2024 earnings NVIDIA"),
    ("English date", "inflation next year", "inflation last year"),
    ("script", "Samsung revenue", "삼성 매출"),
    ("Chinese", "삼성전자 매출", "三星電子 매출"),
    ("English direction", "convert csv to json", "convert json to csv"),
    ("who buys whom", "IBM이 SAP를 인수한 이유", "IBM을 SAP가 인수한 이유"),
    ("signs", "C++ template specialization", "C# template specialization"),
    ("prefix of a verb", "how to install cuda on ubuntu", "how to uninstall cuda on ubuntu"),
    ("English negation", "drugs that cause anemia", "drugs that do not cause anemia"),
    ("site", "site:arxiv.org attention survey", "attention survey"),
    ("excluded word", "climate policy -reddit", "climate policy"),
    ("quotes", '"operating lease" accounting', "operating lease accounting"),
]
HOSTILE = {
    "1 MB": "가나다 " * 262_144,
    "1 MB of one letter": "가" * 1_000_000,
    "punctuation": "?!" * 500_000,
    "emoji": "😀🔥" * 300_000,
    "controls": "\x00\x1b[31m\u202e" * 200_000,
    "lone surrogates": "\ud800매출" * 1_000,
    "mixed scripts": "aаα가あ中" * 3_000,
    "digits": "1,1." * 500_000,
    "Korean digits": "십" * 500,
    "negations": "안 못 " * 600,
    "operators": 'site:-"<' * 400,
    "directions": "a to " * 400,
    "empty": "",
}
WORDS = [
    "삼성전자",
    "매출",
    "2023년",
    "2022",
    "얼마",
    "언제",
    "안",
    "않는",
    "apple",
    "not",
    "site:a.b",
    "to",
    "csv",
    "を",
    "삼월",
]
QUERIES = st.one_of(st.text(max_size=40), st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join))


def history_of(*queries: str) -> QueryHistory:
    return QueryHistory(Search(query, number, 3, True) for number, query in enumerate(queries))


@each_row(("earlier", "query"), DUPLICATES.items())
def test_the_same_question_is_a_duplicate(earlier: str, query: str):
    assert history_of("다른 질문", earlier).is_duplicate_query(query) == (True, earlier)
    assert history_of(query).is_duplicate_query(earlier) == (True, query)


@each_row(("earlier", "query"), [pair[1:] for pair in DIFFERENT], ids=[pair[0] for pair in DIFFERENT])
def test_another_question_is_new(earlier: str, query: str):
    assert history_of(earlier).is_duplicate_query(query) == (False, None)
    assert history_of(query).is_duplicate_query(earlier) == (False, None)


@given(QUERIES, QUERIES)
def test_guards_and_similarity_are_symmetric(one: str, other: str):
    guards = read_guards(one), read_guards(other)
    assert differing_guards(*guards) == differing_guards(*reversed(guards))
    words = read_query(one), read_query(other)
    assert similarity(*words) == pytest.approx(similarity(*reversed(words)))
    assert history_of(one).is_duplicate_query(other)[0] == history_of(other).is_duplicate_query(one)[0]


@given(st.lists(st.tuples(QUERIES, st.integers(-1, 5), st.booleans()), max_size=8), QUERIES)
def test_a_search_that_failed_makes_no_duplicate(searches: list[tuple[str, int, bool]], query: str):
    worked, every = QueryHistory(), QueryHistory()
    for iteration, (text, results_count, success) in enumerate(searches):
        every.add_query_to_history(text, iteration, results_count, success)
        if success and results_count > 0:
            worked.add_query_to_history(text, iteration, results_count, success)
    assert every.is_duplicate_query(query) == worked.is_duplicate_query(query)


@each_row("query", HOSTILE.values(), ids=HOSTILE)
def test_hostile_queries_are_harmless_and_quick(query: str):
    history = history_of("삼성전자 매출", "apple revenue", "안 못 십 1 to a")
    with bounded():
        assert history.is_duplicate_query(query) == (False, None)
        history.add_query_to_history(query, 1, 1, True)
        assert history.is_duplicate_query(query)[0]
    stored = history.searches[-1].query
    assert len(stored) <= MAX_QUERY_CHARS
    assert stored.isprintable()


def test_long_queries_that_differ_at_the_end_are_different():
    start = "삼성전자 매출 " * 1_000
    history = history_of(start + "국내")
    assert history.is_duplicate_query(start + "국내")[0]
    assert history.is_duplicate_query(start + "해외") == (False, None)


@pytest.mark.slow
def test_a_query_is_compared_with_10_000_others_quickly():
    names = ["매출", "배당", "부채", "자본", "주가", "공시", "전망", "특허", "임원", "지분"]
    texts = [f"{first} {second} 종목{third}" for first in names for second in names for third in range(100)]
    history = history_of(*texts)
    assert history.is_duplicate_query("삼성")[0] is False
    with bounded():
        for _ in range(20):
            history.is_duplicate_query("매출 배당 비교 종목")
