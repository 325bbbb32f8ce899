"""What `refine` says about failures that a promoted line explains."""

from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path

import pytest

from coreloop.base.git.promotions import Promotion
from coreloop.cli.refine import unproposed_lines
from coreloop.learn.line import statement_key
from coreloop.learn.mine.folder import Mined
from coreloop.learn.proposals.entry import ErrorRow
from coreloop.learn.proposals.proposal_files import markdown
from coreloop.learn.propose import RefineResult, refine
from coreloop.learn.verdicts.proposal_state import ProposalState, Standpoint
from logs import call, failed, on_days, record, word
from samples import ALWAYS, START, mined

SOURCE = '''
def quote(offer_id, seats):
    """Quotes a price."""


def book(offer_id, seats, force=False):
    """Books an offer.

    - {line}
    """
'''
LINE = "Call quote first (same offer_id)"
STALE, RESET = "RuntimeError: the price is stale", "ConnectionError: connection reset by peer"
OLDER, AMONG, NEWER = (datetime(2026, month, day, tzinfo=UTC) for month, day in ((3, 20), (4, 5), (5, 20)))


def _log(folder: Path, *, resets: Collection[int] = (), error: str = RESET) -> Mined:
    """Ninety bookings: a third is not quoted before and fails; a quote has the offer and its seats."""
    rows = []
    for number in range(90):
        args = {"offer_id": f"o{word(number)}", "seats": number % 7 + 1}
        if number % 3 == 0:
            calls = [failed("book", args, STALE)]
        else:
            calls = [call("quote", args), call("book", args)]
        if number in resets:
            calls[-1] = failed("book", args, error)
        rows.append(record(question=f"Book {word(number)}", tool_calls=calls))
    return mined(folder, on_days(rows))


def _refine(
    log: Mined, merged: datetime | None = None, *, line: str = LINE, known: frozenset[str] = frozenset()
) -> RefineResult:
    (log.workspace.root / "shop.py").write_text(SOURCE.format(line="Quick" if merged is None else line))
    states = [Standpoint(key, ProposalState.OPEN) for key in known]
    if merged is not None:
        key = statement_key("book", f"- {line}", "Caveats")
        promotion = Promotion(key, "ce-2026-03-01-001", "F", "shop.py::book", "abc", merged, reverted=False)
        states.append(Standpoint(key, ProposalState.MERGED, promotion=promotion))
    return refine(log, ALWAYS, now=START, states=states)


def _row(refined: RefineResult, error: str) -> ErrorRow:
    (row,) = (row for row in refined.document.errors if error in row.error)
    return row


@pytest.mark.parametrize("merged", [NEWER, AMONG], ids=["older than the merge", "before and after it"])
def test_no_sibling_of_a_merged_line_is_proposed(tmp_path: Path, merged: datetime):
    log = _log(tmp_path)
    assert [entry.line for entry in _refine(log).document.statements] == [f"- {LINE}"]
    refined = _refine(log, merged)
    assert not [entry.line for entry in refined.document.statements if "same seats" in entry.line]
    assert "same seats" not in str(refined.document.errors)


def test_what_a_merged_line_explains_is_nobody_s_to_mend(tmp_path: Path):
    log = _log(tmp_path)
    refined = _refine(log, NEWER)
    row = _row(refined, "stale")
    assert (row.mender, row.task, row.n_calls) == ("merged", "", 30)
    assert row.merged == (f"{LINE}, merged on 2026-05-20: 30 calls against it, 0 of them since",)
    text = markdown(refined.document, refined.words)
    assert f"Explained by lines that are merged:\n\n    row 1: {row.merged[0]}\n" in text
    assert "For a coding agent" not in text


def test_failures_since_the_merge_are_counted(tmp_path: Path):
    log = _log(tmp_path)
    row = _row(_refine(log, AMONG), "stale")
    assert row.mender == "merged"
    assert row.merged == (f"{LINE}, merged on 2026-04-05: 30 calls against it, 10 of them since",)


def test_an_error_that_a_merged_line_explains_in_part_says_so(tmp_path: Path):
    log = _log(tmp_path, resets=[number for number in range(60) if number % 3], error=STALE)
    row = _row(_refine(log, OLDER), "stale")
    assert (row.mender, row.n_calls) == ("tool", 70)
    assert ", merged on 2026-03-20: 30 calls against it" in row.merged[0]
    assert row.task.startswith("The tool book failed 70 times")


def test_a_merged_line_whose_opposite_works_explains_nothing(tmp_path: Path):
    rows = []
    for number in range(90):
        args = {"offer_id": f"o{word(number)}", "seats": number % 7 + 1}
        forced = failed("book", {**args, "force": True}, STALE)
        calls = [forced if number % 3 == 0 else call("book", args)]
        rows.append(record(question=f"Book {word(number)}", tool_calls=calls))
    refined = _refine(mined(tmp_path, on_days(rows)), NEWER)
    assert [entry.line for entry in refined.document.statements] == ["- Leave out force"]
    assert (_row(refined, "stale").mender, _row(refined, "stale").merged) == ("text", ())


def test_a_settled_statement_is_counted_and_not_proposed(tmp_path: Path):
    log = _log(tmp_path)
    keys = frozenset(entry.key for entry in _refine(log).document.statements)
    after = _refine(log, known=keys)
    assert (len(keys), after.document.statements) == (1, ())
    printed = unproposed_lines(after.found, max_shown=4)
    (line,) = [line for line in printed if "(known)" in line]
    assert "1 statement not proposed" in line
