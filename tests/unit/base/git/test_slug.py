"""Branch parts for axes: built-in names, a stable stand-in for other names, always valid."""

from hypothesis import example, given
from hypothesis import strategies as st

from coreloop.base.git.slug import to_slug
from rows import each_row

CASES = [
    (None, "general"),
    ("cash flow", "cash-flow"),
    ("ROE", "roe"),
    ("--a__b..c~^:?*[\\ d.lock--", "a-b-c-d-lock"),
    ("x" * 39 + "-yz", "x" * 39),
    (" 수익성 ", "profitability"),
    ("\u1109\u116e\u110b\u1175\u11a8\u1109\u1165\u11bc", "profitability"),
    ("배당", "axis-176494aa"),
    ("...", "axis-ab5df625"),
]


@each_row(("name", "slug"), CASES)
def test_name_becomes(name: str | None, slug: str) -> None:
    assert to_slug(name) == slug


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


@given(st.text(), st.text())
@example("@{", "x")
@example(".lock", "-")
@example("\ud800", "\ud800")
def test_slug_has_only_plain_signs(name: str, chosen: str) -> None:
    for slug in (to_slug(name), to_slug(name, {name: chosen})):
        assert 1 <= len(slug) <= 40
        assert set(slug) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
        assert slug.strip("-") == slug
