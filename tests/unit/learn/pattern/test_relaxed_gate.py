"""Good bullets of the playbook relax only the two counts of the gate; audit notes are only shown."""

import json
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coreloop.base.date_range import Days
from coreloop.base.project.settings import Gates, Settings
from coreloop.base.project.workspace import Workspace
from coreloop.learn.facts.counting import MineSettings
from coreloop.learn.mine.folder import read_folder
from coreloop.learn.mine.window import merge
from coreloop.learn.pattern.find_candidates import CandidateSearch, _advice, find_candidates
from coreloop.learn.pattern.run import propose, write_proposals
from coreloop.learn.proposals.proposal_files import Note
from logs import call, record, repeated, rest, write_log

NOW = datetime(2026, 4, 25, 12, tzinfo=UTC)
ALWAYS = Days(date(2000, 1, 1), date(2100, 1, 1))
ADVICE = ("영업이익률은 업종 중앙값과 함께 본다",)
GATE = Gates()
PLAYBOOK = {"profitability": ADVICE}


def _search(folder: Path, records: list[dict[str, Any]], gate: Gates = GATE, **more: Any) -> CandidateSearch:
    write_log(folder / "a.jsonl", records)
    window = merge(read_folder(folder, MineSettings()), ALWAYS)
    return find_candidates(window, gate, **{"playbook": PLAYBOOK, **more})


def test_two_requests_with_two_questions_are_enough_and_the_bullets_are_listed(tmp_path: Path):
    (candidate,) = _search(tmp_path, repeated(2)).candidates
    assert (candidate.n_observed, candidate.evidence_rank, candidate.bullets) == (2, 2, ADVICE)


def test_a_pattern_that_passes_the_full_gate_has_no_bullets(tmp_path: Path):
    (candidate,) = _search(tmp_path, repeated(3)).candidates
    assert (candidate.evidence_rank, candidate.bullets) == (1, ())


def test_three_requests_with_two_questions_are_relaxed_too(tmp_path: Path):
    (candidate,) = _search(tmp_path, [*repeated(2), *repeated(1)]).candidates
    assert (candidate.n_observed, candidate.n_unique_questions, candidate.evidence_rank) == (3, 2, 2)


@pytest.mark.parametrize(
    ("records", "gate"),
    [
        pytest.param(repeated(1), "min_repeat", id="one request"),
        pytest.param([record()] * 5, "min_unique_questions", id="one question"),
        pytest.param(
            [record(question=f"수익성 마진 성장 배당 현금 {word}") for word in ("", "가")],
            "min_unique_questions",
            id="near questions",
        ),
        pytest.param([*repeated(2), record(error="x")], "min_success_rate", id="a failure"),
        pytest.param(repeated(2, category_hash="FIN-growth-KR"), "min_repeat", id="another topic"),
        pytest.param(repeated(2, category_hash="profitability"), "min_repeat", id="no topic part"),
        pytest.param(repeated(2, category_hash="profitability-FIN"), "min_repeat", id="the topic elsewhere"),
        pytest.param(repeated(2, category_hash="a b-profitability"), "min_repeat", id="no label"),
        pytest.param(repeated(2, category_hash=None), "min_repeat", id="no category"),
    ],
)
def test_all_other_conditions_of_the_gate_apply(records: list[dict[str, Any]], gate: str, tmp_path: Path):
    search = _search(tmp_path, records)
    assert search.candidates == ()
    assert search.dropped[gate] == 1


def test_a_gate_that_asks_for_less_is_not_raised(tmp_path: Path):
    (candidate,) = _search(tmp_path, repeated(1), Gates(min_repeat=1, min_unique_questions=1)).candidates
    assert (candidate.evidence_rank, candidate.bullets) == (1, ())


def test_without_a_playbook_nothing_is_relaxed(tmp_path: Path):
    assert _search(tmp_path, repeated(2), playbook={}).candidates == ()


def test_known_keys_stay_known(tmp_path: Path):
    (candidate,) = _search(tmp_path, repeated(2)).candidates
    assert _search(tmp_path, repeated(2), known=frozenset({candidate.key})).candidates == ()


