"""What is believed of an agent's report: a quote that stands in a source that coreloop read itself."""

from pathlib import Path
from typing import Any

import pytest

from coreloop.answer.research.research_state import knowledge_of
from coreloop.base.errors import UsageError
from walking import LENGTH, PARTS, SEOUL, walk_in


@pytest.mark.parametrize(
    ("reported", "reason"),
    [
        pytest.param(
            {"sources": ["https://a.example"]}, "coreloop has not read https://a.example", id="unread"
        ),
        pytest.param({"sources": ["me"]}, "coreloop has not read me", id="itself"),
        pytest.param({"sources": []}, "it has no source", id="no source"),
        pytest.param({"quote": "The Han river is 500 km long."}, "does not stand in source 1", id="invented"),
        pytest.param({"sources": [2]}, "source 2 is a text that you gave", id="a given text"),
        pytest.param({"answers": "q3"}, "its quote shares too few words with q3", id="another question"),
    ],
)
def test_what_is_not_believed_has_its_reason_and_answers_nothing(
    reported: dict[str, Any], reason: str, tmp_path: Path
):
    parts = (*PARTS[:2], "Why did the price of oil fall in 2014?")
    with walk_in(tmp_path) as walk:
        walk.plan(parts=parts)
        walk.read("docs/han.md")
        walk.read("notes of mine", LENGTH)
        recorded = walk.record({"text": LENGTH, "quote": LENGTH, "sources": [1], "answers": "q1", **reported})
    assert reason in recorded.unbelieved[0].reason
    assert not any(part.is_settled for part in recorded.state.sub_questions)
    (known,) = knowledge_of(recorded.state).findings
    assert (known.tag == "? UNCERTAIN") is ("answers" not in reported)


@pytest.mark.parametrize(
    ("reported", "message"),
    [
        pytest.param(
            {"sources": [9]}, r"\$.findings\[0\].sources: no source 9; the run has 1 to 1", id="source"
        ),
        pytest.param({"answers": "q9"}, r"\$.findings\[0\].answers: no sub-question q9", id="sub-question"),
        pytest.param({"hypothesis": "h9"}, r"\$.findings\[0\].hypothesis: no hypothesis h9", id="hypothesis"),
    ],
)
def test_an_unknown_id_is_an_error_that_changes_nothing(
    reported: dict[str, Any], message: str, tmp_path: Path
):
    with walk_in(tmp_path) as walk:
        walk.read("docs/han.md")
        with pytest.raises(UsageError, match=message):
            walk.record({"text": LENGTH, "sources": [1], **reported})
        assert walk.state.iteration == 0


def test_a_text_in_another_language_than_its_quote_is_replaced_by_the_quote(tmp_path: Path):
    with walk_in(tmp_path) as walk:
        walk.read("docs/han.md")
        recorded = walk.record({"text": "한강은 900 km이다.", "quote": LENGTH, "sources": [1]})
    assert [one.text for one in knowledge_of(recorded.state).findings] == [LENGTH]


def test_a_quote_that_leaves_out_the_denial_is_believed_with_it(tmp_path: Path):
    denial = f"# Errors\n\nIt is not true that {LENGTH[0].lower()}{LENGTH[1:]} {SEOUL}\n"
    quote = f"{LENGTH[0].lower()}{LENGTH[1:]}"
    with walk_in(tmp_path, {"docs/errors.md": denial}) as walk:
        walk.read("docs/errors.md")
        state = walk.record({"text": LENGTH, "quote": quote, "sources": [1]}).state
    (finding,) = knowledge_of(state).findings
    assert finding.text.startswith("It is not true that")


def test_two_independent_sources_verify_and_copies_do_not(tmp_path: Path):
    files = {
        "docs/1.md": f"{LENGTH} Its banks have parks with lawns for picnics in the summer months.",
        "docs/2.md": f"Engineers of the ministry wrote this report after a decade of field work. {LENGTH}",
        "docs/3.md": f"{LENGTH} Its banks have parks with lawns for picnics in the summer months!",
    }
    with walk_in(tmp_path, files) as walk:
        for name in files:
            walk.read(name)
        copies = walk.record({"text": LENGTH, "sources": [1, 3]}).state
        both = walk.record({"text": LENGTH, "sources": [2]}).state
    assert [knowledge_of(state).findings[0].confidence for state in (copies, both)] == [0.6, 0.8]
    assert knowledge_of(both).findings[0].tag == "✓✓ VERIFIED"
