"""What document 002 of the specification promises, a test a row."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import jsonschema
import pytest

from acceptance.asking import (
    LIMITED,
    NO_EVIDENCE,
    QUESTION,
    Asked,
    ask_with,
    assert_error_response,
    finding,
    indexed,
    model_at,
    research,
    research_with,
    search_service,
    searching,
    settle,
)
from acceptance.walk import PACKAGE, REPO, public_name
from model_stand_in import answers, model_stand_in, streams
from researching import METADATA, RIVER, plan, reflection, synthesis
from rows import slow_after

UNKNOWN = "Who painted the Mona Lisa?"
SCHEMAS = {
    "PLAN_RESPONSE_V1": {"queries": [{"query": "string", "intent": "string"}]},
    "REFLECTION_RESPONSE_V1": {
        "sufficient": True,
        "confidence": 0.0,
        "gaps": ["string"],
        "new_queries": [{"query": "string", "intent": "string"}],
        "metadata": METADATA,
    },
    "SYNTHESIS_RESPONSE_V1": {
        "answer": "string",
        "citations": [{"id": "[1]", "title": "string", "type": "string", "location": "string"}],
        "metadata": METADATA,
    },
    "ERROR_RESPONSE_V1": {"error": {"type": "string", "message": "string", "retryable": True}},
}


@pytest.fixture(scope="module")
def two_loops(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    """A research whose first reflection asks for more."""
    return research_with(
        tmp_path_factory.mktemp("loops"),
        plan("Banpo bridge opened", sub_questions=(QUESTION,), tier="standard"),
        reflection(queries=("Han river length",), gaps=["the length"]),
        reflection(finding(source="[2]"), sufficient=True, confidence=0.9),
        synthesis(f"{RIVER} [2] It is 9000 metres deep [2]. It was dug in 1982 [99]."),
    )


@pytest.fixture(scope="module")
def offline(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    return research(indexed(tmp_path_factory.mktemp("offline")))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An indexed project without a model."""
    return indexed(tmp_path_factory.mktemp("project"))


# --- The loop ---------------------------------------------------------------------------------------


@pytest.mark.promise("002-1")
def test_01_it_plans_searches_reflects_iterates_and_synthesises(two_loops: Asked) -> None:
    two_loops.done.assert_code()
    loop = ["PlanResponse", "ReflectionResponse", "ReflectionResponse", "SynthesisResponse"]
    assert (two_loops.schemas, two_loops.answer["iterations"]) == (loop, 2)
    searched = {entry["query"] for entry in two_loops.state["sources"]}
    assert searched == {"Banpo bridge opened", "Han river length"}
    assert RIVER in json.dumps(two_loops.material(2))
    assert RIVER not in json.dumps(two_loops.material(1))


