"""Hashes with golden values, steps, and what may be a category."""

import unicodedata
from hashlib import sha256

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from coreloop.base.records import (
    encodable,
    hash_question,
    hash_sequence,
    is_category,
    normalize_question,
    step,
)
from rows import each_row

QUESTION = "삼성전자 수익성 분석해줘"


# hashes


@each_row(
    ("question", "hashed"),
    [
        (QUESTION, "sha256:ae89748d2c4839b8"),
        ("  삼성전자,\n수익성 분석해줘?! ", "sha256:ae89748d2c4839b8"),
        ("ＲＯＥ ２０２６ Margin", "sha256:0a050d04794116e7"),
        ("", "sha256:e3b0c44298fc1c14"),
        ("?!", "sha256:e3b0c44298fc1c14"),
    ],
)
def test_question_hash_is_golden(question, hashed):
    assert hash_question(question) == hashed


@each_row(
    ("question", "normalised"),
    [
        pytest.param("ＲＯＥ　２０２６", "roe 2026", id="full width"),
        pytest.param(unicodedata.normalize("NFD", QUESTION), QUESTION, id="NFD Korean"),
        pytest.param("삼성전자 📈수익성🔥 👩‍👩‍👧", "삼성전자 수익성", id="emoji"),
        pytest.param("P/E-ratio, net_margin", "peratio netmargin", id="signs vanish, no space for them"),
        pytest.param("ﬁnance ①", "finance 1", id="compatibility forms"),
        pytest.param("수\u200b익\u202e성\ufeff", "수익성", id="invisible characters"),
        pytest.param("a\t b\r\n\u00a0c\u3000", "a b c", id="every white space"),
        pytest.param("ROE\ud800 높은", "roe 높은", id="lone surrogate"),
        pytest.param("카카오 vs. NAVER", "카카오 vs naver", id="lower case"),
        pytest.param("", "", id="empty"),
    ],
)
def test_questions_are_normalised(question, normalised):
    assert normalize_question(question) == normalised
    assert hash_question(question) == f"sha256:{sha256(normalised.encode()).hexdigest()[:16]}"


@each_row(
    ("name", "args", "text"),
    [
        pytest.param(
            "analysis", {"axis": "수익성", "company": "삼성전자"}, "analysis(axis=수익성)", id="axis"
        ),
        pytest.param("show", {"topic": "IS"}, "show()", id="no selector"),
        pytest.param("quant", {"sub": "x", "axis": "y"}, "quant(axis=y,sub=x)", id="order of the selectors"),
        pytest.param("show", {"axis": None}, "show()", id="null is absent"),
        pytest.param("a", {"axis": unicodedata.normalize("NFD", "수익성") + " "}, "a(axis=수익성)", id="NFD"),
        pytest.param("a", {"axis": True}, "a(axis=true)", id="boolean"),
        pytest.param("a", {"axis": 7}, "a(axis=7)", id="number"),
        pytest.param("a", {"axis": "x" * 81}, "a(axis=<other>)", id="no name"),
        pytest.param("a", {"axis": ["수익성"]}, "a(axis=<other>)", id="list"),
        pytest.param("a", {"axis": "x)>b("}, 'a(axis="x)>b(")', id="syntax is quoted"),
        pytest.param("a>b", {}, '"a>b"()', id="name with syntax is quoted"),
    ],
)
def test_a_step_is_the_tool_and_its_selectors(name, args, text):
    assert step(name, args) == text


@each_row(
    ("sequence", "hashed"),
    [
        ("analysis(axis=수익성)>show()", "seq:b7cd347db6f3d2c3"),
        ("analysis(axis=수익성)", "seq:e7285e7f08691bca"),
        ("", "seq:e3b0c44298fc1c14"),
    ],
)
def test_sequence_hash_is_golden(sequence, hashed):
    assert hash_sequence(sequence) == hashed


@each_row("label", ["FIN", "FIN-profitability-KR-tech", "UNSPECIFIED", "a-1-b-2"])
def test_one_to_four_parts_of_letters_and_digits_are_a_category(label):
    assert is_category(label)


@each_row(
    "label",
    ["", "a-b-c-d-e", "FIN-", "-FIN", "FIN--KR", "수익성", "FIN KR", "FIN\n", "FIN_KR", "ＦＩＮ", "FIN.`x`"],
)
def test_other_labels_are_not_a_category(label):
    assert not is_category(label)


@given(st.text())
@example('\x00\x08\x1b\x7f\u2028"\\\t\n\r\f')
def test_a_name_that_looks_like_syntax_is_written_as_json(text):
    assert step(f"={text}", {}) == f"{orjson.dumps(encodable(f'={text}')).decode()}()"
