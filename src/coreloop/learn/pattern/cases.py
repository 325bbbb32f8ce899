"""Whether a sequence does better than the rest of its category, with one success rate for each case."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import polars as pl

from coreloop.base.records import UNSPECIFIED
from coreloop.learn.mine.window import IS_COUNTED, IS_SUCCESS, Window, draw_number
from coreloop.learn.proposals.candidates import Candidate
from coreloop.learn.statements.cases import RequestKeys, case_numbers
from coreloop.learn.statements.evidence import rank_test

_MAX_REQUESTS: Final = 10_000
"""Of the candidates' categories; of more, a fixed draw is compared."""
_MIN_CASES: Final = 2
_Row = tuple[str, str, int, bool]
"""Group, sequence, case, whether it succeeded."""
_Tally = dict[int, tuple[int, int]]
"""Requests and successes of each case."""


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
    categories = {candidate.cat_hash for candidate in candidates}
    by_group: defaultdict[str, _Tally] = defaultdict(dict)
    by_sequence: defaultdict[tuple[str, str], _Tally] = defaultdict(dict)
    for group, sequence, case, succeeded in _rows(window, categories, by_first_tool=by_first_tool):
        for tally in (by_group[group], by_sequence[group, sequence]):
            n, n_ok = tally.get(case, (0, 0))
            tally[case] = (n + 1, n_ok + succeeded)
    groups = [
        _group(candidate.cat_hash, candidate.tool_pattern[0].name, by_first_tool=by_first_tool)
        for candidate in candidates
    ]
    return [
        _p_value(by_group[group], by_sequence[group, candidate.seq_hash])
        for group, candidate in zip(groups, candidates, strict=True)
    ]


def _p_value(group: _Tally, own: _Tally) -> float:
    rates = [n_ok / n for n, n_ok in own.values()]
    others = ((n, n_ok, *own.get(case, (0, 0))) for case, (n, n_ok) in group.items())
    rest = [(n_ok - own_ok) / (n - own_n) for n, n_ok, own_n, own_ok in others if n > own_n]
    return rank_test(rates, rest) if min(len(rates), len(rest)) >= _MIN_CASES else 1.0


def _group(category: str, first_tool: str, *, by_first_tool: bool) -> str:
    return f"{category} {first_tool}" if by_first_tool and category == UNSPECIFIED else category


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