@pytest.mark.promise("002-2")
def test_02_run_research_takes_the_arguments_of_the_document(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    run_research = public_name("run_research")
    response = run_research(QUESTION, max_iters=2, max_queries=3, max_sources=5, max_execution_time_s=60)
    assert RIVER in response.final_answer


@pytest.mark.promise("002-3")
def test_03_the_state_has_the_fields_of_the_document_under_these_names(two_loops: Asked) -> None:
    state = two_loops.state
    assert state["question"]["original"] == QUESTION
    assert [entry["query"] for entry in state["plan_queries"]] == ["Banpo bridge opened", "Han river length"]
    assert (state["iteration"]["current"], state["sufficient"]) == (2, True)
    assert 0 < state["confidence"] <= 1
    assert (state["limits"]["max_iterations"], state["limits"]["deadline_s"]) == (5, 90)
    assert isinstance(state["token_budget"], int)
    assert {"gaps", "failed_queries", "error_log"} <= state.keys()
    assert [entry["id"] for entry in state["answer"]["sources"]] == ["[2]"]
    assert state["answer"]["degraded"] is False


@pytest.mark.promise("002-5")
@pytest.mark.parametrize("name", SCHEMAS)
def test_05_the_schemas_accept_the_examples_of_the_document(name: str) -> None:
    schema = json.loads((REPO / f"docs/schemas/{name}.json").read_text(encoding="utf-8"))
    jsonschema.validate(SCHEMAS[name], schema)
    for field in SCHEMAS[name]:
        if field != "metadata":
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate(
                    {key: SCHEMAS[name][key] for key in SCHEMAS[name] if key != field}, schema
                )


@pytest.mark.promise("002-5")
def test_05_the_model_is_asked_for_what_the_document_shows(two_loops: Asked) -> None:
    for number, name in ((0, "PLAN"), (1, "REFLECTION"), (3, "SYNTHESIS")):
        schema = two_loops.bodies[number]["response_format"]["json_schema"]["schema"]
        jsonschema.validate(SCHEMAS[f"{name}_RESPONSE_V1"], schema)


@pytest.mark.promise("002-6")
def test_06_an_answer_has_a_summary_a_final_answer_and_its_checked_sources(two_loops: Asked) -> None:
    answer = two_loops.answer
    assert {"summary", "final_answer", "sources"} <= answer.keys()
    assert RIVER in answer["summary"]
    assert [(entry["id"], entry["location"]) for entry in answer["sources"]] == [("[2]", "docs/han.md")]


@pytest.mark.promise("002-7")
def test_07_the_prompts_are_files_and_are_what_the_model_is_sent(two_loops: Asked) -> None:
    for number, name in ((0, "plan"), (1, "reflect"), (3, "synthesize")):
        (prompt,) = PACKAGE.rglob(f"{name}_prompt.txt")
        text = prompt.read_text(encoding="utf-8").strip()
        assert text in two_loops.system(number)
    assert "each with its intent: 3 to 6" in two_loops.system(0)
    assert {"question", "sub_questions", "sources", "notes"} <= two_loops.material(3).keys()


@pytest.mark.promise("002-8")
def test_08_a_query_with_fewer_than_three_results_is_reworded(project: Path) -> None:
    asked = research(project, "--tier", "standard", question="What causes the rare price increase of tea?")
    ways = {entry["how"] for entry in asked.state["rewordings"]}
    assert {"synonyms", "broader"} <= ways


@pytest.mark.promise("002-9")
def test_09_max_iters_1_ends_after_one_iteration(project: Path) -> None:
    asked = research(project, "--max-iterations", "1", question=UNKNOWN)
    assert asked.done.assert_code(1).errors.count("Iteration #") == 1
    assert asked.answer["iterations"] == 1


@pytest.mark.slow
@pytest.mark.promise("002-9")
def test_09_a_search_that_hangs_is_left_at_the_limit_of_time(tmp_path: Path) -> None:
    indexed(tmp_path)
    with search_service(is_hanging=True) as search:
        settle(tmp_path, **searching(search))
        asked = research(tmp_path, "--deadline", "5s")
    assert search.requests
    assert (asked.answer["insufficient_termination"], asked.answer["degraded"]) == (True, True)


@pytest.mark.promise("002-10")
def test_10_an_end_by_a_limit_is_an_insufficient_termination(project: Path, offline: Asked) -> None:
    limited = research(project, "--max-iterations", "1", question=UNKNOWN)
    assert limited.answer["insufficient_termination"] is True
    assert offline.answer["insufficient_termination"] is False


# --- Tiers and configuration ------------------------------------------------------------------------


def limits_of(asked: Asked) -> tuple[int, int, int]:
    limits = asked.state["limits"]
    return limits["max_iterations"], limits["queries"], limits["sources"]


@pytest.mark.promise("002-11")
@pytest.mark.parametrize(
    ("tier", "least", "most"),
    [("simple", (2, 3, 5), (2, 3, 5)), ("standard", (5, 10, 15), (5, 10, 15)), ("deep", (10, 15, 20), None)],
)
def test_11_a_tier_has_its_iterations_queries_sources_and_seconds(
    project: Path, tier: str, least: tuple[int, ...], most: tuple[int, ...] | None
) -> None:
    asked = research(project, "--tier", tier)
    limits = limits_of(asked)
    assert [limit >= bound for limit, bound in zip(limits, least, strict=True)] == [True] * 3
    assert most is None or limits == most
    assert 60 <= asked.state["limits"]["deadline_s"] <= 120


@pytest.mark.promise("002-12")
@pytest.mark.parametrize(
    ("planned", "words", "tier"),
    slow_after(1, [("deep", (), "deep"), (None, (), "standard"), ("deep", ("--tier", "simple"), "simple")]),
    ids=["as planned", "default", "option"],
)
def test_12_the_plan_chooses_the_tier_unless_it_is_asked_for(
    tmp_path: Path, planned: str | None, words: tuple[str, ...], tier: str
) -> None:
    asked = research_with(
        tmp_path,
        plan("Han river length", sub_questions=(QUESTION,), tier=planned),
        *[reflection(finding(), sufficient=True)] * 2,
        *[synthesis(f"{RIVER} [1]")] * 2,
        words=words,
    )
    assert (asked.state["tier"], asked.state["request"]["tier"]) == (tier, words[-1] if words else None)


@pytest.mark.promise("002-13")
def test_13_five_variables_are_defaults_and_an_option_has_precedence(project: Path) -> None:
    environ = {
        "RESEARCH_MAX_ITERS": "2",
        "RESEARCH_MAX_QUERIES": "4",
        "RESEARCH_MAX_SOURCES": "6",
        "RESEARCH_MAX_EXECUTION_TIME_S": "70",
        "RESEARCH_TOKEN_BUDGET": "9000",
    }
    asked = research(project, "--tier", "standard", **environ)
    assert limits_of(asked) == (2, 4, 6)
    assert (asked.state["limits"]["deadline_s"], asked.state["limits"]["tokens"]) == (70, 9000)
    assert limits_of(research(project, "--max-iterations", "1", **environ)) == (1, 4, 6)
    wrong = research(project, RESEARCH_MAX_ITERS="many").done.assert_code(2)
    assert "RESEARCH_MAX_ITERS" in wrong.errors
    assert wrong.errors.count("\n") == 1


# --- Memory -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def compacted(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    """A research whose plan used up most of its tokens."""
    pages = {f"p{n}.md": f"# Han river length {n}\n\n{RIVER} {'강이 흐른다. ' * 90}\n" for n in range(6)}
    return research_with(
        tmp_path_factory.mktemp("compacted"),
        streams(plan("Han river length", sub_questions=(QUESTION,)), usage=(40_000, 4_500)),
        reflection(finding()),
        synthesis(f"{RIVER} [1]"),
        words=("--max-tokens", "80000"),
        pages=pages,
    )


@pytest.mark.promise("002-14")
def test_14_below_a_quarter_of_the_token_budget_older_results_become_handles(compacted: Asked) -> None:
    compacted.done.assert_code()
    assert compacted.state["compactions"][0]["reason"] == "less than 25% of the token budget is left"
    shown = compacted.material(1)["sources"]
    assert any("archived: iteration 1" in source["text"] for source in shown)


@pytest.mark.slow
@pytest.mark.promise("002-14")
def test_14_more_than_50k_tokens_of_results_are_compacted(tmp_path: Path) -> None:
    filler = " ".join(f"water{number}" for number in range(1_500))
    replies = (
        plan("Han river length", sub_questions=(QUESTION,)),
        reflection(finding()),
        synthesis(f"{RIVER} [1]"),
    )
    with search_service(*[f"{n:03} {RIVER} {filler}" for n in range(5)]) as search, model_stand_in() as model:
        model.acts += [streams(text) for text in replies]
        settle(tmp_path, **searching(search), **model_at(model.url))
        asked = research(tmp_path)
    assert asked.final.splitlines()[0] == f"{RIVER} [1]"  # the numbers of the pages are said to differ
    assert "50" in asked.state["compactions"][0]["reason"]
    shown = json.loads(model.bodies[1]["messages"][1]["content"])["sources"]
    assert any("archived: iteration 1" in source["text"] for source in shown)


@pytest.mark.promise("002-14")
def test_14_older_results_are_summarised_rather_than_cut(compacted: Asked) -> None:
    raw = [entry["source"]["text"] for entry in compacted.state["sources"]]
    shown = [source["text"] for source in compacted.material(1)["sources"] if "archived" in source["text"]]
    summaries = [re.split(r"\W*archived", text)[0] for text in shown]
    assert all(summaries)
    assert [text for text in summaries if any(whole.startswith(text) for whole in raw)] == []


@pytest.mark.promise("002-30")
def test_30_raw_results_are_stored_outside_the_context(compacted: Asked) -> None:
    (path,) = (compacted.folder / ".research/current/archival").glob("iteration_*.json")
    stored = json.dumps(json.loads(path.read_text(encoding="utf-8")), ensure_ascii=False)
    raw = [json.dumps(entry["source"]["text"], ensure_ascii=False) for entry in compacted.state["sources"]]
    assert len(raw) == 5
    assert [text for text in raw if text not in stored] == []


@pytest.mark.promise("002-31")
def test_31_sources_are_only_appended_and_each_loop_counts_once(two_loops: Asked) -> None:
    sources = two_loops.state["sources"]
    assert [entry["number"] for entry in sources] == list(range(1, len(sources) + 1))
    iterations = [entry["iteration"] for entry in sources]
    assert (iterations, set(iterations)) == (sorted(iterations), {1, 2})
    before = [source["text"] for source in two_loops.material(1)["sources"]]
    after = [source["text"] for source in two_loops.material(2)["sources"]]
    assert after[: len(before)] == before


# --- Errors of a search -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def outage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Asked, int]]:
    """A research while the only search answers HTTP 500, and the requests that it got."""
    folder = indexed(tmp_path_factory.mktemp("outage"))
    with search_service(status=500) as search:
        settle(folder, **searching(search))
        asked = research(
            folder, "--tier", "standard", question="How long and how deep is the Han river in Seoul?"
        )
        yield asked, len(search.requests)


@pytest.mark.slow
@pytest.mark.promise("002-4")
def test_04_each_retry_is_in_the_error_log(outage: tuple[Asked, int]) -> None:
    log = outage[0].state["error_log"]
    assert {0, 1} <= {entry["attempt"] for entry in log}
    assert all("500" in entry["error"] for entry in log)


@pytest.mark.slow
@pytest.mark.promise("002-15", "002-17")
def test_15_a_failing_search_is_tried_three_times_a_query_until_three_queries_failed(
    outage: tuple[Asked, int],
) -> None:
    asked, requests = outage
    failed = [entry for entry in asked.state["failed_queries"] if "HTTP 500" in json.dumps(entry)]
    assert (requests, len(failed)) == (9, 3)


@pytest.mark.slow
@pytest.mark.promise("002-17")
def test_17_a_search_is_left_alone_when_half_of_its_queries_failed(tmp_path: Path) -> None:
    with search_service(failing=b"cost") as search:
        settle(tmp_path, **searching(search))
        asked = research(
            tmp_path, "--tier", "standard", question="What causes the rare price increase of tea?"
        )
    failed = [entry for entry in asked.state["failed_queries"] if entry["reason"] == "searxng: HTTP 500"]
    assert (len(search.requests), len(failed)) == (2 + 2 * 3, 2)
    assert asked.answer["degraded"] is True


@pytest.mark.promise("002-16")
def test_16_an_empty_search_is_reworded_and_searched_again(tmp_path: Path) -> None:
    with search_service() as search:
        settle(tmp_path, **searching(search))
        asked = research(
            tmp_path, "--tier", "standard", question="What causes the rare price increase of tea?"
        )
        sent = b"\n".join(search.requests).decode()
    reworded = [entry["becomes"] for entry in asked.state["rewordings"]]
    assert len(reworded) >= 3
    assert [query for query in reworded if urlencode({"q": query}) not in sent] == []
    assert (asked.final, asked.answer["degraded"]) == (NO_EVIDENCE, False)


@pytest.mark.slow
@pytest.mark.promise("002-18")
def test_18_an_answer_of_a_limited_search_says_so(outage: tuple[Asked, int]) -> None:
    assert LIMITED in outage[0].final.splitlines()
    assert outage[0].answer["degraded"] is True


@pytest.mark.slow
@pytest.mark.promise("002-19")
def test_19_another_provider_answers_for_one_that_fails(tmp_path: Path) -> None:
    indexed(tmp_path)
    with search_service(status=500) as search:
        settle(tmp_path, **searching(search, "index"))
        asked = research(tmp_path)
    assert search.requests
    assert RIVER in asked.final


@pytest.mark.slow
@pytest.mark.promise("002-20")
def test_20_a_total_outage_is_not_reported_as_a_question_without_evidence(outage: tuple[Asked, int]) -> None:
    asked, _ = outage
    assert asked.done.code == 4
    assert NO_EVIDENCE not in asked.done.out


# --- Citations --------------------------------------------------------------------------------------


@pytest.mark.promise("002-21")
def test_21_a_citation_that_no_source_has_fails(two_loops: Asked) -> None:
    assert f"{RIVER} [2]" in two_loops.final
    assert "[99]" not in two_loops.done.out
    assert "1982" not in two_loops.final


@pytest.mark.promise("002-22")
def test_22_a_sentence_that_its_source_does_not_say_fails(two_loops: Asked) -> None:
    assert "9000 metres deep" not in two_loops.final
    assert "2 sentences left out" in two_loops.final


@pytest.mark.promise("002-32")
def test_32_a_model_checks_claims_if_it_is_asked_to(tmp_path: Path) -> None:
    asked = research_with(
        tmp_path,
        plan("Han river length", sub_questions=(QUESTION,)),
        reflection(finding(), sufficient=True),
        synthesis(f"{RIVER} [1] It flows through Seoul [1]."),
        json.dumps({"unsupported": [2]}),
        words=("--second-check",),
    )
    assert f"{RIVER} [1]" in asked.final
    assert "Seoul" not in asked.final


# --- Errors of a model ------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.promise("002-23")
@pytest.mark.parametrize(
    "sound",
    [(), (plan("Han river length"),)],
    ids=["the plan", "the reflection"],
)
def test_23_a_reply_that_is_no_json_ends_a_research_with_an_error_response(
    tmp_path: Path, sound: tuple[str, ...]
) -> None:
    asked = research_with(tmp_path, *sound, *["no JSON at all"] * 4)
    assert asked.done.code != 0
    assert_error_response(asked.done.out)


@pytest.mark.promise("002-23")
def test_23_a_reply_that_is_no_json_ends_ask_with_an_error_response(tmp_path: Path) -> None:
    asked = ask_with(indexed(tmp_path), *["no JSON at all"] * 20)
    assert asked.bodies
    assert asked.done.code != 0
    assert_error_response(asked.done.out)


@pytest.mark.promise("002-24")
def test_24_json_in_a_fence_is_read(tmp_path: Path) -> None:
    replies = (
        plan("Han river length", sub_questions=(QUESTION,)),
        reflection(finding(), sufficient=True),
        synthesis(f"{RIVER} [1]"),
    )
    asked = research_with(tmp_path, *[f"Here it is:\n```json\n{reply}\n```\n" for reply in replies])
    assert asked.final == f"{RIVER} [1]"


def whole(content: str) -> Any:
    """The reply of an endpoint that ignores ``stream``: one JSON document."""
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
    completion = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    return answers(200, {**completion, "usage": usage})


@pytest.mark.slow
@pytest.mark.promise("002-25")
def test_25_an_endpoint_that_ignores_stream_is_understood(tmp_path: Path) -> None:
    asked = research_with(
        tmp_path,
        whole(plan("Han river length", sub_questions=(QUESTION,))),
        whole(reflection(finding(), sufficient=True)),
        *[whole(synthesis(f"{RIVER} [1]"))] * 9,
    )
    assert asked.done.code == 0
    assert asked.final == f"{RIVER} [1]"
