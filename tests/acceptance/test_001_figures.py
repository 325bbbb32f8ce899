"""Numbers that document 001 of the specification promises, each told from its neighbours."""

from pathlib import Path
from typing import Any

import pytest

from acceptance.asking import search_service
from acceptance.model import UNLIKE, Asked, modelled, plan, reflection, synthesis
from acceptance.shell import Project
from rows import slow_after

QUESTION = "When were the bridges opened?"
FACT = "The Banpo bridge was opened in 1982."
NEWEST = 30


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.mark.promise("001-17")
def test_17_a_prompt_shows_the_30_newest_findings_and_no_more(project: Project) -> None:
    names = ("Alpha", "Boseong", "Gimje", "Homigot")
    groups = [
        [f"Bridge K{number} of the {name} river was opened by mayor L{number}." for number in range(9)]
        for name in names
    ]
    for name, facts in zip(names, groups, strict=True):
        project.write(f"docs/{name}.md", f"# {name}\n\n{' '.join(facts)}\n")
    assert project.run("index", "docs").code == 0

    left = [*groups]

    def reflect(asked: Asked) -> dict[str, Any]:
        if asked.is_challenge or not left:
            return reflection(sufficient=not left)
        facts = left.pop(0)
        (source,) = [source for source in asked.material["sources"] if facts[0] in source["text"]]
        said = [{"text": fact, "sources": [f"[{source['number']}]"]} for fact in facts]
        return reflection(*said, queries=tuple(f"bridge {names[len(groups) - len(left)]}" for _ in left[:1]))

    replies = {
        "PlanResponse": plan("bridge", parts=(QUESTION,), tier="deep"),
        "ReflectionResponse": reflect,
        "SynthesisResponse": synthesis(f"{groups[0][0]} [1]"),
    }
    with modelled(project, **replies) as model:
        done = project.run("research", QUESTION)
    assert done.code == 0, done.err
    found = [finding["text"] for finding in project.view("current/state.json")["findings"]]
    assert len(found) > NEWEST
    semantic = project.view("current/working_memory.json")["semantic"]
    assert [finding["text"] for finding in semantic] == found[-NEWEST:]
    (notes,) = [asked.material["notes"] for asked in model.asked if asked.response == "SynthesisResponse"][:1]
    shown = [note for note in notes if note.startswith("finding ")]
    assert len(shown) == NEWEST
    assert all(text in note for text, note in zip(found[-NEWEST:], shown, strict=True))


@pytest.mark.promise("001-34", "001-35")
def test_34_three_copies_of_one_text_are_one_origin(project: Project) -> None:
    for number in range(3):
        project.write(f"docs/{number}.md", f"# Bridge\n\n{FACT} {UNLIKE[0]}\n")
    assert project.run("index", "docs").code == 0
    assert _rated(project) == (3, 0.6, "~ LIKELY")


@pytest.mark.promise("001-34", "001-35")
def test_34_three_pages_of_one_site_are_one_origin(project: Project) -> None:
    with search_service(*(f"{number:03} {FACT} {UNLIKE[number]}" for number in range(3))) as search:
        settings = f"search: {{providers: [searxng], searxng_url: '{search.url}'}}\n"
        assert _rated(project, settings) == (3, 0.6, "~ LIKELY")


@pytest.mark.promise("001-40")
@pytest.mark.parametrize("is_at_once", slow_after(1, [True, False]), ids=["in one report", "in two"])
@pytest.mark.parametrize(
    ("stances", "confidence"),
    [
        (("supports", "supports"), 0.6),
        (("contradicts", "contradicts"), 0.35),
        (("supports", "contradicts"), 0.6),
        (("contradicts", "supports"), 0.35),
    ],
    ids=["for, for", "against, against", "for, against", "against, for"],
)
def test_40_a_piece_of_evidence_counts_once_for_its_first_stance(
    project: Project, stances: tuple[str, str], confidence: float, *, is_at_once: bool
) -> None:
    (number,) = project.read("one")
    findings = [
        {"text": "one", "quote": "one", "sources": [number], "hypothesis": "h1", "stance": stance}
        for stance in stances
    ]
    reports = [findings] if is_at_once else [[finding] for finding in findings]
    for number, report in enumerate(reports):
        query = {"query": f"subject {number}", "results_count": 1, "success": True}
        more = {} if number else {"hypotheses": ["a statement"]}
        assert project.record({"queries": [query], "findings": report, **more}).code == 0
    (hypothesis,) = project.view("state.json")["all_hypotheses"]
    evidence = (*hypothesis["supporting_evidence"], *hypothesis["contradicting_evidence"])
    assert (hypothesis["confidence"], len(evidence)) == (pytest.approx(confidence), 1)


def _rated(project: Project, settings: str = "") -> tuple[int, float, str]:
    """Sources, confidence and tag of the one finding of a research that three sources say."""
    finding = {"text": FACT, "sources": ["[1]", "[2]", "[3]"]}
    replies = {
        "PlanResponse": plan("Banpo bridge opened", parts=(QUESTION,)),
        "ReflectionResponse": reflection(finding),
        "SynthesisResponse": synthesis(f"{FACT} [1]"),
    }
    with modelled(project, settings, **replies):
        done = project.run("research", QUESTION, "--max-iterations", "1")
    assert done.code == 0, done.err
    (kept,) = project.view("current/state.json")["findings"]
    return len(kept["sources"]), kept["confidence"], kept["tag"]
