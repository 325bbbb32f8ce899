"""What a search finds: hostile queries and Korean words."""

import json
import lzma
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coreloop.answer.search.index.search_index import IndexProvider
from coreloop.answer.search.provider import Empty, Failed, Found, SearchLimits
from indexing import Indexed

HOSTILE = [
    "",
    "   ",
    '"',
    '"unclosed',
    "a AND",
    "NOT",
    "NEAR(a b, 1)",
    "heading : x",
    "a*b^c",
    "({[",
    "a\0b",
    "'; DROP TABLE documents; --",
    "-x +y",
    "\ud800",
    "\u3164",
    "9" * 5_000,
    "가" * 1_000_000,
    "word " * 200_000,
    "؀ ﷺ ㏂",
]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Indexed:
    project = Indexed(tmp_path_factory.mktemp("shop"))
    project.write(
        {
            "korean.md": "# 시장\n\n삼성전자의 반도체 매출은 2015년에 늘었다. 값이 올랐다. AI를 쓴다.",
            "english.md": "# Stopping\n\nA run is stopped by the controller. It merges naïve files.",
            "han.txt": "日本語の文章と漢字",
        }
    )
    project.update()
    return project


@pytest.mark.parametrize("query", HOSTILE, ids=[query[:12].strip() or "blank" for query in HOSTILE])
def test_no_text_is_an_error(shop: Indexed, query: str):
    assert isinstance(IndexProvider(shop.file).search(query, SearchLimits()), Found | Empty)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.sampled_from("ab가나 \"*^:(){}-+\0\n'NEAROT,."), max_size=40))
def test_no_syntax_of_fts5_reaches_it(shop: Indexed, query: str):
    assert not isinstance(IndexProvider(shop.file).search(query, SearchLimits()), Failed)


KOREAN = ["매출", "전자", "반도체는", "삼성", "2015", "2015년", "값", "AI", "Ai가", "시장에서는", "삼성 전자"]
WIDE = "ＡＩ"
DECOMPOSED = "\u1106\u1162\u110e\u116e\u11af"  # 매출, as macOS writes it


@pytest.mark.parametrize("query", [*KOREAN, WIDE, DECOMPOSED])
def test_korean_is_found_by_parts_with_particles_and_in_any_form(shop: Indexed, query: str):
    assert shop.locations(query) == ["korean.md"]


@pytest.mark.parametrize("query", ["stop", "stops", "merge", "NAIVE", "what is a controller?"])
def test_english_is_found_with_other_endings(shop: Indexed, query: str):
    assert shop.locations(query) == ["english.md"]


def test_without_an_index_the_answer_says_what_to_run(tmp_path: Path):
    answer = IndexProvider(tmp_path / "index.db").search("word", SearchLimits())
    assert isinstance(answer, Failed)
    assert "dartlab-coreloop index" in answer.reason
    assert not answer.is_retryable
    assert not (tmp_path / "index.db").exists()


@pytest.fixture(scope="module")
def korquad(shared_data: Path) -> list[dict]:
    path = shared_data / "korquad_dev.json.xz"
    if not path.is_file():
        pytest.skip(f"no {path}; name its folder with CORELOOP_SHARED_DATA")
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return [part for article in json.load(file)["data"] for part in article["paragraphs"]]


@pytest.fixture(scope="module")
def paragraphs(korquad: list[dict], tmp_path_factory: pytest.TempPathFactory) -> Indexed:
    project = Indexed(tmp_path_factory.mktemp("korquad"))
    project.write({f"{number}.txt": part["context"] for number, part in enumerate(korquad)})
    project.update()
    return project


@pytest.mark.slow
def test_korean_questions_find_their_paragraph(korquad: list[dict], paragraphs: Indexed):
    questions = [(f"{number}.txt", asked) for number, part in enumerate(korquad) for asked in part["qas"]]
    # by BM25 alone, before passages are ranked: 88 % first of these
    sample = [(asked["question"], name) for name, asked in questions[::40]]
    found = [(paragraphs.locations(question)[:5], name) for question, name in sample]
    assert sum(places[:1] == [name] for places, name in found) >= 0.85 * len(sample)
    assert sum(name in places for places, name in found) >= 0.96 * len(sample)


def test_documents_come_before_code_and_code_before_tests(project: Indexed):
    said = "The gateway retries an upload five times."
    project.write(
        {
            "docs/guide.adoc": f"== Uploads\n\n{said} Nothing else is retried by it, whatever it was.\n",
            "src/gateway.go": f"// {said} Nothing else is retried.\nfunc Retry() int {{\n\treturn 5\n}}\n",
            **{f"tests/{number}.ts": f"// {said}\n" for number in range(40)},
        }
    )
    project.update()
    found = project.locations("How often does the gateway retry an upload?")
    assert found[:2] == ["docs/guide.adoc", "src/gateway.go"]