@given(st.text(max_size=30))
def test_a_topic_is_the_second_part_of_a_label(label: str):
    class Everything(dict[str, tuple[str, ...]]):
        def get(self, key: str, default: Any = None) -> tuple[str, ...]:  # type: ignore[override]
            return (key,)

    advice = _advice(label, Everything())
    assert advice in {(), tuple(label.split("-")[1:2])}


HOSTILE = "# 제목 [l](http://e.example) <script>\x1b[2J\n```\u202e"


def _written(
    folder: Path,
    *,
    requests: int = 2,
    others: Sequence[dict[str, Any]] = (),
    sanitized: bool = False,
    **more: Any,
) -> tuple[dict[str, Any], str]:
    same = [call("analysis", {"axis": "수익성"})]
    records = [
        *repeated(2, tool_calls=same),
        *[record(question="질문 가 회사가", tool_calls=same)] * (requests - 2),
        *others,
    ]
    write_log(folder / "log" / "a.jsonl", records)
    files = read_folder(folder / "log", MineSettings())
    proposals = propose(files, ALWAYS, Gates(), workspace=Workspace(folder, Settings()), **more)
    _, (path, draft) = write_proposals(proposals, folder / "out", now=NOW, sanitized=sanitized)
    return json.loads(path.read_bytes()), draft.read_text(encoding="utf-8")


def test_the_draft_names_the_bullet_as_a_line_of_code(tmp_path: Path):
    document, draft = _written(tmp_path, playbook={"profitability": (HOSTILE, "둘째")})
    (candidate,) = document["candidates"]
    assert candidate["bullets"] == [HOSTILE, "둘째"]
    lines = draft.partition("relaxed by the playbook (evidence rank 2):\n\n")[2].splitlines()[:4]
    assert lines[1].startswith("    # 제목")
    assert lines[1].isprintable()
    assert (lines[0], lines[2:]) == ("```untrusted", ["    둘째", "```"])


def test_notes_stand_at_the_end_of_the_draft_and_beside_the_candidates(tmp_path: Path):
    document, draft = _written(tmp_path, notes=(Note("990168", ("가", HOSTILE)), Note("a*b", ("나",))))
    assert document["notes"] == [
        {"stock_code": "990168", "bullets": ["가", HOSTILE], "evidence_rank": 3},
        {"stock_code": "a*b", "bullets": ["나"], "evidence_rank": 3},
    ]
    assert document["candidates"] == []
    head, _, notes = draft.partition("## Audit notes (evidence rank 3): to read, not to promote\n")
    assert "Nothing passed the gates" in head
    lines = [line for line in notes.splitlines() if line]
    assert [line for line in lines if not line.startswith("    ")] == ["```untrusted", "```"]
    assert (lines[1], lines[3]) == ("    990168: 가", "    a*b: 나")
    assert all(line.isprintable() for line in lines)


def test_sanitize_removes_every_text_of_people(tmp_path: Path):
    document, draft = _written(
        tmp_path,
        requests=5,  # of fewer, nothing would be listed
        sanitized=True,
        playbook={"profitability": ("SECRET",)},
        notes=(Note("990168", ("SECRET note",)),),
    )
    assert "SECRET" not in json.dumps(document) + draft
    assert "990168" not in json.dumps(document) + draft
    assert document["candidates"][0]["bullets"] == ["[REDACTED 6]"]
    assert document["notes"] == [
        {"stock_code": "[REDACTED 6]", "bullets": ["[REDACTED 11]"], "evidence_rank": 3}
    ]


def test_no_word_of_people_is_in_the_proposed_text(tmp_path: Path):
    playbook, notes = {"profitability": ("SECRET",)}, (Note("1", ("SECRET",)),)
    document, _ = _written(tmp_path, others=rest(), playbook=playbook, notes=notes)
    (candidate,) = document["candidates"]
    assert candidate["bullets"] == ["SECRET"]
    assert "SECRET" not in json.dumps(candidate["suggested_append"])
    assert candidate["suggested_append"]["body"].startswith("- When: ")


def test_advice_of_the_playbook_does_not_make_a_weak_sequence_strong(tmp_path: Path):
    document, _ = _written(tmp_path, playbook={"profitability": ("SECRET",)})
    (candidate,) = document["candidates"]
    assert candidate["suggested_append"] is None
    assert candidate["refused"] == "weak: its category has no other requests to compare it with"
