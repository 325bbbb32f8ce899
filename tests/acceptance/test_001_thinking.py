"""What document 001 of the specification promises of thinking, searching and evidence, a test a row."""

import json
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from acceptance.claude_code import install, skill
from acceptance.model import UNLIKE, Asked, Model, modelled, plan, reflection, synthesis
from acceptance.shell import Done, Project
from acceptance.walk import public_name
from fault_server import fault_server, reader_of, replies, searxng_answer
from rows import slow_after

QUESTION = "한강의 다리는 언제 개통되었나?"
BAR = "━" * 40
OPENED = "The Alpha bridge was opened in 1971."
OTHER_YEAR = "The Alpha bridge was opened in 1984."
INVENTED = "The Alpha bridge is 9000 metres long."
FACTS = {
    "Alpha bridge opening": OPENED,
    "Boseong green tea": "Boseong green tea is harvested during April.",
    "surface code decoder": "A surface code decoder corrects qubit errors.",
    "Homigot lighthouse": "Homigot lighthouse warns ships at night.",
    "Jeju basalt columns": "Jeju basalt columns formed from lava.",
    "Gimje rice fields": "Gimje rice fields reach the horizon.",
    "Namdae salmon": "Namdae salmon return each autumn.",
    "Cheomseongdae observatory": "Cheomseongdae observatory is 9 metres tall.",
    "Geumsan ginseng": "Geumsan ginseng grows under shade.",
    "Icheon pottery kilns": "Icheon pottery kilns burn pine wood.",
    "Sangju silk weavers": "Sangju silk weavers keep mulberry trees.",
    "Daegwallyeong turbines": "Daegwallyeong turbines harvest strong wind.",
}
"""A query for each iteration, and the sentence that only it finds."""
EVIDENCE = (("one", "supports"), ("two", "supports"), ("three", "contradicts"))


@dataclass(frozen=True, slots=True)
class Deep:
    """A deep research of twelve iterations with a model: what it printed, asked, and left behind."""

    project: Project
    done: Done
    model: Model
    state: dict[str, Any]
    report: str


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.fixture(scope="module")
def deep(tmp_path_factory: pytest.TempPathFactory) -> Deep:
    project = Project(tmp_path_factory.mktemp("deep"))
    for number, sentence in enumerate(FACTS.values()):
        project.write(f"docs/{number}.md", f"{sentence}\n")
    project.write("docs/other.md", f"{OTHER_YEAR}\n")
    assert project.run("index", "docs").code == 0
    replies = {
        "PlanResponse": plan("Alpha bridge opening", parts=("언제?", "왜?"), tier="deep"),
        "ReflectionResponse": _reflect,
        "SynthesisResponse": synthesis(f"{OPENED} [1] {INVENTED} [1]"),
    }
    with modelled(project, **replies) as model:
        done = project.run("research", QUESTION)
    assert done.code in {0, 1}, done.err  # 1: nothing said so
    assert project.run("runs", "report", "--out", "report.md").code == 0
    report = (project.folder / "report.md").read_text(encoding="utf-8")
    return Deep(project, done, model, project.view("current/state.json"), report)


