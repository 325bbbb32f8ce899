"""Whether a sequence does better than the rest of its category, with one success rate for each case."""

from collections.abc import Iterable, Sequence
from typing import Final

import polars as pl

from coreloop.base.records import UNSPECIFIED
from coreloop.learn.mine.window import IS_COUNTED, IS_SUCCESS, Window, draw_number
from coreloop.learn.proposals.candidates import Candidate
from coreloop.learn.statements.cases import RequestKeys, case_numbers
from coreloop.learn.statements.evidence import rank_test

_MAX_REQUESTS: Final = 10_000
"""Of the candidates' categories; of more, a fixed draw is compared."""
_MIN_CASES: Final = 2  # the least that the playbook's relaxed gate lets through
_Row = tuple[str, str, int, bool]
"""Group, sequence, case, whether it succeeded."""


def p_values(window: Window, candidates: Sequence[Candidate], *, by_first_tool: bool) -> list[float]:
    """Test each candidate against the rest of its category (Mann–Whitney on the cases' success rates).

    Parameters
    ----------
    window : Window
        Of the candidates.
    candidates : sequence of Candidate
        As found.
    by_first_tool : bool
        Whether those without a category are compared with sequences that begin with the same tool.

    Returns
    -------
    list of float
        1.0 with fewer than two cases on a side: the least that the playbook's relaxed gate lets through.
    """
    rows = _rows(window, {candidate.cat_hash for candidate in candidates}, by_first_tool=by_first_tool)
    return [_p_value(candidate, rows, by_first_tool=by_first_tool) for candidate in candidates]


def _p_value(candidate: Candidate, rows: Sequence[_Row], *, by_first_tool: bool) -> float:
    group = _group(candidate.cat_hash, candidate.tool_pattern[0].name, by_first_tool=by_first_tool)
    own = _rates(row for row in rows if row[0] == group and row[1] == candidate.seq_hash)
    rest = _rates(row for row in rows if row[0] == group and row[1] != candidate.seq_hash)
    return rank_test(own, rest) if min(len(own), len(rest)) >= _MIN_CASES else 1.0


def _group(category: str, first_tool: str, *, by_first_tool: bool) -> str:
    return f"{category} {first_tool}" if by_first_tool and category == UNSPECIFIED else category


def _rates(rows: Iterable[_Row]) -> list[float]:
    outcomes: dict[int, list[bool]] = {}
    for _, _, case, succeeded in rows:
        outcomes.setdefault(case, []).append(succeeded)
    return [sum(of_case) / len(of_case) for of_case in outcomes.values()]


def _rows(window: Window, categories: set[str], *, by_first_tool: bool) -> list[_Row]:
    chosen = window.all_requests().filter(IS_COUNTED, pl.col("category").is_in(sorted(categories)))
    drawn = chosen.with_columns(number=draw_number(), ok=IS_SUCCESS).bottom_k(_MAX_REQUESTS, by="number")
    columns = ("category", "sequence", "ok", "session", "case", "template")
    rows = drawn.select(columns).collect().rows()
    keys = [
        RequestKeys(session, tuple(case or ()), template, sequence)
        for _, sequence, _, session, case, template in rows
    ]
    texts = window.texts_of("sequence", {row[1] for row in rows}) if by_first_tool else {}
    return [
        (
            _group(category, texts.get(sequence, "").partition("(")[0], by_first_tool=by_first_tool),
            f"seq:{sequence:016x}",
            number,
            succeeded,
        )
        for (category, sequence, succeeded, *_), number in zip(rows, case_numbers(keys)[0], strict=True)
    ]
