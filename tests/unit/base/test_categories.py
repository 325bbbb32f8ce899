"""From a question to a label: what counts as a word in Korean and in English."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coreloop.base.categories import Categories
from coreloop.base.records import is_category
from rows import each_row

RULES = Categories(
    [
        ("FIN-profitability-KR", ["수익성", "마진", "margin", "roe"]),
        ("FIN-dividend-KR", ["배당", "dividend", "P/E", "c++"]),
        ("NEVER", []),
    ]
)


@each_row(
    ("question", "label"),
    [
        pytest.param("삼성전자 수익성 분석해줘", "FIN-profitability-KR", id="Korean word"),
        pytest.param("영업이익률과마진을 알려줘", "FIN-profitability-KR", id="glued particles"),
        pytest.param(unicodedata.normalize("NFD", "배당 추이"), "FIN-dividend-KR", id="NFD question"),
        pytest.param("높은 ROE는?", "FIN-profitability-KR", id="English word before a particle"),
        pytest.param("ＲＯＥ", "FIN-profitability-KR", id="full width"),
        pytest.param("Which Margins?", "FIN-profitability-KR", id="plural"),
        pytest.param("heroes of 2026", "UNSPECIFIED", id="inside a word"),
        pytest.param("roe2", "UNSPECIFIED", id="longer word"),
        pytest.param("배당과 수익성", "FIN-profitability-KR", id="first rule wins"),
        pytest.param("p/e of c++", "FIN-dividend-KR", id="signs are no pattern"),
        pytest.param("pxe", "UNSPECIFIED", id="signs are literal"),
        pytest.param("안녕", "UNSPECIFIED", id="no rule"),
        pytest.param("", "UNSPECIFIED", id="empty"),
        pytest.param("\ud800", "UNSPECIFIED", id="lone surrogate"),
    ],
)
def test_the_first_rule_with_a_word_of_the_question_gives_the_label(question, label):
    assert RULES.label(question) == label


@each_row(
    ("keyword", "words", "others"),
    [
        ("refund", ["refund", "refunds", "refunded", "Refunding"], ["refundable", "prefund"]),
        ("delivery", ["delivery", "deliveries"], ["delivering", "deliver"]),
        ("cancel", ["cancels", "cancelled", "canceled", "cancelling"], ["cancellation"]),
        ("exchange", ["exchanged", "exchanges", "exchanging"], ["exchanger"]),
        ("ship", ["shipped", "shipping", "ships"], ["shipment"]),
        ("rate", ["rates", "rated"], ["rating", "ratio"]),
        ("pay", ["pays"], ["payee", "paying"]),
        ("eps", ["eps"], ["epsilon", "epsed"]),
        ("cash flow", ["cash flows", "cash flow"], ["cash flower", "cashflow"]),
        ("address", ["address", "addresses"], ["addressee", "addresss"]),
    ],
)
def test_english_keywords_inflect(keyword, words, others):
    rules = Categories([("A", [keyword])])
    assert {rules.label(f"please: {word}?") for word in words} == {"A"}
    assert {rules.label(f"please: {word}?") for word in others} == {"UNSPECIFIED"}


@given(st.text())
def test_a_label_is_never_empty_and_always_valid(question):
    assert is_category(RULES.label(question))