@pytest.fixture(scope="module")
def exhaustive(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The state of an exhaustive research whose model is sure and proposes one query."""
    project = Project(tmp_path_factory.mktemp("exhaustive"))
    project.write("docs/1.md", f"{OPENED}\n")
    assert project.run("index", "docs").code == 0

    def reflect(asked: Asked) -> dict[str, Any]:
        return _reflect(asked) | {"sufficient": True, "confidence": 0.97}

    replies = {
        "PlanResponse": plan("Alpha bridge opening", parts=("언제?", "왜?")),
        "ReflectionResponse": reflect,
        "SynthesisResponse": synthesis(f"{OPENED} [1]"),
    }
    with modelled(project, **replies):
        done = project.run("research", QUESTION, "--exhaust", "--max-iterations", "3")
    assert done.code in {0, 1}, done.err  # 1: nothing said so
    state: dict[str, Any] = project.view("current/state.json")
    return state


@pytest.mark.promise("001-8")
def test_08_each_iteration_of_an_exhaustive_research_looks_for_counter_evidence(exhaustive: dict[str, Any]):
    upcoming = [query for query in exhaustive["plan_queries"] if query["iteration"] > 1]
    for number in {query["iteration"] for query in upcoming}:
        intents = [query["intent"] for query in upcoming if query["iteration"] == number]
        assert "counter-evidence" in intents
    assert upcoming
    assert exhaustive["stop_reason"] != "sufficient"


@pytest.mark.slow
@pytest.mark.promise("001-16")
def test_16_working_memory_has_the_last_ten_iterations(deep: Deep):
    memory = deep.project.view("current/working_memory.json")
    shown = {source["iteration"] for source in memory["working"]}
    last = deep.state["iteration"]["current"]
    assert last == 12
    assert shown == set(range(last - 9, last + 1))
    read = {source["iteration"] for source in deep.state["sources"]}
    assert read > shown


@pytest.mark.promise("001-20")
def test_20_a_reflection_begins_with_the_situation(deep: Deep):
    (last,) = [asked for asked in _reflections(deep) if not asked.is_challenge][-1:]
    assert "Situation." in last.prompt
    assert last.material["question"] == QUESTION
    assert last.material["sub_questions"] == ["언제?", "왜?"]
    notes = last.material["notes"]
    assert any(note.startswith("finding ~ LIKELY: ") for note in notes)
    assert sum(note.startswith("hypothesis h") for note in notes) == 5
    assert "Alpha bridge opening" in last.material["searched"]


@pytest.mark.promise("001-21")
def test_21_perspectives_and_dialectic_are_asked_for_and_shown(deep: Deep):
    prompts = " ".join({asked.prompt for asked in deep.model.asked}).casefold()
    for words in ("direct|직접", "expert|전문가", "outsider|third.person|제3자", "antithesis", "synthesis"):
        assert re.search(words, prompts)
    shown = f"{deep.report}{deep.done.err}".casefold()
    assert all(re.search(words, shown) for words in ("thesis|정:", "antithesis|반:", "synthesis|합:"))


@pytest.mark.promise("001-22")
@pytest.mark.parametrize(
    ("question", "pages", "tool"),
    slow_after(
        2,
        [
            (QUESTION, (OPENED,), "SCAMPER"),
            (QUESTION, (OPENED, OTHER_YEAR), "Bayes"),
            (QUESTION, (), "first principles"),
            ("How can we improve the Alpha bridge?", (OPENED,), "TRIZ"),
        ],
    ),
    ids=["a new direction", "a contradiction", "stuck", "an invention"],
)
def test_22_a_tool_of_thought_is_chosen_by_the_situation(
    project: Project, question: str, pages: tuple[str, ...], tool: str
):
    numbers = [f"[{number}]" for number in range(1, len(pages) + 1)]
    findings = [{"text": text, "sources": [number]} for text, number in zip(pages, numbers, strict=True)]
    project.write("docs/other.md", "Jeju basalt.\n")
    for number, text in enumerate(pages):
        project.write(f"docs/{number}.md", f"{text}\n")
    assert project.run("index", "docs").code == 0
    replies = {
        "PlanResponse": plan(
            *(("Alpha bridge",) if pages else ("rain", "snow", "wind")), parts=("언제?", "왜?"), tier="deep"
        ),
        "ReflectionResponse": reflection(*findings),
        "SynthesisResponse": synthesis("모른다."),
    }
    with modelled(project, **replies) as model:
        assert project.run("research", question, "--max-iterations", "1").code in {0, 1}
    (challenge,) = (asked for asked in model.asked if asked.is_challenge)
    assert [note for note in challenge.material["notes"] if note.startswith("tool: ")] == [f"tool: {tool}"]
    tools = ("first principles", "Occam's razor", "falsification", "SCAMPER", "Bayes", "TRIZ")
    assert all(one in challenge.prompt for one in tools)


@pytest.mark.promise("001-23")
def test_23_three_paths_and_their_cross_check_are_kept(deep: Deep):
    kept = f"{deep.report}{json.dumps(deep.state, ensure_ascii=False)}".casefold()
    for words in ("경로 ?a|path a|orthodox", "경로 ?b|path b|alternative", "경로 ?c|path c|opposite"):
        assert re.search(words, kept)
    assert re.search("교차 검증|cross-?check", kept)


@pytest.mark.promise("001-25")
def test_25_three_uncertainties_have_the_evidence_that_they_need(deep: Deep):
    assert deep.state["uncertainties"] == [f"의문 {number} (needs 자료 {number})" for number in range(3)]
    assert deep.state["missing"] == ["다른 강"]
    assert all(one in deep.report for one in ("자료 0", "자료 1", "자료 2", "다른 강"))
    assert "at most three" in _reflections(deep)[0].prompt


@pytest.mark.promise("001-26")
def test_26_the_current_focus_is_shown(deep: Deep):
    assert "🎯 첫 iteration: 전체 탐색 모드" in deep.done.err
    assert "🎯 Current Focus: 5 active hypotheses" in deep.done.err
    assert re.search(r"^  - \[[hH]\d\] .{1,50}\.\.\. \(Priority: 0\.\d\d\)$", deep.done.err, re.MULTILINE)


@pytest.mark.promise("001-27")
def test_27_at_least_ten_candidates_are_asked_for(deep: Deep):
    prompts = {asked.prompt for asked in deep.model.asked}
    assert any(re.search(r"(?:at least|최소) ?(?:ten|10)", prompt, re.IGNORECASE) for prompt in prompts)


@pytest.mark.promise("001-28")
def test_28_candidates_converge_to_three_to_five(exhaustive: dict[str, Any]):
    numbers = [query["iteration"] for query in exhaustive["plan_queries"] if query["iteration"] > 1]
    assert {number: 3 <= numbers.count(number) <= 5 for number in set(numbers)} == {2: True, 3: True, 4: True}


@pytest.mark.promise("001-29")
def test_29_academic_candidates_name_their_sites(project: Project):
    install(project)
    for site in ("site:arxiv.org", "site:github.com", "site:semanticscholar.org"):
        assert site in skill(project)


@pytest.mark.promise("001-31")
def test_31_up_to_five_searches_are_executed_at_once(project: Project):
    queries = ("비", "눈", "바람", "구름", "안개", "서리")
    replies = {
        "PlanResponse": plan(*queries, parts=(QUESTION,)),
        "ReflectionResponse": reflection(),
        "SynthesisResponse": synthesis("모른다."),
    }
    with _searxng() as (url, most):
        settings = f"search: {{providers: [searxng], searxng_url: '{url}'}}\n"
        with modelled(project, settings, **replies):
            done = project.run("research", QUESTION, "--max-iterations", "1")
    assert done.code in {0, 1}, done.err  # 1: nothing said so
    assert max(most) == 5


@pytest.mark.promise("001-32")
@pytest.mark.slow
def test_32_a_paper_is_read_from_its_pdf(project: Project):
    pdf = _pdf("The error rate of the surface code fell below one percent.")
    with fault_server() as server:
        server.paths["/pdf/2501.00001"] = replies(200, pdf, content_type="application/pdf")
        reader, limits = reader_of(server.port), public_name("SearchLimits")()
        found = reader.read(f"{server.url}/pdf/2501.00001", limits)
    assert "surface code fell below one percent" in found.sources[0].text
    (project.folder / "docs").mkdir()
    (project.folder / "docs" / "paper.pdf").write_bytes(pdf)
    assert project.run("index", "docs").code == 0
    answer = project.run("research", "What fell below one percent?").out
    assert "The error rate of the surface code fell below one percent. [1]" in answer
    assert "docs/paper.pdf" in answer


@pytest.mark.promise("001-33")
def test_33_what_no_source_says_is_left_out_counted_and_said(deep: Deep):
    assert INVENTED not in deep.done.out
    assert "(문장 1개를 뺐습니다. 그렇게 나와 있는 자료가 없습니다.)" in deep.done.out
    assert INVENTED.removesuffix(".") in deep.report


@pytest.mark.promise("001-34", "001-35")
def test_34_confidence_and_tag_follow_the_independent_origins(project: Project):
    fact = "The Banpo bridge was opened in 1982."
    found = {}
    for sources in (1, 2, 3):
        one = Project(project.folder / str(sources))
        for number in range(sources):
            one.write(f"docs/{number}.md", f"# Bridge {number}\n\n{fact} {UNLIKE[number]}\n")
        assert one.run("index", "docs").code == 0
        assert (
            _research_of(one, [{"text": fact, "sources": [f"[{n + 1}]" for n in range(sources)]}]).code == 0
        )
        (finding,) = one.view("current/state.json")["findings"]
        found[len(finding["sources"])] = (finding["confidence"], finding["tag"])
    assert found == {1: (0.6, "~ LIKELY"), 2: (0.8, "✓✓ VERIFIED"), 3: (0.95, "✓✓ VERIFIED")}


@pytest.mark.promise("001-35")
def test_35_the_tags_are_those_of_the_document(deep: Deep, project: Project):
    project.open(QUESTION)
    _record(project, 1, findings=[{"text": "누구도 모른다.", "sources": []}])
    seen = {
        one["tag"] for one in [*deep.state["findings"], *project.next()["untrusted_knowledge"]["findings"]]
    }
    assert seen == {"~ LIKELY", "⚠ CONTRADICTED", "? UNCERTAIN"}
    evidence = SimpleNamespace(number=1, origin="arxiv.org", type="paper")
    assert public_name("tag_of")([evidence]) == "✓ HIGH"


@pytest.mark.promise("001-36")
def test_36_a_research_finds_what_cannot_both_be_true(deep: Deep):
    (pair,) = deep.state["contradictions_found"]
    assert {pair["a"]["text"], pair["b"]["text"]} == {OPENED, OTHER_YEAR}
    assert OTHER_YEAR.removesuffix(".") in deep.report


@pytest.mark.promise("001-36")
def test_36_a_run_of_an_agent_finds_what_cannot_both_be_true(project: Project):
    numbers = project.read(OPENED, OTHER_YEAR)
    texts = (OPENED, OTHER_YEAR)
    findings = [
        {"text": text, "quote": text, "sources": [number]}
        for text, number in zip(texts, numbers, strict=True)
    ]
    done = _record(project, 1, findings=findings)
    assert project.view("state.json").get("contradictions_found")
    assert "⚠️  1 contradictions detected" in done.out


@pytest.mark.promise("001-37")
def test_37_a_second_check_takes_out_what_the_model_does_not_find_in_the_sources(project: Project):
    fact = "The Banpo bridge was opened in 1982."
    project.write("docs/1.md", f"# Bridge\n\n{fact}\n")
    assert project.run("index", "docs").code == 0
    findings = [{"text": fact, "sources": ["[1]"], "answers": [QUESTION]}]
    answers = [
        _research_of(project, findings, *options, CheckResponse={"unsupported": [1]}).out
        for options in ((), ("--second-check",))
    ]
    left_out = "(문장 1개를 뺐습니다. 그렇게 나와 있는 자료가 없습니다.)"
    assert [left_out in answer for answer in answers] == [False, True]


@pytest.mark.promise("001-38", "001-39")
def test_38_confidence_and_priority_follow_the_documents_formulae(project: Project):
    _weigh(project, *EVIDENCE)
    (hypothesis,) = _hypotheses(project)
    assert hypothesis["confidence"] == pytest.approx(0.5 + 2 * 0.10 - 0.15)
    assert hypothesis["priority_score"] == pytest.approx(0.55 * 0.5 + 0.15 * 0.3 + 1.0 * 0.2)


@pytest.mark.promise("001-38")
@pytest.mark.parametrize(("stance", "confidence"), slow_after(1, [("supports", 1.0), ("contradicts", 0.0)]))
def test_38_confidence_stays_between_0_and_1(project: Project, stance: str, confidence: float):
    _weigh(project, *((f"fact {number}", stance) for number in range(7)))
    assert _hypotheses(project)[0]["confidence"] == confidence


@pytest.mark.promise("001-39")
def test_39_evidence_is_recent_until_it_is_more_than_two_iterations_old(project: Project):
    _weigh(project, *EVIDENCE)
    scores = [_hypotheses(project)[0]["priority_score"]]
    for number in range(3):
        _record(project, number + 3, findings=[{"text": "something else", "sources": []}])
        scores.append(_hypotheses(project)[0]["priority_score"])
    rest = 0.55 * 0.5 + 0.15 * 0.3
    assert scores == pytest.approx([rest + recency * 0.2 for recency in (1.0, 1.0, 1.0, 0.5)])


@pytest.mark.promise("001-40")
def test_40_a_piece_of_evidence_counts_once_and_by_its_stance(project: Project):
    _weigh(project, ("one", "supports"), ("one", "supports"), ("two", "neutral"))
    (hypothesis,) = _hypotheses(project)
    assert hypothesis["confidence"] == pytest.approx(0.6)
    assert len(hypothesis["supporting_evidence"]) == 1


@pytest.mark.promise("001-41")
def test_41_evidence_has_source_summary_confidence_and_iteration(project: Project):
    _weigh(project, ("one", "supports"))
    (evidence,) = _hypotheses(project)[0]["supporting_evidence"]
    assert isinstance(evidence, dict)
    assert set(evidence) >= {"source", "summary", "confidence", "iteration"}
    assert (evidence["summary"], evidence["iteration"]) == ("one", 2)
    assert (evidence["source"], evidence["confidence"]) == ("docs/0.md", 0.6)


@pytest.mark.promise("001-42")
def test_42_a_research_has_all_hypotheses_and_the_five_of_the_highest_priority(deep: Deep):
    whole = deep.state["all_hypotheses"]
    assert len(whole) == 7
    assert deep.state["active_hypotheses"] == [one["id"] for one in whole[:5]]
    scores = [one["priority_score"] for one in whole]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.promise("001-42")
def test_42_a_run_of_an_agent_has_all_and_active_hypotheses(project: Project):
    project.open(QUESTION)
    _record(project, 1, hypotheses=[f"statement {number}" for number in range(7)])
    state = project.view("state.json")
    assert len(state.get("all_hypotheses", ())) == 7
    assert len(state.get("active_hypotheses", ())) == 5


@pytest.mark.promise("001-43")
def test_43_an_unknown_hypothesis_is_refused(project: Project):
    project.open(QUESTION)
    finding = {"text": "one", "sources": ["https://a.example"], "hypothesis": "h9", "stance": "supports"}
    query = {"query": "subject", "results_count": 1, "success": True}
    refused = project.record({"queries": [query], "findings": [finding]})
    assert (refused.code, "h9" in refused.err) == (2, True)


@pytest.mark.promise("001-44")
def test_44_each_iteration_of_a_research_is_shown_as_the_documents_block(deep: Deep):
    lines = deep.done.err.splitlines()
    lines = lines[lines.index(BAR) :]
    assert lines[:4] == [BAR, "📊 Iteration #1 완료", BAR, "🔍 이번 발견:"]
    assert any(line.startswith("   - ") and line.endswith("[~ LIKELY]") for line in lines)
    assert "🎯 Active Hypotheses (Top 5):" in lines
    assert any(
        line.startswith("      확신도: 50% | Priority: 0.45 | 지지: 0개 | 반증: 0개") for line in lines
    )
    assert any(line.startswith("📈 다음 계획: ") for line in lines)
    assert any(line.startswith("📊 진행도: 0%") for line in lines)


@pytest.mark.promise("001-50")
def test_50_the_inactive_hypotheses_are_counted(deep: Deep):
    assert "📋 Inactive: 2개 가설 (우선순위 낮음, 재평가 대기)" in deep.done.err.splitlines()


@pytest.mark.promise("001-52")
def test_52_a_hypothesis_has_the_documents_fields(deep: Deep, project: Project):
    _weigh(project, ("one", "supports"))
    for hypothesis in (*deep.state["all_hypotheses"], *_hypotheses(project)):
        assert set(hypothesis) >= {
            *("id", "statement", "confidence", "priority_score"),
            *("supporting_evidence", "contradicting_evidence", "last_updated_iteration"),
        }


def _reflect(asked: Asked) -> dict[str, Any]:
    """Report the newest source's sentence, seven hypotheses at first, and what comes next."""
    if asked.is_challenge:
        return reflection(missing=["다른 강"]) | {
            "thesis": "1971",
            "antithesis": "1984",
            "synthesis": "두 번 개통",
            "paths": {"a": "1971", "b": "1984", "c": "없다", "cross_check": "1971이 먼저다"},
        }
    sources = asked.material.get("sources", [])
    said = [{"text": source["text"].strip(), "sources": [f"[{source['number']}]"]} for source in sources]
    upcoming = [query for query in FACTS if query not in asked.material["searched"]]
    return reflection(
        *said,
        queries=tuple(upcoming[:1]),
        hypotheses=[{"statement": f"가설 {number}"} for number in range(7)],
        uncertainties=[{"text": f"의문 {number}", "needs": f"자료 {number}"} for number in range(4)],
    )


def _reflections(deep: Deep) -> list[Asked]:
    return [asked for asked in deep.model.asked if asked.response == "ReflectionResponse"]


def _research_of(project: Project, findings: list[dict[str, Any]], *options: str, **replies: Any) -> Done:
    """Research for an iteration with a model that reports these findings and answers with the first."""
    replies |= {
        "PlanResponse": plan("Banpo bridge opened", parts=(QUESTION,)),
        "ReflectionResponse": reflection(*findings),
        "SynthesisResponse": synthesis(f"{findings[0]['text']} [1]"),
    }
    with modelled(project, **replies):
        done = project.run("research", QUESTION, "--max-iterations", "1", *options)
    assert done.code in {0, 1}, done.err  # 1: nothing said so
    return done


def _weigh(project: Project, *evidence: tuple[str, str]) -> None:
    """Record a hypothesis, then evidence with its stance, each with a source of its own."""
    numbers = project.read(*(text for text, _ in evidence))
    _record(project, 1, hypotheses=["a statement"])
    findings = [
        {"text": text, "quote": text, "sources": [number], "hypothesis": "h1", "stance": stance}
        for (text, stance), number in zip(evidence, numbers, strict=True)
    ]
    _record(project, 2, findings=findings)


def _record(project: Project, number: int, **more: Any) -> Done:
    query = {"query": f"subject {number}", "results_count": 1, "success": True}
    done = project.record({"queries": [query], **more})
    assert done.code in {0, 1}, done.err  # 1: nothing said so
    return done


def _hypotheses(project: Project) -> list[dict[str, Any]]:
    state = project.view("state.json")
    hypotheses: list[dict[str, Any]] = state.get("all_hypotheses") or state["hypotheses"]
    return hypotheses


@contextmanager
def _searxng() -> Iterator[tuple[str, list[int]]]:
    """A search service that answers only when five searches are under way; how many were, at each."""
    under_way, most, is_full, lock = [0], [0], threading.Event(), threading.Lock()

    def behave(connection: socket.socket, is_over: threading.Event) -> None:
        with lock:
            under_way[0] += 1
            most.append(under_way[0])
            if under_way[0] == 5:
                is_full.set()
        is_full.wait(20)
        with lock:
            under_way[0] -= 1
        replies(200, searxng_answer(), content_type="application/json")(connection, is_over)

    with fault_server() as server:
        server.paths["*"] = behave
        yield server.url, most


def _pdf(text: str) -> bytes:
    """A PDF of one page with one line."""
    stream = f"BT /F1 12 Tf 10 100 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 300] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    whole, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(whole))
        whole += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer << /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % len(whole)
    return whole + b"xref\n0 6\n0000000000 65535 f \n" + table + end
