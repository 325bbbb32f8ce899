"""What files say of a question."""

from pathlib import Path

from coreloop.answer.repair.evidence import evidence_of_file, fresh_sources
from repairing import RETURN_QUESTION, shop
from researching import MOMENT


def test_evidence_of_code_is_its_best_symbol(tmp_path: Path):
    shop(tmp_path)
    found = evidence_of_file(tmp_path, "rates.py", "What share do gold customers get?", now=MOMENT)
    assert found is not None
    assert (found.symbol, found.content.splitlines()[0]) == (
        "rate_of",
        "def rate_of(customer: str) -> float:",
    )
    assert evidence_of_file(tmp_path, "absent.md", "?", now=MOMENT) is None


def test_evidence_of_a_file_that_changed_is_not_used(tmp_path: Path):
    shop(tmp_path)
    found = evidence_of_file(tmp_path, "docs/returns.md", RETURN_QUESTION, now=MOMENT)
    kept = [found] if found else []
    assert len(list(fresh_sources(tmp_path, kept))) == 1
    (tmp_path / "docs" / "returns.md").write_text("# Returns\n\nNever.\n")
    assert list(fresh_sources(tmp_path, kept)) == []
