"""Branch parts for axes: built-in names, a stable stand-in for other names, always valid."""

import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from coreloop.base.git.slug import KOREAN_AXIS_SLUG, to_slug
from rows import each_row

AXES = {
    "수익성": "profitability",
    "성장성": "growth",
    "안정성": "stability",
    "현금흐름": "cashflow",
    "수익구조": "revenue-structure",
    "자금조달": "capital-funding",
    "자산구조": "asset-structure",
    "효율성": "efficiency",
    "종합평가": "scorecard",
    "이익품질": "earnings-quality",
    "비용구조": "cost-structure",
    "자본배분": "capital-allocation",
    "투자효율": "investment-efficiency",
    "재무정합성": "cross-statement",
    "가치평가": "valuation",
    "지배구조": "governance",
    "공시변화": "disclosure-delta",
    "비교분석": "peer-benchmark",
    "매출전망": "revenue-forecast",
    "예측신호": "prediction-signals",
    "매크로민감도": "macro-exposure",
    "밸류에이션밴드": "valuation-band",
    "신용평가": "credit-rating",
    "사이클": "cycle",
    "금리": "rates",
    "유동성": "liquidity",
    "자산신호": "asset-signal",
    "밸류체인": "valuechain",
    "공급망": "supply-chain",
}


@each_row(("axis", "slug"), AXES.items())
def test_korean_axis_has_its_slug(axis: str, slug: str) -> None:
    assert to_slug(axis) == slug


def test_no_other_axis_is_built_in() -> None:
    assert dict(KOREAN_AXIS_SLUG) == AXES


CASES = [
    pytest.param(None, "general", id="tool without an axis"),
    pytest.param("cash flow", "cash-flow", id="space"),
    pytest.param("ROE", "roe", id="capitals"),
    pytest.param("--a__b..c~^:?*[\\ d.lock--", "a-b-c-d-lock", id="signs that git refuses"),
    pytest.param("x" * 39 + "-yz", "x" * 39, id="no dash at the cut"),
    pytest.param(" 수익성 ", "profitability", id="spaces around"),
    pytest.param(
        "\u1109\u116e\u110b\u1175\u11a8\u1109\u1165\u11bc",
        "profitability",
        id="decomposed, as macOS writes it",
    ),
    pytest.param("배당", "axis-176494aa", id="unknown, the same on every machine"),
    pytest.param("...", "axis-ab5df625", id="no letters or digits"),
]


@each_row(("name", "slug"), CASES)
def test_name_becomes(name: str | None, slug: str) -> None:
    assert to_slug(name) == slug


def test_unknown_names_differ() -> None:
    assert to_slug("배당") != to_slug("배당성향")


def test_coreloop_yaml_adds_and_overrides() -> None:
    more = {"배당": "Dividend Policy", "수익성": "margin"}
    assert [to_slug(name, more) for name in ("배당", "수익성", "성장성")] == [
        "dividend-policy",
        "margin",
        "growth",
    ]


def test_axis_of_coreloop_yaml_is_found_in_either_unicode_form() -> None:
    decomposed = "\u1107\u1162\u1103\u1161\u11bc"
    assert to_slug("배당", {decomposed: "dividend"}) == "dividend"


def test_korean_slug_in_coreloop_yaml_gets_the_stable_stand_in() -> None:
    assert to_slug("배당", {"배당": "주주환원"}) == to_slug("배당")


@given(st.text(), st.text())
@example("@{", "x")
@example(".lock", "-")
@example("\ud800", "\ud800")
def test_slug_has_only_plain_signs(name: str, chosen: str) -> None:
    for slug in (to_slug(name), to_slug(name, {name: chosen})):
        assert 1 <= len(slug) <= 40
        assert set(slug) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
        assert slug.strip("-") == slug


SIGNS = [chr(code) for code in range(1, 0x250)]


def test_git_takes_every_sign_and_pair_in_a_branch() -> None:
    names = [f"a{sign}{end}" for sign in SIGNS[::7] for end in ("", ".", "@{", "/", ".lock")]
    slugs = {to_slug(name) for name in (*SIGNS, *names, *AXES, None, "x" * 500)}
    # one process each: git takes one name at a time
    for slug in sorted(slugs)[:: max(1, len(slugs) // 60)]:
        branch = f"refs/heads/skill/docstring-{slug}-{slug}-20260425"
        assert subprocess.run(["git", "check-ref-format", branch], check=False).returncode == 0, slug
